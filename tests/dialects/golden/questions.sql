-- one row for each person, and no keys
SELECT COUNT(*), AVG(income), SUM(age) FROM customers WHERE vip AND age > 17;

-- declared keys, one row for each person
SELECT region, AVG(income) FROM customers GROUP BY region;

-- several rows for each person, and no keys
SELECT COUNT(*), SUM(price) FROM orders;

-- selected keys: a survey, and sums over those that were selected
SELECT city, COUNT(*), SUM(price) FROM orders GROUP BY city;

-- two keys, one of them a month, with Laplace noise
-- with {"mechanism": "laplace"}
SELECT city, DATE_TRUNC('month', placed) AS month, COUNT(DISTINCT customer_id) FROM orders GROUP BY 1, 2;

-- a key that is a double
SELECT income * 2 AS twice, COUNT(*) FROM customers GROUP BY 1;

-- buckets of a median
SELECT city, MEDIAN(price) FROM orders GROUP BY city;

-- different values, each person with a few
-- with {"distinct": "simple"}
SELECT COUNT(DISTINCT city) FROM orders;

-- different values, as a flow
-- with {"distinct": "flow"}
SELECT city, COUNT(DISTINCT placed) FROM orders GROUP BY city;

-- owners along a path
SELECT colour, SUM(pieces) FROM items GROUP BY colour;

-- a join, with conditions on both sides
SELECT c.region, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.price > 9.99 AND c.region <> 'south' GROUP BY 1;

-- arithmetic, choices, text and dates
SELECT SUM(CASE WHEN city LIKE 'O''%' OR LOWER(city) IN ('rome', 'a\b') THEN price * 2 / 3 ELSE 0 END) FROM orders WHERE EXTRACT(year FROM placed) = 2026 AND placed >= TIMESTAMP '2026-01-31 12:00:00';

-- whole numbers
SELECT AVG(CLIP((age + 5) // 10 * 10 % 7, 0, 10)) FROM customers WHERE NOT vip OR age IS NULL;

-- a query inside a condition, and a difference of two sets of people
SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.price > 100) AND c.id NOT IN (SELECT customer_id FROM orders WHERE city = 'Rome' AND customer_id IS NOT NULL);

-- the first row of each person
SELECT city, COUNT(*) FROM (SELECT customer_id, city, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed DESC) AS turn FROM orders) t WHERE turn = 1 GROUP BY city;

-- a public table, ordered and cut
SELECT name, population FROM countries WHERE population > 1000000 ORDER BY population DESC NULLS LAST LIMIT 3 OFFSET 2;

-- points in time, in a zone with two offsets
SELECT seen AT TIME ZONE 'Asia/Dubai' FROM visits WHERE seen >= '2024-03-31T03:00:00+02:00';

-- parts of times of day
SELECT EXTRACT(hour FROM clock), EXTRACT(second FROM clock) FROM visits WHERE clock < '12:30';
