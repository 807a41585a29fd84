-- one row for each person, and no keys
SELECT COUNT(*), AVG(income), SUM(age) FROM customers WHERE vip AND age > 17;
-- first pass
SELECT COUNT(*) AS units, COUNT(*) FILTER (WHERE (t0."income" IS NOT NULL) AND (NOT (t0."income" = FLOAT8 'NaN'))) AS s0, COALESCE(SUM(CAST(CAST(float8smaller(float8larger(floor((float8smaller(float8larger(NULLIF(t0."income", FLOAT8 'NaN'), FLOAT8 '-375000.00000047684'), FLOAT8 '625000.0000004768') - FLOAT8 '125000.0') * FLOAT8 '16777216.0' + FLOAT8 '0.5'), FLOAT8 '-2097152000000.0'), FLOAT8 '2097152000000.0') AS BIGINT) AS BIGINT)), 0) AS s1, COALESCE(SUM(CAST((CAST(CASE WHEN t0."age" < 0 THEN 0 WHEN t0."age" > 120 THEN 120 ELSE t0."age" END AS INTEGER)) AS BIGINT)), 0) AS s2
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."vip" AND (t0."age" > 17);

-- declared keys, one row for each person
SELECT region, AVG(income) FROM customers GROUP BY region;
-- first pass
SELECT (t0."region" COLLATE "C") AS k0, COUNT(*) AS units, COUNT(*) FILTER (WHERE (t0."income" IS NOT NULL) AND (NOT (t0."income" = FLOAT8 'NaN'))) AS s0, COALESCE(SUM(CAST(CAST(float8smaller(float8larger(floor((float8smaller(float8larger(NULLIF(t0."income", FLOAT8 'NaN'), FLOAT8 '-375000.00000047684'), FLOAT8 '625000.0000004768') - FLOAT8 '125000.0') * FLOAT8 '16777216.0' + FLOAT8 '0.5'), FLOAT8 '-2097152000000.0'), FLOAT8 '2097152000000.0') AS BIGINT) AS BIGINT)), 0) AS s1
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL AND (t0."region" COLLATE "C") IN ('north', 'o''north', 'south')
GROUP BY 1;

