-- one row for each person, and no keys
SELECT COUNT(*), AVG(income), SUM(age) FROM customers WHERE vip AND age > 17;
-- first pass
SELECT COUNT(*) AS units, COUNT(CASE WHEN (t0."income" IS NOT NULL) AND (NOT (t0."income" = '')) THEN 1 END) AS s0, COALESCE(CASE WHEN SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) & 4294967295) < 4611686018427387904 THEN SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) >> 32) * 4294967296 + SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) & 4294967295) ELSE hedgerow_halves(SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) >> 32), SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) & 4294967295)) END, 0) AS s1, COALESCE(CASE WHEN SUM((CAST(floor(min(max((CAST(NULLIF(min(t0."age", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 0.0), 120.0)) AS INTEGER)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((CAST(floor(min(max((CAST(NULLIF(min(t0."age", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 0.0), 120.0)) AS INTEGER)) & 4294967295) < 4611686018427387904 THEN SUM((CAST(floor(min(max((CAST(NULLIF(min(t0."age", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 0.0), 120.0)) AS INTEGER)) >> 32) * 4294967296 + SUM((CAST(floor(min(max((CAST(NULLIF(min(t0."age", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 0.0), 120.0)) AS INTEGER)) & 4294967295) ELSE hedgerow_halves(SUM((CAST(floor(min(max((CAST(NULLIF(min(t0."age", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 0.0), 120.0)) AS INTEGER)) >> 32), SUM((CAST(floor(min(max((CAST(NULLIF(min(t0."age", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 0.0), 120.0)) AS INTEGER)) & 4294967295)) END, 0) AS s2
FROM "main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."vip" AND (t0."age" > 17);

-- declared keys, one row for each person
SELECT region, AVG(income) FROM customers GROUP BY region;
-- first pass
SELECT CASE WHEN typeof(t0."region" COLLATE BINARY) = 'text' AND length(t0."region" COLLATE BINARY) = length(CAST(t0."region" COLLATE BINARY AS BLOB)) AND NOT t0."region" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."region" COLLATE BINARY ELSE hedgerow_text(CAST(t0."region" COLLATE BINARY AS BLOB)) END AS k0, COUNT(*) AS units, COUNT(CASE WHEN (t0."income" IS NOT NULL) AND (NOT (t0."income" = '')) THEN 1 END) AS s0, COALESCE(CASE WHEN SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) & 4294967295) < 4611686018427387904 THEN SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) >> 32) * 4294967296 + SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) & 4294967295) ELSE hedgerow_halves(SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) >> 32), SUM((CAST(floor(min(max((NULLIF(t0."income", '') - 125000.0) * 16777216.0 + 0.5, (-2097152000000.0)), 2097152000000.0)) AS INTEGER)) & 4294967295)) END, 0) AS s1
FROM "main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND CASE WHEN typeof(t0."region" COLLATE BINARY) = 'text' AND length(t0."region" COLLATE BINARY) = length(CAST(t0."region" COLLATE BINARY AS BLOB)) AND NOT t0."region" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."region" COLLATE BINARY ELSE hedgerow_text(CAST(t0."region" COLLATE BINARY AS BLOB)) END IN ('north', 'o''north', 'south')
GROUP BY 1;

-- several rows for each person, and no keys
SELECT COUNT(*), SUM(price) FROM orders;
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(floor(min(max((CAST(NULLIF(min(t0."price", ''), '') AS REAL) - 0.0) * 4294967296.0 + 0.5, 0.0), 2147483648000.0)) AS INTEGER) AS x1
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n, COUNT(*) AS p0, CASE WHEN SUM((x1) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((x1) & 4294967295) < 4611686018427387904 THEN SUM((x1) >> 32) * 4294967296 + SUM((x1) & 4294967295) ELSE hedgerow_halves(SUM((x1) >> 32), SUM((x1) & 4294967295)) END AS p1
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - (1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) / n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0, CAST(hedgerow_plus(CASE WHEN SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer') < 4611686018427387904 THEN SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer') * 4294967296 + SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer') ELSE hedgerow_halves(SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer'), SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer')) END, hedgerow_wide_total(p1) FILTER (WHERE typeof(p1) = 'text')) AS TEXT) AS t1
FROM parts),
surplus AS (SELECT hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0, hedgerow_product_total(gap, p1) FILTER (WHERE gap IS NOT NULL) AS m1
FROM parts JOIN light ON parts.o = light.o),
weighted AS (SELECT owners, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0, hedgerow_weighed(COALESCE(t1, 0), 1073741824, COALESCE(m1, 0)) AS s1
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0, s1
FROM weighted;

-- selected keys: a survey, and sums over those that were selected
SELECT city, COUNT(*), SUM(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, t0."customer_id" AS o, CAST(floor(min(max((CAST(NULLIF(min(t0."price", ''), '') AS REAL) - 0.0) * 4294967296.0 + 0.5, 0.0), 2147483648000.0)) AS INTEGER) AS x1
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0, CASE WHEN SUM((x1) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((x1) & 4294967295) < 4611686018427387904 THEN SUM((x1) >> 32) * 4294967296 + SUM((x1) & 4294967295) ELSE hedgerow_halves(SUM((x1) >> 32), SUM((x1) & 4294967295)) END AS p1
FROM private_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32), SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE hedgerow_root('922337203685477580800', q) END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(k0, '~') AS BLOB)), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
totals AS (SELECT k0, CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0, CAST(hedgerow_plus(CASE WHEN SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer') < 4611686018427387904 THEN SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer') * 4294967296 + SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer') ELSE hedgerow_halves(SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer'), SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer')) END, hedgerow_wide_total(p1) FILTER (WHERE typeof(p1) = 'text')) AS TEXT) AS t1
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.k0 AS k0, hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0, hedgerow_product_total(gap, p1) FILTER (WHERE gap IS NOT NULL) AS m1
FROM parts JOIN light ON parts.o = light.o AND parts.k0 IS light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0, hedgerow_weighed(COALESCE(t1, 0), 1073741824, COALESCE(m1, 0)) AS s1
FROM counted
LEFT JOIN dropped ON counted.k0 IS dropped.k0 JOIN totals ON counted.k0 IS totals.k0
LEFT JOIN surplus ON counted.k0 IS surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0, s1
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, t0."customer_id" AS o, CAST(floor(min(max((CAST(NULLIF(min(t0."price", ''), '') AS REAL) - 0.0) * 4294967296.0 + 0.5, 0.0), 2147483648000.0)) AS INTEGER) AS x1
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0, CASE WHEN SUM((x1) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((x1) & 4294967295) < 4611686018427387904 THEN SUM((x1) >> 32) * 4294967296 + SUM((x1) & 4294967295) ELSE hedgerow_halves(SUM((x1) >> 32), SUM((x1) & 4294967295)) END AS p1
FROM kept_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32), SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE hedgerow_root('922337203685477580800', q) END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0, CAST(hedgerow_plus(CASE WHEN SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer') < 4611686018427387904 THEN SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer') * 4294967296 + SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer') ELSE hedgerow_halves(SUM(p1 >> 32) FILTER (WHERE typeof(p1) = 'integer'), SUM(p1 & 4294967295) FILTER (WHERE typeof(p1) = 'integer')) END, hedgerow_wide_total(p1) FILTER (WHERE typeof(p1) = 'text')) AS TEXT) AS t1
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.hedgerow_place AS hedgerow_place, hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0, hedgerow_product_total(gap, p1) FILTER (WHERE gap IS NOT NULL) AS m1
FROM parts JOIN light ON parts.o = light.o AND parts.hedgerow_place IS light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0, hedgerow_weighed(COALESCE(t1, 0), 1073741824, COALESCE(m1, 0)) AS s1
FROM counted JOIN totals ON counted.hedgerow_place IS totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS surplus.hedgerow_place)
SELECT hedgerow_place, s0, s1
FROM weighted;

-- two keys, one of them a month, with Laplace noise
-- with {"mechanism": "laplace"}
SELECT city, DATE_TRUNC('month', placed) AS month, COUNT(DISTINCT customer_id) FROM orders GROUP BY 1, 2;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, CASE WHEN hedgerow_trunc_month(t0."placed") BETWEEN (-62135596800000000) AND 253402300799999999 THEN hedgerow_trunc_month(t0."placed") END AS k1, t0."customer_id" AS o
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, k1, o, COUNT(*) AS n
FROM private_rows
GROUP BY 3, 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM((CASE WHEN n < 20 THEN n ELSE 20 END) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((CASE WHEN n < 20 THEN n ELSE 20 END) & 4294967295) < 4611686018427387904 THEN SUM((CASE WHEN n < 20 THEN n ELSE 20 END) >> 32) * 4294967296 + SUM((CASE WHEN n < 20 THEN n ELSE 20 END) & 4294967295) ELSE hedgerow_halves(SUM((CASE WHEN n < 20 THEN n ELSE 20 END) >> 32), SUM((CASE WHEN n < 20 THEN n ELSE 20 END) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 40 THEN 1073741824 ELSE (42949672960) / q END AS u
FROM sized
WHERE touched > 3 OR q > 40),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.k1 AS k1, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, parts.k1 AS k1, COUNT(*) AS owners
FROM parts
GROUP BY 2, 1),
dropped AS (SELECT k0, k1, COUNT(*) AS lost
FROM (SELECT k0, k1, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(k0, '~') || '|' || COALESCE(CAST(NULLIF(NULLIF(k1, 9223372036854775807), -9223372036854775807) AS TEXT), '~') AS BLOB)), k0 ASC NULLS LAST, k1 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0, parts.k1 AS k1
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 2, 1),
weighted AS (SELECT counted.k0 AS k0, counted.k1 AS k1, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON counted.k0 IS dropped.k0 AND counted.k1 IS dropped.k1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, k1, units, all_keys
FROM bounded
WHERE units >= 10;

-- a key that is a double
SELECT income * 2 AS twice, COUNT(*) FROM customers GROUP BY 1;
-- first pass
SELECT CASE WHEN hedgerow_multiply(t0."income", 2) = 0 THEN 0.0 ELSE hedgerow_multiply(t0."income", 2) END AS k0, COUNT(*) AS units
FROM "main"."customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;

-- buckets of a median
SELECT city, MEDIAN(price) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, t0."customer_id" AS o
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32), SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE hedgerow_root('922337203685477580800', q) END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(k0, '~') AS BLOB)), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON counted.k0 IS dropped.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- buckets
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, t0."customer_id" AS o, ((CAST(CAST(floor(min(max((CAST(NULLIF(min(t0."price", ''), '') AS REAL) - 0.0) * 4294967296.0 + 0.5, 0.0), 2147483648000.0)) AS INTEGER) AS INTEGER) - (0))) / 2097152001 AS hedgerow_bucket
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, hedgerow_bucket, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) >> 32), SUM(((CASE WHEN n < 1 THEN n ELSE 1 END) * (CASE WHEN n < 1 THEN n ELSE 1 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 2 THEN 1073741824 ELSE hedgerow_root('2305843009213693952', q) END AS u
FROM sized
WHERE touched > 2 OR q > 2),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 1 THEN n ELSE 1 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 1 OR u < 1073741824),
whole AS (SELECT hedgerow_place, hedgerow_bucket, CAST(COUNT(*) AS TEXT) AS t
FROM kept_rows
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 2, 1),
surplus AS (SELECT kept_rows.hedgerow_place AS hedgerow_place, hedgerow_bucket, CASE WHEN SUM((gap) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((gap) & 4294967295) < 4611686018427387904 THEN SUM((gap) >> 32) * 4294967296 + SUM((gap) & 4294967295) ELSE hedgerow_halves(SUM((gap) >> 32), SUM((gap) & 4294967295)) END AS m
FROM kept_rows JOIN light ON kept_rows.o = light.o AND kept_rows.hedgerow_place IS light.hedgerow_place
WHERE hedgerow_bucket IS NOT NULL
GROUP BY 2, 1),
bucketed AS (SELECT whole.hedgerow_place AS hedgerow_place, whole.hedgerow_bucket AS hedgerow_bucket, hedgerow_weighed(t, 1073741824, COALESCE(m, 0)) AS hedgerow_weight
FROM whole
LEFT JOIN surplus ON whole.hedgerow_place = surplus.hedgerow_place AND whole.hedgerow_bucket = surplus.hedgerow_bucket)
SELECT hedgerow_place, hedgerow_bucket, hedgerow_weight
FROM bucketed;

-- different values, each person with a few
-- with {"distinct": "simple"}
SELECT COUNT(DISTINCT city) FROM orders;
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - (1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) / n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
weighted AS (SELECT owners
FROM counted)
SELECT owners AS units
FROM weighted;
-- values
WITH private_rows AS (SELECT t0."customer_id" AS o, t0."city" COLLATE BINARY AS v
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS (SELECT o, v, 0 AS hedgerow_place
FROM private_rows),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(CAST(hedgerow_place AS TEXT), '~') || '|' || COALESCE(v, '~') AS BLOB)), v ASC NULLS LAST) AS turn
FROM pairs) AS turns
WHERE turn <= 40)
SELECT hedgerow_place, COUNT(DISTINCT v) AS hedgerow_value
FROM chosen
GROUP BY 1;

-- different values, as a flow
-- with {"distinct": "flow"}
SELECT city, COUNT(DISTINCT placed) FROM orders GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, t0."customer_id" AS o
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n
FROM private_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32), SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE hedgerow_root('922337203685477580800', q) END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(k0, '~') AS BLOB)), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units
FROM counted
LEFT JOIN dropped ON counted.k0 IS dropped.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys
FROM bounded
WHERE units >= 10;
-- values
WITH private_rows AS (SELECT CASE WHEN typeof(t0."city" COLLATE BINARY) = 'text' AND length(t0."city" COLLATE BINARY) = length(CAST(t0."city" COLLATE BINARY AS BLOB)) AND NOT t0."city" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."city" COLLATE BINARY ELSE hedgerow_text(CAST(t0."city" COLLATE BINARY AS BLOB)) END AS k0, t0."customer_id" AS o, t0."placed" AS v
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL),
kept_rows AS MATERIALIZED (SELECT o, v, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS hedgerow_selected.k0),
pairs AS MATERIALIZED (SELECT DISTINCT o, hedgerow_place, v
FROM kept_rows
WHERE v IS NOT NULL),
places AS (SELECT o, hedgerow_place
FROM (SELECT o, hedgerow_place, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(CAST(hedgerow_place AS TEXT), '~') AS BLOB)), hedgerow_place ASC NULLS LAST) AS turn
FROM (SELECT DISTINCT o, hedgerow_place
FROM pairs) AS touched) AS turns
WHERE turn <= 3),
chosen AS (SELECT o, hedgerow_place, v
FROM (SELECT o, hedgerow_place, v, ROW_NUMBER() OVER (PARTITION BY o, hedgerow_place ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(CAST(hedgerow_place AS TEXT), '~') || '|' || COALESCE(CAST(NULLIF(NULLIF(v, 9223372036854775807), -9223372036854775807) AS TEXT), '~') AS BLOB)), v ASC NULLS LAST) AS turn
FROM (SELECT pairs.o AS o, pairs.hedgerow_place AS hedgerow_place, v
FROM pairs JOIN places ON pairs.o = places.o AND pairs.hedgerow_place = places.hedgerow_place) AS inside) AS turns
WHERE turn <= 64)
SELECT hedgerow_place, DENSE_RANK() OVER (ORDER BY o) AS hedgerow_owner, DENSE_RANK() OVER (ORDER BY v) AS hedgerow_value
FROM chosen;

-- owners along a path
SELECT colour, SUM(pieces) FROM items GROUP BY colour;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."colour" COLLATE BINARY) = 'text' AND length(t0."colour" COLLATE BINARY) = length(CAST(t0."colour" COLLATE BINARY AS BLOB)) AND NOT t0."colour" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."colour" COLLATE BINARY ELSE hedgerow_text(CAST(t0."colour" COLLATE BINARY AS BLOB)) END AS k0, t1."customer_id" AS o, CAST(floor(min(max((CAST(NULLIF(min(t0."pieces", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 1.0), 100.0)) AS INTEGER) AS x0
FROM "main"."items" AS t0 JOIN "main"."orders" AS t1 ON (t0."order_id" = t1."id")
WHERE t1."customer_id" IS NOT NULL),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n, CASE WHEN SUM((x0) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((x0) & 4294967295) < 4611686018427387904 THEN SUM((x0) >> 32) * 4294967296 + SUM((x0) & 4294967295) ELSE hedgerow_halves(SUM((x0) >> 32), SUM((x0) & 4294967295)) END AS p0
FROM private_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) >> 32), SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE hedgerow_root('11529215046068469760000', q) END AS u
FROM sized
WHERE touched > 100 OR q > 10000),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 100 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(k0, '~') AS BLOB)), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 100) AS touching) AS ranked
WHERE place > 100
GROUP BY 1),
totals AS (SELECT k0, CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.k0 AS k0, hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0
FROM parts JOIN light ON parts.o = light.o AND parts.k0 IS light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0
FROM counted
LEFT JOIN dropped ON counted.k0 IS dropped.k0 JOIN totals ON counted.k0 IS totals.k0
LEFT JOIN surplus ON counted.k0 IS surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CASE WHEN typeof(t0."colour" COLLATE BINARY) = 'text' AND length(t0."colour" COLLATE BINARY) = length(CAST(t0."colour" COLLATE BINARY AS BLOB)) AND NOT t0."colour" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."colour" COLLATE BINARY ELSE hedgerow_text(CAST(t0."colour" COLLATE BINARY AS BLOB)) END AS k0, t1."customer_id" AS o, CAST(floor(min(max((CAST(NULLIF(min(t0."pieces", ''), '') AS REAL) - 0.0) * 1.0 + 0.5, 1.0), 100.0)) AS INTEGER) AS x0
FROM "main"."items" AS t0 JOIN "main"."orders" AS t1 ON (t0."order_id" = t1."id")
WHERE t1."customer_id" IS NOT NULL),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n, CASE WHEN SUM((x0) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((x0) & 4294967295) < 4611686018427387904 THEN SUM((x0) >> 32) * 4294967296 + SUM((x0) & 4294967295) ELSE hedgerow_halves(SUM((x0) >> 32), SUM((x0) & 4294967295)) END AS p0
FROM kept_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) >> 32), SUM(((CASE WHEN n < 100 THEN n ELSE 100 END) * (CASE WHEN n < 100 THEN n ELSE 100 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 10000 THEN 1073741824 ELSE hedgerow_root('11529215046068469760000', q) END AS u
FROM sized
WHERE touched > 100 OR q > 10000),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 100 THEN n ELSE 100 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 100 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.hedgerow_place AS hedgerow_place, hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0
FROM parts JOIN light ON parts.o = light.o AND parts.hedgerow_place IS light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0
FROM counted JOIN totals ON counted.hedgerow_place IS totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS surplus.hedgerow_place)
SELECT hedgerow_place, s0
FROM weighted;

-- a join, with conditions on both sides
SELECT c.region, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.price > 9.99 AND c.region <> 'south' GROUP BY 1;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."region" COLLATE BINARY) = 'text' AND length(t0."region" COLLATE BINARY) = length(CAST(t0."region" COLLATE BINARY AS BLOB)) AND NOT t0."region" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."region" COLLATE BINARY ELSE hedgerow_text(CAST(t0."region" COLLATE BINARY AS BLOB)) END AS k0, t0."id" AS o
FROM "main"."customers" AS t0 JOIN "main"."orders" AS t1 ON (t1."customer_id" = t0."id")
WHERE t0."id" IS NOT NULL AND (t1."price" > hedgerow_double('0x1.3fae147ae147bp+3')) AND (t0."region" COLLATE BINARY <> 'south') AND CASE WHEN typeof(t0."region" COLLATE BINARY) = 'text' AND length(t0."region" COLLATE BINARY) = length(CAST(t0."region" COLLATE BINARY AS BLOB)) AND NOT t0."region" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."region" COLLATE BINARY ELSE hedgerow_text(CAST(t0."region" COLLATE BINARY AS BLOB)) END IN ('north', 'o''north', 'south')),
parts AS (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 2, 1),
gaps AS (SELECT k0, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - (1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n END AS gap
FROM parts),
weighted AS (SELECT k0, COUNT(*) AS owners, hedgerow_weighed(COALESCE(CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT), 0), 1073741824, COALESCE(hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL), 0)) AS s0, COUNT(*) AS units
FROM gaps
GROUP BY 1),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CASE WHEN typeof(t0."region" COLLATE BINARY) = 'text' AND length(t0."region" COLLATE BINARY) = length(CAST(t0."region" COLLATE BINARY AS BLOB)) AND NOT t0."region" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."region" COLLATE BINARY ELSE hedgerow_text(CAST(t0."region" COLLATE BINARY AS BLOB)) END AS k0, t0."id" AS o
FROM "main"."customers" AS t0 JOIN "main"."orders" AS t1 ON (t1."customer_id" = t0."id")
WHERE t0."id" IS NOT NULL AND (t1."price" > hedgerow_double('0x1.3fae147ae147bp+3')) AND (t0."region" COLLATE BINARY <> 'south') AND CASE WHEN typeof(t0."region" COLLATE BINARY) = 'text' AND length(t0."region" COLLATE BINARY) = length(CAST(t0."region" COLLATE BINARY AS BLOB)) AND NOT t0."region" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."region" COLLATE BINARY ELSE hedgerow_text(CAST(t0."region" COLLATE BINARY AS BLOB)) END IN ('north', 'o''north', 'south')),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS hedgerow_selected.k0),
parts AS (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 2, 1),
gaps AS (SELECT hedgerow_place, o, p0, 1073741824 AS u, CASE WHEN n > 20 THEN 1073741824 - (1073741824 * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n END AS gap
FROM parts),
weighted AS (SELECT hedgerow_place, COUNT(*) AS owners, hedgerow_weighed(COALESCE(CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT), 0), 1073741824, COALESCE(hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL), 0)) AS s0
FROM gaps
GROUP BY 1)
SELECT hedgerow_place, s0
FROM weighted;

