"""Databases with several schemas: same-named tables, keys between schemas, names that need quotes."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import psycopg
import pytest

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.guard.inspection import inspect
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.scan.schemas import chosen_schemas
from app.modules.database_connection.schema import ForeignKey, Schema
from app.modules.database_connection.threads import Stop
from app.modules.sql.table_names import TableName
from graph.errors import DatabaseUnavailable, StatementFailed, StatementRefused
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer

LONG = "l" * 63
COMPANY = f"""
create table sales.customers (id integer primary key, name varchar(20), city varchar(20));
create table sales.orders (id integer primary key, customer_id integer, amount integer,
    foreign key (customer_id) references sales.customers (id));
create table archive.orders (id integer primary key, amount integer, password varchar(20));
create table raw.{LONG} (id integer primary key, n integer);
create table raw.events (id integer primary key, n integer);
create view marts.revenue as select sum(amount) as total from sales.orders;
create view marts.hints as select id, password as hint from archive.orders;
insert into sales.customers values (1, 'Ann', 'Oslo'), (2, 'Bob', 'Rome');
insert into sales.orders values (1, 1, 10), (2, 2, 20);
insert into archive.orders values (7, 500, 'hunter22x');
insert into raw.events values (1, 5);
"""
CROSSING = """
create table marts.visits (id integer primary key, customer_id integer,
    foreign key (customer_id) references sales.customers (id));
