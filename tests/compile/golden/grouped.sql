-- several keys, one of them an expression
SELECT city, EXTRACT(year FROM placed) AS year, COUNT(*) FROM orders GROUP BY 1, 2;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, TRY(CAST(date_part('year', t0."placed") AS BIGINT)) AS k1, t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, k1, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2, 3),
sized AS (SELECT o, COUNT(*) AS touched, SUM((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS HUGEINT) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS HUGEINT) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.k1 AS k1, parts.o AS o, 1073741824 - COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END) // n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, parts.k1 AS k1, COUNT(*) AS owners
FROM parts
GROUP BY 1, 2),
dropped AS (SELECT k0, k1, COUNT(*) AS lost
FROM (SELECT k0, k1, ROW_NUMBER() OVER (PARTITION BY o ORDER BY md5('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(k0 COLLATE "binary", '~') || '|' || COALESCE(CAST(k1 AS VARCHAR), '~')), k0 ASC NULLS LAST, k1 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0, parts.k1 AS k1
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1, 2),
totals AS (SELECT k0, k1, CAST(COUNT(*) AS HUGEINT) AS t0
FROM private_rows
GROUP BY 1, 2),
surplus AS (SELECT private_rows.k0 AS k0, private_rows.k1 AS k1, SUM(gap) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o AND private_rows.k0 IS NOT DISTINCT FROM light.k0 AND private_rows.k1 IS NOT DISTINCT FROM light.k1
GROUP BY 1, 2),
weighted AS (SELECT counted.k0 AS k0, counted.k1 AS k1, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0 AND counted.k1 IS NOT DISTINCT FROM dropped.k1 JOIN totals ON counted.k0 IS NOT DISTINCT FROM totals.k0 AND counted.k1 IS NOT DISTINCT FROM totals.k1
LEFT JOIN surplus ON counted.k0 IS NOT DISTINCT FROM surplus.k0 AND counted.k1 IS NOT DISTINCT FROM surplus.k1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, k1, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS NOT MATERIALIZED (SELECT t0."city" AS k0, TRY(CAST(date_part('year', t0."placed") AS BIGINT)) AS k1, t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0 AND private_rows.k1 IS NOT DISTINCT FROM hedgerow_selected.k1),
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

-- an alias of SELECT names a key
SELECT age // 10 * 10 AS decade, AVG(income) FROM customers GROUP BY decade;
-- first pass
SELECT TRY(CAST(TRY(CAST(t0."age" AS BIGINT) // NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS k0, COUNT(*) AS units, COUNT(*) FILTER (WHERE (t0."income" IS NOT NULL) AND (NOT isnan(t0."income"))) AS s0, COALESCE(SUM(CAST(CASE WHEN isnan(CAST(t0."income" AS DOUBLE)) THEN NULL WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END AS BIGINT)), 0) AS s1
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;

-- a constant is no key
SELECT vip, 1, COUNT(*) FROM customers GROUP BY vip, 2;
-- first pass
SELECT t0."vip" AS k0, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;

-- a double is written in one form, so that 0 and -0 are one group
SELECT income, COUNT(*) FROM customers GROUP BY income;
-- first pass
SELECT (t0."income" + (0.0e0)) AS k0, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;
