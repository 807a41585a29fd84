CREATE TABLE customers (
    id BIGINT PRIMARY KEY, region VARCHAR NOT NULL, income DOUBLE NOT NULL, age INTEGER, joined DATE, vip BOOLEAN,
    born VARCHAR);
CREATE TABLE orders (
    id BIGINT PRIMARY KEY, customer_id BIGINT, city VARCHAR NOT NULL, price DECIMAL(10, 2), items INTEGER NOT NULL,
    placed TIMESTAMP);
CREATE TABLE countries (name VARCHAR PRIMARY KEY, population BIGINT);
