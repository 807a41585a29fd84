-- one row for each person, and no keys
SELECT COUNT(*), AVG(income), SUM(age) FROM customers WHERE vip AND age > 17;
-- first pass
SELECT COUNT(*) AS units, countIf((t0.`income` IS NOT NULL) AND (NOT isNaN(t0.`income`))) AS s0, COALESCE(sumOrNull(toInt128(if(isNull(CASE WHEN isNaN(toFloat64(t0.`income`)) THEN NULL WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN isNaN(toFloat64(t0.`income`)) THEN NULL WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END, 0e0) AS Int64)))), 0) AS s1, COALESCE(sumOrNull(toInt128((CAST(CASE WHEN t0.`age` < 0 THEN 0 WHEN t0.`age` > 120 THEN 120 ELSE t0.`age` END AS Int32)))), 0) AS s2
FROM `customers` AS t0
WHERE t0.`id` IS NOT NULL AND t0.`vip` AND (t0.`age` > 17);

-- declared keys, one row for each person
SELECT region, AVG(income) FROM customers GROUP BY region;
-- first pass
SELECT toValidUTF8(CAST(t0.`region` AS String)) AS k0, COUNT(*) AS units, countIf((t0.`income` IS NOT NULL) AND (NOT isNaN(t0.`income`))) AS s0, COALESCE(sumOrNull(toInt128(if(isNull(CASE WHEN isNaN(toFloat64(t0.`income`)) THEN NULL WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN isNaN(toFloat64(t0.`income`)) THEN NULL WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((toFloat64(t0.`income`) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END, 0e0) AS Int64)))), 0) AS s1
FROM `customers` AS t0
WHERE t0.`id` IS NOT NULL AND toValidUTF8(CAST(t0.`region` AS String)) IN ('north', 'o\'north', 'south')
GROUP BY 1;

-- several rows for each person, and no keys
SELECT COUNT(*), SUM(price) FROM orders;
-- first pass
WITH private_rows AS (SELECT t0.`customer_id` AS o, if(isNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END, 0e0) AS Int64)) AS x1
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - intDivOrZero(1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END), n) AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(*) AS Int128) AS t0, CAST(sumOrNull(toInt128(x1)) AS Int128) AS t1
FROM private_rows),
surplus AS (SELECT sumOrNull(toInt128(gap)) AS m0, sumOrNull(CAST(gap AS Int128) * x1) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- selected keys: a survey, and sums over those that were selected
SELECT city, COUNT(*), SUM(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, t0.`customer_id` AS o, if(isNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END, 0e0) AS Int64)) AS x1
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) * q > CAST('922337203685477580800' AS Int128) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(CAST(k0 AS String), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
totals AS (SELECT k0, CAST(COUNT(*) AS Int128) AS t0, CAST(sumOrNull(toInt128(x1)) AS Int128) AS t1
FROM private_rows
GROUP BY 1),
surplus AS (SELECT private_rows.k0 AS k0, sumOrNull(toInt128(gap)) AS m0, sumOrNull(CAST(gap AS Int128) * x1) AS m1
FROM private_rows JOIN light ON private_rows.o = light.o AND private_rows.k0 IS NOT DISTINCT FROM light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0 JOIN totals ON counted.k0 IS NOT DISTINCT FROM totals.k0
LEFT JOIN surplus ON counted.k0 IS NOT DISTINCT FROM surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0, s1
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, t0.`customer_id` AS o, if(isNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END, 0e0) AS Int64)) AS x1
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) * q > CAST('922337203685477580800' AS Int128) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(COUNT(*) AS Int128) AS t0, CAST(sumOrNull(toInt128(x1)) AS Int128) AS t1
FROM kept_rows
GROUP BY 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, sumOrNull(toInt128(gap)) AS m0, sumOrNull(CAST(gap AS Int128) * x1) AS m1
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0, COALESCE(t1, 0) * 1073741824 - COALESCE(m1, 0) AS s1
FROM counted JOIN totals ON counted.hedgerow_place IS NOT DISTINCT FROM totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS NOT DISTINCT FROM surplus.hedgerow_place)
SELECT hedgerow_place, s0, s1
FROM weighted;

