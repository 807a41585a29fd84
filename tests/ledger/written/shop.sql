CREATE TABLE customers (id BIGINT PRIMARY KEY, segment VARCHAR, age INTEGER);
INSERT INTO customers SELECT i, ['private', 'trade', 'public'][1 + i % 3], (i * 37) % 90 FROM range(900) r(i);
CREATE TABLE orders (customer_id BIGINT, ward VARCHAR, price DOUBLE);
INSERT INTO orders SELECT i // 2, ['north', 'south'][1 + i % 2], (i * 53) % 480 FROM range(1500) r(i);
