"""Accounts that may read no table, on real servers: a database that only looks empty, and the cure."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from app.bootstrap import Services, open_services
from app.core.settings import Settings
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.errors import DatabaseDown, DatabaseUnreachable
from app.modules.database_connection.threads import Stop
from app.modules.records.model import NewQuestion
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer

TABLES = "create table buyers (id int primary key, name varchar(9)); insert into buyers values (1, 'Ann');"


@dataclass(frozen=True)
class Owned:
    """A database of another account; `administer` runs statements there as that one."""

    url: str
    administer: Callable[[str], None]
    dialect: str

    def grant_of(self, sentence: str) -> None:
        """Run the statements that a sentence advises, as they stand."""
        for statement in sentence.split(": ", 1)[1].split(";")[:-1]:
            self.administer(statement)


def in_postgres(request: pytest.FixtureRequest, tables: str) -> Owned:
    server: PostgresServer = request.getfixturevalue("postgres")
    name = "rights_" + str(abs(hash(request.node.nodeid)))

    def administer(script: str, database: str = name) -> None:
        with psycopg.connect(server.url(database), autocommit=True) as connection:
            connection.execute(script.encode())

    administer(f"create database {name}", "postgres")
    administer(f"create role \"No {name}\" login password 's3cret/with@signs'")
    administer(f"revoke all on schema public from public; {tables}")
    url = server.url(name).replace("//analyst", f"//No%20{name}")
    return Owned(url, administer, "postgres")


def in_mariadb(request: pytest.FixtureRequest, tables: str) -> Owned:
    server: MariadbServer = request.getfixturevalue("mariadb")
    name = "rights_" + str(abs(hash(request.node.nodeid)))
    user = "u" + name[-12:]

    def administer(script: str) -> None:
        server.run(script, name)

    server.run(f"create database {name}; create user {user}@'%' identified by 's3cret/with@signs'")
    server.run(f"grant execute on {name}.* to {user}@'%'")
    if tables:
        administer(tables)
    return Owned(server.url(user, name), administer, "mysql")


def _missing(owned: Owned) -> str:
    stop = Stop()
    with read_url(owned.url).engine(stop, 60) as engine, engine.connect() as connection:
        return read_url(owned.url).missing_right(connection)


def _revoked(cure: str) -> str:
    advised = cure.split(": ", 1)[1].rpartition(";")[0]
    return advised.replace("GRANT", "REVOKE").replace(" TO ", " FROM ")


@pytest.fixture(params=[in_postgres, in_mariadb])
def make(request: pytest.FixtureRequest) -> Callable[[str], Owned]:
    return lambda tables: request.param(request, tables)


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[Services]:
    async with open_services(Settings(data_dir=tmp_path)) as opened:
        yield opened


async def ask(services: Services, connection_id: str, question: str = "list all buyers") -> str:
    """Returns the stream of one answer."""
    session = await services.sessions.create("ada", connection_id, None, mode="ask", metadata={})
    asked = await services.sessions.ask("ada", session.id, NewQuestion(question, sql=None))
    return "\n".join([entry.data async for entry in services.sessions.follower.events(asked[1])])


async def test_an_account_without_a_table_is_refused_with_the_cure_and_the_cure_works(
    services: Services, make: Callable[[str], Owned]
) -> None:
    owned = make(TABLES)
    with pytest.raises(DatabaseUnreachable, match=r"may read no table.*GRANT SELECT") as refused:
        await services.database_connections.register("ada", owned.url, "Shop", description="")
    owned.grant_of(refused.value.detail)
    connection = await services.database_connections.register("ada", owned.url, "Shop", description="")
    assert not any("no table" in warning for warning in connection.warnings)
    assert "Ann" in await ask(services, connection.id)


async def test_a_question_after_the_right_is_taken_says_how_to_get_it_back(
    services: Services, make: Callable[[str], Owned]
) -> None:
    owned = make(TABLES)
    cure = _missing(owned)
    owned.grant_of(cure)
    connections = services.database_connections
    fresh = await connections.register("ada", owned.url, "Shop", description="")
    known = await connections.register("ada", owned.url, "Shop again", description="")
    await connections.scan("ada", known.id)
    owned.administer(_revoked(cure))
    assert "may read no table" in await ask(services, fresh.id)
    right = "GRANT USAGE ON SCHEMA" if owned.dialect == "postgres" else "GRANT SELECT ON the table"
    assert right in await ask(services, known.id)
    with pytest.raises(DatabaseDown, match=r"may read no table.*GRANT SELECT"):
        await connections.scan("ada", known.id)


async def test_one_readable_column_is_enough_and_another_names_the_cure(
    services: Services, make: Callable[[str], Owned]
) -> None:
    owned = make(TABLES)
    account = _missing(owned).rpartition(" TO ")[2].split(";")[0]
    usage = f"grant usage on schema public to {account}; " if owned.dialect == "postgres" else ""
    owned.administer(f"{usage}grant select (name) on buyers to {account}")
    connection = await services.database_connections.register("ada", owned.url, "Shop", description="")
    assert not any("no table" in warning for warning in connection.warnings)
    owned.administer("create table sellers (id int); insert into sellers values (1)")
    owned.administer(f"grant select on sellers to {account}")
    await services.database_connections.scan("ada", connection.id)
    owned.administer(f"revoke select on sellers from {account}")
    answer = await ask(services, connection.id, "list all sellers")
    assert "GRANT SELECT ON the table" in answer, answer


async def test_an_empty_database_is_still_called_empty(
    services: Services, make: Callable[[str], Owned]
) -> None:
    owned = make("")
    if owned.dialect == "mysql":  # without this right the server does not say that it is empty
        owned.grant_of(_missing(owned))
    connection = await services.database_connections.register("ada", owned.url, "Shop", description="")
    assert "This database has no tables" in connection.warnings[-1]
