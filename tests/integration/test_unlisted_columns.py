"""Columns of arrays, JSON and binary values on real databases: an answer names those that it leaves out."""

import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from app.bootstrap import Services, open_services
from app.core.settings import Settings
from app.modules.records.model import NewQuestion
from tests.support.mariadb_server import MariadbServer, installed, mariadb_server
from tests.support.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariadbServer]:
    if not installed():
        pytest.skip("no MariaDB server is installed here")
    with mariadb_server() as running:
        yield running


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[Services]:
    async with open_services(Settings(data_dir=tmp_path / "data")) as opened:
        yield opened


def made_in_postgres(request: pytest.FixtureRequest) -> str:
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("create database parcels")
    with psycopg.connect(server.url("parcels"), autocommit=True) as connection:
        connection.execute(
            "create table parcels (id int primary key, tags text[], details jsonb, raw bytea);"
            "insert into parcels values (1, '{new}', '{\"weight\": 5}', '\\x00ff')"
        )
    return server.url("parcels")


def made_in_mariadb(request: pytest.FixtureRequest) -> str:
    server: MariadbServer = request.getfixturevalue("mariadb")
    server.run("create database parcels; create user analyst@'%' identified by 's3cret/with@signs'")
    server.run("grant select on parcels.* to analyst@'%'")
    server.run(
        "create table parcels (id int primary key, tags varchar(9), details blob, raw mediumblob);"
        "insert into parcels values (1, 'new', x'05', x'00ff')",
        "parcels",
    )
    return server.url("analyst", "parcels")


def made_in_duckdb(request: pytest.FixtureRequest) -> str:
    folder: Path = request.getfixturevalue("tmp_path")
    with duckdb.connect(folder / "parcels.duckdb") as connection:
        connection.execute(
            "create table parcels (id int primary key, tags text[], details struct(weight int), raw blob);"
            "insert into parcels values (1, ['new'], {'weight': 5}, '\\x00\\xFF'::blob)"
        )
    return f"duckdb:///{folder / 'parcels.duckdb'}"


@pytest.mark.parametrize(
    ("make", "left_out"),
    [
        (made_in_postgres, ["tags", "details", "raw"]),
        (made_in_mariadb, ["details", "raw"]),
        (made_in_duckdb, ["tags", "details", "raw"]),
    ],
)
async def test_an_answer_names_the_columns_that_it_leaves_out_and_shows_them_when_they_are_named(
    request: pytest.FixtureRequest, services: Services, make: Any, left_out: list[str]
) -> None:
    connection = await services.database_connections.register("ada", make(request), "Parcels", description="")
    session = await services.sessions.create("ada", connection.id, None, mode="ask", metadata={})

    async def ask(question: str) -> str:
        asked = await services.sessions.ask("ada", session.id, NewQuestion(question, sql=None))
        entries = [entry.data async for entry in services.sessions.follower.events(asked[1])]
        return "\n".join(entries)

    listed = await ask("list all parcels")
    said = listed.partition("Left out")[2].partition("Name a column to see it")[0]
    assert said, listed
    assert all(f"{name} (" in said for name in left_out)
    named = await ask(f"show {' and '.join(left_out)} of all parcels")
    rows = [json.loads(line) for line in named.splitlines() if '"columns"' in line]
    assert rows, named
    assert all(f'"{name}"' in json.dumps(rows[-1]) for name in left_out)
