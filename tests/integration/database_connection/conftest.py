"""Databases that the tests of this folder read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from tests.support import targets
from tests.support.clickhouse_server import ClickhouseServer, clickhouse_server
from tests.support.mariadb_server import MariadbServer, installed, mariadb_server
from tests.support.shop import make_shop
from tests.support.shops import CLICKHOUSE, SNOWFLAKE
from tests.support.snowflake_server import SnowflakeServer, snowflake_server
from tests.support.targets import Target


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SqliteDatabase:
    return SqliteDatabase(make_shop(tmp_path_factory.mktemp("shop") / "shop.db"))


@pytest.fixture(scope="session")
def shop_schema(shop: SqliteDatabase) -> Schema:
    return scan(shop, ConnectionLimits(), Stop())


@pytest.fixture(scope="session")
def chinook() -> SqliteDatabase:
    path = Path(__file__).parents[4] / "shared" / "data" / "chinook" / "Chinook_Sqlite.sqlite"
    if not path.exists():
        pytest.skip("the Chinook database is not here")
    return SqliteDatabase(path.resolve())


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariadbServer]:
    if not installed():
        pytest.skip("no MariaDB server is installed here")
    with mariadb_server() as running:
        yield running


@pytest.fixture(scope="session")
def clickhouse() -> Iterator[ClickhouseServer]:
    with clickhouse_server(CLICKHOUSE) as running:
        yield running


@pytest.fixture(scope="session")
def snowflake() -> Iterator[SnowflakeServer]:
    with snowflake_server(SNOWFLAKE) as running:
        yield running


@pytest.fixture(scope="session")
def made() -> dict[str, Target]:
    return {}


@pytest.fixture
def target(
    dialect: str,
    made: dict[str, Target],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Target:
    if dialect not in made:
        made[dialect] = _make(dialect, tmp_path_factory.mktemp("attacked"), request)
    return made[dialect]


def _make(dialect: str, folder: Path, request: pytest.FixtureRequest) -> Target:
    match dialect:
        case "sqlite":
            return targets.sqlite_target(folder)
        case "duckdb":
            return targets.duckdb_target(folder)
        case "postgres":
            return targets.postgres_target(request.getfixturevalue("postgres"))
        case "clickhouse":
            return targets.clickhouse_target(request.getfixturevalue("clickhouse"))
        case "snowflake":
            return targets.snowflake_target(request.getfixturevalue("snowflake"))
        case _:
            return targets.mysql_target(request.getfixturevalue("mariadb"))
