"""One PostgreSQL server for all tests here, and an embedded store that is up to date."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.core.storage.sqlite import SqliteStorage, open_sqlite
from migrations.runner import migrate
from tests.support.postgres_server import PostgresServer, postgres_server, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    pytest.importorskip("psycopg")
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL server is installed here")
    with postgres_server(folder) as running:
        yield running


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[SqliteStorage]:
    async with open_sqlite(tmp_path / "kai.db") as opened:
        await migrate(opened)
        yield opened
