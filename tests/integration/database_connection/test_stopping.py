"""Statements that would run on: time limits, cancellation, and room for others."""

import asyncio
from pathlib import Path

import duckdb
import pytest

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.sqlite import SqliteDatabase
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import DatabaseThreads, Stop
from graph.errors import StatementFailed
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer

RUNAWAY = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
ENDLESS_ROWS = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n"


@pytest.fixture(params=["sqlite", "postgres", "mysql", "duckdb"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        shop: SqliteDatabase = request.getfixturevalue("shop")
        return shop
    if request.param == "duckdb":
        path = tmp_path / "empty.duckdb"
        duckdb.connect(str(path)).close()
        return read_url(f"duckdb:///{path}")
    if request.param == "mysql":
        mariadb: MariadbServer = request.getfixturevalue("mariadb")
        return read_url(mariadb.root_url("mysql"))
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return read_url(postgres.url("postgres"))


def statement(sql: str, database: Database, limits: StatementLimits) -> UncheckedStatement:
    return UncheckedStatement(
        sql=sql, schema=Schema(database.dialect, []), database=database, limits=limits, connect_seconds=60
    )


async def test_a_runaway_statement_ends_at_its_time_limit_with_advice(database: Database) -> None:
    runaway = statement(RUNAWAY, database, StatementLimits(timeout_seconds=0.3))
    with pytest.raises(StatementFailed, match=r"stopped after 0\.3 s.*add filters"):
        await DatabaseThreads(1).run(runaway.run)


async def test_a_cancelled_statement_stops_in_the_database_at_once(database: Database) -> None:
    threads = DatabaseThreads(1)
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def run(stop: Stop) -> ResultSet:
        loop.call_soon_threadsafe(begun.set)
        try:
            return statement(RUNAWAY, database, StatementLimits(timeout_seconds=60)).run(stop)
        finally:
            loop.call_soon_threadsafe(ended.set)

    task = asyncio.create_task(threads.run(run))
    await asyncio.wait_for(begun.wait(), 30)
    await asyncio.wait([task], timeout=0.2)  # well into the statement
    task.cancel()
    await asyncio.wait([task], timeout=30)
    assert task.cancelled()
    await asyncio.wait_for(ended.wait(), 30)  # it would go on for a minute


async def test_a_task_cancelled_again_and_again_still_leaves_no_thread_behind(shop: SqliteDatabase) -> None:
    threads = DatabaseThreads(1)
    runaway = statement(RUNAWAY, shop, StatementLimits(timeout_seconds=60))
    task = asyncio.create_task(threads.run(runaway.run))
    for _ in range(50):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait([task], timeout=30)
    assert task.cancelled()
    after = statement("select 1", shop, StatementLimits())
    assert (await asyncio.wait_for(threads.run(after.run), 30)).rows == [[1]]


async def test_who_waits_for_a_thread_can_give_up_without_stopping_the_others(shop: SqliteDatabase) -> None:
    threads = DatabaseThreads(1)
    runaway = statement(RUNAWAY, shop, StatementLimits(timeout_seconds=0.5))
    first = asyncio.create_task(threads.run(runaway.run))
    await asyncio.sleep(0)
    second = asyncio.create_task(threads.run(runaway.run))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second], timeout=30)
    assert second.cancelled()
    with pytest.raises(StatementFailed):
        await asyncio.wait_for(first, 30)


async def test_endless_rows_are_cut_not_awaited(database: Database) -> None:
    rows = "select * from range(1000000000000)" if database.dialect == "duckdb" else ENDLESS_ROWS
    endless = statement(rows, database, StatementLimits(timeout_seconds=60, max_rows=100))
    result = await asyncio.wait_for(DatabaseThreads(1).run(endless.run), 50)
    assert (len(result.rows), result.truncated) == (100, True)
