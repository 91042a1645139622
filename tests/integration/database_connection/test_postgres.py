"""A real PostgreSQL server: sessions that only read, typed rows, scans, and refusals to connect."""

import contextlib
import re

import psycopg
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
from tests.support.postgres_server import PostgresServer

SHOP = """
create type mood as enum ('sad', 'glad');
create table customers (id bigint primary key, name text not null, feels mood, "Signed Up" date);
comment on table customers is 'Who buys';
comment on column customers.name is 'Full name';
create table orders (id serial primary key, customer_id bigint references customers, total numeric(10, 2),
    placed timestamptz, tags text[], details jsonb, "100%" char(3));
create view spending as select customer_id, sum(total) as spent from orders group by 1;
create materialized view latest as select max(placed) as at from orders;
insert into customers values (1, 'Ann', 'glad', '2023-01-05'), (2, 'Bob', null, '2024-02-29');
insert into orders (customer_id, total, placed, tags, details, "100%")
    values (1, 10.50, '2024-05-01 10:00+00', '{a,b}', '{"a": 1}', 'x');
create function sneak() returns int language sql as 'delete from customers; select 1';
"""


@pytest.fixture(scope="module")
def shop(postgres: PostgresServer) -> Database:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("create database shop")
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(SHOP)
    return read_url(postgres.url())


@pytest.fixture(scope="module")
def schema(shop: Database) -> Schema:
    return scan(shop, ConnectionLimits(), Stop())


def run(sql: str, database: Database, schema: Schema) -> ResultSet:
    return UncheckedStatement(
        sql=sql,
        schema=schema,
        database=database,
        limits=StatementLimits(timeout_seconds=60),
        connect_seconds=60,
    ).run(Stop())


def test_rows_come_as_json_under_the_servers_types(shop: Database, schema: Schema) -> None:
    sql = """select id, total, placed at time zone 'UTC' as placed, placed::date as day, tags, details,
        id = 1 as first, '12:30'::time as at, '\\x00ff'::bytea as raw, null as nothing,
        '1 day'::interval as gap from orders"""
    result = run(sql, shop, schema)
    assert [column.type for column in result.columns] == [
        *(
            "integer",
            "number",
            "datetime",
            "date",
            "json",
            "json",
            "boolean",
            "time",
            "binary",
            "text",
            "text",
        )
    ]
    assert result.rows == [
        [
            *(1, 10.5, "2024-05-01T10:00:00", "2024-05-01", ["a", "b"], {"a": 1}),
            *(True, "12:30:00", "AP8=", None, "1 day"),
        ]
    ]


def test_moments_beyond_a_calendar_and_numbers_that_are_none_still_arrive(
    shop: Database, schema: Schema
) -> None:
    sql = """select 'infinity'::timestamptz, '0044-03-15 BC'::date, 'NaN'::numeric, 'inf'::float8,
        '2024-01-01 10:00+00'::timestamptz = '2024-01-01 10:00+00'::timestamptz"""
    assert run(sql, shop, schema).rows == [["infinity", "0044-03-15 BC", None, None, True]]


def test_an_empty_result_still_has_columns(shop: Database, schema: Schema) -> None:
    result = run("select id, name from customers where false", shop, schema)
    assert result.columns == (("id", "integer"), ("name", "text"))
    assert result.rows == []


def test_a_percent_sign_is_only_a_percent_sign(shop: Database, schema: Schema) -> None:
    result = run("select '100%' as \"%s\", \"100%\", name like 'A%' from orders, customers", shop, schema)
    assert result.rows[0] == ["100%", "x  ", True]


def test_a_failed_statement_is_reported_in_the_servers_words(shop: Database, schema: Schema) -> None:
    with pytest.raises(StatementFailed, match=r'column "nam" does not exist.*Perhaps you meant'):
        run("select nam from customers", shop, schema)


@pytest.mark.parametrize(
    "sql",
    [
        "select sneak()",
        "delete from customers",
        "select 1; delete from customers",
        "select 1; commit; delete from customers",
        "with d as (delete from customers returning 1) select * from d",
        "set default_transaction_read_only = off",
        "copy customers to stdout",
        "select nextval('orders_id_seq')",
        "create temp table t (a int)",
    ],
)
def test_a_session_by_itself_only_reads(sql: str, shop: Database, schema: Schema) -> None:
    with pytest.raises(StatementFailed), shop.session(Stop(), 60) as session:
        list(session.execute(sql).rows)
    assert run("select count(*) from customers", shop, schema).rows == [[2]]


