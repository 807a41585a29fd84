"""One question for every construct and every aggregate, over the tables of the dashboards."""

AGGREGATES = [
    "COUNT(*)",
    "COUNT(coupon)",
    "COUNT(DISTINCT member_id)",
    "SUM(amount)",
    "SUM(-amount)",
    "AVG(amount)",
    "VAR_POP(amount)",
    "VAR_SAMP(amount)",
    "STDDEV(amount)",
    "COVAR_POP(amount, discount)",
    "CORR(amount, discount)",
    "REGR_SLOPE(amount, discount)",
    "MEDIAN(amount)",
    "QUANTILE_CONT(amount, 0.9)",
    "PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY discount)",
    "MIN(amount)",
    "MAX(amount)",
    "COUNT(DISTINCT channel)",
    "COUNT(DISTINCT ordered_at)",
    "MODE(status)",
    "HISTOGRAM(amount, [0, 50, 100, 200])",
    "RELATIVE_RISK(status = 'paid', channel = 'web')",
    "ODDS_RATIO(status = 'paid', channel = 'web')",
    "RATIO(amount, discount)",
    "SUM(amount) FILTER (WHERE status = 'paid')",
    "AVG(CASE WHEN status = 'paid' THEN amount END)",
    "COUNT(*) FILTER (WHERE coupon IS NULL)",
    "SUM(amount * (1 - discount))",
    "SUM(CAST(amount AS INTEGER) % 7)",
]
KEYS = [
    "status",
    "channel",
    "coupon",
    "DATE_TRUNC('month', ordered_at)",
    "CAST(ordered_at AS DATE)",
    "EXTRACT(year FROM ordered_at)",
    "amount > 100",
    "discount",
    "CAST(discount AS DOUBLE)",
    "ordered_at",
    "CAST(amount AS INTEGER) % 3",
    "status || '-' || channel",
]
CLAUSES = """
SELECT status, channel, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY 1, 2

SELECT coupon, channel, COUNT(*) AS n FROM orders GROUP BY coupon, channel HAVING COUNT(*) > 5

SELECT status, channel, COUNT(*) AS n FROM orders GROUP BY ROLLUP (status, channel)

SELECT m.region, SUM(o.amount) AS s FROM orders o JOIN members m ON o.member_id = m.member_id GROUP BY 1

SELECT m.region, COUNT(*) AS n FROM members m LEFT JOIN orders o ON o.member_id = m.member_id GROUP BY 1

SELECT m.plan, COUNT(*) AS n FROM members m FULL JOIN orders o ON o.member_id = m.member_id GROUP BY 1

SELECT r.country, COUNT(*) AS n FROM members m JOIN regions r ON m.region = r.region GROUP BY 1

SELECT r.country, COUNT(m.member_id) AS n FROM regions r LEFT JOIN members m ON m.region = r.region GROUP BY 1

SELECT p.category, SUM(i.quantity * i.price) AS s FROM order_items i JOIN products p USING (product_id) GROUP BY 1

SELECT COUNT(*) AS n FROM members m WHERE EXISTS (SELECT 1 FROM orders o WHERE o.member_id = m.member_id)

SELECT COUNT(*) AS n FROM members m WHERE NOT EXISTS (SELECT 1 FROM visits o WHERE o.member_id = m.member_id)

SELECT COUNT(*) AS n FROM members m WHERE (SELECT COUNT(*) FROM orders o WHERE o.member_id = m.member_id) > 2

SELECT COUNT(*) AS n FROM members WHERE member_id IN (SELECT member_id FROM orders WHERE amount > 100)

SELECT COUNT(*) AS n FROM members WHERE member_id NOT IN (SELECT member_id FROM orders WHERE amount > 100)

SELECT COUNT(*) AS n FROM orders o WHERE o.coupon NOT IN (SELECT p.coupon FROM orders p WHERE p.member_id =
o.member_id AND p.status = 'paid')

SELECT o.status, COUNT(*) AS n FROM orders o WHERE o.coupon NOT IN (SELECT p.coupon FROM orders p WHERE p.member_id =
o.member_id AND p.coupon IS NOT NULL AND p.amount > 100) OR o.channel = 'web' GROUP BY 1

SELECT COUNT(*) AS n FROM orders o WHERE (o.coupon IN (SELECT p.coupon FROM orders p WHERE p.member_id = o.member_id
AND p.order_id > 3)) IS NULL

SELECT COUNT(*) AS n FROM orders o WHERE o.channel NOT IN (SELECT p.channel FROM orders p WHERE p.member_id =
o.member_id GROUP BY p.channel HAVING COUNT(*) > 1)

SELECT COUNT(*) AS n FROM orders o WHERE o.order_id IN (SELECT i.order_id FROM order_items i WHERE i.quantity > 1)

SELECT COUNT(*) AS n FROM members WHERE region IN (SELECT region FROM regions WHERE population > 3000)

SELECT AVG(CLIP(t.total, 0, 500)) AS m FROM (SELECT member_id, SUM(amount) AS total FROM orders GROUP BY member_id)
t

SELECT t.n, COUNT(*) AS people FROM (SELECT member_id, COUNT(*) AS n FROM orders GROUP BY member_id) t GROUP BY t.n

WITH big AS (SELECT member_id, amount FROM orders WHERE amount > 50) SELECT COUNT(*) AS n, SUM(amount) AS s FROM big

SELECT COUNT(*) AS n FROM (SELECT DISTINCT member_id, status FROM orders) t

SELECT COUNT(*) AS n FROM (SELECT member_id FROM orders UNION ALL SELECT member_id FROM visits) t

SELECT COUNT(*) AS n FROM (SELECT member_id FROM orders UNION SELECT member_id FROM visits) t

SELECT status, COUNT(*) AS n FROM (SELECT member_id, status, ROW_NUMBER() OVER (PARTITION BY member_id ORDER BY
ordered_at) AS turn FROM orders) t WHERE turn = 1 GROUP BY status

SELECT COUNT(*) AS n FROM (SELECT member_id, amount, LAG(amount) OVER (PARTITION BY member_id ORDER BY ordered_at)
AS before FROM orders) t WHERE before < amount

SELECT COUNT(*) AS n FROM (SELECT member_id, MAX(amount) AS top, MIN(status) AS first, AVG(amount) AS mean,
COUNT(DISTINCT channel) AS ways FROM orders GROUP BY member_id) t WHERE top > 100 AND first = 'open' AND ways > 1

SELECT t.top, COUNT(*) AS n FROM (SELECT member_id, MAX(amount) AS top FROM orders GROUP BY member_id) t GROUP BY t.top

SELECT CASE WHEN amount < 50 THEN 'low' ELSE 'high' END AS k, COUNT(*) AS n FROM orders GROUP BY 1

SELECT v.k, COUNT(*) AS n FROM orders o JOIN (VALUES ('web', 1), ('app', 2)) AS v(channel, k) ON o.channel =
v.channel GROUP BY v.k

SELECT plan, COUNT(*) AS n, AVG(income) AS m FROM members GROUP BY plan

SELECT sex, COUNT(*) AS n, SUM(income) AS m FROM members GROUP BY sex

SELECT MEDIAN(income) AS m, VAR_POP(income) AS v, COUNT(DISTINCT region) AS r FROM members

SELECT status, COUNT(*) AS n FROM orders WHERE coupon LIKE 'S%' OR LOWER(channel) = 'web' GROUP BY status
""".strip().split("\n\n")
QUESTIONS = [
    *(f"SELECT {call} AS v FROM orders" for call in AGGREGATES),
    *(f"SELECT channel, {call} AS v FROM orders GROUP BY channel" for call in AGGREGATES),
    *(f"SELECT {key} AS k, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY 1" for key in KEYS),
    *CLAUSES,
]