-- several rows for each person, and no keys
SELECT COUNT(*), SUM(price) FROM orders;
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(float8smaller(float8larger(floor((float8smaller(float8larger(CAST(t0."price" AS FLOAT8), FLOAT8 '-1000.0000000018626'), FLOAT8 '1000.0000000018626') - FLOAT8 '0.0') * FLOAT8 '4294967296.0' + FLOAT8 '0.5'), FLOAT8 '0.0'), FLOAT8 '2147483648000.0') AS BIGINT) AS x1
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT o, COUNT(*) AS n, COUNT(*) AS p0, SUM(CAST(x1 AS BIGINT)) AS p1
FROM private_rows
GROUP BY 1),
gaps AS (SELECT o, p0, p1, 1073741824 AS u, CASE WHEN n > 40 THEN 1073741824 - CAST(1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0, COALESCE(CAST(SUM(p1) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p1), 0) AS s1
FROM gaps)
SELECT owners AS units, s0, s1
FROM weighted;

-- selected keys: a survey, and sums over those that were selected
SELECT city, COUNT(*), SUM(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, t0."customer_id" AS o, CAST(float8smaller(float8larger(floor((float8smaller(float8larger(CAST(t0."price" AS FLOAT8), FLOAT8 '-1000.0000000018626'), FLOAT8 '1000.0000000018626') - FLOAT8 '0.0') * FLOAT8 '4294967296.0' + FLOAT8 '0.5'), FLOAT8 '0.0'), FLOAT8 '2147483648000.0') AS BIGINT) AS x1
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0, SUM(CAST(x1 AS BIGINT)) AS p1
FROM private_rows
GROUP BY 1, 2),
sizes AS (SELECT k0, o, p0, p1, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT k0, o, p0, p1, n, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('922337203685477580800' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT k0, o, p0, p1, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
turns AS (SELECT k0, o, p0, p1, u, gap, CASE WHEN touched > 3 THEN ROW_NUMBER() OVER (PARTITION BY o ORDER BY CASE WHEN touched > 3 THEN md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE((k0 COLLATE "C"), '~')) END, k0 ASC NULLS LAST) END AS turn
FROM gaps),
weighted AS (SELECT k0, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0, COALESCE(CAST(SUM(p1) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p1), 0) AS s1, COUNT(*) FILTER (WHERE turn IS NULL OR turn <= 3) AS units
FROM turns
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0, s1
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, t0."customer_id" AS o, CAST(float8smaller(float8larger(floor((float8smaller(float8larger(CAST(t0."price" AS FLOAT8), FLOAT8 '-1000.0000000018626'), FLOAT8 '1000.0000000018626') - FLOAT8 '0.0') * FLOAT8 '4294967296.0' + FLOAT8 '0.5'), FLOAT8 '0.0'), FLOAT8 '2147483648000.0') AS BIGINT) AS x1
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE((private_rows.k0 COLLATE "C"), '') = COALESCE((hedgerow_selected.k0 COLLATE "C"), '') AND (private_rows.k0 IS NULL) = (hedgerow_selected.k0 IS NULL)),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0, SUM(CAST(x1 AS BIGINT)) AS p1
FROM kept_rows
GROUP BY 1, 2),
sizes AS (SELECT hedgerow_place, o, p0, p1, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT hedgerow_place, o, p0, p1, n, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('922337203685477580800' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT hedgerow_place, o, p0, p1, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0, COALESCE(CAST(SUM(p1) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p1), 0) AS s1
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0, s1
FROM weighted;

-- two keys, one of them a month, with Laplace noise
-- with {"mechanism": "laplace"}
SELECT city, DATE_TRUNC('month', placed) AS month, COUNT(DISTINCT customer_id) FROM orders GROUP BY 1, 2;
-- first pass
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, CASE WHEN CASE WHEN t0."placed" BETWEEN TIMESTAMP '4711-01-01 BC' AND TIMESTAMP '294246-01-01' THEN date_trunc('month', t0."placed") WHEN NOT isfinite(t0."placed") THEN t0."placed" END BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN CASE WHEN t0."placed" BETWEEN TIMESTAMP '4711-01-01 BC' AND TIMESTAMP '294246-01-01' THEN date_trunc('month', t0."placed") WHEN NOT isfinite(t0."placed") THEN t0."placed" END END AS k1, t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, k1, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2, 3),
sizes AS (SELECT k0, k1, o, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST(CASE WHEN n < 20 THEN n ELSE 20 END AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT k0, k1, o, n, touched, CASE WHEN q <= 40 THEN 1073741824 ELSE CAST(42949672960 AS BIGINT) / CAST(q AS BIGINT) END AS u
FROM sizes),
gaps AS (SELECT k0, k1, o, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
turns AS (SELECT k0, k1, o, u, gap, CASE WHEN touched > 3 THEN ROW_NUMBER() OVER (PARTITION BY o ORDER BY CASE WHEN touched > 3 THEN md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE((k0 COLLATE "C"), '~') || '|' || COALESCE(CASE WHEN k1 BETWEEN TIMESTAMP '4713-01-01 BC' AND TIMESTAMP '294246-01-01' THEN CAST(CAST(EXTRACT(EPOCH
FROM k1) * 1000000 AS BIGINT) AS TEXT) END, '~')) END, k0 ASC NULLS LAST, k1 ASC NULLS LAST) END AS turn
FROM gaps),
weighted AS (SELECT k0, k1, COUNT(*) AS owners, COUNT(*) FILTER (WHERE turn IS NULL OR turn <= 3) AS units
FROM turns
GROUP BY 1, 2),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, k1, units, all_keys
FROM bounded
WHERE units >= 10;

-- a key that is a double
SELECT income * 2 AS twice, COUNT(*) FROM customers GROUP BY 1;
-- first pass
SELECT (CASE WHEN abs(t0."income") BETWEEN FLOAT8 '1e-150' AND FLOAT8 '1e+150' AND abs(CAST(2 AS FLOAT8)) BETWEEN FLOAT8 '1e-150' AND FLOAT8 '1e+150' THEN t0."income" * CAST(2 AS FLOAT8) WHEN t0."income" = 0 OR CAST(2 AS FLOAT8) = 0 OR abs(t0."income") > FLOAT8 '1.7976931348623157e+308' OR abs(CAST(2 AS FLOAT8)) > FLOAT8 '1.7976931348623157e+308' THEN t0."income" * CAST(2 AS FLOAT8) WHEN abs(t0."income") > 1 AND abs(CAST(2 AS FLOAT8)) > 1 THEN CASE WHEN (abs(t0."income") * FLOAT8 '7.458340731200207e-155') * (abs(CAST(2 AS FLOAT8)) * FLOAT8 '7.458340731200207e-155') >= 1 THEN sign(t0."income") * sign(CAST(2 AS FLOAT8)) * FLOAT8 'Infinity' ELSE t0."income" * CAST(2 AS FLOAT8) END WHEN abs(t0."income") < 1 AND abs(CAST(2 AS FLOAT8)) < 1 AND (abs(t0."income") < FLOAT8 '3.054936363499605e-151' OR abs(CAST(2 AS FLOAT8)) < FLOAT8 '3.054936363499605e-151') THEN CASE WHEN (LEAST(abs(t0."income"), abs(CAST(2 AS FLOAT8))) * FLOAT8 '1.0715086071862673e+301') * (GREATEST(abs(t0."income"), abs(CAST(2 AS FLOAT8))) * FLOAT8 '1.888946593147858e+22') <= FLOAT8 '0.5' THEN FLOAT8 '0.0' ELSE t0."income" * CAST(2 AS FLOAT8) END ELSE t0."income" * CAST(2 AS FLOAT8) END + FLOAT8 '0.0') AS k0, COUNT(*) AS units
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;

-- buckets of a median
SELECT city, MEDIAN(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sizes AS (SELECT k0, o, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT k0, o, n, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('922337203685477580800' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT k0, o, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
turns AS (SELECT k0, o, u, gap, CASE WHEN touched > 3 THEN ROW_NUMBER() OVER (PARTITION BY o ORDER BY CASE WHEN touched > 3 THEN md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE((k0 COLLATE "C"), '~')) END, k0 ASC NULLS LAST) END AS turn
FROM gaps),
weighted AS (SELECT k0, COUNT(*) AS owners, COUNT(*) FILTER (WHERE turn IS NULL OR turn <= 3) AS units
FROM turns
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- buckets
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, t0."customer_id" AS o, CAST((CAST(CAST(float8smaller(float8larger(floor((float8smaller(float8larger(CAST(t0."price" AS FLOAT8), FLOAT8 '-1000.0000000018626'), FLOAT8 '1000.0000000018626') - FLOAT8 '0.0') * FLOAT8 '4294967296.0' + FLOAT8 '0.5'), FLOAT8 '0.0'), FLOAT8 '2147483648000.0') AS BIGINT) AS BIGINT) - (0)) AS BIGINT) / CAST(2097152001 AS BIGINT) AS hedgerow_bucket
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, hedgerow_bucket, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE((private_rows.k0 COLLATE "C"), '') = COALESCE((hedgerow_selected.k0 COLLATE "C"), '') AND (private_rows.k0 IS NULL) = (hedgerow_selected.k0 IS NULL)),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END) AS BIGINT)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 2 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '2.305843009213694e+18' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '2.305843009213694e+18' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('2305843009213693952' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '2.305843009213694e+18' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '2.305843009213694e+18' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 2 OR q > 2),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - CAST(COALESCE(u, 1073741824) * (CASE WHEN n < 1 THEN n ELSE 1 END) AS BIGINT) / CAST(n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 1 OR u < 1073741824),
whole AS (SELECT hedgerow_place, hedgerow_bucket, CAST(COUNT(*) AS NUMERIC) AS t
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, hedgerow_bucket, SUM(CAST(gap AS BIGINT)) AS m
FROM kept_rows JOIN light ON kept_rows.o = light.o AND COALESCE(kept_rows.hedgerow_place, 0) = COALESCE(light.hedgerow_place, 0) AND (kept_rows.hedgerow_place IS NULL) = (light.hedgerow_place IS NULL)
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
bucketed AS (SELECT whole.hedgerow_place AS hedgerow_place, whole.hedgerow_bucket AS hedgerow_bucket, t * 1073741824 - COALESCE(m, 0) AS hedgerow_weight
FROM whole
LEFT JOIN surplus ON whole.hedgerow_place = surplus.hedgerow_place AND whole.hedgerow_bucket = surplus.hedgerow_bucket)
SELECT hedgerow_place, hedgerow_bucket, hedgerow_weight
FROM bucketed;

-- different values, each person with a few
-- with {"distinct": "simple"}
SELECT COUNT(DISTINCT city) FROM orders;
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
gaps AS (SELECT o, 1073741824 AS u, CASE WHEN n > 40 THEN 1073741824 - CAST(1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT COUNT(*) AS owners
FROM gaps)
SELECT owners AS units
FROM weighted;
-- values
WITH private_rows AS (SELECT t0."customer_id" AS o, (t0."city" COLLATE "C") AS v
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT o, v, 0 AS hedgerow_place
FROM private_rows),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(CAST(hedgerow_place AS TEXT), '~') || '|' || COALESCE((v COLLATE "C"), '~')), v ASC NULLS LAST) AS turn
FROM pairs) AS turns
WHERE turn <= 40)
SELECT hedgerow_place, COUNT(DISTINCT v) AS hedgerow_value
FROM chosen
GROUP BY 1;

-- different values, as a flow
-- with {"distinct": "flow"}
SELECT city, COUNT(DISTINCT placed) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sizes AS (SELECT k0, o, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT k0, o, n, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('922337203685477580800' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT k0, o, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
turns AS (SELECT k0, o, u, gap, CASE WHEN touched > 3 THEN ROW_NUMBER() OVER (PARTITION BY o ORDER BY CASE WHEN touched > 3 THEN md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE((k0 COLLATE "C"), '~')) END, k0 ASC NULLS LAST) END AS turn
FROM gaps),
weighted AS (SELECT k0, COUNT(*) AS owners, COUNT(*) FILTER (WHERE turn IS NULL OR turn <= 3) AS units
FROM turns
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- values
WITH private_rows AS (SELECT (t0."city" COLLATE "C") AS k0, t0."customer_id" AS o, t0."placed" AS v
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, v, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE((private_rows.k0 COLLATE "C"), '') = COALESCE((hedgerow_selected.k0 COLLATE "C"), '') AND (private_rows.k0 IS NULL) = (hedgerow_selected.k0 IS NULL)),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
places AS (SELECT o, hedgerow_place
FROM (SELECT o, hedgerow_place, ROW_NUMBER() OVER (PARTITION BY o ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(CAST(hedgerow_place AS TEXT), '~')), hedgerow_place ASC NULLS LAST) AS turn
FROM (SELECT DISTINCT o, hedgerow_place
FROM pairs) AS touched) AS turns
WHERE turn <= 3),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(CAST(hedgerow_place AS TEXT), '~') || '|' || COALESCE(CASE WHEN v BETWEEN TIMESTAMP '4713-01-01 BC' AND TIMESTAMP '294246-01-01' THEN CAST(CAST(EXTRACT(EPOCH
FROM v) * 1000000 AS BIGINT) AS TEXT) END, '~')), v ASC NULLS LAST) AS turn
FROM (SELECT pairs.o AS o, pairs.hedgerow_place AS hedgerow_place, v
FROM pairs JOIN places ON pairs.o = places.o AND pairs.hedgerow_place = places.hedgerow_place) AS inside) AS turns
WHERE turn <= 64)
SELECT hedgerow_place, DENSE_RANK() OVER (ORDER BY o) AS hedgerow_owner, DENSE_RANK() OVER (ORDER BY v) AS hedgerow_value
FROM chosen;

