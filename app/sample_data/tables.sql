CREATE TABLE regions (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);
CREATE TABLE employees (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    job_title TEXT NOT NULL,
    manager_id INTEGER REFERENCES employees (id),
    region_id INTEGER NOT NULL REFERENCES regions (id),
    hire_date DATE NOT NULL
);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT,
    phone TEXT,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    region_id INTEGER NOT NULL REFERENCES regions (id),
    segment TEXT,
    signup_date DATE NOT NULL
);
CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    unit_price NUMERIC NOT NULL,
    unit_cost NUMERIC NOT NULL,
    launch_date DATE NOT NULL,
    discontinued BOOLEAN NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    employee_id INTEGER REFERENCES employees (id),
    order_date DATE NOT NULL,
    status TEXT NOT NULL,
    channel TEXT NOT NULL
);
CREATE TABLE order_lines (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL,
    unit_price NUMERIC NOT NULL,
    discount NUMERIC NOT NULL,
    amount NUMERIC NOT NULL
);
CREATE TABLE returns (
    id INTEGER PRIMARY KEY,
    order_line_id INTEGER NOT NULL REFERENCES order_lines (id),
    return_date DATE NOT NULL,
    quantity INTEGER NOT NULL,
    reason TEXT NOT NULL,
    refund_amount NUMERIC NOT NULL
);
CREATE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX orders_by_date ON orders (order_date);
CREATE INDEX order_lines_by_order ON order_lines (order_id);
CREATE INDEX order_lines_by_product ON order_lines (product_id);
CREATE INDEX returns_by_order_line ON returns (order_line_id);
