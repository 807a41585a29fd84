-- one row per person, enforced by a primary key: the plain aggregation
SELECT COUNT(*) FROM customers;
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL;

-- WHERE stays below the border
SELECT AVG(income) FROM customers WHERE age >= 18 AND region <> 'north';
-- first pass
SELECT COUNT(*) AS units, COUNT(*) FILTER (WHERE (t0."income" IS NOT NULL) AND (NOT isnan(t0."income"))) AS s0, COALESCE(SUM(CAST(CASE WHEN isnan(CAST(t0."income" AS DOUBLE)) THEN NULL WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) < (-2097152000000.0e0) THEN (-2097152000000.0e0) WHEN (CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0) >= (2097152000000.0e0) THEN (2097152000000.0e0) ELSE floor((CAST(t0."income" AS DOUBLE) - (125000.0e0)) * (16777216.0e0) + (0.5e0)) END AS BIGINT)), 0) AS s1
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND (t0."age" >= 18) AND (t0."region" <> 'north');

-- a column that may be missing is counted by itself
SELECT COUNT(*), COUNT(age), AVG(age) FROM customers;
-- first pass
SELECT COUNT(*) AS units, COUNT(*) FILTER (WHERE (t0."age" IS NOT NULL)) AS s0, COALESCE(SUM((CAST(CASE WHEN t0."age" < 0 THEN 0 WHEN t0."age" > 120 THEN 120 ELSE t0."age" END AS INTEGER) * 2 - 120)), 0) AS s1
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL;

-- undeclared keys: those below the minimum never leave the database
SELECT age, COUNT(*) FROM customers GROUP BY age;
-- first pass
SELECT t0."age" AS k0, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL
GROUP BY 1
HAVING COUNT(*) >= 10;
