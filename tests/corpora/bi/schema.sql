-- A subscription shop with clinics: 480 members, two years. Everything follows from hashes, so every run has the same rows.
CREATE TEMP MACRO pick(a, b, n) AS CAST(hash(a * 1000 + b) % n AS INTEGER);

CREATE TABLE regions (region VARCHAR PRIMARY KEY, country VARCHAR, population INTEGER);
INSERT INTO regions VALUES ('north', 'A', 4000), ('south', 'A', 6000), ('east', 'B', 2500), ('west', 'B', 9000), ('isles', 'C', 300);

CREATE TABLE calendar AS
SELECT
    CAST(day AS DATE) AS day,
    CAST(date_trunc('month', day) AS DATE) AS month,
    CAST(year(day) AS INTEGER) AS year,
    CAST(quarter(day) AS INTEGER) AS quarter,
    CAST(isodow(day) AS INTEGER) AS weekday,
    (month(day) = 12 AND day(day) BETWEEN 24 AND 26) OR (month(day) = 1 AND day(day) = 1) AS is_holiday
FROM generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2025-12-31', INTERVAL 1 DAY) AS days (day);
ALTER TABLE calendar ADD PRIMARY KEY (day);

CREATE TABLE products AS
SELECT
    CAST(i AS INTEGER) AS product_id,
    'Product ' || i AS name,
    ['food', 'books', 'sport', 'garden'][1 + CAST(i % 4 AS INTEGER)] AS category,
    ['acme', 'borealis', 'cirrus'][1 + pick(i, 71, 3)] AS brand,
    CAST(2 + pick(i, 72, 40) AS DECIMAL(8, 2)) AS list_price
FROM range(1, 21) AS numbers (i);
ALTER TABLE products ADD PRIMARY KEY (product_id);

CREATE TABLE clinics AS
SELECT
    CAST(i AS INTEGER) AS clinic_id,
    'City ' || chr(CAST(64 + i AS INTEGER)) AS city,
    ['north', 'south', 'east', 'west'][1 + CAST(i % 4 AS INTEGER)] AS region,
    CAST(10 * i AS INTEGER) AS beds
FROM range(1, 9) AS numbers (i);
ALTER TABLE clinics ADD PRIMARY KEY (clinic_id);

