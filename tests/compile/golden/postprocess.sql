-- HAVING, ORDER BY, LIMIT and arithmetic work on released numbers
SELECT region, SUM(income) / COUNT(*) AS mean FROM customers GROUP BY region HAVING COUNT(*) > 100 ORDER BY mean DESC LIMIT 2 OFFSET 1;
-- first pass
SELECT t0."region" AS k0, COUNT(*) AS units, COUNT(*) AS s0, COALESCE(SUM(CAST(CASE WHEN isnan(CAST(t0."income" AS DOUBLE)) THEN NULL WHEN (CAST(t0."income" AS DOUBLE) - (0.0e0)) * (8388608.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(t0."income" AS DOUBLE) - (0.0e0)) * (8388608.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((CAST(t0."income" AS DOUBLE) - (0.0e0)) * (8388608.0e0) + (0.5e0)) END AS BIGINT)), 0) AS s1
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."region" IN ('north', 'south', 'east')
GROUP BY 1;
-- postprocess
SELECT t1."k0" AS "c0", (CAST(t1."a0" AS DOUBLE) / NULLIF(CAST(t1."a1" AS DOUBLE), 0)) AS "c1", t1."hedgerow_row" AS "hedgerow_row"
FROM "hedgerow_released_0" AS t1
WHERE (t1."a1" > 100) ORDER BY ((CAST(t1."a0" AS DOUBLE) / NULLIF(CAST(t1."a1" AS DOUBLE), 0)) + (0.0e0)) DESC NULLS LAST, t1."k0" ASC NULLS LAST, t1."hedgerow_row" ASC NULLS LAST
LIMIT 2 OFFSET 1;

-- without ORDER BY rows come in the order of their keys
SELECT COUNT(*) AS n, region FROM customers GROUP BY region;
-- first pass
SELECT t0."region" AS k0, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."region" IN ('north', 'south', 'east')
GROUP BY 1;
-- postprocess
SELECT "c0", "c1", "hedgerow_row"
FROM (SELECT t1."a0" AS "c0", t1."k0" AS "c1", t1."hedgerow_row" AS "hedgerow_row"
FROM "hedgerow_released_0" AS t1) AS shown ORDER BY "hedgerow_row" NULLS LAST;

-- equal aggregates are one column
SELECT COUNT(*) AS n, COUNT(*) * 100 AS percent, GREATEST(COUNT(*), 0) AS whole FROM customers;
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL;
-- postprocess
SELECT "c0", "c1", "c2", "hedgerow_row"
FROM (SELECT t1."a0" AS "c0", TRY(CAST(t1."a0" AS BIGINT) * CAST(100 AS BIGINT)) AS "c1", GREATEST(t1."a0", 0) AS "c2", t1."hedgerow_row" AS "hedgerow_row"
FROM "hedgerow_released_0" AS t1) AS shown ORDER BY "hedgerow_row" NULLS LAST;

-- public tables are passed through
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC LIMIT 3;
-- public
SELECT t0."name" AS "c0", t0."population" AS "c1"
FROM "memory"."main"."countries" AS t0
WHERE (t0."population" > 1000000) ORDER BY t0."population" DESC NULLS LAST, t0."name" ASC NULLS LAST
LIMIT 3;

-- and aggregated exactly
SELECT LEFT(name, 1) AS letter, COUNT(*), MAX(population) FROM countries GROUP BY 1;
-- public
SELECT t1."k0" AS "c0", t1."a0" AS "c1", t1."a1" AS "c2"
FROM (SELECT TRY(left(t0."name", 1)) COLLATE "binary" AS "k0", COUNT(*) AS "a0", MAX(t0."population") AS "a1"
FROM "memory"."main"."countries" AS t0
GROUP BY 1) AS t1
LIMIT 1000001;
