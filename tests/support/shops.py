"""The shop of `shop.py` in the other dialects, with a secret beside it that no scan shows."""

POSTGRES = """
create table customers (id bigint primary key, name text not null, country text, email text,
    signed_up date, vip boolean);
create table orders (id serial primary key, customer_id bigint references customers, placed timestamp,
    status text, note text, total numeric(10, 2), details jsonb);
create table categories (id int primary key, parent_id int references categories, name text);
create materialized view latest as select max(placed) as at from orders;
insert into customers values
    (1, 'Ann', 'Norway', 'ann@example.com', '2023-01-05', true),
    (2, 'Bob', 'Japan', 'bob@example.com', '2023-03-09', false),
    (3, 'Zoë', 'Norway', null, '2024-02-29', false);
insert into orders (customer_id, placed, status, note, total, details) values
    (1, '2024-01-01', 'paid', 'a -- b', 10.50, '{"tags": ["new", "gift"]}'),
    (1, '2024-01-15', 'update pending', '--', 20, '{"tags": []}'),
    (2, '2024-02-01', 'paid', null, 5.25, null);
insert into categories values (1, null, 'all'), (2, 1, 'paper'), (3, 2, 'notebooks');
create function sneak() returns setof int language sql as 'delete from customers returning 1';
create schema secret;
create table secret.salaries (name text, salary int);
insert into secret.salaries values ('Ann', 100);
create function secret.peek() returns int language sql security definer
    as 'select salary from secret.salaries';
create role reader login password 's3cret/with@signs';
grant usage on schema public to reader;
grant select on all tables in schema public to reader;
"""

MYSQL = """
create table customers (id bigint primary key, name varchar(50) not null, country varchar(50),
    email varchar(50), signed_up date, vip boolean);
create table orders (id int primary key, customer_id bigint references customers (id), placed datetime,
    status varchar(50), total decimal(10, 2), details json);
create table `order lines` (order_id int, `select` varchar(50), quantity int, `unit price` double);
create table categories (id int primary key, parent_id int, name varchar(50));
insert into customers values
    (1, 'Ann', 'Norway', 'ann@example.com', '2023-01-05', true),
    (2, 'Bob', 'Japan', 'bob@example.com', '2023-03-09', false),
    (3, 'Zoë', 'Norway', null, '2024-02-29', false);
insert into orders values
    (1, 1, '2024-01-01', 'paid', 10.50, '{"tags": ["new", "gift"]}'),
    (2, 1, '2024-01-15', 'update pending', 20, '{"tags": []}'),
    (3, 2, '2024-02-01', 'paid', 5.25, null);
insert into `order lines` values (1, 'pen', 2, 1.5), (1, 'ink', 1, 7.5);
insert into categories values (1, null, 'all'), (2, 1, 'paper'), (3, 2, 'notebooks');
delimiter //
create function sneak() returns int begin delete from customers; return 1; end//
"""

MYSQL_ACCOUNTS = """
create database shop character set utf8mb4;
create database secret;
create table secret.salaries (name text, salary int);
insert into secret.salaries values ('Ann', 100);
create user analyst@'%' identified by 's3cret/with@signs';
grant select, show view on shop.* to analyst@'%';
create user boss@'%' identified by 's3cret/with@signs';
grant all on *.* to boss@'%';
"""

DUCKDB = """
create table customers (id bigint primary key, name varchar not null, country varchar, email varchar,
    signed_up date, vip boolean);
create table orders (id integer primary key, customer_id bigint references customers (id), placed timestamp,
    status varchar, total decimal(10, 2), details json);
create table "order lines" (order_id integer, "select" varchar, quantity integer, "unit price" double);
create table categories (id integer primary key, parent_id integer, name varchar);
comment on table customers is 'Who buys';
insert into customers values
    (1, 'Ann', 'Norway', 'ann@example.com', '2023-01-05', true),
    (2, 'Bob', 'Japan', 'bob@example.com', '2023-03-09', false),
    (3, 'Zoë', 'Norway', null, '2024-02-29', false);
insert into orders values
    (1, 1, '2024-01-01', 'paid', 10.50, '{"tags": ["new", "gift"]}'),
    (2, 1, '2024-01-15', 'update pending', 20, '{"tags": []}'),
    (3, 2, '2024-02-01', 'paid', 5.25, null);
insert into "order lines" values (1, 'pen', 2, 1.5), (1, 'ink', 1, 7.5);
insert into categories values (1, null, 'all'), (2, 1, 'paper'), (3, 2, 'notebooks');
create schema secret;
create table secret.salaries (name varchar, salary integer);
insert into secret.salaries values ('Ann', 100);
"""