CREATE TABLE members AS
SELECT
    i AS member_id,
    CAST(1945 + pick(i, 1, 60) AS INTEGER) AS birth_year,
    ['f', 'm', 'x'][1 + pick(i, 2, 11) // 5] AS sex,
    ['north', 'south', 'east', 'west'][1 + pick(i, 3, 4)] AS region,
    ['free', 'basic', 'pro'][1 + pick(i, 4, 3)] AS plan,
    DATE '2024-01-01' + pick(i, 5, 540) AS signup_date,
    CASE WHEN pick(i, 6, 20) > 0 THEN CAST(12000 + 500 * pick(i, 7, 180) AS DECIMAL(12, 2)) END AS income,
    CASE WHEN pick(i, 8, 3) = 0 AND i > 10 THEN CAST(1 + pick(i, 9, 10) AS BIGINT) END AS invited_by
FROM range(1, 481) AS numbers (i);
ALTER TABLE members ADD PRIMARY KEY (member_id);

CREATE TABLE orders AS
SELECT
    i * 100 + j AS order_id,
    i AS member_id,
    TIMESTAMP '2024-01-01 00:00:00' + to_days(pick(i * 20 + j, 11, 731)) + to_minutes(pick(i * 20 + j, 12, 1440)) AS ordered_at,
    ['paid', 'paid', 'paid', 'refunded', 'open'][1 + pick(i * 20 + j, 13, 5)] AS status,
    ['web', 'app', 'store'][1 + pick(i * 20 + j, 14, 3)] AS channel,
    CAST(5 + pick(i * 20 + j, 15, 780) * 0.25 AS DECIMAL(10, 2)) AS amount,
    CAST(pick(i * 20 + j, 16, 5) * 0.05 AS DECIMAL(4, 2)) AS discount,
    ['SPRING', 'WELCOME', 'FRIEND', NULL, NULL][1 + pick(i * 20 + j, 17, 5)] AS coupon
FROM range(1, 481) AS people (i), range(1, 9) AS numbers (j)
WHERE i % 12 > 0 AND j <= 2 + pick(i, 18, 7);
ALTER TABLE orders ADD PRIMARY KEY (order_id);

CREATE TABLE order_items AS
SELECT
    order_id,
    CAST(line AS INTEGER) AS line,
    CAST(1 + pick(order_id * 4 + line, 21, 20) AS INTEGER) AS product_id,
    CAST(1 + pick(order_id * 4 + line, 22, 5) AS INTEGER) AS quantity,
    CAST(2 + pick(order_id * 4 + line, 23, 160) * 0.25 AS DECIMAL(8, 2)) AS price
FROM orders, range(1, 4) AS lines (line)
WHERE line <= 1 + pick(order_id, 24, 3);
ALTER TABLE order_items ADD PRIMARY KEY (order_id, line);

CREATE TABLE events AS
SELECT
    i * 100 + j AS event_id,
    i AS member_id,
    TIMESTAMP '2025-03-01 08:00:00' + to_days(pick(i * 20 + j, 31, 4)) + to_minutes(pick(i * 20 + j, 32, 300)) AS at,
    ['view', 'view', 'search', 'cart', 'checkout', 'purchase'][1 + pick(i * 20 + j, 33, 6)] AS action,
    '/' || ['home', 'shop', 'help'][1 + pick(i * 20 + j, 34, 3)] || '/' || pick(i * 20 + j, 35, 2) AS page,
    CASE WHEN pick(i * 20 + j, 36, 9) > 0 THEN CAST(pick(i * 20 + j, 37, 1200) / 4 AS DOUBLE) END AS seconds,
    ['phone', 'desktop'][1 + pick(i * 20 + j, 38, 2)] AS device
FROM range(1, 481) AS people (i), range(1, 13) AS numbers (j)
WHERE i % 7 > 0 AND j <= 3 + pick(i, 39, 10);
ALTER TABLE events ADD PRIMARY KEY (event_id);

CREATE TABLE visits AS
SELECT
    i * 10 + j AS visit_id,
    i AS member_id,
    CAST(1 + pick(i * 20 + j, 41, 8) AS INTEGER) AS clinic_id,
    DATE '2024-01-01' + pick(i * 20 + j, 42, 731) AS visited_on,
    ['J06', 'I10', 'E11', 'M54', 'F41'][1 + pick(i * 20 + j, 43, 5)] AS diagnosis,
    CAST(20 + pick(i * 20 + j, 44, 480) AS DECIMAL(8, 2)) AS cost,
    CAST(5 + pick(i * 20 + j, 45, 55) AS INTEGER) AS minutes,
    CASE WHEN pick(i * 20 + j, 46, 4) > 0 THEN CAST(1 + pick(i * 20 + j, 47, 5) AS INTEGER) END AS rating
FROM range(1, 481) AS people (i), range(1, 6) AS numbers (j)
WHERE i % 5 > 0 AND j <= 1 + pick(i, 48, 5);
ALTER TABLE visits ADD PRIMARY KEY (visit_id);

CREATE TABLE tickets AS
SELECT
    i * 10 + j AS ticket_id,
    i AS member_id,
    DATE '2025-01-01' + pick(i * 20 + j, 51, 300) AS opened_on,
    CASE WHEN pick(i * 20 + j, 52, 5) > 0 THEN DATE '2025-01-01' + (pick(i * 20 + j, 51, 300) + pick(i * 20 + j, 53, 21)) END AS closed_on,
    ['billing', 'delivery', 'account'][1 + pick(i * 20 + j, 54, 3)] AS topic,
    CAST(1 + pick(i * 20 + j, 55, 3) AS INTEGER) AS severity
FROM range(1, 481) AS people (i), range(1, 4) AS numbers (j)
WHERE i % 2 = 0 AND j <= 1 + pick(i, 56, 3);
ALTER TABLE tickets ADD PRIMARY KEY (ticket_id);