-- two keys, one of them a month, with Laplace noise
-- with {"mechanism": "laplace"}
SELECT city, DATE_TRUNC('month', placed) AS month, COUNT(DISTINCT customer_id) FROM orders GROUP BY 1, 2;
-- first pass
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, CASE WHEN toDateTime64(arrayElement(arrayMap((d) -> arrayElement(arrayMap((n) -> if(n BETWEEN 12 AND 119999, toDateTime64(makeDate32(toInt32(intDiv(n, 12)), toInt32(n % 12) + 1, 1), 6, 'UTC'), NULL), [(toInt64(toYear(d)) * 12 + toMonth(d) - 1) - (toInt64(toYear(d)) * 12 + toMonth(d) - 1) % 1]), 1), [toDate32(toDateTime64(t0.`placed`, 6, 'UTC'))]), 1), 6, 'UTC') BETWEEN toDateTime64('0001-01-01 00:00:00', 6, 'UTC') AND toDateTime64('9999-12-31 23:59:59.999999', 6, 'UTC') THEN toDateTime64(arrayElement(arrayMap((d) -> arrayElement(arrayMap((n) -> if(n BETWEEN 12 AND 119999, toDateTime64(makeDate32(toInt32(intDiv(n, 12)), toInt32(n % 12) + 1, 1), 6, 'UTC'), NULL), [(toInt64(toYear(d)) * 12 + toMonth(d) - 1) - (toInt64(toYear(d)) * 12 + toMonth(d) - 1) % 1]), 1), [toDate32(toDateTime64(t0.`placed`, 6, 'UTC'))]), 1), 6, 'UTC') END AS k1, t0.`customer_id` AS o
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, k1, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2, 3),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128(CASE WHEN n < 20 THEN n ELSE 20 END)) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 40 THEN 1073741824 ELSE intDivOrZero(42949672960, q) END AS u
FROM sized
WHERE touched > 3 OR q > 40),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.k1 AS k1, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, parts.k1 AS k1, COUNT(*) AS owners
FROM parts
GROUP BY 1, 2),
dropped AS (SELECT k0, k1, COUNT(*) AS lost
FROM (SELECT k0, k1, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(CAST(k0 AS String), '~'), '|', COALESCE(toString(toUnixTimestamp64Micro(toDateTime64(k1, 6, 'UTC'))), '~'))))), k0 ASC NULLS LAST, k1 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0, parts.k1 AS k1
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1, 2),
weighted AS (SELECT counted.k0 AS k0, counted.k1 AS k1, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON counted.k0 IS NOT DISTINCT FROM dropped.k0 AND counted.k1 IS NOT DISTINCT FROM dropped.k1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, k1, units, all_keys
FROM bounded
WHERE units >= 10;

-- a key that is a double
SELECT income * 2 AS twice, COUNT(*) FROM customers GROUP BY 1;
-- first pass
SELECT if(isNaN((toFloat64(t0.`income`) * toFloat64(2))), nan, (toFloat64(t0.`income`) * toFloat64(2)) + 0e0) AS k0, COUNT(*) AS units
FROM `customers` AS t0
WHERE t0.`id` IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;

-- buckets of a median
SELECT city, MEDIAN(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, t0.`customer_id` AS o
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) * q > CAST('922337203685477580800' AS Int128) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(CAST(k0 AS String), '~'))))), k0 ASC NULLS LAST) AS place
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
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, t0.`customer_id` AS o, intDivOrZero((CAST(if(isNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (2147483648000.0e0) THEN (2147483648000.0e0) ELSE floor((toFloat64(t0.`price`) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END, 0e0) AS Int64)) AS Int64) - (0)), 2097152001) AS hedgerow_bucket
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, hedgerow_bucket, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 2 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS Float64))) AS Int64) * q > CAST('2305843009213693952' AS Int128) THEN CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((2.305843009213694e+18) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 2 OR q > 2),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 1 THEN n ELSE 1 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 1 OR u < 1073741824),
whole AS (SELECT hedgerow_place, hedgerow_bucket, CAST(COUNT(*) AS Int128) AS t
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 1, 2),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, hedgerow_bucket, sumOrNull(toInt128(gap)) AS m
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
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
WITH private_rows AS (SELECT t0.`customer_id` AS o
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - intDivOrZero(1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END), n) AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
weighted AS (SELECT owners
FROM counted)
SELECT owners AS units
FROM weighted;
-- values
WITH private_rows AS (SELECT t0.`customer_id` AS o, CAST(t0.`city` AS String) AS v
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
kept_rows AS (SELECT o, v, 0 AS hedgerow_place
FROM private_rows),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(toString(hedgerow_place), '~'), '|', COALESCE(CAST(v AS String), '~'))))), v ASC NULLS LAST) AS turn
FROM pairs) AS turns
WHERE turn <= 40)
SELECT hedgerow_place, COUNT(DISTINCT v) AS hedgerow_value
FROM chosen
GROUP BY 1;