-- arithmetic, choices, text and dates
SELECT SUM(CASE WHEN city LIKE 'O''%' OR LOWER(city) IN ('rome', 'a\b') THEN price * 2 / 3 ELSE 0 END) FROM orders WHERE EXTRACT(year FROM placed) = 2026 AND placed >= TIMESTAMP '2026-01-31 12:00:00';
-- first pass
WITH private_rows AS (SELECT t0."customer_id" AS o, CAST(floor(min(max((NULLIF(CASE WHEN (hedgerow_like(CAST(t0."city" AS BLOB), 'O''%') OR (hedgerow_lower(CAST(t0."city" AS BLOB)) IN ('rome', 'a\b'))) THEN ((CAST(NULLIF(min(t0."price", ''), '') AS REAL) * CAST(2 AS REAL)) / NULLIF(CAST(3 AS REAL), 0.0)) ELSE 0.0 END, '') - 0.0) * 4294967296.0 + 0.5, 0.0), 1431655765334.0)) AS INTEGER) AS x0
FROM "main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL AND (hedgerow_extract_year(t0."placed") = 2026) AND (t0."placed" >= 1769860800000000)),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n, CASE WHEN SUM((x0) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((x0) & 4294967295) < 4611686018427387904 THEN SUM((x0) >> 32) * 4294967296 + SUM((x0) & 4294967295) ELSE hedgerow_halves(SUM((x0) >> 32), SUM((x0) & 4294967295)) END AS p0
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - (1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END)) / n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0
FROM parts),
surplus AS (SELECT hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0
FROM parts JOIN light ON parts.o = light.o),
weighted AS (SELECT owners, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- whole numbers
SELECT AVG(CLIP((age + 5) // 10 * 10 % 7, 0, 10)) FROM customers WHERE NOT vip OR age IS NULL;
-- first pass
SELECT COUNT(*) AS units, COUNT(CASE WHEN (min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) IS NOT NULL) THEN 1 END) AS s0, COALESCE(CASE WHEN SUM((CAST(floor(min(max((CAST(min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) AS REAL) - 3.5) * 2.0 + 0.5, (-7.0)), 7.0)) AS INTEGER)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM((CAST(floor(min(max((CAST(min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) AS REAL) - 3.5) * 2.0 + 0.5, (-7.0)), 7.0)) AS INTEGER)) & 4294967295) < 4611686018427387904 THEN SUM((CAST(floor(min(max((CAST(min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) AS REAL) - 3.5) * 2.0 + 0.5, (-7.0)), 7.0)) AS INTEGER)) >> 32) * 4294967296 + SUM((CAST(floor(min(max((CAST(min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) AS REAL) - 3.5) * 2.0 + 0.5, (-7.0)), 7.0)) AS INTEGER)) & 4294967295) ELSE hedgerow_halves(SUM((CAST(floor(min(max((CAST(min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) AS REAL) - 3.5) * 2.0 + 0.5, (-7.0)), 7.0)) AS INTEGER)) >> 32), SUM((CAST(floor(min(max((CAST(min(max(hedgerow_remainder_whole(hedgerow_multiply_whole(hedgerow_divide_whole(CASE WHEN typeof(t0."age") = 'integer' AND typeof(t0."age" + 5) = 'integer' THEN t0."age" + 5 END, 10), 10), 7), 0), 10) AS REAL) - 3.5) * 2.0 + 0.5, (-7.0)), 7.0)) AS INTEGER)) & 4294967295)) END, 0) AS s1
FROM "main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND ((NOT t0."vip") OR (t0."age" IS NULL));

