"""The contract of an engine, on a real database of each: `tests/support/engines.py` has what differs."""

import asyncio
from datetime import date

import pytest
from sqlalchemy import make_url

from app.commands.check_sql import check_sql
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.results import ResultSet, collect
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.threads import DatabaseThreads, Stop
from app.modules.sql_generation.builtin import WrittenSql, write
from graph.errors import DatabaseUnavailable, StatementFailed
from tests.support.cases import assert_each
from tests.support.corpus import DIALECTS, RUNS_ON, attacks, categories, honest, shop_schema
from tests.support.engines import CONTRACTS
from tests.support.targets import Target
from tests.support.waiting import until

LIMITS = StatementLimits(timeout_seconds=0.3, max_rows=1_000)
# One call of SQLite's that builds a gigabyte cannot be interrupted: only the guard stands before it.
# ClickHouse's table functions wait for other servers past every limit (an account that may only SELECT has no
# right to them, which chdb cannot show), and its calls that build gigabytes take a minute until they fail, as
# those of Snowflake's fake do.
UNSTOPPABLE = {
    ("sqlite", "growth"),
    ("clickhouse", "network"),
    ("clickhouse", "growth"),
}
HOSTILE = [(dialect, category) for dialect in DIALECTS for category in categories(attacks(dialect))]
BY_SESSION = [each for each in HOSTILE if each[0] != "snowflake" and each not in UNSTOPPABLE]
"""Snowflake's sessions are those of a stand-in: what it refuses says nothing of Snowflake."""

WRONG = [(dialect, part) for dialect in DIALECTS for part in CONTRACTS[dialect].unreachable]
SERVERS = [dialect for dialect in DIALECTS if CONTRACTS[dialect].running is not None]
UNITS = {
    "week": [("2023-01-02", 1), ("2023-03-06", 1), ("2024-02-26", 1)],
    "quarter": [("2023-Q1", 2), ("2024-Q1", 1)],
    "weekday": [("Thursday", 3)],
    "month": [("2023-01", 1), ("2023-03", 1), ("2024-02", 1)],
}
COMPUTED = {
    "median total of orders": [(10.5,)],
    "median total of orders per status": [("update pending", 20), ("paid", 7.875)],
    "latest signed up customer of each country": [
        ("Japan", "Bob", "2023-03-09"),
        ("Norway", "Zoë", "2024-02-29"),
    ],
    "revenue by status, only those above 16": [("update pending", 20)],
    "growth of customers who signed up from 2023 to 2024": [(2, 1, -1, -50)],
    "share of paid orders by status": [("paid", 100), ("update pending", 0)],
}


def in_session(sql: str, target: Target, limits: StatementLimits = LIMITS) -> ResultSet:
    """Run it with the guard off."""
    stop = Stop()
    with target.database.session(stop, 60) as session:
        stop.after(limits.timeout_seconds)
        return collect(session.execute(sql), limits)


