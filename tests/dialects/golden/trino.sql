-- one row for each person, and no keys
SELECT COUNT(*), AVG(income), SUM(age) FROM customers WHERE vip AND age > 17;
-- first pass
SELECT COUNT(*) AS units, COUNT(CASE WHEN (t0."income" IS NOT NULL) AND (NOT is_nan(t0."income")) THEN 1 END) AS s0, COALESCE(SUM(CAST(CAST(CASE WHEN is_nan(CAST(t0."income" AS DOUBLE)) THEN NULL WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END AS BIGINT) AS DECIMAL(38, 0))), 0) AS s1, COALESCE(SUM(CAST(CAST(CASE WHEN (CAST(t0."age" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."age" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) >= (120.0e0) THEN (120.0e0) ELSE floor((CAST(t0."age" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0)) END AS INTEGER) AS DECIMAL(38, 0))), 0) AS s2
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."vip" AND (17 < t0."age");

-- declared keys, one row for each person
SELECT region, AVG(income) FROM customers GROUP BY region;
-- first pass
SELECT CAST(t0."region" AS VARCHAR) AS k0, COUNT(*) AS units, COUNT(CASE WHEN (t0."income" IS NOT NULL) AND (NOT is_nan(t0."income")) THEN 1 END) AS s0, COALESCE(SUM(CAST(CAST(CASE WHEN is_nan(CAST(t0."income" AS DOUBLE)) THEN NULL WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END AS BIGINT) AS DECIMAL(38, 0))), 0) AS s1
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL AND CAST(t0."region" AS VARCHAR) IN ('north', 'o''north', 'south')
GROUP BY 1;

-- several rows for each person, and no keys
SELECT COUNT(*), SUM(price) FROM orders;
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(CASE WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END AS BIGINT) AS x1
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT o, COUNT(*) AS n, COUNT(*) AS p0, SUM(CAST(x1 AS DECIMAL(38, 0))) AS p1
FROM private_rows
GROUP BY 1),
light AS (SELECT o, 1073741824 - CAST(((1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) - (1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) % n) / n AS BIGINT) AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0, CAST(SUM(p1) AS DECIMAL(38, 0)) AS t1
FROM parts),
surplus AS (SELECT SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0, SUM(CAST(gap AS DECIMAL(38, 0)) * p1) AS m1
FROM parts JOIN light ON parts.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- selected keys: a survey, and sums over those that were selected
SELECT city, COUNT(*), SUM(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, t0."customer_id" AS o, CAST(CASE WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END AS BIGINT) AS x1
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0, SUM(CAST(x1 AS DECIMAL(38, 0))) AS p1
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(k0 AS VARCHAR), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
totals AS (SELECT k0, CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0, CAST(SUM(p1) AS DECIMAL(38, 0)) AS t1
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.k0 AS k0, SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0, SUM(CAST(gap AS DECIMAL(38, 0)) * p1) AS m1
FROM parts JOIN light ON parts.o = light.o AND COALESCE(CAST(parts.k0 AS VARCHAR), '') = COALESCE(CAST(light.k0 AS VARCHAR), '') AND CASE WHEN parts.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN light.k0 IS NULL THEN 1 ELSE 0 END
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted
LEFT JOIN dropped ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(dropped.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k0 IS NULL THEN 1 ELSE 0 END JOIN totals ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(totals.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN totals.k0 IS NULL THEN 1 ELSE 0 END
LEFT JOIN surplus ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(surplus.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN surplus.k0 IS NULL THEN 1 ELSE 0 END),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0, s1
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, t0."customer_id" AS o, CAST(CASE WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END AS BIGINT) AS x1
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE(CAST(private_rows.k0 AS VARCHAR), '') = COALESCE(CAST(hedgerow_selected.k0 AS VARCHAR), '') AND CASE WHEN private_rows.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN hedgerow_selected.k0 IS NULL THEN 1 ELSE 0 END),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0, SUM(CAST(x1 AS DECIMAL(38, 0))) AS p1
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0, CAST(SUM(p1) AS DECIMAL(38, 0)) AS t1
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.hedgerow_place AS hedgerow_place, SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0, SUM(CAST(gap AS DECIMAL(38, 0)) * p1) AS m1
FROM parts JOIN light ON parts.o = light.o AND COALESCE(parts.hedgerow_place, 0) = COALESCE(light.hedgerow_place, 0) AND CASE WHEN parts.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN light.hedgerow_place IS NULL THEN 1 ELSE 0 END
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted JOIN totals ON COALESCE(counted.hedgerow_place, 0) = COALESCE(totals.hedgerow_place, 0) AND CASE WHEN counted.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN totals.hedgerow_place IS NULL THEN 1 ELSE 0 END
LEFT JOIN surplus ON COALESCE(counted.hedgerow_place, 0) = COALESCE(surplus.hedgerow_place, 0) AND CASE WHEN counted.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN surplus.hedgerow_place IS NULL THEN 1 ELSE 0 END)
SELECT hedgerow_place, s0, s1
FROM weighted;

-- two keys, one of them a month, with Laplace noise
-- with {"mechanism": "laplace"}
SELECT city, DATE_TRUNC('month', placed) AS month, COUNT(DISTINCT customer_id) FROM orders GROUP BY 1, 2;
-- first pass
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, CASE WHEN date_trunc('month', t0."placed") BETWEEN TIMESTAMP '0001-01-01 00:00:00.000000' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN date_trunc('month', t0."placed") END AS k1, t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, k1, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2, 3),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST(CASE WHEN n < 20 THEN n ELSE 20 END AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 40 THEN 1073741824 ELSE CAST(((42949672960) - (42949672960) % q) / q AS BIGINT) END AS u
FROM sized
WHERE touched > 3 OR q > 40),
light AS (SELECT parts.k0 AS k0, parts.k1 AS k1, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, parts.k1 AS k1, COUNT(*) AS owners
FROM parts
GROUP BY 1, 2),
dropped AS (SELECT k0, k1, COUNT(*) AS lost
FROM (SELECT k0, k1, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(k0 AS VARCHAR), '~') || '|' || COALESCE(CAST((date_diff('second', TIMESTAMP '1970-01-01 00:00:00', date_trunc('second', CAST(k1 AS TIMESTAMP(6)))) * 1000000 + CAST(substr(CAST(CAST(k1 AS TIMESTAMP(6)) AS VARCHAR), -6) AS BIGINT)) AS VARCHAR), '~'))))), k0 ASC NULLS LAST, k1 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0, parts.k1 AS k1
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1, 2),
weighted AS (SELECT counted.k0 AS k0, counted.k1 AS k1, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(dropped.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k0 IS NULL THEN 1 ELSE 0 END AND COALESCE(counted.k1, CAST('1970-01-01 00:00:00' AS TIMESTAMP)) = COALESCE(dropped.k1, CAST('1970-01-01 00:00:00' AS TIMESTAMP)) AND CASE WHEN counted.k1 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k1 IS NULL THEN 1 ELSE 0 END),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, k1, units, all_keys
FROM bounded
WHERE units >= 10;

-- a key that is a double
SELECT income * 2 AS twice, COUNT(*) FROM customers GROUP BY 1;
-- first pass
SELECT ((CAST(t0."income" AS DOUBLE) * CAST(2 AS DOUBLE)) + (0.0e0)) AS k0, COUNT(*) AS units
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;

-- buckets of a median
SELECT city, MEDIAN(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(k0 AS VARCHAR), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(dropped.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k0 IS NULL THEN 1 ELSE 0 END),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- buckets
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, t0."customer_id" AS o, CAST((((CAST(CAST(CASE WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END AS BIGINT) AS BIGINT) - (0))) - ((CAST(CAST(CASE WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((CAST(t0."price" AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END AS BIGINT) AS BIGINT) - (0))) % 2097152001) / 2097152001 AS BIGINT) AS hedgerow_bucket
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT o, hedgerow_bucket, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE(CAST(private_rows.k0 AS VARCHAR), '') = COALESCE(CAST(hedgerow_selected.k0 AS VARCHAR), '') AND CASE WHEN private_rows.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN hedgerow_selected.k0 IS NULL THEN 1 ELSE 0 END),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 2 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('2305843009213693952' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 2 OR q > 2),
light AS (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 1 THEN n ELSE 1 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 1 THEN n ELSE 1 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 1 OR u < 1073741824),
whole AS (SELECT hedgerow_place, hedgerow_bucket, CAST(COUNT(*) AS DECIMAL(38, 0)) AS t
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, hedgerow_bucket, SUM(CAST(gap AS DECIMAL(38, 0))) AS m
FROM kept_rows JOIN light ON kept_rows.o = light.o AND COALESCE(kept_rows.hedgerow_place, 0) = COALESCE(light.hedgerow_place, 0) AND CASE WHEN kept_rows.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN light.hedgerow_place IS NULL THEN 1 ELSE 0 END
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
light AS (SELECT o, 1073741824 - CAST(((1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) - (1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) % n) / n AS BIGINT) AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
weighted AS (SELECT owners
FROM counted)
SELECT owners AS units
FROM weighted;
-- values
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(t0."city" AS VARCHAR) AS v
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT o, v, 0 AS hedgerow_place
FROM private_rows),
pairs AS (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(hedgerow_place AS VARCHAR), '~') || '|' || COALESCE(CAST(v AS VARCHAR), '~'))))), v ASC NULLS LAST) AS turn
FROM pairs) AS turns
WHERE turn <= 40)
SELECT hedgerow_place, COUNT(DISTINCT v) AS hedgerow_value
FROM chosen
GROUP BY 1;