-- different values, as a flow
-- with {"distinct": "flow"}
SELECT city, COUNT(DISTINCT placed) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, t0.`customer_id` AS o
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) * q > CAST('922337203685477580800' AS Int128) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(CAST(k0 AS String), '~'))))), k0 ASC NULLS LAST) AS place
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
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`city` AS String)) AS k0, t0.`customer_id` AS o, t0.`placed` AS v
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, v, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
places AS (SELECT o, hedgerow_place
FROM (SELECT o, hedgerow_place, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(toString(hedgerow_place), '~'))))), hedgerow_place ASC NULLS LAST) AS turn
FROM (SELECT DISTINCT o, hedgerow_place
FROM pairs) AS touched) AS turns
WHERE turn <= 3),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(toString(hedgerow_place), '~'), '|', COALESCE(toString(toUnixTimestamp64Micro(toDateTime64(v, 6, 'UTC'))), '~'))))), v ASC NULLS LAST) AS turn
FROM (SELECT pairs.o AS o, pairs.hedgerow_place AS hedgerow_place, v
FROM pairs JOIN places ON pairs.o = places.o AND pairs.hedgerow_place = places.hedgerow_place) AS inside) AS turns
WHERE turn <= 64)
SELECT hedgerow_place, DENSE_RANK() OVER (ORDER BY o) AS hedgerow_owner, DENSE_RANK() OVER (ORDER BY v) AS hedgerow_value
FROM chosen;

-- owners along a path
SELECT colour, SUM(pieces) FROM items GROUP BY colour;
-- first pass
WITH private_rows AS MATERIALIZED (SELECT toValidUTF8(CAST(t0.`colour` AS String)) AS k0, t1.`customer_id` AS o, (CAST(CASE WHEN t0.`pieces` < 1 THEN 1 WHEN t0.`pieces` > 100 THEN 100 ELSE t0.`pieces` END AS Int32)) AS x0
FROM `items` AS t0 JOIN `orders` AS t1 ON (t0.`order_id` = t1.`id`)
WHERE t1.`customer_id` IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) * q > CAST('11529215046068469760000' AS Int128) THEN CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 100 OR q > 10000),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 100 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(CAST(k0 AS String), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 100) AS touching) AS ranked
WHERE place > 100
GROUP BY 1),
totals AS (SELECT k0, CAST(sumOrNull(toInt128(x0)) AS Int128) AS t0
FROM private_rows
GROUP BY 1),
surplus AS (SELECT private_rows.k0 AS k0, sumOrNull(CAST(gap AS Int128) * x0) AS m0
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
WITH private_rows AS MATERIALIZED (SELECT toValidUTF8(CAST(t0.`colour` AS String)) AS k0, t1.`customer_id` AS o, (CAST(CASE WHEN t0.`pieces` < 1 THEN 1 WHEN t0.`pieces` > 100 THEN 100 ELSE t0.`pieces` END AS Int32)) AS x0
FROM `items` AS t0 JOIN `orders` AS t1 ON (t0.`order_id` = t1.`id`)
WHERE t1.`customer_id` IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) * q > CAST('11529215046068469760000' AS Int128) THEN CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((1.152921504606847e+22) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 100 OR q > 10000),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 100 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(sumOrNull(toInt128(x0)) AS Int128) AS t0
FROM kept_rows
GROUP BY 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, sumOrNull(CAST(gap AS Int128) * x0) AS m0
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted JOIN totals ON counted.hedgerow_place IS NOT DISTINCT FROM totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS NOT DISTINCT FROM surplus.hedgerow_place)
SELECT hedgerow_place, s0
FROM weighted;

