"""Scans in the background: what is known serves before they end, and survives what breaks them off."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from app.core.clock import now_ms
from app.core.secrets import SecretBox
from app.core.storage.port import Query
from app.core.storage.sqlite import SqliteStorage
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.scan.order import ReadingOrder
from app.modules.database_connection.schema import Table
from app.modules.database_connection.service import DatabaseConnections
from tests.support.records import ASKER, no_records

ENDLESS = """create table customers (id integer primary key, country text);
    insert into customers values (1, 'Brazil'), (2, 'Norway');
    create view zero as with recursive n(x) as (select 1 union all select x + 1 from n)
        select count(*) as c from n"""
PATIENT = ConnectionLimits(profile_statement_seconds=60, first_profile_seconds=0.1)
SECRETS = SecretBox(Fernet.generate_key())


@pytest.fixture
async def connections(storage: SqliteStorage) -> AsyncIterator[DatabaseConnections]:
    """Patient enough to look at the endless view for as long as a test takes."""
    opened = DatabaseConnections(storage, SECRETS, PATIENT, records=no_records())
    yield opened
    await opened.close()


@pytest.fixture
async def endless(connections: DatabaseConnections, tmp_path: Path) -> Connection:
    with closing(sqlite3.connect(tmp_path / "endless.db")) as connection:
        connection.executescript(ENDLESS)
    return await connections.register("ann", f"sqlite:///{tmp_path}/endless.db", "Endless", description="")


async def test_questions_are_answered_while_the_scan_goes_on(
    connections: DatabaseConnections, endless: Connection
) -> None:
    result = await connections.run(endless, "select count(*) from customers", ASKER)
    progress = await connections.scan_progress("ann", endless.id)
    assert result.rows == [[2]]
    assert (progress.state, progress.tables_total) == ("running", 2)


async def test_starting_a_scan_twice_joins_the_one_under_way(
    connections: DatabaseConnections, endless: Connection
) -> None:
    first = await connections.start_scan("ann", endless.id)
    second = await connections.start_scan("ann", endless.id)
    assert first.started_at == second.started_at


async def test_deleting_a_connection_ends_its_scan(
    connections: DatabaseConnections, endless: Connection, storage: SqliteStorage
) -> None:
    await connections.schema(endless)
    async with asyncio.timeout(60):
        await connections.delete("ann", endless.id)
    for collection in ("tables", "column_texts", "scans"):
        assert (await storage.query(collection, Query())).items == []


async def test_a_scan_interrupted_goes_on_in_the_next_process(
    connections: DatabaseConnections, endless: Connection, storage: SqliteStorage
) -> None:
    await connections.schema(endless)
    await connections.close()
    other = DatabaseConnections(
        storage, SECRETS, ConnectionLimits(profile_statement_seconds=0.5), records=no_records()
    )
    await other.schema(endless)
    await other.scan("ann", endless.id)
    scanned = await other.scanned_schema(endless)
    assert scanned.texts["customers"] == {"country": ["Brazil", "Norway"]}
    assert (await other.scan_progress("ann", endless.id)).state == "complete"


async def test_an_abandoned_scan_is_reported_as_failed(
    connections: DatabaseConnections, endless: Connection, storage: SqliteStorage
) -> None:
    await connections.schema(endless)
    await connections.close()
    await storage.patch("scans", endless.id, {"updated_at": now_ms() - 120_000})
    progress = await connections.scan_progress("ann", endless.id)
    assert (progress.state, "Scan again" in str(progress.error)) == ("failed", True)


async def test_a_new_scan_leaves_old_profiles_in_place_until_it_has_better_ones(
    connections: DatabaseConnections, endless: Connection, storage: SqliteStorage
) -> None:
    quick = DatabaseConnections(
        storage, SECRETS, ConnectionLimits(profile_statement_seconds=0.5), records=no_records()
    )
    await quick.scan("ann", endless.id)
    await connections.start_scan("ann", endless.id)
    schema = await connections.schema(endless)
    assert schema.tables[0].columns[1].values == ["Brazil", "Norway"]


async def test_a_scan_that_is_stopped_keeps_what_it_has_read(
    connections: DatabaseConnections, endless: Connection
) -> None:
    await connections.schema(endless)
    async with asyncio.timeout(60):
        progress = await connections.stop_scan("ann", endless.id)
    assert (progress.state, "was stopped" in str(progress.error)) == ("failed", True)
    assert len((await connections.schema(endless)).tables) == 2
    assert await connections.stop_scan("ann", endless.id) == progress


async def test_a_scan_says_what_has_changed_since_the_one_before(
    storage: SqliteStorage, tmp_path: Path
) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("create table a (id, x); create table b (id); create table c (id)")
    connections = DatabaseConnections(storage, SECRETS, ConnectionLimits(), records=no_records())
    shop = await connections.register("ann", f"sqlite:///{path}", "Shop", description="")
    await connections.scan("ann", shop.id)
    assert (await connections.scan_progress("ann", shop.id)).changes is None
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "drop table a; create table a (id, y, z); drop table b; create table d (id); create table e (id)"
        )
    await connections.scan("ann", shop.id)
    changes = (await connections.scan_progress("ann", shop.id)).changes
    assert changes is not None
    assert changes.sentence == "2 tables new, 1 table gone, 2 columns new, 1 column gone."
    await connections.scan("ann", shop.id)
    changes = (await connections.scan_progress("ann", shop.id)).changes
    assert changes is not None
    assert changes.sentence == ""
    await connections.close()


def test_values_are_read_of_tables_that_questions_need_then_of_unread_and_used_ones() -> None:
    tables = [Table(name=name, kind="table", columns=[]) for name in "abcdef"]
    order = ReadingOrder(read_before={"a", "e"})
    reading = order.tables(tables, most_used=["e", "d"])
    assert next(reading).name == "d"
    order.want(["f", "gone", "d"])
    assert [table.name for table in reading] == ["f", "b", "c", "e", "a"]
