"""A small shop in a SQLite file, with the awkward things that real databases have."""

import sqlite3
from contextlib import closing
from pathlib import Path

SHOP = """
create table customers (
    id integer primary key, name text not null, country text, email text, signed_up date, vip boolean);
create table orders (
    id integer primary key, customer_id integer not null references customers(id), placed text not null,
    status text, total numeric(10, 2), details json);
create table "order lines" (
    order_id integer references orders, "select" text, quantity integer, "unit price" real, note text);
create table categories (id integer primary key, parent_id integer references categories(id), name text);
create table files (name text, content blob);
create view spending as select c.name, sum(o.total) as spent, max(o.placed) as latest
    from customers c join orders o on o.customer_id = c.id group by c.name;
insert into customers values
    (1, 'Ann', 'Norway', 'ann@example.com', '2023-01-05', 1),
    (2, 'Bob', 'Japan', 'bob@example.com', '2023-03-09', 0),
    (3, 'Zoë', 'Norway', null, '2024-02-29', 0);
insert into orders values
    (1, 1, '2024-01-01', 'paid', 10.5, '{"tags": ["new", "gift"]}'),
    (2, 1, '2024-01-15', 'update pending', 20, '{"tags": []}'),
    (3, 2, '2024-02-01', 'paid', 5.25, null);
insert into "order lines" values (1, 'pen; drop table customers', 2, 1.5, 'a -- b'), (1, 'ink', 1, 7.5, null);
insert into categories values (1, null, 'all'), (2, 1, 'paper'), (3, 2, 'notebooks');
insert into files values ('a', x'00ff');
"""


def make_shop(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"begin; {SHOP} commit;")  # written to the disk once
    return path