-- a join, with conditions on both sides
SELECT c.region, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.price > 9.99 AND c.region <> 'south' GROUP BY 1;
-- first pass
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`region` AS String)) AS k0, t0.`id` AS o
FROM `customers` AS t0 JOIN `orders` AS t1 ON (t1.`customer_id` = t0.`id`)
WHERE t0.`id` IS NOT NULL AND (t1.`price` > toDecimal128('9.99', 2)) AND (t0.`region` <> 'south') AND toValidUTF8(CAST(t0.`region` AS String)) IN ('north', 'o\'north', 'south')),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 1, 2),
gaps AS (SELECT k0, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - intDivOrZero(1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END), n) END AS gap
FROM parts),
weighted AS (SELECT k0, COUNT(*) AS owners, COALESCE(CAST(sumOrNull(p0) AS Int128), 0) * 1073741824 - COALESCE(sumOrNull(CAST(gap AS Int128) * p0), 0) AS s0, COUNT(*) AS units
FROM gaps
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT toValidUTF8(CAST(t0.`region` AS String)) AS k0, t0.`id` AS o
FROM `customers` AS t0 JOIN `orders` AS t1 ON (t1.`customer_id` = t0.`id`)
WHERE t0.`id` IS NOT NULL AND (t1.`price` > toDecimal128('9.99', 2)) AND (t0.`region` <> 'south') AND toValidUTF8(CAST(t0.`region` AS String)) IN ('north', 'o\'north', 'south')),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 1, 2),
gaps AS (SELECT hedgerow_place, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - intDivOrZero(1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END), n) END AS gap
FROM parts),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, COALESCE(CAST(sumOrNull(p0) AS Int128), 0) * 1073741824 - COALESCE(sumOrNull(CAST(gap AS Int128) * p0), 0) AS s0
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0
FROM weighted;