CLICKHOUSE = """
create database shop;
create table shop.customers (id Int64, name String, country Nullable(String), email Nullable(String),
    signed_up Date, vip Bool) engine = ReplacingMergeTree order by id comment 'Who buys';
create table shop.orders (id Int32, customer_id Int64, placed DateTime, status LowCardinality(String),
    total Decimal(10, 2), details String, tags Array(String)) engine = MergeTree order by id;
create table shop.`order lines` (order_id Int32, `select` String, quantity Int32, `unit price` Float64)
    engine = MergeTree order by order_id;
create table shop.categories (id Int32, parent_id Nullable(Int32), name String)
    engine = MergeTree order by id;
create view shop.spending as select c.name as name, sum(o.total) as spent, max(o.placed) as latest
    from shop.customers c join shop.orders o on o.customer_id = c.id group by c.name;
insert into shop.customers values
    (1, 'Ann', 'Norway', 'ann@example.com', '2023-01-05', true),
    (2, 'Bob', 'Japan', 'bob@example.com', '2023-03-09', false),
    (3, 'Zoë', 'Norway', null, '2024-02-29', false);
insert into shop.orders values
    (1, 1, '2024-01-01 00:00:00', 'paid', 10.50, '{"tags": ["new", "gift"]}', ['new', 'gift']),
    (2, 1, '2024-01-15 00:00:00', 'update pending', 20, '{"tags": []}', []),
    (3, 2, '2024-02-01 00:00:00', 'paid', 5.25, '', []);
insert into shop.`order lines` values (1, 'pen', 2, 1.5), (1, 'ink', 1, 7.5);
insert into shop.categories values (1, null, 'all'), (2, 1, 'paper'), (3, 2, 'notebooks');
create database secret;
create table secret.salaries (name String, salary Int32) engine = MergeTree order by name;
insert into secret.salaries values ('Ann', 100);
"""

SNOWFLAKE = """
create database shop;
create schema shop.public;
create table shop.public.customers (id bigint primary key, name varchar not null, country varchar,
    email varchar, signed_up date, vip boolean);
create table shop.public.orders (id integer primary key, customer_id bigint, placed timestamp_ntz,
    status varchar, total decimal(10, 2), details variant);
create table shop.public."order lines" (order_id integer, "select" varchar, quantity integer,
    "unit price" float);
create table shop.public.categories (id integer, parent_id integer, name varchar);
comment on table shop.public.customers is 'Who buys';
insert into shop.public.customers values
    (1, 'Ann', 'Norway', 'ann@example.com', '2023-01-05', true),
    (2, 'Bob', 'Japan', 'bob@example.com', '2023-03-09', false),
    (3, 'Zoë', 'Norway', null, '2024-02-29', false);
insert into shop.public.orders
    select 1, 1, '2024-01-01', 'paid', 10.50, parse_json('{"tags": ["new", "gift"]}');
insert into shop.public.orders
    select 2, 1, '2024-01-15', 'update pending', 20, parse_json('{"tags": []}');
insert into shop.public.orders
    select 3, 2, '2024-02-01', 'paid', 5.25, null;
insert into shop.public."order lines" values (1, 'pen', 2, 1.5), (1, 'ink', 1, 7.5);
insert into shop.public.categories values (1, null, 'all'), (2, 1, 'paper'), (3, 2, 'notebooks');
create database empty;
create schema shop.secret;
create table shop.secret.salaries (name varchar, salary integer);
insert into shop.secret.salaries values ('Ann', 100);
"""