def statement(sql: str, target: Target, limits: StatementLimits = LIMITS) -> UncheckedStatement:
    return UncheckedStatement(
        sql=sql,
        schema=shop_schema(target.database.dialect),
        database=target.database,
        limits=limits,
        connect_seconds=60,
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_url_is_read_again_and_shown_without_its_secrets(dialect: str, target: Target) -> None:
    database = target.database
    assert read_url(database.url) == database
    assert database.dialect == dialect
    password = make_url(database.url).password
    if password is not None:
        for shown in (database.masked_url, repr(database)):
            assert str(password) not in shown


@pytest.mark.parametrize(("dialect", "part"), WRONG)
def test_a_url_that_leads_nowhere_is_refused_with_its_cause(dialect: str, part: str, target: Target) -> None:
    url = make_url(target.database.url)
    wrong = {
        "password": url.set(password="nothing_of_the_kind"),
        "database": url.set(database="nothing_of_the_kind"),
        "port": url.set(port=1),
    }
    database = read_url(wrong[part].render_as_string(hide_password=False))
    with pytest.raises(DatabaseUnavailable) as refused, database.session(Stop(), 5) as session:
        session.execute("select 1")
    assert CONTRACTS[dialect].unreachable[part] in str(refused.value)
    assert str(url.password) not in str(refused.value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_catalog_has_tables_columns_and_types(dialect: str, target: Target) -> None:
    schema = scan(target.database, ConnectionLimits(), Stop())
    found = {name.casefold(): table for name, table in schema.by_name.items()}
    assert {"customers", "orders", "categories"} <= found.keys()
    customers, orders = found["customers"], found["orders"]
    types = {column.name.casefold(): column.type for column in (*customers.columns, *orders.columns)}
    assert types["name"] == "text"
    assert types["signed_up"] == "date"
    assert types["placed"] in {"datetime", "date"}
    assert types["customer_id"] == "integer"
    assert types["total"] == "number"
    assert customers.row_count == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_values_keep_their_types_and_digits(dialect: str, target: Target) -> None:
    contract = CONTRACTS[dialect]
    found = statement(contract.values, target, StatementLimits(timeout_seconds=60)).run(Stop())
    assert [column.type for column in found.columns] == list(contract.types)
    assert found.rows == [list(contract.row)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_the_database_refuses_is_reported_in_its_words(dialect: str, target: Target) -> None:
    contract = CONTRACTS[dialect]
    with pytest.raises(StatementFailed, match=contract.cause):
        statement(contract.failing, target, StatementLimits(timeout_seconds=60)).run(Stop())


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_runaway_statement_ends_at_its_time_limit_with_advice(dialect: str, target: Target) -> None:
    runaway = statement(CONTRACTS[dialect].runaway, target)
    with pytest.raises(StatementFailed, match=r"stopped after 0\.3 s.*add filters"):
        await DatabaseThreads(1).run(runaway.run)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_cancelled_statement_stops_in_the_database_at_once(dialect: str, target: Target) -> None:
    threads = DatabaseThreads(1)
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def run(stop: Stop) -> ResultSet:
        loop.call_soon_threadsafe(begun.set)
        try:
            limits = StatementLimits(timeout_seconds=60)
            return statement(CONTRACTS[dialect].runaway, target, limits).run(stop)
        finally:
            loop.call_soon_threadsafe(ended.set)

    task = asyncio.create_task(threads.run(run))
    await asyncio.wait_for(begun.wait(), 30)
    await asyncio.wait([task], timeout=0.2)  # well into the statement
    task.cancel()
    await asyncio.wait([task], timeout=30)
    assert task.cancelled()
    await asyncio.wait_for(ended.wait(), 30)  # it would go on for a minute


@pytest.mark.parametrize("dialect", SERVERS)
async def test_a_cancelled_statement_runs_no_more_in_the_server(dialect: str, target: Target) -> None:
    contract, stop = CONTRACTS[dialect], Stop()
    limits = StatementLimits(timeout_seconds=60)
    running = asyncio.create_task(asyncio.to_thread(statement(contract.runaway, target, limits).run, stop))

    async def runs() -> bool:
        counted = await asyncio.to_thread(in_session, contract.running or "", target, limits)
        return counted.rows == [[1]]

    async def runs_no_more() -> bool:
        return not await runs()

    try:
        await until(runs)
    finally:
        stop.abandon()
    with pytest.raises(StatementFailed):
        await running
    await until(runs_no_more)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("cut_by", "limits"),
    [
        ("rows", StatementLimits(timeout_seconds=60, max_rows=100)),
        ("bytes", StatementLimits(timeout_seconds=60, max_bytes=100_000, max_rows=1_000_000)),
    ],
    ids=["rows", "bytes"],
)
async def test_endless_rows_are_cut_not_awaited(
    dialect: str, cut_by: str, limits: StatementLimits, target: Target
) -> None:
    endless = statement(CONTRACTS[dialect].endless, target, limits)
    result = await asyncio.wait_for(DatabaseThreads(1).run(endless.run), 50)
    assert result.truncated
    assert result.cut_by == cut_by
    assert 0 < len(result.rows) <= 5_000


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_built_in_writer_counts_by_calendar_units_and_computes(dialect: str, target: Target) -> None:
    schema = scan(target.database, ConnectionLimits(), Stop())
    by_unit = {f"how many customers per {unit}, using signed up": rows for unit, rows in UNITS.items()}

    def compute(question: str, expected: list[tuple[object, ...]]) -> None:
        answer = write(question, schema, previous=None, today=date(2024, 6, 1))
        assert isinstance(answer, WrittenSql)
        found = UncheckedStatement(
            sql=answer.sql,
            schema=schema,
            database=target.database,
            limits=StatementLimits(timeout_seconds=60, max_rows=10),
            connect_seconds=60,
        ).run(Stop())
        assert [tuple(row) for row in found.rows] == expected

    assert_each([*by_unit.items(), *COMPUTED.items()], compute)


@pytest.mark.parametrize(("dialect", "category"), BY_SESSION)
def test_a_session_alone_lets_nothing_be_changed(dialect: str, category: str, target: Target) -> None:
    before, passed = target.state(), list[str]()
    for line in attacks(dialect):
        if line.category == category:
            try:
                in_session(line.sql, target)
                passed.append(line.sql)
            except (StatementFailed, DatabaseUnavailable):
                pass
    assert target.state() == before
    harmless = {"reindex", "reindex customers"}  # SQLite finds nothing to do
    assert category not in {"write", "define", "several", RUNS_ON} or harmless.issuperset(passed)


@pytest.mark.parametrize(("dialect", "category"), HOSTILE)
def test_guard_and_session_together_stop_every_attack(dialect: str, category: str, target: Target) -> None:
    before = target.state()
    for line in attacks(dialect):
        if line.category == category:
            with pytest.raises(StatementFailed):
                statement(line.sql, target).run(Stop())
    assert target.state() == before


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_honest_question_gets_what_the_database_would_answer(dialect: str, target: Target) -> None:
    limits, stop = StatementLimits(timeout_seconds=60), Stop()
    with target.database.session(stop, 60) as session:

        def is_answered(sql: str) -> None:
            answer = statement(sql, target, limits).run(Stop())
            plain = collect(session.execute(sql), limits)
            assert answer.rows == plain.rows
            assert [column.type for column in answer.columns] == [column.type for column in plain.columns]

        assert_each([line.sql for line in honest(dialect)], is_answered)


@pytest.mark.parametrize(
    ("dialect", "own"),
    [
        ("sqlite", "main.customers"),
        ("duckdb", "shop.main.customers"),
        ("postgres", "attacked.public.customers"),
        ("mysql", "shop.customers"),
        ("clickhouse", "shop.customers"),
        ("snowflake", "shop.public.customers"),
    ],
)
def test_check_sql_knows_the_tables_and_columns_of_a_real_database(
    dialect: str, own: str, target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign_table = (
        "nowhere.salaries" if dialect in {"clickhouse", "duckdb", "snowflake"} else "secret.salaries"
    )
    nme = "NME" if dialect == "snowflake" else "nme"
    for table, column in ((own, "name"), (own, "nme"), (foreign_table, "name")):
        check_sql(f"select {column} from {table}", dialect, target.database.url, jsonl=None)
    allowed, unknown, foreign = capsys.readouterr().out.splitlines()
    assert allowed == "allow"
    assert unknown.startswith(f"block (column): unknown column {nme}")
    assert foreign.startswith(f"block (table): There is no table {foreign_table} here")