-- arithmetic, choices, text and dates
SELECT SUM(CASE WHEN city LIKE 'O''%' OR LOWER(city) IN ('rome', 'a\b') THEN price * 2 / 3 ELSE 0 END) FROM orders WHERE EXTRACT(year FROM placed) = 2026 AND placed >= TIMESTAMP '2026-01-31 12:00:00';
-- first pass
WITH private_rows AS (SELECT t0.`customer_id` AS o, if(isNull(CASE WHEN isNaN(toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END)) THEN NULL WHEN (toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (1431655765334.0e0) THEN (1431655765334.0e0) ELSE floor((toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN isNaN(toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END)) THEN NULL WHEN (toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END) - (0.0e0)) * (4294967296.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END) - (0.0e0)) * (4294967296.0e0) + (0.5e0) >= (1431655765334.0e0) THEN (1431655765334.0e0) ELSE floor((toFloat64(CASE WHEN ((t0.`city` LIKE 'O\'%') OR (arrayElement(arrayMap((s) -> if(match(s, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), arrayStringConcat(arrayMap(p -> if(match(p, '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]'), translateUTF8(p, 'İΣ', 'iσ'), lowerUTF8(p)), extractAll(assumeNotNull(s), '[\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]|[^\\x{130}-\\x{130}\\x{3a3}-\\x{3a3}\\x{1c89}-\\x{1c89}\\x{a7cb}-\\x{a7cc}\\x{a7ce}-\\x{a7ce}\\x{a7d2}-\\x{a7d2}\\x{a7d4}-\\x{a7d4}\\x{a7da}-\\x{a7da}\\x{a7dc}-\\x{a7dc}\\x{10d50}-\\x{10d65}\\x{16ea0}-\\x{16eb8}]+'))), lowerUTF8(s)), [t0.`city`]), 1) IN ('rome', 'a\\b'))) THEN (toFloat64((toFloat64(t0.`price`) * toFloat64(2))) / nullIf(toFloat64(3), 0e0)) ELSE (0.0e0) END) - (0.0e0)) * (4294967296.0e0) + (0.5e0)) END, 0e0) AS Int64)) AS x0
FROM `orders` AS t0
WHERE t0.`customer_id` IS NOT NULL AND (toYear(toDate32(toDateTime64(t0.`placed`, 6, 'UTC'))) = 2026) AND (t0.`placed` >= toDateTime64('2026-01-31 12:00:00', 6, 'UTC'))),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - intDivOrZero(1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END), n) AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(sumOrNull(toInt128(x0)) AS Int128) AS t0
FROM private_rows),
surplus AS (SELECT sumOrNull(CAST(gap AS Int128) * x0) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- whole numbers
SELECT AVG(CLIP((age + 5) // 10 * 10 % 7, 0, 10)) FROM customers WHERE NOT vip OR age IS NULL;
-- first pass
SELECT COUNT(*) AS units, countIf((multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0))))) IS NOT NULL)) AS s0, COALESCE(sumOrNull(toInt128(if(isNull(CASE WHEN (toFloat64(multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))))) - (3.5e0)) * (2.0e0) + (0.5e0) < (-7.0e0) THEN (-7.0e0) WHEN (toFloat64(multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))))) - (3.5e0)) * (2.0e0) + (0.5e0) >= (7.0e0) THEN (7.0e0) ELSE floor((toFloat64(multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))))) - (3.5e0)) * (2.0e0) + (0.5e0)) END), NULL, CAST(ifNull(CASE WHEN (toFloat64(multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))))) - (3.5e0)) * (2.0e0) + (0.5e0) < (-7.0e0) THEN (-7.0e0) WHEN (toFloat64(multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))))) - (3.5e0)) * (2.0e0) + (0.5e0) >= (7.0e0) THEN (7.0e0) ELSE floor((toFloat64(multiIf(toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) < 0, 0, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))) > 10, 10, toInt64(if(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64') = toInt64('-9223372036854775808') AND 7 = -1, NULL, moduloOrZero(toInt64(accurateCastOrNull(toInt128(accurateCastOrNull(intDivOrZero(toInt128(accurateCastOrNull(toInt128(t0.`age`) + toInt128(5), 'Int64')), nullIf(toInt128(10), 0)), 'Int64')) * toInt128(10), 'Int64')), nullIf(toInt64(7), 0)))))) - (3.5e0)) * (2.0e0) + (0.5e0)) END, 0e0) AS Int32)))), 0) AS s1
FROM `customers` AS t0
WHERE t0.`id` IS NOT NULL AND ((NOT t0.`vip`) OR (t0.`age` IS NULL));

-- a query inside a condition, and a difference of two sets of people
SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.price > 100) AND c.id NOT IN (SELECT customer_id FROM orders WHERE city = 'Rome' AND customer_id IS NOT NULL);
-- first pass
SELECT COUNT(*) AS units
FROM `customers` AS t0
LEFT JOIN (SELECT DISTINCT t2.`customer_id` AS `w0`, t2.`customer_id` AS `w1`
FROM `orders` AS t2
WHERE (t2.`city` = 'Rome') AND (NOT (t2.`customer_id` IS NULL))) AS t2_pairs ON ((t0.`id` = t2_pairs.`w0`) AND (t0.`id` = t2_pairs.`w1`))
WHERE t0.`id` IS NOT NULL AND EXISTS (SELECT 1 AS `c0`
FROM `orders` AS t1
WHERE (t1.`customer_id` = t0.`id`) AND (t1.`price` > 100) AND (t1.`customer_id` = t0.`id`)) AND ((NOT (t0.`id` IS NULL)) AND (t2_pairs.`w0` IS NULL));

-- the first row of each person
SELECT city, COUNT(*) FROM (SELECT customer_id, city, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed DESC) AS turn FROM orders) t WHERE turn = 1 GROUP BY city;
-- first pass
WITH private_rows AS MATERIALIZED (SELECT toValidUTF8(CAST(t0.`c1` AS String)) AS k0, t0.`o` AS o
FROM (SELECT t1.`customer_id` AS `c0`, t1.`city` AS `c1`, CAST(ROW_NUMBER() OVER (PARTITION BY t1.`customer_id`, t1.`customer_id` ORDER BY t1.`placed` DESC NULLS LAST, CAST(t1.`city` AS String) ASC NULLS LAST, t1.`customer_id` ASC NULLS LAST) AS Int64) AS `c2`, t1.`customer_id` AS `o`
FROM `orders` AS t1) AS t0
WHERE t0.`o` IS NOT NULL AND (t0.`c2` = 1)),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) * q > CAST('922337203685477580800' AS Int128) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY lower(hex(MD5(concat('00000000000000000000000000000000', '|', COALESCE(toString(o), '~'), '|', COALESCE(CAST(k0 AS String), '~'))))), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
totals AS (SELECT k0, CAST(COUNT(*) AS Int128) AS t0
FROM private_rows
GROUP BY 1),
surplus AS (SELECT private_rows.k0 AS k0, sumOrNull(toInt128(gap)) AS m0
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
WITH private_rows AS MATERIALIZED (SELECT toValidUTF8(CAST(t0.`c1` AS String)) AS k0, t0.`o` AS o
FROM (SELECT t1.`customer_id` AS `c0`, t1.`city` AS `c1`, CAST(ROW_NUMBER() OVER (PARTITION BY t1.`customer_id`, t1.`customer_id` ORDER BY t1.`placed` DESC NULLS LAST, CAST(t1.`city` AS String) ASC NULLS LAST, t1.`customer_id` ASC NULLS LAST) AS Int64) AS `c2`, t1.`customer_id` AS `o`
FROM `orders` AS t1) AS t0
WHERE t0.`o` IS NOT NULL AND (t0.`c2` = 1)),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS NOT DISTINCT FROM hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
GROUP BY 1, 2),
sized AS (SELECT o, COUNT(*) AS touched, sumOrNull(toInt128((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END))) AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE CASE WHEN CAST(CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) AS Int128) * CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) * q > CAST('922337203685477580800' AS Int128) THEN CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) - 1 ELSE CAST(floor(sqrt((9.223372036854776e+20) / CAST(q AS Float64))) AS Int64) END END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - intDivOrZero(COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END), n) AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(COUNT(*) AS Int128) AS t0
FROM kept_rows
GROUP BY 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, sumOrNull(toInt128(gap)) AS m0
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS NOT DISTINCT FROM light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted JOIN totals ON counted.hedgerow_place IS NOT DISTINCT FROM totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS NOT DISTINCT FROM surplus.hedgerow_place)
SELECT hedgerow_place, s0
FROM weighted;