-- a query inside a condition, and a difference of two sets of people
SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.price > 100) AND c.id NOT IN (SELECT customer_id FROM orders WHERE city = 'Rome' AND customer_id IS NOT NULL);
-- first pass
SELECT COUNT(*) AS units
FROM "main"."customers" AS t0
LEFT JOIN (SELECT DISTINCT t2."customer_id" AS "w0", t2."customer_id" AS "w1"
FROM "main"."orders" AS t2
WHERE (t2."city" COLLATE BINARY = 'Rome') AND (NOT (t2."customer_id" IS NULL))) AS t2_pairs ON ((t0."id" = t2_pairs."w0") AND (t0."id" = t2_pairs."w1"))
WHERE t0."id" IS NOT NULL AND EXISTS (SELECT 1 AS "c0"
FROM "main"."orders" AS t1
WHERE (t1."customer_id" = t0."id") AND (t1."price" > 100) AND (t1."customer_id" = t0."id")) AND ((NOT (t0."id" IS NULL)) AND (t2_pairs."w0" IS NULL));

-- the first row of each person
SELECT city, COUNT(*) FROM (SELECT customer_id, city, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed DESC) AS turn FROM orders) t WHERE turn = 1 GROUP BY city;
-- first pass
WITH private_rows AS (SELECT CASE WHEN typeof(t0."c1" COLLATE BINARY) = 'text' AND length(t0."c1" COLLATE BINARY) = length(CAST(t0."c1" COLLATE BINARY AS BLOB)) AND NOT t0."c1" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."c1" COLLATE BINARY ELSE hedgerow_text(CAST(t0."c1" COLLATE BINARY AS BLOB)) END AS k0, t0."o" AS o
FROM (SELECT t1."customer_id" AS "c0", t1."city" AS "c1", ROW_NUMBER() OVER (PARTITION BY t1."customer_id", t1."customer_id" ORDER BY t1."placed" DESC NULLS LAST, t1."city" COLLATE BINARY ASC NULLS LAST, t1."customer_id" ASC NULLS LAST) AS "c2", t1."customer_id" AS "o"
FROM "main"."orders" AS t1) AS t0
WHERE t0."o" IS NOT NULL AND (t0."c2" = 1)),
parts AS MATERIALIZED (SELECT k0, o, COUNT(*) AS n, COUNT(*) AS p0
FROM private_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32), SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE hedgerow_root('922337203685477580800', q) END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.k0 AS k0, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.k0 AS k0, COUNT(*) AS owners
FROM parts
GROUP BY 1),
dropped AS (SELECT k0, COUNT(*) AS lost
FROM (SELECT k0, ROW_NUMBER() OVER (PARTITION BY o ORDER BY hedgerow_md5(CAST('00000000000000000000000000000000' || '|' || COALESCE(CAST(o AS TEXT), '~') || '|' || COALESCE(k0, '~') AS BLOB)), k0 ASC NULLS LAST) AS place
FROM (SELECT parts.o AS o, parts.k0 AS k0
FROM parts JOIN heavy ON parts.o = heavy.o
WHERE touched > 3) AS touching) AS ranked
WHERE place > 3
GROUP BY 1),
totals AS (SELECT k0, CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.k0 AS k0, hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0
FROM parts JOIN light ON parts.o = light.o AND parts.k0 IS light.k0
GROUP BY 1),
weighted AS (SELECT counted.k0 AS k0, owners, owners - COALESCE(lost, 0) AS units, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0
FROM counted
LEFT JOIN dropped ON counted.k0 IS dropped.k0 JOIN totals ON counted.k0 IS totals.k0
LEFT JOIN surplus ON counted.k0 IS surplus.k0),
bounded AS (SELECT weighted.*, COUNT(*) OVER () AS all_keys
FROM weighted)
SELECT k0, units, all_keys, s0
FROM bounded
WHERE units >= 10;
-- measure
WITH private_rows AS (SELECT CASE WHEN typeof(t0."c1" COLLATE BINARY) = 'text' AND length(t0."c1" COLLATE BINARY) = length(CAST(t0."c1" COLLATE BINARY AS BLOB)) AND NOT t0."c1" COLLATE BINARY GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN t0."c1" COLLATE BINARY ELSE hedgerow_text(CAST(t0."c1" COLLATE BINARY AS BLOB)) END AS k0, t0."o" AS o
FROM (SELECT t1."customer_id" AS "c0", t1."city" AS "c1", ROW_NUMBER() OVER (PARTITION BY t1."customer_id", t1."customer_id" ORDER BY t1."placed" DESC NULLS LAST, t1."city" COLLATE BINARY ASC NULLS LAST, t1."customer_id" ASC NULLS LAST) AS "c2", t1."customer_id" AS "o"
FROM "main"."orders" AS t1) AS t0
WHERE t0."o" IS NOT NULL AND (t0."c2" = 1)),
kept_rows AS (SELECT private_rows.*, hedgerow_place
FROM private_rows JOIN hedgerow_selected ON private_rows.k0 IS hedgerow_selected.k0),
parts AS MATERIALIZED (SELECT hedgerow_place, o, COUNT(*) AS n, COUNT(*) AS p0
FROM kept_rows
GROUP BY 2, 1),
sized AS (SELECT o, COUNT(*) AS touched, CASE WHEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) BETWEEN -1073741824 AND 1073741824 AND SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) < 4611686018427387904 THEN SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32) * 4294967296 + SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295) ELSE hedgerow_halves(SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) >> 32), SUM(((CASE WHEN n < 20 THEN n ELSE 20 END) * (CASE WHEN n < 20 THEN n ELSE 20 END)) & 4294967295)) END AS q
FROM parts
GROUP BY 1),
heavy AS MATERIALIZED (SELECT o, touched, CASE WHEN q <= 800 THEN 1073741824 ELSE hedgerow_root('922337203685477580800', q) END AS u
FROM sized
WHERE touched > 3 OR q > 800),
light AS MATERIALIZED (SELECT parts.hedgerow_place AS hedgerow_place, parts.o AS o, 1073741824 - (COALESCE(u, 1073741824) * (CASE WHEN n < 20 THEN n ELSE 20 END)) / n AS gap
FROM parts
LEFT JOIN heavy ON parts.o = heavy.o
WHERE n > 20 OR u < 1073741824),
counted AS (SELECT parts.hedgerow_place AS hedgerow_place, COUNT(*) AS owners
FROM parts
GROUP BY 1),
totals AS (SELECT hedgerow_place, CAST(hedgerow_plus(CASE WHEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') BETWEEN -1073741824 AND 1073741824 AND SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') < 4611686018427387904 THEN SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer') * 4294967296 + SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer') ELSE hedgerow_halves(SUM(p0 >> 32) FILTER (WHERE typeof(p0) = 'integer'), SUM(p0 & 4294967295) FILTER (WHERE typeof(p0) = 'integer')) END, hedgerow_wide_total(p0) FILTER (WHERE typeof(p0) = 'text')) AS TEXT) AS t0
FROM parts
GROUP BY 1),
surplus AS (SELECT parts.hedgerow_place AS hedgerow_place, hedgerow_product_total(gap, p0) FILTER (WHERE gap IS NOT NULL) AS m0
FROM parts JOIN light ON parts.o = light.o AND parts.hedgerow_place IS light.hedgerow_place
GROUP BY 1),
weighted AS (SELECT counted.hedgerow_place AS hedgerow_place, owners, hedgerow_weighed(COALESCE(t0, 0), 1073741824, COALESCE(m0, 0)) AS s0
FROM counted JOIN totals ON counted.hedgerow_place IS totals.hedgerow_place
LEFT JOIN surplus ON counted.hedgerow_place IS surplus.hedgerow_place)
SELECT hedgerow_place, s0
FROM weighted;

