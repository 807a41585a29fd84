-- one row of answer, from one weighted pass; the weight is that of an owner with more rows than max_rows
SELECT COUNT(*) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(*) AS HUGEINT) AS t0
FROM private_rows),
surplus AS (SELECT SUM(gap) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- a sum that stands alone is counted from zero
SELECT SUM(price) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN 0 WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 2147483648000 ELSE CAST(CAST(t0."price" * 4294967296 AS DECIMAL(18, 2)) AS BIGINT) - 0 END AS x0
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(SUM(x0) AS HUGEINT) AS t0
FROM private_rows),
surplus AS (SELECT SUM(CAST(gap AS HUGEINT) * x0) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- COUNT, SUM and AVG of one column share a count and a centred sum
SELECT COUNT(price), SUM(price), AVG(price) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN (t0."price" IS NOT NULL) THEN 1 END AS x0, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-2147483648000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 2147483648000 ELSE CAST(CAST(t0."price" * 8589934592 AS DECIMAL(18, 2)) AS BIGINT) - 2147483648000 END AS x1
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(SUM(x1) AS HUGEINT) AS t1
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CAST(gap AS HUGEINT) * x1) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- a query may narrow the bounds
-- with {"bounds": {"price": [0, 100]}}
SELECT AVG(price) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN (t0."price" IS NOT NULL) THEN 1 END AS x0, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-1717986918400) WHEN t0."price" > CAST('100.00' AS DECIMAL(10, 2)) THEN 1717986918400 ELSE CAST(CAST(t0."price" * 34359738368 AS DECIMAL(18, 2)) AS BIGINT) - 1717986918400 END AS x1
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(SUM(x1) AS HUGEINT) AS t1
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CAST(gap AS HUGEINT) * x1) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- a query may lower max_rows
-- with {"max_rows": 5}
SELECT COUNT(*) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 5 THEN n ELSE 5 END) // n AS gap
FROM parts
WHERE n > 5),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(*) AS HUGEINT) AS t0
FROM private_rows),
surplus AS (SELECT SUM(gap) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- people are counted, not rows: nothing is weighted
SELECT COUNT(DISTINCT customer_id) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
weighted AS (SELECT owners
FROM counted)
SELECT owners AS units
FROM weighted;

-- FILTER counts in its own measure; n counts all rows of the owner
SELECT COUNT(*) FILTER (WHERE items > 3), SUM(items) FILTER (WHERE items > 3) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN (t0."items" > 3) THEN 1 END AS x0, CASE WHEN (t0."items" > 3) THEN (CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER) * 2 - 101) END AS x1
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(SUM(x1) AS HUGEINT) AS t1
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CAST(gap AS HUGEINT) * x1) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- Laplace noise: a pair of sums, from the same two integers
-- with {"mechanism": "laplace"}
SELECT AVG(price) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN (t0."price" IS NOT NULL) THEN 1 END AS x0, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-2147483648000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 2147483648000 ELSE CAST(CAST(t0."price" * 8589934592 AS DECIMAL(18, 2)) AS BIGINT) - 2147483648000 END AS x1
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(SUM(x1) AS HUGEINT) AS t1
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CAST(gap AS HUGEINT) * x1) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;
