"""A real MariaDB server: sessions that only read, typed rows, scans, warnings, and refusals to connect."""

import socket
import time

import pytest

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import ForeignKey, Schema
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed
from tests.support.mariadb_server import MariadbServer

SHOP = """
create database types character set utf8mb4;
use types;
create table customers (id bigint primary key, name varchar(50) not null comment 'Full name',
    feels enum('sad', 'glad')) comment 'Who buys';
create table orders (id int primary key, customer_id bigint, total decimal(20, 4), placed datetime(3),
    day date, at time, year year, paid boolean, ratio double, raw varbinary(10), note text, bits bit(3),
    foreign key (customer_id) references customers (id));
create view spending as select customer_id, sum(total) as spent from orders group by customer_id;
insert into customers values (1, 'Zoë', 'glad'), (2, 'Bob', null);
insert into orders values (1, 1, 1234567890123456.7891, '2024-05-01 10:00:00.5', '2024-05-01', '-12:30:00',
    2024, true, 0.1, x'00ff', 'x', b'101');
create user typist@'%' identified by 's3cret/with@signs';
grant select, show view on types.* to typist@'%';
create user writer@'%' identified by 's3cret/with@signs';
grant select, insert on types.orders to writer@'%';
"""


@pytest.fixture(scope="module")
def shop(mariadb: MariadbServer) -> Database:
    mariadb.run(SHOP)
    return read_url(mariadb.url("typist", "types"))


@pytest.fixture(scope="module")
def schema(shop: Database) -> Schema:
    return scan(shop, ConnectionLimits(), Stop())


def run(sql: str, database: Database, schema: Schema, **limits: int) -> ResultSet:
    bounds = StatementLimits(timeout_seconds=60, **limits)
    return UncheckedStatement(
        sql=sql, schema=schema, database=database, limits=bounds, connect_seconds=60
    ).run(Stop())


def test_rows_come_as_json_under_the_servers_types(shop: Database, schema: Schema) -> None:
    result = run("select orders.*, null as nothing, sum(total) over () as s from orders", shop, schema)
    assert [column.type for column in result.columns] == [
        *("integer", "integer", "number", "datetime", "date", "time", "integer", "integer", "number"),
        *("binary", "text", "integer", "text", "number"),
    ]
    assert result.rows == [
        [
            *(
                1,
                1,
                "1234567890123456.7891",
                "2024-05-01T10:00:00.500",
                "2024-05-01",
                "-12:30:00",
                2024,
                1,
                0.1,
            ),
            *("AP8=", "x", 5, None, "1234567890123456.7891"),
        ]
    ]


def test_a_scan_knows_comments_keys_and_views(schema: Schema) -> None:
    tables = {each.name: each for each in schema.tables}
    assert {name: (each.kind, each.row_count) for name, each in tables.items()} == {
        "customers": ("table", 2),
        "orders": ("table", 1),
        "spending": ("view", 1),
    }
    assert (tables["customers"].description, tables["customers"].columns[1].description) == (
        "Who buys",
        "Full name",
    )
    assert tables["orders"].foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]
    assert [(c.name, c.type) for c in tables["orders"].columns][:5] == [
        *(("id", "integer"), ("customer_id", "integer"), ("total", "number")),
        *(("placed", "datetime"), ("day", "date")),
    ]


def test_a_percent_sign_is_only_a_percent_sign(shop: Database, schema: Schema) -> None:
    sql = "select '100%' as `%s`, date_format('2024-05-01', '%Y') from customers where name like 'Z%'"
    assert run(sql, shop, schema).rows == [["100%", "2024"]]


def test_more_rows_than_wanted_are_not_waited_for(shop: Database, schema: Schema) -> None:
    sql = "with recursive n as (select 1 as x union all select x + 1 from n where x < 300000) select x from n"
    result = run(sql, shop, schema, max_rows=10)
    assert (len(result.rows), result.truncated) == (10, True)