-- different values, as a flow
-- with {"distinct": "flow"}
SELECT city, COUNT(DISTINCT placed) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, t0."customer_id" AS o
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(k0 AS VARCHAR), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(dropped.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k0 IS NULL THEN 1 ELSE 0 END),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- values
WITH private_rows AS (SELECT CAST(t0."city" AS VARCHAR) AS k0, t0."customer_id" AS o, t0."placed" AS v
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT o, v, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE(CAST(private_rows.k0 AS VARCHAR), '') = COALESCE(CAST(hedgerow_selected.k0 AS VARCHAR), '') AND CASE WHEN private_rows.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN hedgerow_selected.k0 IS NULL THEN 1 ELSE 0 END),
pairs AS (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
places AS (SELECT o, hedgerow_place
FROM (SELECT o, hedgerow_place, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(hedgerow_place AS VARCHAR), '~'))))), hedgerow_place ASC NULLS LAST) AS turn
FROM (SELECT DISTINCT o, hedgerow_place
FROM pairs) AS touched) AS turns
WHERE turn <= 3),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(hedgerow_place AS VARCHAR), '~') || '|' || COALESCE(CAST((date_diff('second', TIMESTAMP '1970-01-01 00:00:00', date_trunc('second', CAST(v AS TIMESTAMP(6)))) * 1000000 + CAST(substr(CAST(CAST(v AS TIMESTAMP(6)) AS VARCHAR), -6) AS BIGINT)) AS VARCHAR), '~'))))), v ASC NULLS LAST) AS turn
FROM (SELECT pairs.o AS o, pairs.hedgerow_place AS hedgerow_place, v
FROM pairs JOIN places ON pairs.o = places.o AND pairs.hedgerow_place = places.hedgerow_place) AS inside) AS turns
WHERE turn <= 64)
SELECT hedgerow_place, DENSE_RANK() OVER (ORDER BY o) AS hedgerow_owner, DENSE_RANK() OVER (ORDER BY v) AS hedgerow_value
FROM chosen;

