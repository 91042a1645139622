"""Views that give columns named as secrets other names: a scan of each kind of database learns which."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pytest

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.guard.secrets import find_secret_outputs
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema, TableProfile
from app.modules.database_connection.threads import Stop
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer

VAULT = """
create table logins (name varchar(20), password varchar(40), pin integer);
insert into logins values ('Ann', 'hunter22x', 1), ('Bob', 'correct-horse', 2);
create view a_read (q, p) as select upper(p), name from renamed where n > 3;
create view open_logins as select name, password as p, length(password) as n, password is null as missing
    from logins;
create view renamed as select * from open_logins;
create view either as with every as (select name as word from logins union select password from logins)
    select word, 'password' as kind from every;
create view counted as select name, count(password) as n from logins group by name;
"""
SECRETS = {"open_logins": ["p"], "renamed": ["p"], "a_read": ["q"], "either": ["word"]}
Opened = tuple[Database, dict[str, list[str]]]


def ordered(script: str) -> str:
    """Returns the script with the view that reads another one behind it."""
    statements = [each.strip() for each in script.split(";") if each.strip()]
    return ";\n".join(sorted(statements, key=lambda each: "from renamed" in each)) + ";"


def on_sqlite(path: Path, request: pytest.FixtureRequest) -> Opened:
    with closing(sqlite3.connect(path / "vault.db")) as made:
        made.executescript(VAULT)
    return read_url(f"sqlite:///{path}/vault.db"), SECRETS


def on_duckdb(path: Path, request: pytest.FixtureRequest) -> Opened:
    others = "create schema apart; create table apart.keys (id integer, api_key varchar);"
    view = "create view others as select k.id, k.api_key as code from apart.keys as k, logins;"
    with duckdb.connect(str(path / "vault.duckdb")) as made:
        made.execute(ordered(VAULT) + others + view)
    return read_url(f"duckdb:///{path}/vault.duckdb"), {**SECRETS, "others": ["code"]}


def on_postgres(path: Path, request: pytest.FixtureRequest) -> Opened:
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("create database vault")
    with psycopg.connect(server.url("vault"), autocommit=True) as connection:
        connection.execute(ordered(VAULT))
        connection.execute("create materialized view stored as select p as kept, name from open_logins")
        connection.execute("create schema apart; create table apart.keys (id integer, api_key text)")
        connection.execute("create view others as select id, api_key as code from apart.keys")
        connection.execute("create view whole as select row_to_json(l) as j, l.name from logins l")
    more = {"stored": ["kept"], "others": ["code"], "whole": ["j"]}
    return read_url(server.url("vault")), {**SECRETS, **more}


def on_mariadb(path: Path, request: pytest.FixtureRequest) -> Opened:
    server: MariadbServer = request.getfixturevalue("mariadb")
    server.run(
        "create database apart;"
        "create table apart.logins (id integer, api_key varchar(20), name varchar(20));"
        f"create database vault; use vault; {ordered(VAULT)}"
        "create view others as select id, api_key as code, name from apart.logins;"
        "create user viewer@'%' identified by 's3cret/with@signs';"
        "grant select, show view on vault.* to viewer@'%';"
    )
    return read_url(server.url("viewer", "vault")), {**SECRETS, "others": ["code"]}


@pytest.fixture(params=[on_sqlite, on_duckdb, on_postgres, on_mariadb], ids=lambda made: made.__name__)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    made: Callable[[Path, pytest.FixtureRequest], Opened] = request.param
    return made(tmp_path, request)


def test_what_views_make_of_secrets_is_secret_and_not_read(opened: Opened) -> None:
    database, expected = opened
    reported: list[TableProfile] = []
    schema = scan(database, ConnectionLimits(), Stop(), tell=reported.extend)
    tables = {table.name: table for table in schema.tables}
    assert {name: list(each.secrets) for name, each in tables.items() if each.secrets} == expected
    views = [each for each in reported if each.table.name in expected]
    assert not [each for each in views if "hunter22x" in str(each).casefold()]
    assert tables["renamed"].columns[0].values == ["Ann", "Bob"]
    assert secret_of("select p as name, name as p, n from renamed", schema) == [True, False, False]
    assert secret_of("with x as (select * from a_read) select lower(q) as a, p from x", schema) == [
        True,
        False,
    ]
    assert find_secret_outputs("select p, count(q) as n from a_read group by p", schema) is None
    assert find_secret_outputs("select name, n from counted", schema) is None


def secret_of(sql: str, schema: Schema) -> list[bool]:
    secret = find_secret_outputs(sql, schema)
    assert secret is not None
    assert secret.outputs is not None
    return list(secret.outputs)
