"""Bounds of what a statement may go through, by the database's own estimate before it runs."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from app.core.auth.api_keys import ApiKeys
from app.core.auth.caller import SCOPES_OF_ROLE, Caller, calling
from app.core.secrets import SecretBox
from app.core.storage.sqlite import SqliteStorage
from app.modules.database_connection.connection_policies import ConnectionPolicies
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection, ConnectionEdit
from app.modules.database_connection.service import DatabaseConnections
from app.modules.policies.model import Policies
from graph.errors import StatementFailed, StatementNeedsApproval, StatementReadsTooMuch
from tests.support.mariadb_server import MariadbServer
from tests.support.records import ASKER, no_records
from tests.support.shop import make_shop

MAKE = {
    "postgres": [
        "create table big_readings as select n as id, n % 100 as place from generate_series(1, 50000) as n",
        "create table few_kinds as select n as kind from generate_series(0, 6) as n",
        "analyze big_readings",
        "analyze few_kinds",
    ],
    "mysql": [
        "create table big_readings as select seq as id, seq % 100 as place from seq_1_to_50000",
        "create table few_kinds as select seq as kind from seq_0_to_6",
        "analyze table big_readings, few_kinds",
    ],
    "clickhouse": [
        "create table shop.big_readings (id Int64, place Int64) engine = MergeTree order by id",
        "insert into shop.big_readings select number, number % 100 from numbers(50000)",
        "create table shop.few_kinds (kind Int64) engine = MergeTree order by kind",
        "insert into shop.few_kinds select number from numbers(7)",
    ],
}
FILTERED = "SELECT count(*) AS n FROM big_readings WHERE place = 3"
SMALL = "SELECT count(*) AS n FROM few_kinds"
CROSSED = "SELECT count(*) AS n FROM big_readings AS a JOIN big_readings AS b ON a.place <> b.place"

_COUNTED = "(SELECT count(*) FROM big_readings AS b WHERE b.place = k.kind)"
DEPENDENT = f"SELECT k.kind, {_COUNTED} AS n FROM few_kinds AS k"
LIMITED = f"{DEPENDENT} ORDER BY k.kind LIMIT 1"
UNKNOWN_TO_MARIADB = (
    "SELECT k.kind, b.n FROM few_kinds AS k CROSS JOIN LATERAL "
    "(SELECT max(place) AS n FROM big_readings WHERE id = k.kind) AS b"
)
INDEPENDENT = (
    "SELECT k.kind, (SELECT count(*) FROM big_readings WHERE place = 3) AS n FROM few_kinds AS k "
    "WHERE k.kind = 0"
)


@pytest.fixture
async def connections(storage: SqliteStorage) -> AsyncGenerator[DatabaseConnections]:
    opened = DatabaseConnections(
        storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
    )
    yield opened
    await opened.close()


def _made(kind: str, request: pytest.FixtureRequest) -> str:
    """Returns the URL of a database with the tables."""
    match kind:
        case "postgres":
            import psycopg

            server = request.getfixturevalue("postgres")
            with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                connection.execute("create database bounded")
            with psycopg.connect(server.url("bounded"), autocommit=True) as connection:
                for statement in MAKE[kind]:
                    connection.execute(statement)
            return str(server.url("bounded"))
        case "mysql":
            server = request.getfixturevalue("mariadb")
            server.run("create database bounded")
            server.run(";\n".join(MAKE[kind]) + ";", "bounded")
            return str(server.root_url("bounded"))
    server = request.getfixturevalue("clickhouse")
    server.run(";\n".join(MAKE[kind]) + ";\n")
    return str(server.url())


@pytest.mark.parametrize("kind", MAKE)
async def test_a_statement_waits_or_is_refused_by_the_rows_that_the_database_expects_to_go_through(
    kind: str, connections: DatabaseConnections, storage: SqliteStorage, request: pytest.FixtureRequest
) -> None:
    registered = await connections.register("local", _made(kind, request), "Bounded", description="")
    assert (registered.ask_above_rows, registered.refuse_above_rows) == (None, None)
    assert (await connections.run(registered, FILTERED, ASKER)).rows == [[500]]

    asks = await connections.change("local", registered.id, {"ask_above_rows": 20_000})
    with pytest.raises(StatementNeedsApproval, match="20,000 a person has to approve it"):
        await connections.run(asks, FILTERED, ASKER)
    assert (await connections.run(asks, FILTERED, ASKER, is_approved=True)).rows == [[500]]
    assert (await connections.run(asks, SMALL, ASKER)).rows == [[7]]

    refuses = await connections.change("local", registered.id, {"refuse_above_rows": 30_000})
    for statement in (FILTERED, CROSSED):
        with pytest.raises(StatementReadsTooMuch, match="allows at most 30,000"):
            await connections.run(refuses, statement, ASKER, is_approved=True)
    assert (await connections.run(refuses, SMALL, ASKER)).rows == [[7]]
    if kind != "clickhouse":
        await _check_hidden_rows_are_not_counted_aloud(connections, storage, refuses)
        await _check_a_subquery_is_counted_for_each_row_that_it_depends_on(connections, registered.id)
        refuses = await connections.change("local", registered.id, {"refuse_above_rows": 30_000})
    with pytest.raises(StatementFailed) as failed:  # what cannot be planned fails as ever
        await connections.run(refuses, "SELECT few_kinds.kind AS k FROM few_kinds GROUP BY 7", ASKER)
    assert not isinstance(failed.value, StatementReadsTooMuch)
    if kind == "mysql":
        await _check_what_cannot_be_counted_does_not_run(connections, request.getfixturevalue("mariadb"))

    off = ConnectionEdit(ask_above_rows=None, refuse_above_rows=None)
    free = await connections.change("local", registered.id, off)
    assert (await connections.run(free, FILTERED, ASKER)).rows == [[500]]


async def _check_what_cannot_be_counted_does_not_run(
    connections: DatabaseConnections, server: MariadbServer
) -> None:
    """The account may read a view, and not see what it reads."""
    server.run(
        "create view readings_seen as select * from big_readings;"
        "create user counting@'127.0.0.1' identified by 's3cret/with@signs';"
        "grant select on bounded.readings_seen to counting@'127.0.0.1';",
        "bounded",
    )
    counting = await connections.register("local", server.url("counting", "bounded"), "View", description="")
    statement = "SELECT count(*) AS n FROM readings_seen"
    assert (await connections.run(counting, statement, ASKER)).rows == [[50_000]]
    for bound in (ConnectionEdit(refuse_above_rows=60_000), ConnectionEdit(ask_above_rows=60_000)):
        bounded = await connections.change("local", counting.id, bound)
        with pytest.raises(StatementFailed, match="lacking privileges for underlying table"):
            await connections.run(bounded, statement, ASKER)


async def _check_a_subquery_is_counted_for_each_row_that_it_depends_on(
    connections: DatabaseConnections, connection_id: str
) -> None:
    bounded = await connections.change("local", connection_id, {"refuse_above_rows": 200_000})
    with pytest.raises(StatementReadsTooMuch, match="allows at most 200,000"):
        await connections.run(bounded, DEPENDENT, ASKER, is_approved=True)
    for once in (INDEPENDENT, LIMITED) if bounded.dialect == "postgres" else (INDEPENDENT,):
        assert (await connections.run(bounded, once, ASKER, is_approved=True)).rows == [[0, 500]]


async def _check_hidden_rows_are_not_counted_aloud(
    connections: DatabaseConnections, storage: SqliteStorage, bounded: Connection
) -> None:
    """An estimate counts all rows of the table, and an error of it quotes what runs."""
    readings = {"rows": ["id > 7"], "columns": {"place": "hash"}}
    own = {"name": "one place", "always": True, "tables": {"big_readings": readings}}
    policies = Policies.model_validate({"default": "allow", "policies": [own]})
    of_connection = ConnectionPolicies(connections, ApiKeys(storage))
    limited = await of_connection.change("local", bounded.id, policies)
    anna = Caller(owner="anna", role="admin", scopes=SCOPES_OF_ROLE["admin"], signed_in_by="oidc")
    asker = replace(ASKER, owner="anna")
    with calling(anna), pytest.raises(StatementReadsTooMuch, match="go through many rows"):
        await connections.run(limited, CROSSED, asker)
    if bounded.dialect == "mysql":
        with calling(anna), pytest.raises(StatementFailed, match="error in your SQL syntax") as failed:
            await connections.run(limited, UNKNOWN_TO_MARIADB, asker)
        assert "_p" not in failed.value.detail
    await of_connection.change("local", bounded.id, None)


async def test_a_database_without_estimates_takes_no_bounds(
    connections: DatabaseConnections, tmp_path: Path
) -> None:
    shop = make_shop(tmp_path / "shop.db")
    registered = await connections.register("local", f"sqlite:///{shop}", "Shop", description="")
    with pytest.raises(
        UrlNotSupported, match=r"SQLite does not estimate.* PostgreSQL, MySQL, MariaDB and ClickHouse do"
    ):
        await connections.change("local", registered.id, {"refuse_above_rows": 5})
    kept = await connections.change("local", registered.id, ConnectionEdit(refuse_above_rows=None))
    assert kept.refuse_above_rows is None