-- owners along a path
SELECT colour, SUM(pieces) FROM items GROUP BY colour;
-- first pass
WITH private_rows AS (SELECT CAST(t0."colour" AS VARCHAR) AS k0, t1."customer_id" AS o, CAST(CASE WHEN (CAST(t0."pieces" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) < (1.0e0) THEN (1.0e0) WHEN (CAST(t0."pieces" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) >= (100.0e0) THEN (100.0e0) ELSE floor((CAST(t0."pieces" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0)) END AS INTEGER) AS x0
FROM "items" AS t0 JOIN "orders" AS t1 ON (t0."order_id" = t1."id")
WHERE t1."customer_id" IS NOT NULL),
parts AS (SELECT k0, o, COUNT(*) AS n, SUM(CAST(x0 AS DECIMAL(38, 0))) AS p0
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('11529215046068469760000' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 100 OR q > 10000),
light AS (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 100 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(k0 AS VARCHAR), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 100) AS touching) AS ranked
WHERE place > 100
GROUP BY 1),
totals AS (SELECT k0, CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.k0 AS k0, SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0
FROM parts JOIN light ON parts.o = light.o AND COALESCE(CAST(parts.k0 AS VARCHAR), '') = COALESCE(CAST(light.k0 AS VARCHAR), '') AND CASE WHEN parts.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN light.k0 IS NULL THEN 1 ELSE 0 END
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted
LEFT JOIN dropped ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(dropped.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k0 IS NULL THEN 1 ELSE 0 END JOIN totals ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(totals.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN totals.k0 IS NULL THEN 1 ELSE 0 END
LEFT JOIN surplus ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(surplus.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN surplus.k0 IS NULL THEN 1 ELSE 0 END),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CAST(t0."colour" AS VARCHAR) AS k0, t1."customer_id" AS o, CAST(CASE WHEN (CAST(t0."pieces" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) < (1.0e0) THEN (1.0e0) WHEN (CAST(t0."pieces" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) >= (100.0e0) THEN (100.0e0) ELSE floor((CAST(t0."pieces" AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0)) END AS INTEGER) AS x0
FROM "items" AS t0 JOIN "orders" AS t1 ON (t0."order_id" = t1."id")
WHERE t1."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE(CAST(private_rows.k0 AS VARCHAR), '') = COALESCE(CAST(hedgerow_selected.k0 AS VARCHAR), '') AND CASE WHEN private_rows.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN hedgerow_selected.k0 IS NULL THEN 1 ELSE 0 END),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, SUM(CAST(x0 AS DECIMAL(38, 0))) AS p0
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('11529215046068469760000' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 100 OR q > 10000),
light AS (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 100 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.hedgerow_place AS hedgerow_place, SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0
FROM parts JOIN light ON parts.o = light.o AND COALESCE(parts.hedgerow_place, 0) = COALESCE(light.hedgerow_place, 0) AND CASE WHEN parts.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN light.hedgerow_place IS NULL THEN 1 ELSE 0 END
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted JOIN totals ON COALESCE(counted.hedgerow_place, 0) = COALESCE(totals.hedgerow_place, 0) AND CASE WHEN counted.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN totals.hedgerow_place IS NULL THEN 1 ELSE 0 END
LEFT JOIN surplus ON COALESCE(counted.hedgerow_place, 0) = COALESCE(surplus.hedgerow_place, 0) AND CASE WHEN counted.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN surplus.hedgerow_place IS NULL THEN 1 ELSE 0 END)
SELECT hedgerow_place, s0
FROM weighted;

-- a join, with conditions on both sides
SELECT c.region, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.price > 9.99 AND c.region <> 'south' GROUP BY 1;
-- first pass
WITH private_rows AS (SELECT CAST(t0."region" AS VARCHAR) AS k0, t0."id" AS o
FROM "customers" AS t0 JOIN "orders" AS t1 ON (t1."customer_id" = t0."id")
WHERE t0."id" IS NOT NULL AND ((9.99) < t1."price") AND (CAST(t0."region" AS VARCHAR) <> 'south') AND CAST(t0."region" AS VARCHAR) IN ('north', 'o''north', 'south')),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 1, 2),
gaps AS (SELECT k0, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - CAST(((1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT k0, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS DECIMAL(38, 0)), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS DECIMAL(38, 0)) * p0), 0) AS s0, COUNT(*) AS units
FROM gaps
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CAST(t0."region" AS VARCHAR) AS k0, t0."id" AS o
FROM "customers" AS t0 JOIN "orders" AS t1 ON (t1."customer_id" = t0."id")
WHERE t0."id" IS NOT NULL AND ((9.99) < t1."price") AND (CAST(t0."region" AS VARCHAR) <> 'south') AND CAST(t0."region" AS VARCHAR) IN ('north', 'o''north', 'south')),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE(CAST(private_rows.k0 AS VARCHAR), '') = COALESCE(CAST(hedgerow_selected.k0 AS VARCHAR), '') AND CASE WHEN private_rows.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN hedgerow_selected.k0 IS NULL THEN 1 ELSE 0 END),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 1, 2),
gaps AS (SELECT hedgerow_place, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - CAST(((1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) END AS gap
FROM parts),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, COALESCE(CAST(SUM(p0) AS DECIMAL(38, 0)), 0) * 1073741824 - COALESCE(SUM(CAST(gap AS DECIMAL(38, 0)) * p0), 0) AS s0
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0
FROM weighted;

-- arithmetic, choices, text and dates
SELECT SUM(CASE WHEN city LIKE 'O''%' OR LOWER(city) IN ('rome', 'a\b') THEN price * 2 / 3 ELSE 0 END) FROM orders WHERE EXTRACT(year FROM placed) = 2026 AND placed >= TIMESTAMP '2026-01-31 12:00:00';
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(CASE WHEN is_nan(CAST(CASE WHEN ((CAST(t0."city" AS VARCHAR) LIKE 'O''%' ESCAPE '!') OR (CAST(lower(CAST(t0."city" AS VARCHAR)) AS VARCHAR) IN ('rome', 'a\b'))) THEN ((CAST(t0."price" AS DOUBLE) * CAST(2 AS DOUBLE)) / NULLIF(CAST(3 AS DOUBLE), (0.0e0))) ELSE (0.0e0) END AS DOUBLE)) THEN NULL WHEN (CAST(CASE WHEN ((CAST(t0."city" AS VARCHAR) LIKE 'O''%' ESCAPE '!') OR (CAST(lower(CAST(t0."city" AS VARCHAR)) AS VARCHAR) IN ('rome', 'a\b'))) THEN ((CAST(t0."price" AS DOUBLE) * CAST(2 AS DOUBLE)) / NULLIF(CAST(3 AS DOUBLE), (0.0e0))) ELSE (0.0e0) END AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(CASE WHEN ((CAST(t0."city" AS VARCHAR) LIKE 'O''%' ESCAPE '!') OR (CAST(lower(CAST(t0."city" AS VARCHAR)) AS VARCHAR) IN ('rome', 'a\b'))) THEN ((CAST(t0."price" AS DOUBLE) * CAST(2 AS DOUBLE)) / NULLIF(CAST(3 AS DOUBLE), (0.0e0))) ELSE (0.0e0) END AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (1431655765334.0e0) THEN (1431655765334.0e0) ELSE floor((CAST(CASE WHEN ((CAST(t0."city" AS VARCHAR) LIKE 'O''%' ESCAPE '!') OR (CAST(lower(CAST(t0."city" AS VARCHAR)) AS VARCHAR) IN ('rome', 'a\b'))) THEN ((CAST(t0."price" AS DOUBLE) * CAST(2 AS DOUBLE)) / NULLIF(CAST(3 AS DOUBLE), (0.0e0))) ELSE (0.0e0) END AS DOUBLE) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END AS BIGINT) AS x0
FROM "orders" AS t0
WHERE t0."customer_id" IS NOT NULL AND (year(t0."placed") = 2026) AND (TIMESTAMP '2026-01-31 12:00:00.000000' <= t0."placed")),
parts AS (SELECT o, COUNT(*) AS n, SUM(CAST(x0 AS DECIMAL(38, 0))) AS p0
FROM private_rows
GROUP BY 1),
light AS (SELECT o, 1073741824 - CAST(((1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) - (1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) % n) / n AS BIGINT) AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0
FROM parts),
surplus AS (SELECT SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0
FROM parts JOIN light ON parts.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- whole numbers
SELECT AVG(CLIP((age + 5) // 10 * 10 % 7, 0, 10)) FROM customers WHERE NOT vip OR age IS NULL;
-- first pass
SELECT COUNT(*) AS units, COUNT(CASE WHEN (CASE WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) < 0 THEN 0 WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) > 10 THEN 10 ELSE (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) END IS NOT NULL) THEN 1 END) AS s0, COALESCE(SUM(CAST(CAST(CASE WHEN (CAST(CASE WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) < 0 THEN 0 WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) > 10 THEN 10 ELSE (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) END AS DOUBLE) - (3.5e0)) * (2.0e0) + (0.5e0) < (-7.0e0) THEN (-7.0e0) WHEN (CAST(CASE WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) < 0 THEN 0 WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) > 10 THEN 10 ELSE (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) END AS DOUBLE) - (3.5e0)) * (2.0e0) + (0.5e0) >= (7.0e0) THEN (7.0e0) ELSE floor((CAST(CASE WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) < 0 THEN 0 WHEN (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) > 10 THEN 10 ELSE (CAST(TRY(CAST((CAST(TRY(CAST(t0."age" AS BIGINT) + CAST(5 AS BIGINT)) AS BIGINT) / NULLIF(CAST(10 AS BIGINT), 0)) AS BIGINT) * CAST(10 AS BIGINT)) AS BIGINT) % NULLIF(CAST(7 AS BIGINT), 0)) END AS DOUBLE) - (3.5e0)) * (2.0e0) + (0.5e0)) END AS INTEGER) AS DECIMAL(38, 0))), 0) AS s1
FROM "customers" AS t0
WHERE t0."id" IS NOT NULL AND ((NOT t0."vip") OR (t0."age" IS NULL));

-- a query inside a condition, and a difference of two sets of people
SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.price > 100) AND c.id NOT IN (SELECT customer_id FROM orders WHERE city = 'Rome' AND customer_id IS NOT NULL);
-- first pass
SELECT COUNT(*) AS units
FROM "customers" AS t0
LEFT JOIN (SELECT DISTINCT t2."customer_id" AS "w0", t2."customer_id" AS "w1"
FROM "orders" AS t2
WHERE (CAST(t2."city" AS VARCHAR) = 'Rome') AND (NOT (t2."customer_id" IS NULL))) AS t2_pairs ON ((t0."id" = t2_pairs."w0") AND (t0."id" = t2_pairs."w1"))
WHERE t0."id" IS NOT NULL AND EXISTS (SELECT 1 AS "c0"
FROM "orders" AS t1
WHERE (t1."customer_id" = t0."id") AND (100 < t1."price") AND (t1."customer_id" = t0."id")) AND ((NOT (t0."id" IS NULL)) AND (t2_pairs."w0" IS NULL));

-- the first row of each person
SELECT city, COUNT(*) FROM (SELECT customer_id, city, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed DESC) AS turn FROM orders) t WHERE turn = 1 GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CAST(t0."c1" AS VARCHAR) AS k0, t0."o" AS o
FROM (SELECT t1."customer_id" AS "c0", t1."city" AS "c1", ROW_NUMBER() OVER (PARTITION BY t1."customer_id", t1."customer_id" ORDER BY t1."placed" DESC NULLS LAST, CAST(t1."city" AS VARCHAR) ASC NULLS LAST, t1."customer_id" ASC NULLS LAST) AS "c2", t1."customer_id" AS "o"
FROM "orders" AS t1) AS t0
WHERE t0."o" IS NOT NULL AND (t0."c2" = 1)),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(to_hex(md5(to_utf8('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS VARCHAR), '~') || '|' || COALESCE(CAST(k0 AS VARCHAR), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
totals AS (SELECT k0, CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.k0 AS k0, SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0
FROM parts JOIN light ON parts.o = light.o AND COALESCE(CAST(parts.k0 AS VARCHAR), '') = COALESCE(CAST(light.k0 AS VARCHAR), '') AND CASE WHEN parts.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN light.k0 IS NULL THEN 1 ELSE 0 END
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted
LEFT JOIN dropped ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(dropped.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN dropped.k0 IS NULL THEN 1 ELSE 0 END JOIN totals ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(totals.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN totals.k0 IS NULL THEN 1 ELSE 0 END
LEFT JOIN surplus ON COALESCE(CAST(counted.k0 AS VARCHAR), '') = COALESCE(CAST(surplus.k0 AS VARCHAR), '') AND CASE WHEN counted.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN surplus.k0 IS NULL THEN 1 ELSE 0 END),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CAST(t0."c1" AS VARCHAR) AS k0, t0."o" AS o
FROM (SELECT t1."customer_id" AS "c0", t1."city" AS "c1", ROW_NUMBER() OVER (PARTITION BY t1."customer_id", t1."customer_id" ORDER BY t1."placed" DESC NULLS LAST, CAST(t1."city" AS VARCHAR) ASC NULLS LAST, t1."customer_id" ASC NULLS LAST) AS "c2", t1."customer_id" AS "o"
FROM "orders" AS t1) AS t0
WHERE t0."o" IS NOT NULL AND (t0."c2" = 1)),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON COALESCE(CAST(private_rows.k0 AS VARCHAR), '') = COALESCE(CAST(hedgerow_selected.k0 AS VARCHAR), '') AND CASE WHEN private_rows.k0 IS NULL THEN 1 ELSE 0 END = CASE WHEN hedgerow_selected.k0 IS NULL THEN 1 ELSE 0 END),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, SUM(CAST((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END) AS DECIMAL(38, 0))) AS q
FROM parts
GROUP BY 1),
heavy AS (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) AS DECIMAL(38, 0)) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) * q > CAST('922337203685477580800' AS DECIMAL(38, 0)) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS DOUBLE))) AS BIGINT) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - CAST(((COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) % n) / n AS BIGINT) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(SUM(p0) AS DECIMAL(38, 0)) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.hedgerow_place AS hedgerow_place, SUM(CAST(gap AS DECIMAL(38, 0)) * p0) AS m0
FROM parts JOIN light ON parts.o = light.o AND COALESCE(parts.hedgerow_place, 0) = COALESCE(light.hedgerow_place, 0) AND CASE WHEN parts.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN light.hedgerow_place IS NULL THEN 1 ELSE 0 END
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted JOIN totals ON COALESCE(counted.hedgerow_place, 0) = COALESCE(totals.hedgerow_place, 0) AND CASE WHEN counted.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN totals.hedgerow_place IS NULL THEN 1 ELSE 0 END
LEFT JOIN surplus ON COALESCE(counted.hedgerow_place, 0) = COALESCE(surplus.hedgerow_place, 0) AND CASE WHEN counted.hedgerow_place IS NULL THEN 1 ELSE 0 END = CASE WHEN surplus.hedgerow_place IS NULL THEN 1 ELSE 0 END)
SELECT hedgerow_place, s0
FROM weighted;