-- a public table, ordered and cut
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC NULLS LAST LIMIT 3 OFFSET 2;
-- public
SELECT t0.`name` AS `c0`, t0.`population` AS `c1`
FROM `countries` AS t0
WHERE (t0.`population` > 1000000) ORDER BY t0.`population` DESC NULLS LAST, CAST(t0.`name` AS String) ASC NULLS LAST
LIMIT 3 OFFSET 2;

-- points in time, in a zone with two offsets
SELECT seen AT TIME ZONE 'Asia/Dubai' FROM visits WHERE seen >= '2024-03-31T03:00:00+02:00';
-- public
SELECT toDateTime64(arrayElement(arrayMap((m) -> if(m BETWEEN -62135596800000000 AND 253402300799999999, fromUnixTimestamp64Micro(toInt64(m), 'UTC'), NULL), [arrayElement(arrayMap((z) -> if(z BETWEEN -62135337600000000 AND 253402041599999999, z + toInt64(CASE WHEN z < -1577936472000000 THEN 13272000000 ELSE 14400000000 END), z), [toUnixTimestamp64Micro(toDateTime64(t0.`seen`, 6, 'UTC'))]), 1)]), 1), 6, 'UTC') AS `c0`
FROM `visits` AS t0
WHERE (t0.`seen` >= toDateTime64('2024-03-31 01:00:00', 6, 'UTC'))
LIMIT 1000001;

-- parts of times of day
SELECT EXTRACT(hour FROM clock), EXTRACT(second FROM clock) FROM visits WHERE clock < '12:30';
-- public
SELECT CASE WHEN toInt64(toDecimal64(t0.`clock`, 6) * 1000000) BETWEEN 0 AND 86399999999 THEN intDivOrZero(toInt64(toDecimal64(t0.`clock`, 6) * 1000000), 3600000000) END AS `c0`, CASE WHEN toInt64(toDecimal64(t0.`clock`, 6) * 1000000) BETWEEN 0 AND 86399999999 THEN intDivOrZero((toInt64(toDecimal64(t0.`clock`, 6) * 1000000) - intDivOrZero(toInt64(toDecimal64(t0.`clock`, 6) * 1000000), 60000000) * 60000000), 1000000) END AS `c1`
FROM `visits` AS t0
WHERE (t0.`clock` < toTime64('12:30:00', 6))
LIMIT 1000001;

-- keys that were selected, as part of a statement
-- hedgerow_selected;
-- measure
WITH hedgerow_selected AS MATERIALIZED (SELECT c0 AS k0, c1 AS k1, c2 AS k2, c3 AS k3, c4 AS hedgerow_place FROM (SELECT '' AS c0, toDecimal128('0.00', 2) AS c1, (0.0e0) AS c2, FALSE AS c3, (-1) AS c4 UNION ALL SELECT 'it\'s \\ é' AS c0, toDecimal128('1.50', 2) AS c1, (0.1e0) AS c2, TRUE AS c3, 0 AS c4 UNION ALL SELECT NULL AS c0, NULL AS c1, (-2.5e0) AS c2, NULL AS c3, 1 AS c4) AS given WHERE c4 >= 0), kept AS (SELECT * FROM hedgerow_selected) SELECT * FROM kept;
