"""DuckDB files: locked sessions, typed rows, scans, and files that are none."""

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import duckdb
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

SHOP = """
create table customers (id integer primary key, name varchar not null, feels enum ('sad', 'glad'));
comment on table customers is 'Who buys';
comment on column customers.name is 'Full name';
create table orders (id integer primary key, customer_id integer references customers (id),
    total decimal(20, 4), huge hugeint, placed timestamp, moment timestamptz, day date, clock time,
    gap interval, tags varchar[], shape struct(a integer), lookup map(date, integer),
    details json, raw blob, ok boolean, ratio float, key uuid);
create view spending as select customer_id, sum(total) as spent from orders group by 1;
insert into customers values (1, 'Zoë', 'glad'), (2, 'Bob', null);
insert into orders values (1, 1, 1234567890123456.7891, 170141183460469231731687303715884105727,
    '2024-05-01 10:00', '2024-05-01 10:00+00', '2024-05-01', '12:30', interval '2 days 3 hours', ['a', 'b'],
    {'a': 1}, map {date '2024-01-01': 1}, '{"x": [1.5]}', '\\x00\\xFF'::blob, true, 0.5,
    '00000000-0000-0000-0000-000000000001');
create schema secret;
create table secret.salaries (name varchar);
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shop") / "shop.duckdb"
    with duckdb.connect(str(made)) as connection:
        connection.execute(SHOP)
    return made


@pytest.fixture(scope="module")
def shop(path: Path) -> Database:
    return read_url(f"duckdb:///{path}")


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


def in_session(sql: str, database: Database, seconds: float) -> None:
    """Run it with the guard off."""
    stop = Stop()
    with database.session(stop, 60) as session:
        stop.after(seconds)
        list(session.execute(sql).rows)


def test_rows_come_as_json_under_their_types(shop: Database, schema: Schema) -> None:
    result = run("select *, null as nothing from orders", shop, schema)
    assert [column.type for column in result.columns] == [
        *("integer", "integer", "number", "integer", "datetime", "datetime", "date", "time", "text"),
        *("json", "json", "json", "json", "binary", "boolean", "number", "text", "text"),
    ]
    assert result.rows == [
        [
            *(1, 1, "1234567890123456.7891", "170141183460469231731687303715884105727"),
            *(
                "2024-05-01T10:00:00",
                "2024-05-01T10:00:00+00:00",
                "2024-05-01",
                "12:30:00",
                "2 days 03:00:00",
            ),
            *(["a", "b"], {"a": 1}, {"2024-01-01": 1}, {"x": [1.5]}, "AP8=", True, 0.5),
            *("00000000-0000-0000-0000-000000000001", None),
        ]
    ]


def test_a_scan_knows_comments_keys_and_views_of_all_schemas(schema: Schema) -> None:
    tables = {each.name: each for each in schema.tables}
    assert {name: (each.kind, each.row_count) for name, each in tables.items()} == {
        "customers": ("table", 2),
        "orders": ("table", 1),
        "salaries": ("table", 0),
        "spending": ("view", 1),
    }
    assert [(c.name, c.type, c.description, list(c.values)) for c in tables["customers"].columns] == [
        ("id", "integer", "", []),
        ("name", "text", "Full name", ["Bob", "Zoë"]),
        ("feels", "text", "", ["glad"]),
    ]
    assert tables["customers"].description == "Who buys"
    assert tables["orders"].foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]


def test_a_failed_statement_is_reported_in_the_databases_words(shop: Database, schema: Schema) -> None:
    with pytest.raises(StatementFailed, match='Referenced column "nam" not found'):
        run("select nam from customers", shop, schema)


def test_many_sessions_of_one_file_do_not_disturb_each_other(shop: Database, schema: Schema) -> None:
    with shop.session(Stop(), 60) as one, shop.session(Stop(), 60) as other:
        rows = one.execute("select * from range(3)").rows
        assert list(other.execute("select 1").rows) == [[1]]
        assert list(rows) == [[0], [1], [2]]


NESTED = ", ".join(
    f"{after} as (select {'||'.join(['s'] * 10)} as s from {before})"
    for before, after in pairwise("abcdefghijk")
)


@pytest.mark.parametrize(
    "sql",
    [
        f"with a as (select 'xxxxxxxxxx' as s), {NESTED} select length(s) from k",
        f"select length(replace(replace('{'a' * 3000}', 'a', '{'b' * 3000}'), 'b', '{'c' * 3000}'))",
    ],
)
def test_a_statement_that_takes_all_memory_ends_and_takes_nothing_else_along(
    sql: str, shop: Database, schema: Schema
) -> None:
    with pytest.raises(StatementFailed, match=r"more memory than it may have|stopped after"):
        in_session(sql, shop, seconds=3)
    assert run("select count(*) from customers", shop, schema).rows == [[2]]


def test_a_call_that_cannot_be_interrupted_ends_at_its_time_limit(shop: Database) -> None:
    begun = time.monotonic()
    with pytest.raises(StatementFailed, match="stopped after"):
        in_session("select length(printf('%900000000d', 1))", shop, seconds=0.3)
    assert time.monotonic() - begun < 10


def test_a_scan_goes_on_after_a_view_that_takes_too_long(tmp_path: Path) -> None:
    path = tmp_path / "slow.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create view endless as select count(*) as n from range(100000000000)")
        connection.execute("create table quick as select 1 as a")
    limits = ConnectionLimits(profile_statement_seconds=6)  # a new process has to start within it
    tables = {
        each.name: each.row_count for each in scan(read_url(f"duckdb:///{path}"), limits, Stop()).tables
    }
    assert tables == {"endless": None, "quick": 1}


def test_a_file_that_is_no_database_is_explained(tmp_path: Path) -> None:
    (tmp_path / "notes.duckdb").write_text("This is no database." * 1_000)
    notes = read_url(f"duckdb:///{tmp_path}/notes.duckdb")
    with pytest.raises(DatabaseUnavailable, match="not a DuckDB database"), notes.session(Stop(), 60):
        pass


def test_a_file_that_another_program_writes_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "held.duckdb"
    writer = (
        f"import duckdb, sys; held = duckdb.connect({str(path)!r}); print(1, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", writer], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as held:
        assert held.stdout is not None
        held.stdout.readline()
        database = read_url(f"duckdb:///{path}")
        with pytest.raises(DatabaseUnavailable, match="open for writing"), database.session(Stop(), 60):
            pass
        held.kill()


def test_sums_of_decimals_are_exact_and_those_of_doubles_without_noise(
    shop: Database, schema: Schema
) -> None:
    sql = """select sum(exact::decimal(30, 2)), sum(double::double), min(single::float)
        from (values ('12345678901234567.89', 0.1, 0.1), ('0.01', 0.2, 0.7)) as t(exact, double, single)"""
    assert run(sql, shop, schema).rows == [["12345678901234567.90", 0.3, 0.1]]