def test_a_call_that_the_server_cannot_interrupt_holds_nothing_up(shop: Database) -> None:
    stop, begun = Stop(), time.monotonic()
    slow = f"select length(replace(replace('{'a' * 3000}', 'a', '{'b' * 3000}'), 'b', '{'c' * 1500}'))"
    with shop.session(stop, 60) as session:
        stop.after(0.3)
        with pytest.raises(StatementFailed, match="stopped after"):
            list(session.execute(slow).rows)
    assert time.monotonic() - begun < 20


def test_a_failed_statement_is_reported_in_the_servers_words(shop: Database, schema: Schema) -> None:
    with pytest.raises(StatementFailed, match="Unknown column 'nam'"):
        run("select nam from customers", shop, schema)


def test_quotes_and_modes_of_the_server_do_not_change_what_text_means(
    mariadb: MariadbServer, shop: Database, schema: Schema
) -> None:
    modes = mariadb.run("select @@global.sql_mode").strip()
    mariadb.run("set global sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'")
    try:
        assert run(r"""select "it", 'a\'b' from customers limit 1""", shop, schema).rows == [["it", "a'b"]]
    finally:
        mariadb.run(f"set global sql_mode = '{modes}'")


@pytest.mark.parametrize(
    ("user", "warnings"),
    [
        ("typist", []),
        ("writer", ["This account may do more than read: INSERT."]),
        ("chief", ["files (FILE)", "may do more than read: ALTER, ALTER ROUTINE"]),
    ],
)
def test_an_account_that_may_write_is_warned_of(
    user: str, warnings: list[str], mariadb: MariadbServer, shop: Database
) -> None:
    mariadb.run(
        "create user if not exists chief@'%' identified by 's3cret/with@signs'; grant all on *.* to chief@'%'"
    )
    found = read_url(mariadb.url(user, "types")).warnings(Stop(), 60)
    assert len(found) == len(warnings)
    assert all(part in said and "may only SELECT" in said for part, said in zip(warnings, found, strict=True))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("s3cret", "wrong"), "the user name or the password is wrong"),
        (("typist", "missing"), "the user name or the password is wrong"),
        (
            ("/types", "/mysql"),
            (
                "it has no database of this name that the user may read; GRANT SELECT ON the database's "
                "tables TO the user allows it"
            ),
        ),
        (("127.0.0.1", "no-such-host.invalid"), "the host is unknown"),
    ],
)
def test_a_refused_connection_is_explained_without_secrets(
    mariadb: MariadbServer, shop: Database, change: tuple[str, str], cause: str
) -> None:
    database = read_url(mariadb.url("typist", "types").replace(*change))
    with pytest.raises(DatabaseUnavailable) as refused, database.session(Stop(), 60):
        pass
    assert refused.value.detail == f"The database cannot be used: {cause}."


def test_encryption_that_is_asked_for_is_not_done_without(mariadb: MariadbServer, shop: Database) -> None:
    database = read_url(mariadb.url("typist", "types") + "?ssl_mode=required")
    with pytest.raises(DatabaseUnavailable, match="encryption"), database.session(Stop(), 60):
        pass


def test_a_port_where_nothing_listens_is_explained() -> None:
    database = read_url("mysql://ann:hunter2@127.0.0.1:1/shop")
    with pytest.raises(DatabaseUnavailable, match="nothing listens"), database.session(Stop(), 60):
        pass


def test_a_port_where_something_else_waits_to_be_spoken_to_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = read_url(f"mysql://ann:hunter2@127.0.0.1:{silent.getsockname()[1]}/shop")
        started = time.monotonic()
        with pytest.raises(DatabaseUnavailable, match="in time"), database.session(Stop(), 0.2):
            pass
        assert time.monotonic() - started < 20


def test_sums_of_decimals_are_exact_and_those_of_doubles_without_noise(
    shop: Database, schema: Schema
) -> None:
    sql = """select sum(cast(exact as decimal(30, 2))), sum(double_), min(single) from (
        select '12345678901234567.89' as exact, 1e-1 as double_, 1e-1 as single
        union all select '0.01', 2e-1, 7e-1) amounts"""
    assert run(sql, shop, schema).rows == [["12345678901234567.90", 0.3, 0.1]]
