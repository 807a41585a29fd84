CREATE TABLE customers (
    id BIGINT PRIMARY KEY, region VARCHAR NOT NULL, income DOUBLE NOT NULL, age INTEGER, score DOUBLE, joined DATE,
    notes VARCHAR);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer_id BIGINT, city VARCHAR, price DOUBLE, tags VARCHAR[]);
CREATE TABLE order_lines (order_id BIGINT, item VARCHAR, "Item.Size" VARCHAR);
CREATE TABLE visits (customer_id BIGINT, page VARCHAR);
CREATE TABLE countries (name VARCHAR PRIMARY KEY, population BIGINT);
CREATE TABLE numbers AS SELECT i AS n FROM range(1000001) AS t (i);
CREATE TABLE secrets (word VARCHAR);
INSERT INTO customers SELECT i, 'north', i, i % 90, i, DATE '2026-01-01', 'note' FROM range(1000) AS t (i);
INSERT INTO orders SELECT i, i % 1000, 'Rome', 1.0, ['a'] FROM range(3000) AS t (i);
