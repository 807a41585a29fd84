-- mean and variance of one column: a count, a sum and a sum of squares, in the same pass
SELECT AVG(price), VAR_POP(price) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN (t0."price" IS NOT NULL) THEN 1 END AS x0, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END AS x1, (CAST(CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END AS BIGINT) * CAST(CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END AS BIGINT)) AS x2
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
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(SUM(x1) AS HUGEINT) AS t1, CAST(SUM(x2) AS HUGEINT) AS t2
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CAST(gap AS HUGEINT) * x1) AS m1, SUM(CAST(gap AS HUGEINT) * x2) AS m2
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1, COALESCE(t2, 0) * 1073741824 - COALESCE(m2, 0) AS s2
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1, s2
FROM weighted;

-- two columns at once, over the rows that have both
SELECT CORR(price, items) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN (NOT (t0."price" IS NULL)) THEN 1 END AS x0, CASE WHEN (NOT (t0."price" IS NULL)) THEN CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END END AS x1, CASE WHEN (NOT (t0."price" IS NULL)) THEN (CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER) * 2 - 101) END AS x2, CASE WHEN (NOT (t0."price" IS NULL)) THEN (CAST(CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END AS BIGINT) * CAST(CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END AS BIGINT)) END AS x3, CASE WHEN (NOT (t0."price" IS NULL)) THEN (CAST(CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-65536000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 65536000 ELSE CAST(t0."price" * 262144 AS BIGINT) - 65536000 END AS BIGINT) * CAST((CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER) * 2 - 101) AS BIGINT)) END AS x4, CASE WHEN (NOT (t0."price" IS NULL)) THEN (CAST((CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER) * 2 - 101) AS BIGINT) * CAST((CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER) * 2 - 101) AS BIGINT)) END AS x5
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
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(SUM(x1) AS HUGEINT) AS t1, CAST(SUM(x2) AS HUGEINT) AS t2, CAST(SUM(x3) AS HUGEINT) AS t3, CAST(SUM(x4) AS HUGEINT) AS t4, CAST(SUM(x5) AS HUGEINT) AS t5
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CAST(gap AS HUGEINT) * x1) AS m1, SUM(CAST(gap AS HUGEINT) * x2) AS m2, SUM(CAST(gap AS HUGEINT) * x3) AS m3, SUM(CAST(gap AS HUGEINT) * x4) AS m4, SUM(CAST(gap AS HUGEINT) * x5) AS m5
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1, COALESCE(t2, 0) * 1073741824 - COALESCE(m2, 0) AS s2, COALESCE(t3, 0) * 1073741824 - COALESCE(m3, 0) AS s3, COALESCE(t4, 0) * 1073741824 - COALESCE(m4, 0) AS s4, COALESCE(t5, 0) * 1073741824 - COALESCE(m5, 0) AS s5
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1, s2, s3, s4, s5
FROM weighted;

