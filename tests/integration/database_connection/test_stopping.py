"""Statements that would run on: time limits, cancellation, and room for others."""

import asyncio

import pytest

from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import DatabaseThreads
from graph.errors import StatementFailed

RUNAWAY = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"


def statement(sql: str, database: SqliteDatabase, limits: StatementLimits) -> UncheckedStatement:
    return UncheckedStatement(
        sql=sql, schema=Schema(database.dialect, []), database=database, limits=limits, connect_seconds=60
    )


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
