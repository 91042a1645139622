"""Databases that the tests of this folder read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.modules.database_connection.engines.sqlite import SqliteDatabase
from app.modules.database_connection.limits import Limits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from tests.support.mariadb_server import MariadbServer, installed, mariadb_server
from tests.support.shop import make_shop


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SqliteDatabase:
    return SqliteDatabase(make_shop(tmp_path_factory.mktemp("shop") / "shop.db"))


@pytest.fixture(scope="session")
def shop_schema(shop: SqliteDatabase) -> Schema:
    return scan(shop, Limits(), Stop())


@pytest.fixture(scope="session")
def chinook() -> SqliteDatabase:
    path = Path(__file__).parents[4] / "shared" / "data" / "chinook" / "Chinook_Sqlite.sqlite"
    if not path.exists():
        pytest.skip("the Chinook database is not here")
    return SqliteDatabase(path.resolve())


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariadbServer]:
    pytest.importorskip("pymysql")
    if not installed():
        pytest.skip("no MariaDB server is installed here")
    with mariadb_server() as running:
        yield running
