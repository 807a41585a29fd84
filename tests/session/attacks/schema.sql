CREATE TABLE customers (
    id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE, age INTEGER, score DOUBLE, joined DATE, email VARCHAR,
    referrer BIGINT, notes VARCHAR);
CREATE TABLE orders (
    id BIGINT PRIMARY KEY, customer_id BIGINT, seller_id BIGINT, city VARCHAR, status VARCHAR, price DOUBLE,
    ordered DATE, tags VARCHAR[], voucher VARCHAR UNIQUE);
CREATE TABLE order_lines (order_id BIGINT, item VARCHAR, quantity INTEGER, amount DOUBLE);
CREATE TABLE visits (customer_id BIGINT, page VARCHAR, seconds INTEGER, seen TIMESTAMP);
CREATE TABLE countries (name VARCHAR PRIMARY KEY, region VARCHAR, population BIGINT);
CREATE TABLE cities (city VARCHAR PRIMARY KEY, country VARCHAR);
CREATE TABLE bridge (left_id BIGINT, right_id BIGINT);
CREATE TABLE labels (label VARCHAR UNIQUE, place INTEGER);
CREATE TABLE numbers (n BIGINT PRIMARY KEY);
CREATE TABLE secrets (word VARCHAR);
CREATE VIEW peek AS SELECT * FROM customers;
INSERT INTO countries VALUES ('Italy', 'south', 59000000), ('Norway', 'north', 5500000), ('Malta', NULL, 540000);
INSERT INTO cities VALUES ('Rome', 'Italy'), ('Oslo', 'Norway'), ('Bergen', 'Norway'), ('Pisa', NULL);
INSERT INTO bridge SELECT i, (i * 7 + 3) % 200 FROM range(200) AS t (i);
INSERT INTO bridge SELECT i, 7 FROM range(200) AS t (i);
INSERT INTO numbers SELECT i FROM range(300) AS t (i);
INSERT INTO labels SELECT NULL, i FROM range(40) AS t (i);
INSERT INTO labels VALUES ('north', 40), ('south', 41);
INSERT INTO secrets VALUES ('canary-undeclared-4471');
INSERT INTO customers SELECT
    i, ['north', 'south', 'east'][1 + i % 3], 1000.0 + i * 10, 20 + i % 60, i / 7.0, DATE '2025-01-01' + CAST(i AS INTEGER),
    'person ' || i, 7, 'canary-note-' || i
FROM range(200) AS t (i);
INSERT INTO orders SELECT
    i, i % 190, (i * 11) % 200, ['Rome', 'Oslo', 'Bergen', 'Lima'][1 + i % 4], ['open', 'paid'][1 + i % 2], 5.0 + i % 90,
    DATE '2026-01-01' + CAST(i % 200 AS INTEGER), ['a', 'b'],
    CASE WHEN i < 40 THEN 'voucher ' || i END
FROM range(600) AS t (i);
INSERT INTO order_lines SELECT i % 600, ['pen', 'ink', 'pad'][1 + i % 3], 1 + i % 9, 1.0 + i % 40 FROM range(900) AS t (i);
INSERT INTO visits SELECT i % 210, 'page ' || (i % 4), i % 300, TIMESTAMP '2026-02-01' + INTERVAL 1 HOUR * i FROM range(500) AS t (i);
-- Person 7 is everybody's referrer and has the largest values, person 0 the smallest key,
-- person 13 every NULL, and person 209 was never a customer.
UPDATE customers SET region = 'canary-region-51f0', income = 98765.4321, score = 777777.125, email = 'canary-email-7f3a' WHERE id = 7;
UPDATE customers SET region = NULL, income = NULL, age = NULL, score = NULL, joined = NULL, referrer = NULL WHERE id = 13;
UPDATE orders SET city = NULL, price = NULL, seller_id = NULL WHERE customer_id = 13;
INSERT INTO orders SELECT 1000 + i, 7, 7, 'canary-city-88', 'open', 400.0 + i, DATE '2024-02-29', NULL, NULL FROM range(60) AS t (i);
INSERT INTO order_lines SELECT 1000 + i, 'canary-item-19', 9, 49.0 FROM range(60) AS t (i);
INSERT INTO visits VALUES (NULL, 'page 0', 1, NULL), (209, 'canary-page-66', 299, TIMESTAMP '2030-01-01');
INSERT INTO orders VALUES (2000, NULL, 7, 'Rome', 'paid', 1.0, NULL, NULL, NULL);