insert into marts.visits values (1, 2);
"""
IN_QUOTES = """
create schema "Mixed Case";
create table "Mixed Case"."Order" (id integer primary key, "select" integer);
insert into "Mixed Case"."Order" values (1, 42);
create table "Mixed Case".visits_by_month (id integer primary key);
"""
SCHEMAS = ("sales", "archive", "raw", "marts")


def on_postgres(path: Path, request: pytest.FixtureRequest) -> Database:
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("drop database if exists company")
        connection.execute("create database company")
    with psycopg.connect(server.url("company"), autocommit=True) as connection:
        made = "".join(f"create schema {each};" for each in SCHEMAS)
        connection.execute((made + COMPANY + CROSSING + IN_QUOTES).encode())
        connection.execute(
            "create table raw.parted (id integer, day date) partition by range (day);"
            "create table raw.parted_2024 partition of raw.parted"
            " for values from ('2024-01-01') to ('2025-01-01');"
            "insert into raw.parted values (1, '2024-05-01');"
            "create materialized view marts.kept as select count(*) as n from sales.orders"
        )
    return read_url(server.url("company"))


def on_mariadb(path: Path, request: pytest.FixtureRequest) -> Database:
    server: MariadbServer = request.getfixturevalue("mariadb")
    made = "".join(f"drop database if exists {each}; create database {each};" for each in SCHEMAS)
    quoted = IN_QUOTES.replace("create schema", "create or replace database").replace('"', "`")
    server.run("set foreign_key_checks = 0;" + made + COMPANY + CROSSING + quoted)
    server.run("create or replace user company@'%' identified by 's3cret/with@signs'")
    for each in (*SCHEMAS, "`Mixed Case`"):
        server.run(f"grant select, show view on {each}.* to company@'%'")
    return read_url(server.url("company", "sales"))


def on_duckdb(path: Path, request: pytest.FixtureRequest) -> Database:
    with duckdb.connect(str(path / "company.duckdb")) as made:
        made.execute("".join(f"create schema {each};" for each in SCHEMAS))
        made.execute(COMPANY.replace("references sales.", "references ") + IN_QUOTES)
    return read_url(f"duckdb:///{path}/company.duckdb")


def on_sqlite(path: Path, request: pytest.FixtureRequest) -> Database:
    with closing(sqlite3.connect(path / "company.db")) as made:
        made.execute("create table events (id integer)")
    return read_url(f"sqlite:///{path}/company.db")


@pytest.fixture(scope="module", params=[on_postgres, on_mariadb, on_duckdb])
def company(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Database:
    make: Callable[[Path, pytest.FixtureRequest], Database] = request.param
    return make(tmp_path_factory.mktemp("company"), request)


@pytest.fixture(scope="module")
def schema(company: Database) -> Schema:
    return scan(company, ConnectionLimits(), Stop())


def rows(sql: str, database: Database, schema: Schema) -> list[list[object]]:
    statement = UncheckedStatement(
        sql=sql,
        schema=schema,
        database=database,
        limits=StatementLimits(timeout_seconds=60),
        connect_seconds=60,
    )
    return [[*row] for row in statement.run(Stop()).rows]


def test_a_scan_shows_names_as_short_as_they_can_be(company: Database, schema: Schema) -> None:
    names = {table.name for table in schema.tables}
    assert {"sales.orders", "archive.orders", "customers", "events", "revenue", "Order", LONG} <= names
    assert not {"orders", "sales.customers", "parted_2024"} & names
    assert schema.by_name["customers"].full_name == TableName(
        "company" if schema.dialect == "duckdb" else "", "sales", "customers"
    )
    assert schema.by_name["sales.orders"].foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]
    assert schema.by_name["hints"].secrets == ["hint"]
    if schema.dialect != "duckdb":
        assert schema.by_name["visits"].foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]
    if schema.dialect == "postgres":
        assert schema.by_name["parted"].kind == "table"
        assert schema.by_name["kept"].kind == "view"
        assert schema.by_name["parted"].row_count == 1


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select sum(amount) from sales.orders", 30),
        ("select sum(amount) from archive.orders", 500),
        ("select sum(orders.amount) from sales.orders", 30),
        ("select sum(sales.orders.amount) from sales.orders", 30),
        ("select max(o.amount) + min(a.amount) from sales.orders as o cross join archive.orders as a", 520),
        ("select count(*) from customers", 2),
        ("select count(customers.id) from customers", 2),
        ("select count(*) from sales.customers as c join sales.orders as o on o.customer_id = c.id", 2),
        ("with orders as (select 3 as amount) select sum(amount) from orders", 3),
        ("with events as (select * from raw.events) select sum(n) from events", 5),
        ("select total from revenue", 30),
        ("select (select sum(amount) from archive.orders) + (select sum(n) from events)", 505),
    ],
)
def test_statements_read_the_tables_that_they_name(
    company: Database, schema: Schema, sql: str, expected: int
) -> None:
    assert int(str(rows(sql, company, schema)[0][0])) == expected


def test_names_in_quotes_and_reserved_words_are_read(company: Database, schema: Schema) -> None:
    quote = "`" if schema.dialect == "mysql" else '"'
    sql = 'select "select" from "Mixed Case"."Order"'.replace('"', quote)
    assert rows(sql, company, schema) == [[42]]
    assert rows(f"select id from {schema.names.written('Order')}", company, schema) == [[1]]


def test_a_name_with_two_meanings_is_refused_naming_both(schema: Schema) -> None:
    with pytest.raises(StatementRefused, match=r"archive\.orders and sales\.orders"):
        check("select * from orders", schema)


def test_two_tables_of_one_name_need_aliases(schema: Schema) -> None:
    with pytest.raises(StatementRefused, match="alias"):
        check("select * from sales.orders join archive.orders on sales.orders.id = archive.orders.id", schema)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from raw.events",
        'select * from "raw"."events"',
        "select * from RAW.EVENTS",
        "select * from events",
        "select (select count(*) from raw.events) from customers",
        "with e as (select * from raw.events) select * from e",
        "select * from sales.customers where exists (select 1 from archive.orders)",
        "select * from orders union all select * from archive.orders",
    ],
)
def test_a_schema_outside_of_the_patterns_is_not_read(company: Database, sql: str) -> None:
    narrow = scan(company, ConnectionLimits(), Stop(), schemas=["sales", "marts", "!mixed*"])
    assert {table.name for table in narrow.tables} >= {"orders", "customers", "revenue"}
    assert not {"events", "Order", "archive.orders"} & {table.name for table in narrow.tables}
    with pytest.raises(StatementRefused):
        check(sql.replace('"', "`") if narrow.dialect == "mysql" else sql, narrow)


def test_a_pattern_that_fits_nothing_is_refused_with_the_schemas_there_are(company: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"fits wares\*\. It may use: .*sales"):
        scan(company, ConnectionLimits(), Stop(), schemas=["wares*", "sales"])
    with pytest.raises(DatabaseUnavailable, match="leave no schema"):
        scan(company, ConnectionLimits(), Stop(), schemas=["sales", "!sales"])


def test_secrets_are_found_by_the_schema(company: Database, schema: Schema) -> None:
    assert sorted(schema.tables_with_secrets) == ["archive.orders", "hints"]


def test_a_statement_is_described_with_the_shown_names(schema: Schema) -> None:
    found = inspect(
        "select o.amount from sales.orders as o join customers as c on c.id = o.customer_id", schema
    )
    assert [each.name for each in found.tables] == ["customers", "sales.orders"]


def test_a_schema_of_the_databases_own_name_is_read(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "sales.duckdb")) as made:
        made.execute("create schema sales.sales; create table sales.sales.t as select 'one' as n")
        made.execute("create table sales.main.t as select 'two' as n")
    database = read_url(f"duckdb:///{tmp_path}/sales.duckdb")
    schema = scan(database, ConnectionLimits(), Stop())
    assert {name: table.columns[0].values for name, table in schema.by_name.items()} == {
        "main.t": ["two"],
        "sales.t": ["one"],
    }
    assert rows("select n from sales.t", database, schema) == [["one"]]
    assert rows("select n from sales.main.t", database, schema) == [["two"]]


@pytest.mark.parametrize("make", [on_postgres, on_mariadb, on_duckdb, on_sqlite])
def test_a_dropped_table_is_said_with_the_cure(
    request: pytest.FixtureRequest, tmp_path: Path, make: Callable[[Path, pytest.FixtureRequest], Database]
) -> None:
    database = make(tmp_path, request)
    known = scan(database, ConnectionLimits(), Stop())
    match known.dialect:
        case "postgres":
            server: PostgresServer = request.getfixturevalue("postgres")
            with psycopg.connect(server.url("company"), autocommit=True) as connection:
                connection.execute("drop table raw.events")
        case "mysql":
            request.getfixturevalue("mariadb").run("drop table raw.events")
        case "duckdb":
            with duckdb.connect(str(tmp_path / "company.duckdb")) as opened:
                opened.execute("drop table raw.events")
        case _:
            with closing(sqlite3.connect(tmp_path / "company.db")) as lite:
                lite.execute("drop table events")
    with pytest.raises(StatementFailed, match=r"events.*\. It was removed since .* scan the database again"):
        rows("select * from events", database, known)


def test_a_foreign_table_is_a_table(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    on_postgres(tmp_path, request)
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("company"), autocommit=True) as connection:
        connection.execute(
            "create extension postgres_fdw; create schema far;"
            "create server other foreign data wrapper postgres_fdw"
            f" options (host '127.0.0.1', port '{server.port}', dbname 'company');"
            "create user mapping for analyst server other"
            " options (user 'analyst', password 's3cret/with@signs');"
            "import foreign schema sales limit to (customers) from server other into far".encode()
        )
    database = read_url(server.url("company"))
    found = scan(database, ConnectionLimits(), Stop())
    far = found.by_name["far.customers"]
    assert (far.kind, [each.name for each in far.columns]) == ("table", ["id", "name", "city"])
    assert far.columns[2].values == ["Oslo", "Rome"]
    assert rows("select count(*) from far.customers where city = 'Oslo'", database, found) == [[1]]


@pytest.mark.parametrize(
    ("make", "lengths"), [(on_postgres, [63]), (on_mariadb, [64]), (on_duckdb, [63, 128, 300])]
)
def test_the_longest_names_are_read(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    make: Callable[[Path, pytest.FixtureRequest], Database],
    lengths: list[int],
) -> None:
    """The longest that each database has, for a schema, a table and a column."""
    database = make(tmp_path, request)
    for length in lengths:
        name = "n" * length
        create = "create database" if database.dialect == "mysql" else "create schema"
        script = f"{create} {name}; create table {name}.{name} ({name} integer);"
        script += f"insert into {name}.{name} values ({length})"
        match database.dialect:
            case "postgres":
                server: PostgresServer = request.getfixturevalue("postgres")
                with psycopg.connect(server.url("company"), autocommit=True) as connection:
                    connection.execute(script.encode())
            case "mysql":
                mariadb: MariadbServer = request.getfixturevalue("mariadb")
                mariadb.run(
                    f"drop database if exists {name}; {script}; grant select on {name}.* to company@'%'"
                )
            case _:
                with duckdb.connect(str(tmp_path / "company.duckdb")) as opened:
                    opened.execute(script)
    known = scan(database, ConnectionLimits(), Stop())
    for length in lengths:
        name = "n" * length
        shown = next(table for table in known.tables if table.in_database.name == name).name
        assert rows(f"select {name} from {name}.{name}", database, known) == [[length]]
        assert rows(f"select max({name}) from {known.names.written(shown)}", database, known) == [[length]]
    if database.dialect == "mysql":
        request.getfixturevalue("mariadb").run(f"drop database {'n' * 64}")


def test_a_catalog_that_takes_too_long_is_given_up_with_the_cure(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    database = on_postgres(tmp_path, request)
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("company")) as locking:
        locking.execute("lock table pg_catalog.pg_description in access exclusive mode")
        with pytest.raises(DatabaseUnavailable, match=r"longer than 1 s to read.*such as sales_\*"):
            scan(database, ConnectionLimits(scan_seconds=1), Stop())


def test_schemas_without_rights_are_left_out(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    on_postgres(tmp_path, request)
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("company"), autocommit=True) as connection:
        connection.execute("drop role if exists narrow")
        connection.execute("create role narrow login password 's3cret/with@signs'")
        connection.execute("grant usage on schema sales to narrow; grant select on sales.orders to narrow")
        for at in range(200):
            connection.execute(
                f"create schema closed_{at}; create table closed_{at}.orders (id integer)".encode()
            )
    url = server.url("company").replace("//analyst", "//narrow")
    found = scan(read_url(url), ConnectionLimits(), Stop())
    assert {"orders", "customers"} == {table.name for table in found.tables}


def test_patterns_include_and_exclude_in_any_case() -> None:
    names = ["sales_eu", "Sales_us", "raw", "sales_old"]
    assert chosen_schemas(names, ["SALES_*", "!*_old"]) == ["sales_eu", "Sales_us"]
    assert chosen_schemas(names, ["!raw"]) == ["sales_eu", "Sales_us", "sales_old"]
    assert chosen_schemas(names, []) == names


@pytest.mark.parametrize(
    "sql",
    [
        "with recursive a as (select * from secret), secret as (select 1 as x) select * from a",
        "with recursive secret as (select * from secret) select * from secret",
        "with recursive secret as (select * from secret union all select 1) select * from secret",
        "with recursive secret as (select * from secret intersect select 42) select * from secret",
        (
            "with recursive secret as (with b as (select * from secret) select 1 as x union all"
            " select x from b where x > 40) select * from secret"
        ),
        (
            "with recursive secret as (select 1 as x union all by name select x from secret where x > 40)"
            " select * from secret"
        ),
        "with recursive a as (select * from sqlite_master), sqlite_master as (select 1 as x) select * from a",
    ],
)
def test_a_name_that_is_no_common_table_where_it_stands_is_a_table(tmp_path: Path, sql: str) -> None:
    """DuckDB reads the table of that name, which lies in a schema that is not read."""
    with duckdb.connect(str(tmp_path / "company.duckdb")) as made:
        made.execute("create table secret as select 42 as x; create schema sales")
        made.execute("create table sales.orders as select 1 as x")
    database = read_url(f"duckdb:///{tmp_path}/company.duckdb")
    narrow = scan(database, ConnectionLimits(), Stop(), schemas=["sales"])
    with pytest.raises(StatementRefused):
        check(sql, narrow)


def test_a_hidden_column_stays_hidden_below_a_common_table_of_its_tables_name(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "company.duckdb")) as made:
        made.execute("create table people as select 'Ann' as name, 4711 as salary")
    database = read_url(f"duckdb:///{tmp_path}/company.duckdb")
    known = scan(database, ConnectionLimits(), Stop())
    (people,) = known.tables
    columns = [replace(each, hidden=each.name == "salary") for each in people.columns]
    hiding = replace(known, tables=[replace(people, columns=columns).without_hidden()])
    sql = "with recursive a as (select * from people), people as (select 1 as x) select * from a"
    assert rows(sql, database, hiding) == [["Ann"]]


def test_recursion_counts_and_walks_on_all_engines(company: Database, schema: Schema) -> None:
    counted = (
        "with recursive n as (select 1 as x union all select x + 1 from n where x < 4) select sum(x) from n"
    )
    assert [[int(str(cell)) for cell in row] for row in rows(counted, company, schema)] == [[10]]
    walked = (
        "with recursive seen as (select id from customers where id = 1 union all"
        " select c.id from customers c join seen s on c.id = s.id + 1) select count(*) from seen"
    )
    assert rows(walked, company, schema) == [[2]]