-- all bins of a histogram
SELECT HISTOGRAM(items, [0, 10, 100]) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CASE WHEN ((t0."items" >= (0.0e0)) AND (t0."items" < (10.0e0))) THEN 1 END AS x0, CASE WHEN ((t0."items" >= (10.0e0)) AND (t0."items" <= (100.0e0))) THEN 1 END AS x1
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
totals AS (SELECT CAST(COUNT(x0) AS HUGEINT) AS t0, CAST(COUNT(x1) AS HUGEINT) AS t1
FROM private_rows),
surplus AS (SELECT SUM(CASE WHEN x0 IS NOT NULL THEN gap END) AS m0, SUM(CASE WHEN x1 IS NOT NULL THEN gap END) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- a median: weights of buckets over the chosen keys, and nothing that a row holds
SELECT city, MEDIAN(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS HUGEINT) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(k0 COLLATE "binary", '~')), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- buckets
WITH private_rows AS (SELECT t0."city" AS k0, t0."customer_id" AS o, (CAST(CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN 0 WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 2147483648000 ELSE CAST(CAST(t0."price" * 4294967296 AS DECIMAL(18, 2)) AS BIGINT) - 0 END AS BIGINT) - (0)) // 2097152001 AS hedgerow_bucket
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, hedgerow_bucket, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 2 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('2305843009213693952' AS HUGEINT) THEN CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 2 OR q > 2),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 1 THEN n ELSE 1 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 1 OR u < 1073741824),
whole AS (SELECT hedgerow_place, hedgerow_bucket, CAST(COUNT(*) AS HUGEINT) AS t
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, hedgerow_bucket, SUM(gap) AS m
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
bucketed AS (SELECT whole.hedgerow_place AS hedgerow_place, whole.hedgerow_bucket AS hedgerow_bucket, t * 1073741824 - COALESCE(m, 0) AS hedgerow_weight
FROM whole
LEFT JOIN surplus ON whole.hedgerow_place = surplus.hedgerow_place AND whole.hedgerow_bucket = surplus.hedgerow_bucket)
SELECT hedgerow_place, hedgerow_bucket, hedgerow_weight
FROM bucketed;

-- a median of people with one row each
SELECT MEDIAN(age) FROM customers;
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL;
-- buckets
WITH private_rows AS (SELECT t0."id" AS o, (CAST((CAST(CASE WHEN t0."age" < 0 THEN 0 WHEN t0."age" > 120 THEN 120 ELSE t0."age" END AS INTEGER)) AS BIGINT) - (0)) // 1 AS hedgerow_bucket
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL),
kept_rows AS (SELECT o, hedgerow_bucket, 0 AS hedgerow_place
FROM private_rows),
bucketed AS (SELECT hedgerow_place, hedgerow_bucket, COUNT(*) AS hedgerow_weight
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2)
SELECT hedgerow_place, hedgerow_bucket, hedgerow_weight
FROM bucketed;

-- different values by the simple bound: counted in the engine
SELECT city, COUNT(DISTINCT items) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS HUGEINT) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(k0 COLLATE "binary", '~')), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- values
WITH private_rows AS (SELECT t0."city" AS k0, t0."customer_id" AS o, t0."items" AS v
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, v, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
places AS (SELECT o, hedgerow_place
FROM (SELECT o, hedgerow_place, ROW_NUMBER() OVER (PARTITION BY o ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(hedgerow_place AS VARCHAR), '~')), hedgerow_place ASC NULLS LAST) AS turn
FROM (SELECT DISTINCT o, hedgerow_place
FROM pairs) AS touched) AS turns
WHERE turn <= 1),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(hedgerow_place AS VARCHAR), '~') || '|' || COALESCE(CAST(v AS VARCHAR), '~')), v ASC NULLS LAST) AS turn
FROM (SELECT pairs.o AS o, pairs.hedgerow_place AS hedgerow_place, v
FROM pairs JOIN places ON pairs.o = places.o AND pairs.hedgerow_place = places.hedgerow_place) AS inside) AS turns
WHERE turn <= 1)
SELECT hedgerow_place, COUNT(DISTINCT v) AS hedgerow_value
FROM chosen
GROUP BY 1;

-- different values by a flow: pairs of person and value, by number
-- with {"distinct": "flow"}
SELECT COUNT(DISTINCT items) FROM orders;
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
-- values
WITH private_rows AS (SELECT t0."customer_id" AS o, t0."items" AS v
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT o, v, 0 AS hedgerow_place
FROM private_rows),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(hedgerow_place AS VARCHAR), '~') || '|' || COALESCE(CAST(v AS VARCHAR), '~')), v ASC NULLS LAST) AS turn
FROM pairs) AS turns
WHERE turn <= 64)
SELECT hedgerow_place, DENSE_RANK() OVER (ORDER BY o) AS hedgerow_owner, DENSE_RANK() OVER (ORDER BY v) AS hedgerow_value
FROM chosen;
