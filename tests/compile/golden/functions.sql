-- division, logarithm and root are NULL outside their domain
SELECT COUNT(*) FROM customers WHERE income / age > 100 AND LN(income) > 3 AND SQRT(income) < 400;
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND ((CAST(t0."income" AS DOUBLE) / NULLIF(CAST(t0."age" AS DOUBLE), 0)) > (100.0e0)) AND (ln(CASE WHEN CAST(t0."income" AS DOUBLE) > 0 THEN CAST(t0."income" AS DOUBLE) END) > (3.0e0)) AND (sqrt(CASE WHEN CAST(t0."income" AS DOUBLE) >= 0 THEN CAST(t0."income" AS DOUBLE) END) < (400.0e0));

-- whole numbers stay whole and are NULL where they overflow
SELECT SUM(items * 2 + 1) FROM orders;
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o, CAST(CASE WHEN (CAST(TRY(CAST(TRY(CAST(t0."items" AS BIGINT) * CAST(2 AS BIGINT)) AS BIGINT) + CAST(1 AS BIGINT)) AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) < (3.0e0) THEN (3.0e0) WHEN (CAST(TRY(CAST(TRY(CAST(t0."items" AS BIGINT) * CAST(2 AS BIGINT)) AS BIGINT) + CAST(1 AS BIGINT)) AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) >= (201.0e0) THEN (201.0e0) ELSE floor((CAST(TRY(CAST(TRY(CAST(t0."items" AS BIGINT) * CAST(2 AS BIGINT)) AS BIGINT) + CAST(1 AS BIGINT)) AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0)) END AS INTEGER) AS x0
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
totals AS (SELECT CAST(SUM(x0) AS HUGEINT) AS t0
FROM private_rows),
surplus AS (SELECT SUM(CAST(gap AS HUGEINT) * x0) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;

-- CASE and CLIP carry a range
SELECT AVG(CASE WHEN vip THEN CLIP(income, 1000, 90000) ELSE 0 END) FROM customers;
-- first pass
SELECT COUNT(*) AS units, COUNT(*) FILTER (WHERE (CASE WHEN t0."vip" THEN CASE WHEN NOT isnan(CAST(t0."income" AS DOUBLE)) THEN LEAST(GREATEST(CAST(t0."income" AS DOUBLE), 1000), 90000) END ELSE (0.0e0) END IS NOT NULL) AND (NOT isnan(CASE WHEN t0."vip" THEN CASE WHEN NOT isnan(CAST(t0."income" AS DOUBLE)) THEN LEAST(GREATEST(CAST(t0."income" AS DOUBLE), 1000), 90000) END ELSE (0.0e0) END))) AS s0, COALESCE(SUM(CAST(CASE WHEN isnan(CAST(CASE WHEN t0."vip" THEN CASE WHEN NOT isnan(CAST(t0."income" AS DOUBLE)) THEN LEAST(GREATEST(CAST(t0."income" AS DOUBLE), 1000), 90000) END ELSE (0.0e0) END AS DOUBLE)) THEN NULL WHEN (CAST(CASE WHEN t0."vip" THEN CASE WHEN NOT isnan(CAST(t0."income" AS DOUBLE)) THEN LEAST(GREATEST(CAST(t0."income" AS DOUBLE), 1000), 90000) END ELSE (0.0e0) END AS DOUBLE) - (45000.0e0)) * (33554432.0e0) + (0.5e0) < (-1509949440000.0e0) THEN (-1509949440000.0e0) WHEN (CAST(CASE WHEN t0."vip" THEN CASE WHEN NOT isnan(CAST(t0."income" AS DOUBLE)) THEN LEAST(GREATEST(CAST(t0."income" AS DOUBLE), 1000), 90000) END ELSE (0.0e0) END AS DOUBLE) - (45000.0e0)) * (33554432.0e0) + (0.5e0) >= (1509949440000.0e0) THEN (1509949440000.0e0) ELSE floor((CAST(CASE WHEN t0."vip" THEN CASE WHEN NOT isnan(CAST(t0."income" AS DOUBLE)) THEN LEAST(GREATEST(CAST(t0."income" AS DOUBLE), 1000), 90000) END ELSE (0.0e0) END AS DOUBLE) - (45000.0e0)) * (33554432.0e0) + (0.5e0)) END AS BIGINT)), 0) AS s1
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL;

-- a cast that cannot be read is NULL
SELECT COUNT(*) FROM customers WHERE CAST(region AS BIGINT) > 3 OR TRY_CAST(region AS DATE) IS NOT NULL;
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND ((TRY_CAST(t0."region" AS BIGINT) > 3) OR (NOT (TRY_CAST(t0."region" AS DATE) IS NULL)));

-- a type that the owner imposed
SELECT COUNT(*) FROM customers WHERE born < DATE '1990-01-01';
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND (TRY_CAST(t0."born" AS DATE) < DATE '1990-01-01');

-- dates
SELECT DATE_TRUNC('month', joined) AS month, COUNT(*) FROM customers WHERE joined >= DATE '2026-01-01' AND joined < DATE '2026-01-01' + INTERVAL 1 YEAR GROUP BY 1;
-- first pass
SELECT CASE WHEN TRY_CAST(TRY(date_trunc('month', TRY_CAST(t0."joined" AS TIMESTAMP))) AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN TRY_CAST(TRY(date_trunc('month', TRY_CAST(t0."joined" AS TIMESTAMP))) AS DATE) END AS k0, COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND (t0."joined" >= DATE '2026-01-01') AND (t0."joined" < TRY_CAST(TRY(TRY_CAST(DATE '2026-01-01' AS TIMESTAMP) + to_years(CASE WHEN 1 BETWEEN -178956970 AND 178956970 THEN TRY_CAST(1 AS INTEGER) END)) AS DATE))
GROUP BY 1
HAVING COUNT(*) >= 10;

-- text, quotes and all
SELECT COUNT(*) FROM customers WHERE UPPER(LEFT(region, 3)) = 'O''H' OR region LIKE 'n%' OR region || '!' IN ('north!', 'south!');
-- first pass
SELECT COUNT(*) AS units
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL AND (((upper(TRY(left(t0."region", 3))) = 'O''H') OR (t0."region" LIKE 'n%')) OR (left(t0."region" || '!', 10000) IN ('north!', 'south!')));

-- a condition can be summed
SELECT SUM(vip), AVG(age > 40) FROM customers;
-- first pass
SELECT COUNT(*) AS units, COUNT(*) FILTER (WHERE (CAST((t0."age" > 40) AS INTEGER) IS NOT NULL)) AS s0, COALESCE(SUM(CAST(CASE WHEN (CAST(CAST((t0."age" > 40) AS INTEGER) AS DOUBLE) - (0.5e0)) * (2.0e0) + (0.5e0) < (-1.0e0) THEN (-1.0e0) WHEN (CAST(CAST((t0."age" > 40) AS INTEGER) AS DOUBLE) - (0.5e0)) * (2.0e0) + (0.5e0) >= (1.0e0) THEN (1.0e0) ELSE floor((CAST(CAST((t0."age" > 40) AS INTEGER) AS DOUBLE) - (0.5e0)) * (2.0e0) + (0.5e0)) END AS INTEGER)), 0) AS s1, COALESCE(SUM(CAST(CASE WHEN (CAST(CAST(t0."vip" AS INTEGER) AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) < (0.0e0) THEN (0.0e0) WHEN (CAST(CAST(t0."vip" AS INTEGER) AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0) >= (1.0e0) THEN (1.0e0) ELSE floor((CAST(CAST(t0."vip" AS INTEGER) AS DOUBLE) - (0.0e0)) * (1.0e0) + (0.5e0)) END AS INTEGER)), 0) AS s2
FROM "memory"."main"."customers" AS t0
WHERE t0."id" IS NOT NULL;

-- decimals next to short constants stay as they are
SELECT COUNT(*) FROM orders WHERE price BETWEEN 1.5 AND 20 AND items IN (1, 2, 3);
-- first pass
WITH private_rows AS NOT MATERIALIZED (SELECT t0."customer_id" AS o
FROM "memory"."main"."orders" AS t0
WHERE t0."customer_id" IS NOT NULL AND ((t0."price" >= (1.5)) AND (t0."price" <= 20)) AND (t0."items" IN (1, 2, 3))),
parts AS MATERIALIZED (SELECT o, COUNT(*) AS n
FROM private_rows
GROUP BY 1),
light AS MATERIALIZED (SELECT o, 1073741824 - 1073741824 * (CASE WHEN n < 40 THEN n ELSE 40 END) // n AS gap
FROM parts
WHERE n > 40),
counted AS (SELECT COUNT(*) AS owners
FROM parts),
totals AS (SELECT CAST(COUNT(*) AS HUGEINT) AS t0
FROM private_rows),
surplus AS (SELECT SUM(gap) AS m0
FROM private_rows JOIN light ON private_rows.o = light.o),
weighted AS (SELECT owners, COALESCE(t0, 0) * 1073741824 - COALESCE(m0, 0) AS s0
FROM counted CROSS JOIN totals CROSS JOIN surplus)
SELECT owners AS units, s0
FROM weighted;
