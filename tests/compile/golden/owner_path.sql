-- undeclared keys: one survey of keys and sums, and a second look where a key was not selected
SELECT city, COUNT(*), AVG(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o, CASE WHEN (t0."price" IS NOT NULL) THEN 1 END AS x1, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-2147483648000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 2147483648000 ELSE CAST(CAST(t0."price" * 8589934592 AS DECIMAL(18, 2)) AS BIGINT) - 2147483648000 END AS x2
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
totals AS (SELECT k0, CAST(COUNT(*) AS HUGEINT) AS t0, CAST(COUNT(x1) AS HUGEINT) AS t1, CAST(SUM(x2) AS HUGEINT) AS t2
FROM private_rows
GROUP BY 1),
surplus AS (SELECT private_rows.k0 AS k0, SUM(gap) AS m0, SUM(CASE WHEN x1 IS NOT NULL THEN gap END) AS m1, SUM(CAST(gap AS HUGEINT) * x2) AS m2
FROM private_rows JOIN light ON private_rows.o = light.o AND private_rows.k0 IS NOT DISTINCT FROM light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1, COALESCE(t2, 0) * 1073741824 - COALESCE(m2, 0) AS s2
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0 JOIN totals ON counted.k0 IS NOT DISTINCT FROM totals.k0
LEFT JOIN surplus ON counted.k0 IS NOT DISTINCT FROM surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0, s1, s2
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o, CASE WHEN (t0."price" IS NOT NULL) THEN 1 END AS x1, CASE WHEN t0."price" < CAST('0.00' AS DECIMAL(10, 2)) THEN (-2147483648000) WHEN t0."price" > CAST('500.00' AS DECIMAL(10, 2)) THEN 2147483648000 ELSE CAST(CAST(t0."price" * 8589934592 AS DECIMAL(18, 2)) AS BIGINT) - 2147483648000 END AS x2
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS HUGEINT) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(COUNT(*) AS HUGEINT) AS t0, CAST(COUNT(x1) AS HUGEINT) AS t1, CAST(SUM(x2) AS HUGEINT) AS t2
FROM kept_rows
GROUP BY 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, SUM(gap) AS m0, SUM(CASE WHEN x1 IS NOT NULL THEN gap END) AS m1, SUM(CAST(gap AS HUGEINT) * x2) AS m2
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1, COALESCE(t2, 0) * 1073741824 - COALESCE(m2, 0) AS s2
FROM counted JOIN totals ON counted.hedgerow_place IS NOT DISTINCT FROM totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS NOT DISTINCT FROM surplus.hedgerow_place)
SELECT hedgerow_place, s0, s1, s2
FROM weighted;

-- Laplace noise caps the sum of an owner's rows instead of their squares
-- with {"mechanism": "laplace"}
SELECT city, COUNT(*) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CASE WHEN n < 20 THEN n ELSE 20 END) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 40 THEN 1073741824 ELSE 42949672960 // q END AS u
FROM sized
WHERE touched > 3 OR q > 40),
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
totals AS (SELECT k0, CAST(COUNT(*) AS HUGEINT) AS t0
FROM private_rows
GROUP BY 1),
surplus AS (SELECT private_rows.k0 AS k0, SUM(gap) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o AND private_rows.k0 IS NOT DISTINCT FROM light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0 JOIN totals ON counted.k0 IS NOT DISTINCT FROM totals.k0
LEFT JOIN surplus ON counted.k0 IS NOT DISTINCT FROM surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CASE WHEN n < 20 THEN n ELSE 20 END) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 40 THEN 1073741824 ELSE 42949672960 // q END AS u
FROM sized
WHERE touched > 3 OR q > 40),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(COUNT(*) AS HUGEINT) AS t0
FROM kept_rows
GROUP BY 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, SUM(gap) AS m0
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted JOIN totals ON counted.hedgerow_place IS NOT DISTINCT FROM totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS NOT DISTINCT FROM surplus.hedgerow_place)
SELECT hedgerow_place, s0
FROM weighted;

-- people in groups: the survey counts them, and there is nothing else to measure
SELECT city, COUNT(DISTINCT customer_id) FROM orders GROUP BY city;
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

-- fewer groups for each owner
-- with {"max_groups": 1, "min_frequency": 50}
SELECT city, SUM(items) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o, (CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER)) AS x0
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 400 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('461168601842738790400' AS HUGEINT) THEN CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 1 OR q > 400),
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
WHERE touched > 1) AS touching) AS ranked
WHERE place > 1
GROUP BY 1),
totals AS (SELECT k0, CAST(SUM(x0) AS HUGEINT) AS t0
FROM private_rows
GROUP BY 1),
surplus AS (SELECT private_rows.k0 AS k0, SUM(CAST(gap AS HUGEINT) * x0) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o AND private_rows.k0 IS NOT DISTINCT FROM light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0 JOIN totals ON counted.k0 IS NOT DISTINCT FROM totals.k0
LEFT JOIN surplus ON counted.k0 IS NOT DISTINCT FROM surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 50;
-- measure
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, t0."customer_id" AS o, (CAST(CASE WHEN t0."items" < 1 THEN 1 WHEN t0."items" > 100 THEN 100 ELSE t0."items" END AS INTEGER)) AS x0
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 400 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('461168601842738790400' AS HUGEINT) THEN CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((4.611686018427388e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 1 OR q > 400),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(SUM(x0) AS HUGEINT) AS t0
FROM kept_rows
GROUP BY 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, SUM(CAST(gap AS HUGEINT) * x0) AS m0
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted JOIN totals ON counted.hedgerow_place IS NOT DISTINCT FROM totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS NOT DISTINCT FROM surplus.hedgerow_place)
SELECT hedgerow_place, s0
FROM weighted;
