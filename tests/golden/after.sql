-- HAVING, ORDER BY, LIMIT and arithmetic work on released numbers
SELECT region, SUM(income) / COUNT(*) AS mean FROM customers GROUP BY region HAVING COUNT(*) > 100 ORDER BY mean DESC LIMIT 2 OFFSET 1;
-- survey
SELECT "region" AS k0, COUNT(*) AS units, COUNT(*) AS s0, COALESCE(SUM(CAST(CASE WHEN isnan(CAST("income" AS DOUBLE)) THEN NULL WHEN (CAST("income" AS DOUBLE) - (0.0e0)) * (8388608.0e0) + 0.5 < 0 THEN 0 WHEN (CAST("income" AS DOUBLE) - (0.0e0)) * (8388608.0e0) + 0.5 >= 2097152000000 THEN 2097152000000 ELSE floor((CAST("income" AS DOUBLE) - (0.0e0)) * (8388608.0e0) + 0.5) END AS BIGINT)), 0) AS s1
FROM "customers"
WHERE "id" IS NOT NULL AND "region" IN ('north', 'south', 'east')
GROUP BY 1;
-- after
SELECT "k0" AS "c0", (CAST("a0" AS DOUBLE) / NULLIF(CAST("a1" AS DOUBLE), 0)) AS "c1", hedgerow_row
FROM (SELECT *
FROM hedgerow_released
WHERE ("a1" > 100)) AS inner_rows ORDER BY (CAST("a0" AS DOUBLE) / NULLIF(CAST("a1" AS DOUBLE), 0)) DESC NULLS LAST, k0 NULLS LAST, hedgerow_row
LIMIT 2 OFFSET 1;

-- without ORDER BY rows come in the order of their keys
SELECT COUNT(*) AS n, region FROM customers GROUP BY region;
-- survey
SELECT "region" AS k0, COUNT(*) AS units
FROM "customers"
WHERE "id" IS NOT NULL AND "region" IN ('north', 'south', 'east')
GROUP BY 1;
-- after
SELECT "a0" AS "c0", "k0" AS "c1", hedgerow_row
FROM hedgerow_released ORDER BY k0 NULLS LAST, hedgerow_row;

-- equal aggregates are one column
SELECT COUNT(*) AS n, COUNT(*) * 100 AS percent, GREATEST(COUNT(*), 0) AS whole FROM customers;
-- survey
SELECT COUNT(*) AS units
FROM "customers"
WHERE "id" IS NOT NULL;
-- after
SELECT "a0" AS "c0", TRY(CAST("a0" AS BIGINT) * CAST(100 AS BIGINT)) AS "c1", GREATEST("a0", 0) AS "c2", hedgerow_row
FROM hedgerow_released ORDER BY hedgerow_row;

-- public tables are passed through
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC LIMIT 3;
-- public
SELECT "name" AS "c0", "population" AS "c1"
FROM (SELECT *
FROM (SELECT *
FROM "countries"
WHERE ("population" > 1000000)) AS inner_rows ORDER BY "population" DESC NULLS LAST
LIMIT 3) AS inner_rows;

-- and aggregated exactly
SELECT LEFT(name, 1) AS letter, COUNT(*), MAX(population) FROM countries GROUP BY 1;
-- public
SELECT "k0" AS "c0", "a0" AS "c1", "a1" AS "c2"
FROM (SELECT TRY(left("name", 1)) AS k0, COUNT(*) AS a0, MAX("population") AS a1
FROM "countries"
GROUP BY 1) AS inner_rows;
