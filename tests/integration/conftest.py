"""One PostgreSQL server for all tests here, an embedded store that is up to date, databases and a session."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.bootstrap.typesense import typesense_address
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import TypesenseSettings
from app.core.storage.port import Storage
from app.core.storage.sqlite import SqliteStorage, open_sqlite
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.model import Session
from app.modules.sql_generation.statement_faults import StatementFaults
from migrations.runner import migrate
from tests.support.facts import connections_over
from tests.support.postgres_server import PostgresServer, postgres_server, programs
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.shop import make_shop
from tests.support.stores import Open
from tests.support.typesense import open_typesense


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL server is installed here")
    with postgres_server(folder) as running:
        yield running


@pytest.fixture(scope="session")
def ready_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An embedded store that is up to date and empty, to be copied."""
    path = tmp_path_factory.mktemp("ready") / "kai.db"

    async def make() -> None:
        async with open_sqlite(path) as opened:
            await migrate(opened)

    with asyncio.Runner() as runner:
        runner.run(make())
    return path


@pytest.fixture
async def storage(ready_file: Path, tmp_path: Path) -> AsyncIterator[SqliteStorage]:
    async with open_sqlite(Path(shutil.copy(ready_file, tmp_path / "kai.db"))) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "typesense"])
def reopen_ready(request: pytest.FixtureRequest) -> Open:
    """Opens the same store, which is up to date, again and again: each test runs with every kind."""
    if request.param == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        path = Path(shutil.copy(request.getfixturevalue("ready_file"), folder / "kai.db"))
        return lambda: open_sqlite(path)
    typesense: TypesenseSettings = request.getfixturevalue("ready_typesense")
    return lambda: open_typesense(typesense_address(typesense), typesense.prefix)


@pytest.fixture
async def storage_of_each_kind(reopen_ready: Open) -> AsyncIterator[Storage]:
    async with reopen_ready() as opened:
        yield opened


@pytest.fixture
async def connections(storage: SqliteStorage) -> AsyncIterator[DatabaseConnections]:
    opened = connections_over(storage)
    yield opened
    await opened.close()


@pytest.fixture
def store(storage: SqliteStorage, connections: DatabaseConnections) -> ContextStore:
    """Knowledge of databases."""
    return ContextStore(storage, connections, StatementFaults(connections).find)


@pytest.fixture
async def shop(connections: DatabaseConnections, tmp_path: Path) -> Connection:
    """A database of "ann"."""
    path = make_shop(tmp_path / "shop.db")
    return await connections.register("ann", f"sqlite:///{path}", "Shop", description="")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture
async def session(services: Services, tmp_path: Path) -> Session:
    """A session about a database of one table. `services` is the test's own."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
    known = await services.database_connections.register(
        LOCAL_OWNER, f"sqlite:///{path}", "shop", description=""
    )
    return await services.sessions.create(LOCAL_OWNER, known.id, None, mode="ask", metadata={})
