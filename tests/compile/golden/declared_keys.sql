-- declared keys: rows outside the domain are in no group
SELECT region, COUNT(*), AVG(income) FROM customers GROUP BY region;
-- first pass
SELECT t0."region" AS k0, COUNT(*) AS units, COUNT(*) FILTER (WHERE (t0."income" IS NOT NULL) AND (NOT isnan(t0."income"))) AS s0, COALESCE(SUM(CAST(CASE WHEN isnan(CAST(t0."income" AS DOUBLE)) THEN NULL WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END AS BIGINT)), 0) AS s1
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."region" IN ('north', 'south', 'east')
GROUP BY 1;

-- without a minimum frequency there is nothing to test
-- with {"min_frequency": 1}
SELECT region, SUM(age) FROM customers GROUP BY region;
-- first pass
SELECT t0."region" AS k0, COUNT(*) AS units, COALESCE(SUM((CAST(CASE WHEN t0."age" < 0 THEN 0 WHEN t0."age" > 120 THEN 120 ELSE t0."age" END AS INTEGER))), 0) AS s0
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."region" IN ('north', 'south', 'east')
GROUP BY 1;

-- next to an undeclared key the whole is undeclared, and the domain still holds
SELECT region, vip, COUNT(*) FROM customers GROUP BY region, vip;
-- first pass
SELECT t0."region" AS k0, t0."vip" AS k1, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND t0."region" IN ('north', 'south', 'east')
GROUP BY 1, 2
HAVING COUNT(*) >= 10;

-- a cast of a declared column is another column
SELECT CAST(region AS BIGINT) AS r, COUNT(*) FROM customers GROUP BY 1;
-- first pass
SELECT TRY_CAST(t0."region" AS BIGINT) AS k0, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;