-- owners along a path
SELECT colour, SUM(pieces) FROM items GROUP BY colour;
-- first pass
WITH private_rows AS (SELECT (t0."colour" COLLATE "C") AS k0, t1."customer_id" AS o, (CAST(CASE WHEN t0."pieces" < 1 THEN 1 WHEN t0."pieces" > 100 THEN 100 ELSE t0."pieces" END AS INTEGER)) AS x0
FROM "items" AS t0 JOIN "orders" AS t1 ON (t0."order_id" = t1."id")
WHERE t1."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n, CAST(SUM(CAST(x0 AS INTEGER)) AS NUMERIC) AS p0
FROM private_rows
GROUP BY 1, 2),
sizes AS (SELECT k0, o, p0, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT k0, o, p0, n, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('11529215046068469760000' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT k0, o, p0, touched, u, CASE WHEN n > 100 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 100 THEN n ELSE 100 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
turns AS (SELECT k0, o, p0, u, gap, CASE WHEN touched > 100 THEN ROW_NUMBER() OVER (PARTITION BY o ORDER BY CASE WHEN touched > 100 THEN md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE((k0 COLLATE "C"), '~')) END, k0 ASC NULLS LAST) END AS turn
FROM gaps),
weighted AS (SELECT k0, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0, COUNT(*) FILTER (WHERE turn IS NULL OR turn <= 100) AS units
FROM turns
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT (t0."colour" COLLATE "C") AS k0, t1."customer_id" AS o, (CAST(CASE WHEN t0."pieces" < 1 THEN 1 WHEN t0."pieces" > 100 THEN 100 ELSE t0."pieces" END AS INTEGER)) AS x0
FROM "items" AS t0 JOIN "orders" AS t1 ON (t0."order_id" = t1."id")
WHERE t1."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE((private_rows.k0 COLLATE "C"), '') = COALESCE((hedgerow_selected.k0 COLLATE "C"), '') AND (private_rows.k0 IS NULL) = (hedgerow_selected.k0 IS NULL)),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, CAST(SUM(CAST(x0 AS INTEGER)) AS NUMERIC) AS p0
FROM kept_rows
GROUP BY 1, 2),
sizes AS (SELECT hedgerow_place, o, p0, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT hedgerow_place, o, p0, n, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('11529215046068469760000' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '1.152921504606847e+22' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT hedgerow_place, o, p0, touched, u, CASE WHEN n > 100 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 100 THEN n ELSE 100 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0
FROM weighted;

-- a join, with conditions on both sides
SELECT c.region, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.price > 9.99 AND c.region <> 'south' GROUP BY 1;
-- first pass
WITH private_rows AS (SELECT (t0."region" COLLATE "C") AS k0, t0."id" AS o
FROM "customers" AS t0 JOIN "orders" AS t1 ON (t1."customer_id" = t0."id")
WHERE t0."id" IS NOT NULL AND (t1."price" > (9.99)) AND ((t0."region" COLLATE "C") <> ('south' COLLATE "C")) AND (t0."region" COLLATE "C") IN ('north', 'o''north', 'south')),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 1, 2),
gaps AS (SELECT k0, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - CAST(1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT k0, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0, COUNT(*) AS units
FROM gaps
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT (t0."region" COLLATE "C") AS k0, t0."id" AS o
FROM "customers" AS t0 JOIN "orders" AS t1 ON (t1."customer_id" = t0."id")
WHERE t0."id" IS NOT NULL AND (t1."price" > (9.99)) AND ((t0."region" COLLATE "C") <> ('south' COLLATE "C")) AND (t0."region" COLLATE "C") IN ('north', 'o''north', 'south')),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE((private_rows.k0 COLLATE "C"), '') = COALESCE((hedgerow_selected.k0 COLLATE "C"), '') AND (private_rows.k0 IS NULL) = (hedgerow_selected.k0 IS NULL)),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 1, 2),
gaps AS (SELECT hedgerow_place, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - CAST(1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0
FROM weighted;

-- arithmetic, choices, text and dates
SELECT SUM(CASE WHEN city LIKE 'O''%' OR LOWER(city) IN ('rome', 'a\b') THEN price * 2 / 3 ELSE 0 END) FROM orders WHERE EXTRACT(year FROM placed) = 2026 AND placed >= TIMESTAMP '2026-01-31 12:00:00';
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(float8smaller(float8larger(floor((float8smaller(float8larger(NULLIF(CASE WHEN (((t0."city" COLLATE "C") LIKE ('O''%' COLLATE "C") ESCAPE '') OR ((CASE WHEN octet_length(t0."city") = length(t0."city") THEN lower(t0."city" COLLATE "C") ELSE translate(lower(t0."city" COLLATE "C"), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƠƢƤƦƧƩƬƮƯƱƲƳƵƷƸƼǄǅǇǈǊǋǍǏǑǓǕǗǙǛǞǠǢǤǦǨǪǬǮǱǲǴǶǷǸǺǼǾȀȂȄȆȈȊȌȎȐȒȔȖȘȚȜȞȠȢȤȦȨȪȬȮȰȲȺȻȽȾɁɃɄɅɆɈɊɌɎͰͲͶͿΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫϏϘϚϜϞϠϢϤϦϨϪϬϮϴϷϹϺϽϾϿЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲӴӶӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇჍᎠᎡᎢᎣᎤᎥᎦᎧᎨᎩᎪᎫᎬᎭᎮᎯᎰᎱᎲᎳᎴᎵᎶᎷᎸᎹᎺᎻᎼᎽᎾᎿᏀᏁᏂᏃᏄᏅᏆᏇᏈᏉᏊᏋᏌᏍᏎᏏᏐᏑᏒᏓᏔᏕᏖᏗᏘᏙᏚᏛᏜᏝᏞᏟᏠᏡᏢᏣᏤᏥᏦᏧᏨᏩᏪᏫᏬᏭᏮᏯᏰᏱᏲᏳᏴᏵᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺᲽᲾᲿḀḂḄḆḈḊḌḎḐḒḔḖḘḚḜḞḠḢḤḦḨḪḬḮḰḲḴḶḸḺḼḾṀṂṄṆṈṊṌṎṐṒṔṖṘṚṜṞṠṢṤṦṨṪṬṮṰṲṴṶṸṺṼṾẀẂẄẆẈẊẌẎẐẒẔẞẠẢẤẦẨẪẬẮẰẲẴẶẸẺẼẾỀỂỄỆỈỊỌỎỐỒỔỖỘỚỜỞỠỢỤỦỨỪỬỮỰỲỴỶỸỺỼỾἈἉἊἋἌἍἎἏἘἙἚἛἜἝἨἩἪἫἬἭἮἯἸἹἺἻἼἽἾἿὈὉὊὋὌὍὙὛὝὟὨὩὪὫὬὭὮὯᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾸᾹᾺΆᾼῈΈῊΉῌῘῙῚΊῨῩῪΎῬῸΌῺΏῼΩKÅℲⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫⅬⅭⅮⅯↃⒶⒷⒸⒹⒺⒻⒼⒽⒾⒿⓀⓁⓂⓃⓄⓅⓆⓇⓈⓉⓊⓋⓌⓍⓎⓏⰀⰁⰂⰃⰄⰅⰆⰇⰈⰉⰊⰋⰌⰍⰎⰏⰐⰑⰒⰓⰔⰕⰖⰗⰘⰙⰚⰛⰜⰝⰞⰟⰠⰡⰢⰣⰤⰥⰦⰧⰨⰩⰪⰫⰬⰭⰮⰯⱠⱢⱣⱤⱧⱩⱫⱭⱮⱯⱰⱲⱵⱾⱿⲀⲂⲄⲆⲈⲊⲌⲎⲐⲒⲔⲖⲘⲚⲜⲞⲠⲢⲤⲦⲨⲪⲬⲮⲰⲲⲴⲶⲸⲺⲼⲾⳀⳂⳄⳆⳈⳊⳌⳎⳐⳒⳔⳖⳘⳚⳜⳞⳠⳢⳫⳭⳲꙀꙂꙄꙆꙈꙊꙌꙎꙐꙒꙔꙖꙘꙚꙜꙞꙠꙢꙤꙦꙨꙪꙬꚀꚂꚄꚆꚈꚊꚌꚎꚐꚒꚔꚖꚘꚚꜢꜤꜦꜨꜪꜬꜮꜲꜴꜶꜸꜺꜼꜾꝀꝂꝄꝆꝈꝊꝌꝎꝐꝒꝔꝖꝘꝚꝜꝞꝠꝢꝤꝦꝨꝪꝬꝮꝹꝻꝽꝾꞀꞂꞄꞆꞋꞍꞐꞒꞖꞘꞚꞜꞞꞠꞢꞤꞦꞨꞪꞫꞬꞭꞮꞰꞱꞲꞳꞴꞶꞸꞺꞼꞾꟀꟂꟄꟅꟆꟇꟉꟐꟖꟘꟵＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ𐐀𐐁𐐂𐐃𐐄𐐅𐐆𐐇𐐈𐐉𐐊𐐋𐐌𐐍𐐎𐐏𐐐𐐑𐐒𐐓𐐔𐐕𐐖𐐗𐐘𐐙𐐚𐐛𐐜𐐝𐐞𐐟𐐠𐐡𐐢𐐣𐐤𐐥𐐦𐐧𐒰𐒱𐒲𐒳𐒴𐒵𐒶𐒷𐒸𐒹𐒺𐒻𐒼𐒽𐒾𐒿𐓀𐓁𐓂𐓃𐓄𐓅𐓆𐓇𐓈𐓉𐓊𐓋𐓌𐓍𐓎𐓏𐓐𐓑𐓒𐓓𐕰𐕱𐕲𐕳𐕴𐕵𐕶𐕷𐕸𐕹𐕺𐕼𐕽𐕾𐕿𐖀𐖁𐖂𐖃𐖄𐖅𐖆𐖇𐖈𐖉𐖊𐖌𐖍𐖎𐖏𐖐𐖑𐖒𐖔𐖕𐲀𐲁𐲂𐲃𐲄𐲅𐲆𐲇𐲈𐲉𐲊𐲋𐲌𐲍𐲎𐲏𐲐𐲑𐲒𐲓𐲔𐲕𐲖𐲗𐲘𐲙𐲚𐲛𐲜𐲝𐲞𐲟𐲠𐲡𐲢𐲣𐲤𐲥𐲦𐲧𐲨𐲩𐲪𐲫𐲬𐲭𐲮𐲯𐲰𐲱𐲲𑢠𑢡𑢢𑢣𑢤𑢥𑢦𑢧𑢨𑢩𑢪𑢫𑢬𑢭𑢮𑢯𑢰𑢱𑢲𑢳𑢴𑢵𑢶𑢷𑢸𑢹𑢺𑢻𑢼𑢽𑢾𑢿𖹀𖹁𖹂𖹃𖹄𖹅𖹆𖹇𖹈𖹉𖹊𖹋𖹌𖹍𖹎𖹏𖹐𖹑𖹒𖹓𖹔𖹕𖹖𖹗𖹘𖹙𖹚𖹛𖹜𖹝𖹞𖹟𞤀𞤁𞤂𞤃𞤄𞤅𞤆𞤇𞤈𞤉𞤊𞤋𞤌𞤍𞤎𞤏𞤐𞤑𞤒𞤓𞤔𞤕𞤖𞤗𞤘𞤙𞤚𞤛𞤜𞤝𞤞𞤟𞤠𞤡', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįiĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵơƣƥʀƨʃƭʈưʊʋƴƶʒƹƽǆǆǉǉǌǌǎǐǒǔǖǘǚǜǟǡǣǥǧǩǫǭǯǳǳǵƕƿǹǻǽǿȁȃȅȇȉȋȍȏȑȓȕȗșțȝȟƞȣȥȧȩȫȭȯȱȳⱥȼƚⱦɂƀʉʌɇɉɋɍɏͱͳͷϳάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋϗϙϛϝϟϡϣϥϧϩϫϭϯθϸϲϻͻͼͽѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳӵӷӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧⴭꭰꭱꭲꭳꭴꭵꭶꭷꭸꭹꭺꭻꭼꭽꭾꭿꮀꮁꮂꮃꮄꮅꮆꮇꮈꮉꮊꮋꮌꮍꮎꮏꮐꮑꮒꮓꮔꮕꮖꮗꮘꮙꮚꮛꮜꮝꮞꮟꮠꮡꮢꮣꮤꮥꮦꮧꮨꮩꮪꮫꮬꮭꮮꮯꮰꮱꮲꮳꮴꮵꮶꮷꮸꮹꮺꮻꮼꮽꮾꮿᏸᏹᏺᏻᏼᏽაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿḁḃḅḇḉḋḍḏḑḓḕḗḙḛḝḟḡḣḥḧḩḫḭḯḱḳḵḷḹḻḽḿṁṃṅṇṉṋṍṏṑṓṕṗṙṛṝṟṡṣṥṧṩṫṭṯṱṳṵṷṹṻṽṿẁẃẅẇẉẋẍẏẑẓẕßạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹỻỽỿἀἁἂἃἄἅἆἇἐἑἒἓἔἕἠἡἢἣἤἥἦἧἰἱἲἳἴἵἶἷὀὁὂὃὄὅὑὓὕὗὠὡὢὣὤὥὦὧᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾰᾱὰάᾳὲέὴήῃῐῑὶίῠῡὺύῥὸόὼώῳωkåⅎⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻⅼⅽⅾⅿↄⓐⓑⓒⓓⓔⓕⓖⓗⓘⓙⓚⓛⓜⓝⓞⓟⓠⓡⓢⓣⓤⓥⓦⓧⓨⓩⰰⰱⰲⰳⰴⰵⰶⰷⰸⰹⰺⰻⰼⰽⰾⰿⱀⱁⱂⱃⱄⱅⱆⱇⱈⱉⱊⱋⱌⱍⱎⱏⱐⱑⱒⱓⱔⱕⱖⱗⱘⱙⱚⱛⱜⱝⱞⱟⱡɫᵽɽⱨⱪⱬɑɱɐɒⱳⱶȿɀⲁⲃⲅⲇⲉⲋⲍⲏⲑⲓⲕⲗⲙⲛⲝⲟⲡⲣⲥⲧⲩⲫⲭⲯⲱⲳⲵⲷⲹⲻⲽⲿⳁⳃⳅⳇⳉⳋⳍⳏⳑⳓⳕⳗⳙⳛⳝⳟⳡⳣⳬⳮⳳꙁꙃꙅꙇꙉꙋꙍꙏꙑꙓꙕꙗꙙꙛꙝꙟꙡꙣꙥꙧꙩꙫꙭꚁꚃꚅꚇꚉꚋꚍꚏꚑꚓꚕꚗꚙꚛꜣꜥꜧꜩꜫꜭꜯꜳꜵꜷꜹꜻꜽꜿꝁꝃꝅꝇꝉꝋꝍꝏꝑꝓꝕꝗꝙꝛꝝꝟꝡꝣꝥꝧꝩꝫꝭꝯꝺꝼᵹꝿꞁꞃꞅꞇꞌɥꞑꞓꞗꞙꞛꞝꞟꞡꞣꞥꞧꞩɦɜɡɬɪʞʇʝꭓꞵꞷꞹꞻꞽꞿꟁꟃꞔʂᶎꟈꟊꟑꟗꟙꟶａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯𐐰𐐱𐐲𐐳𐐴𐐵𐐶𐐷𐐸𐐹𐐺𐐻𐐼𐐽𐐾𐐿𐑀𐑁𐑂𐑃𐑄𐑅𐑆𐑇𐑈𐑉𐑊𐑋𐑌𐑍𐑎𐑏𐓘𐓙𐓚𐓛𐓜𐓝𐓞𐓟𐓠𐓡𐓢𐓣𐓤𐓥𐓦𐓧𐓨𐓩𐓪𐓫𐓬𐓭𐓮𐓯𐓰𐓱𐓲𐓳𐓴𐓵𐓶𐓷𐓸𐓹𐓺𐓻𐖗𐖘𐖙𐖚𐖛𐖜𐖝𐖞𐖟𐖠𐖡𐖣𐖤𐖥𐖦𐖧𐖨𐖩𐖪𐖫𐖬𐖭𐖮𐖯𐖰𐖱𐖳𐖴𐖵𐖶𐖷𐖸𐖹𐖻𐖼𐳀𐳁𐳂𐳃𐳄𐳅𐳆𐳇𐳈𐳉𐳊𐳋𐳌𐳍𐳎𐳏𐳐𐳑𐳒𐳓𐳔𐳕𐳖𐳗𐳘𐳙𐳚𐳛𐳜𐳝𐳞𐳟𐳠𐳡𐳢𐳣𐳤𐳥𐳦𐳧𐳨𐳩𐳪𐳫𐳬𐳭𐳮𐳯𐳰𐳱𐳲𑣀𑣁𑣂𑣃𑣄𑣅𑣆𑣇𑣈𑣉𑣊𑣋𑣌𑣍𑣎𑣏𑣐𑣑𑣒𑣓𑣔𑣕𑣖𑣗𑣘𑣙𑣚𑣛𑣜𑣝𑣞𑣟𖹠𖹡𖹢𖹣𖹤𖹥𖹦𖹧𖹨𖹩𖹪𖹫𖹬𖹭𖹮𖹯𖹰𖹱𖹲𖹳𖹴𖹵𖹶𖹷𖹸𖹹𖹺𖹻𖹼𖹽𖹾𖹿𞤢𞤣𞤤𞤥𞤦𞤧𞤨𞤩𞤪𞤫𞤬𞤭𞤮𞤯𞤰𞤱𞤲𞤳𞤴𞤵𞤶𞤷𞤸𞤹𞤺𞤻𞤼𞤽𞤾𞤿𞥀𞥁𞥂𞥃') END COLLATE "C") IN (('rome' COLLATE "C"), ('a\b' COLLATE "C")))) THEN ((CAST(t0."price" AS FLOAT8) * CAST(2 AS FLOAT8)) / NULLIF(CAST(3 AS FLOAT8), 0)) ELSE FLOAT8 '0.0' END, FLOAT8 'NaN'), FLOAT8 '-666.6666666688398'), FLOAT8 '666.6666666688398') - FLOAT8 '0.0') * FLOAT8 '4294967296.0' + FLOAT8 '0.5'), FLOAT8 '0.0'), FLOAT8 '1431655765334.0') AS BIGINT) AS x0
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL AND (CASE WHEN isfinite(t0."placed") THEN (CASE WHEN CAST(trunc(EXTRACT(year
FROM t0."placed")) AS BIGINT) < 0 THEN CAST(trunc(EXTRACT(year
FROM t0."placed")) AS BIGINT) + 1 ELSE CAST(trunc(EXTRACT(year
FROM t0."placed")) AS BIGINT) END) END = 2026) AND (t0."placed" >= TIMESTAMP '2026-01-31 12:00:00')),
parts AS (SELECT o, COUNT(*) AS n, SUM(CAST(x0 AS BIGINT)) AS p0
FROM private_rows
GROUP BY 1),
gaps AS (SELECT o, p0, 1073741824 AS u, CASE WHEN n > 40 THEN 1073741824 - CAST(1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0
FROM gaps)
SELECT owners AS units, s0
FROM weighted;

-- whole numbers
SELECT AVG(CLIP((age + 5) // 10 * 10 % 7, 0, 10)) FROM customers WHERE NOT vip OR age IS NULL;
-- first pass
SELECT COUNT(*) AS units, COUNT(*) FILTER (WHERE (int8smaller(int8larger(CAST((CAST((CAST((CAST((CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) AS BIGINT), CAST(0 AS BIGINT)), CAST(10 AS BIGINT)) IS NOT NULL)) AS s0, COALESCE(SUM(CAST(CAST(float8smaller(float8larger(floor((float8smaller(float8larger(CAST(int8smaller(int8larger(CAST((CAST((CAST((CAST((CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) AS BIGINT), CAST(0 AS BIGINT)), CAST(10 AS BIGINT)) AS FLOAT8), FLOAT8 '-14.5'), FLOAT8 '21.5') - FLOAT8 '3.5') * FLOAT8 '2.0' + FLOAT8 '0.5'), FLOAT8 '-7.0'), FLOAT8 '7.0') AS INTEGER) AS BIGINT)), 0) AS s1
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL AND ((NOT t0."vip") OR (t0."age" IS NULL));

-- a query inside a condition, and a difference of two sets of people
SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.price > 100) AND c.id NOT IN (SELECT customer_id FROM orders WHERE city = 'Rome' AND customer_id IS NOT NULL);
-- first pass
SELECT COUNT(*) AS units
FROM "customers" AS t0
LEFT JOIN (SELECT DISTINCT t2."customer_id" AS "w0", t2."customer_id" AS "w1"
FROM "orders" AS t2
WHERE ((t2."city" COLLATE "C") = ('Rome' COLLATE "C")) AND (NOT (t2."customer_id" IS NULL))) AS t2_pairs ON ((t0."id" = t2_pairs."w0") AND (t0."id" = t2_pairs."w1"))
WHERE t0."id" IS NOT NULL AND EXISTS (SELECT 1 AS "c0"
FROM "orders" AS t1
WHERE (t1."customer_id" = t0."id") AND (t1."price" > 100) AND (t1."customer_id" = t0."id")) AND ((NOT (t0."id" IS NULL)) AND (t2_pairs."w0" IS NULL));

-- the first row of each person
SELECT city, COUNT(*) FROM (SELECT customer_id, city, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed DESC) AS turn FROM orders) t WHERE turn = 1 GROUP BY city;
-- first pass
WITH private_rows AS (SELECT (t0."c1" COLLATE "C") AS k0, t0."o" AS o
FROM (SELECT t1."customer_id" AS "c0", t1."city" AS "c1", ROW_NUMBER() OVER (PARTITION BY t1."customer_id", t1."customer_id" ORDER BY t1."placed" DESC NULLS LAST, (t1."city" COLLATE "C") ASC NULLS LAST, t1."customer_id" ASC NULLS LAST) AS "c2", t1."customer_id" AS "o"
FROM "orders" AS t1) AS t0
WHERE t0."o" IS NOT NULL AND (t0."c2" = 1)),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 1, 2),
sizes AS (SELECT k0, o, p0, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT k0, o, p0, n, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('922337203685477580800' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT k0, o, p0, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
turns AS (SELECT k0, o, p0, u, gap, CASE WHEN touched > 3 THEN ROW_NUMBER() OVER (PARTITION BY o ORDER BY CASE WHEN touched > 3 THEN md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE((k0 COLLATE "C"), '~')) END, k0 ASC NULLS LAST) END AS turn
FROM gaps),
weighted AS (SELECT k0, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0, COUNT(*) FILTER (WHERE turn IS NULL OR turn <= 3) AS units
FROM turns
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT (t0."c1" COLLATE "C") AS k0, t0."o" AS o
FROM (SELECT t1."customer_id" AS "c0", t1."city" AS "c1", ROW_NUMBER() OVER (PARTITION BY t1."customer_id", t1."customer_id" ORDER BY t1."placed" DESC NULLS LAST, (t1."city" COLLATE "C") ASC NULLS LAST, t1."customer_id" ASC NULLS LAST) AS "c2", t1."customer_id" AS "o"
FROM "orders" AS t1) AS t0
WHERE t0."o" IS NOT NULL AND (t0."c2" = 1)),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE((private_rows.k0 COLLATE "C"), '') = COALESCE((hedgerow_selected.k0 COLLATE "C"), '') AND (private_rows.k0 IS NULL) = (hedgerow_selected.k0 IS NULL)),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 1, 2),
sizes AS (SELECT hedgerow_place, o, p0, n, COUNT(*) OVER (PARTITION BY o) AS touched, CAST(SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS INTEGER)) OVER (PARTITION BY o) AS NUMERIC) AS q
FROM parts),
caps AS (SELECT hedgerow_place, o, p0, n, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) AS NUMERIC) * CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) * q > CAST('922337203685477580800' AS NUMERIC) THEN CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) - 1 ELSE CAST(floor(sqrt(FLOAT8 '9.223372036854776e+20' / CAST(q AS FLOAT8))) AS BIGINT) END END AS u
FROM sizes),
gaps AS (SELECT hedgerow_place, o, p0, touched, u, CASE WHEN n > 20 OR u < 1073741824 THEN 1073741824 - CAST(u * (CASE WHEN n < 20 THEN n ELSE 20 END) AS BIGINT) / CAST(n AS BIGINT) END AS gap
FROM caps),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS NUMERIC), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS NUMERIC) * p0), 0) AS s0
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0
FROM weighted;

-- a public table, ordered and cut
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC NULLS LAST LIMIT 3 OFFSET 2;
-- public
SELECT t0."name" AS "c0", t0."population" AS "c1"
FROM "countries" AS t0
WHERE (t0."population" > 1000000) ORDER BY t0."population" DESC NULLS LAST, (t0."name" COLLATE "C") ASC NULLS LAST
LIMIT 3 OFFSET 2;

-- points in time, in a zone with two offsets
SELECT seen AT TIME ZONE 'Asia/Dubai' FROM visits WHERE seen >= '2024-03-31T03:00:00+02:00';
-- public
SELECT (SELECT CASE WHEN v.a0 BETWEEN TIMESTAMP '0001-01-04 00:00:00' AND TIMESTAMP '9999-12-28 23:59:59.999999' THEN (v.a0 + CASE WHEN v.a0 < TIMESTAMP '1919-12-31 20:18:48' THEN 13272 ELSE 14400 END * INTERVAL '1 second') ELSE v.a0 END
FROM (SELECT (t0."seen" AT TIME ZONE 'UTC') AS a0 OFFSET 0) AS v) AS "c0"
FROM "visits" AS t0
WHERE ((t0."seen" AT TIME ZONE 'UTC') >= TIMESTAMP '2024-03-31 01:00:00')
LIMIT 1000001;

-- parts of times of day
SELECT EXTRACT(hour FROM clock), EXTRACT(second FROM clock) FROM visits WHERE clock < '12:30';
-- public
SELECT CASE WHEN CAST(EXTRACT(EPOCH
FROM t0."clock") * 1000000 AS BIGINT) BETWEEN 0 AND 86399999999 THEN CAST(CAST(EXTRACT(EPOCH
FROM t0."clock") * 1000000 AS BIGINT) AS BIGINT) / CAST(3600000000 AS BIGINT) END AS "c0", CASE WHEN CAST(EXTRACT(EPOCH
FROM t0."clock") * 1000000 AS BIGINT) BETWEEN 0 AND 86399999999 THEN CAST((CAST(EXTRACT(EPOCH
FROM t0."clock") * 1000000 AS BIGINT) - CAST(CAST(EXTRACT(EPOCH
FROM t0."clock") * 1000000 AS BIGINT) AS BIGINT) / CAST(60000000 AS BIGINT) * 60000000) AS BIGINT) / CAST(1000000 AS BIGINT) END AS "c1"
FROM "visits" AS t0
WHERE (t0."clock" < TIME '12:30:00')
LIMIT 1000001;

-- keys that were selected, as part of a statement
-- hedgerow_selected;
-- measure
WITH hedgerow_selected AS MATERIALIZED (SELECT c0 AS k0, c1 AS k1, c2 AS k2, c3 AS k3, c4 AS hedgerow_place FROM (VALUES ('', (0.00), FLOAT8 '0.0', FALSE, (-1)), ('it''s \ é', (1.50), FLOAT8 '0.1', TRUE, 0), (NULL, NULL, FLOAT8 '-2.5', NULL, 1)) AS given(c0, c1, c2, c3, c4) WHERE c4 >= 0), kept AS (SELECT * FROM hedgerow_selected) SELECT * FROM kept;