-- a public table, ordered and cut
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC NULLS LAST LIMIT 3 OFFSET 2;
-- public
SELECT t0."name" AS "c0", t0."population" AS "c1"
FROM "countries" AS t0
WHERE (1000000 < t0."population") ORDER BY t0."population" DESC NULLS LAST, CAST(t0."name" AS VARCHAR) ASC NULLS LAST OFFSET 2
LIMIT 3;

-- points in time, in a zone with two offsets
SELECT seen AT TIME ZONE 'Asia/Dubai' FROM visits WHERE seen >= '2024-03-31T03:00:00+02:00';
-- public
SELECT CASE WHEN CAST(t0."seen" AT TIME ZONE 'UTC' AS TIMESTAMP(6)) BETWEEN TIMESTAMP '0001-01-04 00:00:00.000000' AND TIMESTAMP '9999-12-28 23:59:59.999999' THEN date_add('second', CASE WHEN CAST(t0."seen" AT TIME ZONE 'UTC' AS TIMESTAMP(6)) < TIMESTAMP '1919-12-31 20:18:48.000000' THEN 13272 ELSE 14400 END, CAST(t0."seen" AT TIME ZONE 'UTC' AS TIMESTAMP(6))) ELSE CAST(t0."seen" AT TIME ZONE 'UTC' AS TIMESTAMP(6)) END AS "c0"
FROM "visits" AS t0
WHERE (TIMESTAMP '2024-03-31 01:00:00.000000' <= CAST(t0."seen" AT TIME ZONE 'UTC' AS TIMESTAMP(6)))
LIMIT 1000001;

