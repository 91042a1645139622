"""Databases and what a scan of them learns: a small business, the sample one and, where present, Chinook."""

import sqlite3
from contextlib import closing
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.modules.database_connection.schema import ColumnType, ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from app.sample_data.build import build_sample

CHINOOK = Path(__file__).parents[4] / "shared" / "data" / "chinook" / "Chinook_Sqlite.sqlite"
_FEW = 60
_MANY = 3_000
SAMPLE_DAY = date(2026, 7, 15)

BUSINESS = """
create table regions (id integer primary key, name text not null);
create table employees (id integer primary key, first_name text, last_name text, title text, salary numeric,
    region_id integer references regions(id), hired_on date);
create table customers (id integer primary key, name text, email text, city text, country text,
    region_id integer references regions(id), signup_date date);
create table products (id integer primary key, name text, category text, unit_price numeric, cost numeric);
create table orders (id integer primary key, customer_id integer references customers(id),
    employee_id integer references employees(id), order_date date, shipped_date date, status text);
create table order_lines (id integer primary key, order_id integer references orders(id),
    product_id integer references products(id), quantity integer, unit_price numeric, discount numeric,
    amount numeric);
create table returns (id integer primary key, order_line_id integer references order_lines(id),
    return_date date,
    quantity integer, reason text);
insert into regions values (1, 'Europe'), (2, 'Americas');
insert into employees values (1, 'Ada', 'Smith', 'Manager', 5000, 1, '2020-01-15'),
    (2, 'Bob', 'Jones', 'Seller', 3000, 2, '2022-06-01'), (3, 'Eve', 'Brown', 'Seller', 3500, 1,
    '2023-03-01');
insert into customers values (1, 'Alpine Shop', 'a@x.org', 'Berlin', 'Germany', 1, '2024-01-10'),
    (2, 'Alpine Shop', null, 'Paris', 'France', 1, '2024-02-10'),
    (3, 'Big Store', 'c@x.org', 'Boston', 'USA', 2, '2025-01-05'),
    (4, 'Camp Co', null, 'Munich', 'Germany', 1, '2025-02-20'),
    (5, 'Quiet Ltd', 'q@x.org', 'Berlin', 'Germany', 1, '2023-02-20');
insert into products values (1, 'Dome Tent', 'Tents', 200, 120), (2, 'Tunnel Tent', 'Tents', 350, 210),
    (3, 'Gas Stove', 'Stoves', 60, 30), (4, 'Down Bag', 'Sleeping Bags', 150, 90), (5, 'Mug', 'Kitchen',
    8, 2);
insert into orders values (1, 1, 1, '2024-03-05', '2024-03-08', 'shipped'),
    (2, 2, 1, '2024-11-20', '2024-11-25', 'shipped'), (3, 3, 2, '2025-01-15', null, 'cancelled'),
    (4, 1, 3, '2025-03-02', '2025-03-05', 'shipped'), (5, 4, 3, '2025-03-28', '2025-04-02', 'shipped'),
    (6, 3, 2, '2025-06-10', null, 'open');
insert into order_lines values (1, 1, 1, 2, 200, 0, 400), (2, 1, 3, 1, 60, 0.1, 54), (3, 2, 2, 1, 350, 0,
    350),
    (4, 3, 4, 3, 150, 0.2, 360), (5, 4, 1, 5, 200, 0.1, 900), (6, 4, 2, 1, 350, 0, 350), (7, 5, 3, 10,
    60, 0, 600),
    (8, 6, 4, 1, 150, 0, 150), (9, 6, 1, 1, 200, 0, 200);
insert into returns values (1, 4, '2025-01-30', 1, 'damaged'), (2, 7, '2025-04-15', 2, 'wrong size');
"""


@cache
def business() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(BUSINESS)
    return connection


@cache
def chinook() -> sqlite3.Connection:
    return sqlite3.connect(f"{CHINOOK.as_uri()}?mode=ro", uri=True, check_same_thread=False)


@cache
def sample() -> sqlite3.Connection:
    """The sample business as of `SAMPLE_DAY`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sample.sqlite"
        build_sample(path, SAMPLE_DAY)
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        with closing(sqlite3.connect(path)) as file:
            file.backup(connection)
        return connection


def stored_in(connection: sqlite3.Connection) -> StoredTexts:
    """The texts of all columns that do not hold too many."""
    texts: dict[str, dict[str, list[str]]] = {}
    for table in schema_of(connection).tables:
        for column in table.columns:
            if column.type == "text":
                found = connection.execute(
                    f'select distinct "{column.name}" from "{table.name}" where "{column.name}" is not null'
                ).fetchmany(_MANY + 1)
                if len(found) <= _MANY:
                    texts.setdefault(table.name, {})[column.name] = [str(value) for (value,) in found]
    return StoredTexts(texts)


def rows(connection: sqlite3.Connection, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(round(v, 6) if isinstance(v, float) else v for v in row) for row in connection.execute(sql)]


def schema_of(connection: sqlite3.Connection) -> Schema:
    names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
    return Schema("sqlite", [_table(connection, name) for name in names if not name.startswith("sqlite_")])


def _table(connection: sqlite3.Connection, name: str) -> Table:
    columns = [_column(connection, name, row) for row in connection.execute(f'pragma table_info("{name}")')]
    keys = connection.execute(f'pragma foreign_key_list("{name}")')
    foreign = [ForeignKey([row[3]], row[2], [row[4] or "id"]) for row in keys]
    (count,) = connection.execute(f'select count(*) from "{name}"').fetchone()
    return Table(name=name, kind="table", columns=columns, foreign_keys=foreign, row_count=count)


def _column(connection: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> TableColumn:
    kind, name = _type(row[2]), f'"{row[1]}"'
    values: list[str] = []
    maximum = None
    if kind == "text":
        found = connection.execute(
            f'select distinct {name} from "{table}" where {name} is not null'
        ).fetchall()
        values = [str(value) for (value,) in found] if len(found) <= _FEW else []
    if kind in ("integer", "number"):
        (maximum,) = connection.execute(f'select max({name}) from "{table}"').fetchone()
    return TableColumn(
        name=row[1],
        type=kind,
        database_type=row[2],
        nullable=not row[3],
        primary_key=bool(row[5]),
        values=values,
        maximum=None if maximum is None else str(maximum),
    )


def _type(declared: str) -> ColumnType:
    upper = declared.upper()
    if upper == "BOOLEAN":
        return "boolean"
    if "INT" in upper:
        return "integer"
    if upper.startswith(("NUM", "REAL", "DEC", "FLOAT", "DOUB")):
        return "number"
    if upper.startswith(("DATE", "TIMESTAMP")):
        return "datetime" if "TIME" in upper else "date"
    return "text"