-- a public table, ordered and cut
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC NULLS LAST LIMIT 3 OFFSET 2;
-- public
SELECT t0."name" AS "c0", t0."population" AS "c1"
FROM "main"."countries" AS t0
WHERE (t0."population" > 1000000) ORDER BY t0."population" DESC NULLS LAST, t0."name" COLLATE BINARY ASC NULLS LAST
LIMIT 3 OFFSET 2;

-- points in time, in a zone with two offsets
SELECT seen AT TIME ZONE 'Asia/Dubai' FROM visits WHERE seen >= '2024-03-31T03:00:00+02:00';
-- public
SELECT hedgerow_in_zone(t0."seen", 'UTC', 'Asia/Dubai') AS "c0"
FROM "main"."visits" AS t0
WHERE (hedgerow_in_zone(t0."seen", 'UTC', 'UTC') >= 1711846800000000)
LIMIT 1000001;

-- parts of times of day
SELECT EXTRACT(hour FROM clock), EXTRACT(second FROM clock) FROM visits WHERE clock < '12:30';
-- public
SELECT hedgerow_clock_hour(t0."clock") AS "c0", hedgerow_clock_second(t0."clock") AS "c1"
FROM "main"."visits" AS t0
WHERE (t0."clock" < 45000000000)
LIMIT 1000001;

-- keys that were selected, as part of a statement
-- hedgerow_selected;
-- measure
WITH hedgerow_selected AS MATERIALIZED (SELECT c0 AS k0, c1 AS k1, c2 AS k2, c3 AS k3, c4 AS hedgerow_place FROM (SELECT column1 AS c0, column2 AS c1, column3 AS c2, column4 AS c3, column5 AS c4 FROM (VALUES ('', 0, 0.0, 0, (-1)), ('it''s \ é', 1.5, hedgerow_double('0x1.999999999999ap-4'), 1, 0), (NULL, NULL, (-2.5), NULL, 1))) AS given WHERE c4 >= 0), kept AS (SELECT * FROM hedgerow_selected) SELECT * FROM kept;