-- parts of times of day
SELECT EXTRACT(hour FROM clock), EXTRACT(second FROM clock) FROM visits WHERE clock < '12:30';
-- public
SELECT CASE WHEN (date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT)) BETWEEN 0 AND 86399999999 THEN CAST((((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT))) - ((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT))) % 3600000000) / 3600000000 AS BIGINT) END AS "c0", CASE WHEN (date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT)) BETWEEN 0 AND 86399999999 THEN CAST(((((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT)) - CAST((((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT))) - ((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT))) % 60000000) / 60000000 AS BIGINT) * 60000000)) - (((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT)) - CAST((((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT))) - ((date_diff('second', TIME '00:00:00', date_trunc('second', CAST(t0."clock" AS TIME(6)))) * 1000000 + CAST(substr(CAST(CAST(t0."clock" AS TIME(6)) AS VARCHAR), -6) AS BIGINT))) % 60000000) / 60000000 AS BIGINT) * 60000000)) % 1000000) / 1000000 AS BIGINT) END AS "c1"
FROM "visits" AS t0
WHERE (t0."clock" < TIME '12:30:00')
LIMIT 1000001;

-- keys that were selected, as part of a statement
-- hedgerow_selected;
-- measure
WITH hedgerow_selected AS (SELECT c0 AS k0, c1 AS k1, c2 AS k2, c3 AS k3, c4 AS hedgerow_place FROM (VALUES ('', (0.00), (0.0e0), FALSE, (-1)), ('it''s \ é', (1.50), (0.1e0), TRUE, 0), (NULL, NULL, (-2.5e0), NULL, 1)) AS given(c0, c1, c2, c3, c4) WHERE c4 >= 0), kept AS (SELECT * FROM hedgerow_selected) SELECT * FROM kept;