def test_a_scan_knows_comments_enumerations_views_and_estimates_nothing_small(schema: Schema) -> None:
    tables = {each.name: each for each in schema.tables}
    assert {name: (each.kind, each.row_count) for name, each in tables.items()} == {
        "customers": ("table", 2),
        "latest": ("view", 1),
        "orders": ("table", 1),
        "spending": ("view", 1),
    }
    customers = tables["customers"]
    assert customers.description == "Who buys"
    assert [(c.name, c.type, c.description, list(c.values), c.maximum) for c in customers.columns] == [
        ("id", "integer", "", [], "2"),
        ("name", "text", "Full name", ["Ann", "Bob"], None),
        ("feels", "text", "", ["glad"], None),
        ("Signed Up", "date", "", [], "2024-02-29"),
    ]
    assert tables["orders"].foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]
    assert {c.name: c.type for c in tables["orders"].columns}["tags"] == "json"


def test_a_server_that_dies_in_the_middle_is_unavailable(postgres: PostgresServer, shop: Database) -> None:
    kill = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'kai'"
    with shop.session(Stop(), 60) as session, psycopg.connect(postgres.url(), autocommit=True) as other:
        other.execute(kill)
        with pytest.raises(DatabaseUnavailable, match="broke the connection off"):
            list(session.execute("select 1").rows)


def test_a_plan_can_be_asked_for(shop: Database, schema: Schema) -> None:
    result = run("explain select * from customers", shop, schema)
    assert str(result.rows[0][0]).startswith("Seq Scan on customers")


def test_a_role_that_only_reads_is_not_warned_of(postgres: PostgresServer, shop: Database) -> None:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("create role looker login password 's3cret/with@signs'")
        connection.execute("grant select on all tables in schema public to looker")
    assert read_url(postgres.url().replace("analyst", "looker")).warnings(Stop(), 60) == []


@pytest.mark.parametrize(
    ("grant", "warning"),
    [
        ("alter role {} superuser", "is a superuser"),
        ("grant pg_read_server_files to {}", "may read or write the server's files"),
        ("grant update on orders to {}", "may change rows"),
        ("grant create on schema public to {}", "may create tables or schemas"),
    ],
)
def test_a_role_that_may_do_more_than_read_is_warned_of(
    grant: str, warning: str, postgres: PostgresServer, shop: Database
) -> None:
    role = "writer_" + warning.replace(" ", "_").replace("'", "")[:20]
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"create role {role} login password 's3cret/with@signs'")
        connection.execute(grant.format(role))
    (said,) = read_url(postgres.url().replace("analyst", role)).warnings(Stop(), 60)
    assert warning in said
    assert "may only SELECT" in said


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("s3cret", "wrong"), "the user name or the password is wrong"),
        (("analyst", "missing"), "the user name or the password is wrong"),
        (("/shop", "/nothing"), "the server has no database of this name"),
        (("127.0.0.1", "no-such-host.invalid"), "the host is unknown"),
    ],
)
def test_a_refused_connection_is_explained_without_secrets(
    postgres: PostgresServer, shop: Database, change: tuple[str, str], cause: str
) -> None:
    database = read_url(postgres.url().replace(*change))
    with pytest.raises(DatabaseUnavailable) as refused, database.session(Stop(), 60):
        pass
    assert refused.value.detail == f"The database cannot be used: {cause}."
    assert refused.value.__cause__ is None


def test_a_port_where_nothing_listens_is_explained() -> None:
    database = read_url("postgresql://ann:hunter2@127.0.0.1:1/shop")
    with pytest.raises(DatabaseUnavailable, match="nothing listens"), database.session(Stop(), 60):
        pass


def test_sums_of_decimals_are_exact_and_those_of_doubles_without_noise(
    shop: Database, schema: Schema
) -> None:
    sql = """select sum(exact::numeric), sum(double::float8), min(single::float4)
        from (values ('12345678901234567.89', 0.1, 0.1), ('0.01', 0.2, 0.7)) as t(exact, double, single)"""
    assert run(sql, shop, schema).rows == [["12345678901234567.90", 0.3, 0.1]]


def test_the_driver_writes_nothing_to_stderr(
    postgres: PostgresServer, shop: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    without_password = read_url(re.sub(r"(//[^:@]+):[^@]*@", r"\1@", postgres.url()))
    with contextlib.suppress(DatabaseUnavailable), without_password.session(Stop(), 60):
        pass
    assert capfd.readouterr().err == ""
