"""Test of a database step by step: the step that fails says why, and no text repeats a password."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from app.core.network.addresses import IpNetwork
from app.modules.database_connection.connection_steps import ConnectionStep, take_steps
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.network import Access
from app.modules.database_connection.threads import Stop
from tests.support.clickhouse_server import ClickhouseServer
from tests.support.command_line import kai
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer

LIMITS = ConnectionLimits(connect_seconds=5)
NO_NETWORKS: tuple[IpNetwork, ...] = ()


def steps(url: str, access: Access | None = None) -> dict[str, ConnectionStep]:
    database = read_url(url) if access is None else read_url(url, access)
    return {each.name: each for each in take_steps(database, LIMITS, Stop(), schemas=())}


def failed(found: dict[str, ConnectionStep]) -> tuple[str, str]:
    """The step that failed, with its reason; those before it passed, those behind it were skipped."""
    states = [each.state for each in found.values()]
    at = states.index("failed")
    assert states == ["passed"] * at + ["failed"] + ["skipped"] * (len(states) - at - 1)
    assert not any("s3cret" in each.detail for each in found.values())
    (name,) = (each.name for each in found.values() if each.state == "failed")
    return name, found[name].detail


def test_each_step_of_postgres_fails_in_words_of_its_own(postgres: PostgresServer) -> None:
    url = postgres.url("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("drop database if exists steps")
        connection.execute("create database steps")
        connection.execute("drop role if exists blind")
        connection.execute("create role blind login password 's3cret/with@signs'")
    url = postgres.url("steps")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create schema s; create table s.t (id integer)")
    found = steps(url)
    assert [each.state for each in found.values()] == ["passed"] * 7
    assert (found["encryption"].detail, found["sign_in"].detail) == ("not encrypted", "analyst")
    assert found["list"].detail == "2 schemas"
    address = f"127.0.0.1:{postgres.port}"
    for changed, step, reason in (
        (url.replace("127.0.0.1", "no-such-host.invalid"), "name", "unknown"),
        (url.replace(address, "127.0.0.1:1"), "port", "Nothing listens"),
        (f"{url}?sslmode=require", "encryption", "sslmode"),
        (url.replace("s3cret", "wrong"), "sign_in", "password is wrong"),
        (url.replace("/steps", "/nothing"), "sign_in", "no database of this name"),
        (url.replace("//analyst", "//blind"), "read", "GRANT USAGE ON SCHEMA s TO blind"),
    ):
        name, detail = failed(steps(changed))
        assert (name, reason in detail) == (step, True), detail
    name, detail = failed(steps(url, Access(networks=NO_NETWORKS)))
    assert (name, "KAI_DATABASES__NETWORKS" in detail) == ("name", True)


def test_each_step_of_mariadb_fails_in_words_of_its_own(mariadb: MariadbServer) -> None:
    mariadb.run("create or replace database steps; create or replace table steps.t (id integer)")
    url = mariadb.url("stepper", "steps")
    mariadb.run("create or replace user stepper@'%' identified by 's3cret/with@signs'")
    mariadb.run("grant select on steps.* to stepper@'%'")
    assert {each.state for each in steps(url).values()} == {"passed"}
    for changed, step in (
        (f"{url}?ssl_mode=verify_identity", "encryption"),
        (url.replace("s3cret", "wrong"), "sign_in"),
    ):
        assert failed(steps(changed))[0] == step


def test_each_step_of_clickhouse_fails_in_words_of_its_own(
    clickhouse: ClickhouseServer, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    url = clickhouse.url()
    found = steps(url)
    assert [each.state for each in found.values()] == ["passed"] * 7
    assert (found["encryption"].detail, found["sign_in"].detail) == ("not encrypted", "analyst")
    for changed, step, reason in (
        (url.replace("127.0.0.1", "no-such-host.invalid"), "name", "unknown"),
        (url.replace(str(clickhouse.port), "1"), "port", "Nothing listens"),
        (f"{url}?secure=true", "encryption", "the parameter secure"),
        (url.replace("s3cret", "wrong"), "sign_in", "password is wrong"),
        (url.replace("/shop", "/nothing"), "sign_in", "no database of this name"),
    ):
        name, detail = failed(steps(changed))
        assert (name, reason in detail) == (step, True), detail
    assert "Traceback" not in caplog.text + capfd.readouterr().err


def test_a_file_is_opened_listed_and_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("create table t (id integer)")
    assert [(each.name, each.state) for each in steps(f"sqlite:///{path}").values()] == [
        (name, "passed") for name in ("address", "open", "list", "read")
    ]
    (tmp_path / "b.db").write_text("no database at all" * 100)
    assert failed(steps(f"sqlite:///{tmp_path}/b.db"))[0] == "open"


def test_databases_are_added_scanned_changed_and_removed_at_the_command_line(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("drop database if exists at_the_line")
        connection.execute("create database at_the_line")
    url = postgres.url("at_the_line")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create schema sales; create schema raw")
        connection.execute("create table sales.t (id integer); create table raw.t (id integer)")

    def run(*arguments: str, code: int = 0) -> str:
        done = kai(*arguments, data=tmp_path)
        assert done.returncode == code, done.stderr
        assert "s3cret" not in done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    assert "password contains one of @" in run(
        "databases", "add", "postgresql://ann:s3cret/with@signs@127.0.0.1/shop", code=1
    )
    assert "FAILED  sign in" in run("databases", "add", url.replace("s3cret", "wr0ng"), code=1)
    assert "There are no databases" in run("databases", "list")
    assert "is added" in run("databases", "add", url, "--name", "Shop", "--schema", "sales")
    assert "1 table of Shop" in run("scan", "Shop")
    (listed,) = json.loads(run("databases", "list", "--json"))
    assert (listed["name"], listed["schemas"], listed["table_count"]) == ("Shop", ["sales"], 1)
    assert "is changed" in run("databases", "change", "Shop", "--all-schemas")
    run("scan")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table raw.u (id integer); alter table sales.t add n integer")
    assert "1 table new, 1 column new." in run("scan", listed["id"])
    schemas = {each["name"]: each for each in json.loads(run("databases", "schemas", "Shop", "--json"))}
    assert (schemas["raw"]["table_count"], schemas["raw"]["is_read"]) == (2, True)
    assert {each["state"] for each in json.loads(run("databases", "test", "Shop", "--json"))} == {"passed"}
    assert "add --yes" in run("databases", "remove", "Shop", code=1)
    assert "is removed" in run("databases", "remove", "Shop", "--yes")


def test_what_the_api_refuses_of_a_database_is_refused_at_the_command_line(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as made:
        made.execute("create table t (id integer)")
    assert kai("databases", "add", path, "--name", "kept", data=tmp_path).returncode == 0
    for arguments, said in (
        (("add", path, "--name", "x" * 201), "The database's name is not valid"),
        (("add", path, "--owner", ""), "The owner '' cannot have databases"),
        (("change", "kept", "--description", "half \udcff"), "The database's description is not valid"),
        (("change", "kept", "--name", "  "), "The database's name is not valid"),
        (("add", "postgresql://ann:half\udcff@127.0.0.1/shop"), "The URL or path of the database has"),
        (("show", "half \udcff"), "There is no database 'half \\udcff'"),
    ):
        done = kai("databases", *arguments, data=tmp_path)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(f"kai: {said}")
    (kept,) = json.loads(kai("databases", "list", "--json", data=tmp_path).stdout)
    assert (kept["name"], kept["description"], kept["schemas"]) == ("kept", "", [])


@pytest.mark.parametrize("arguments", [["databases", "change", "x"], ["databases", "add"]])
def test_a_command_that_lacks_something_says_what(arguments: list[str], tmp_path: Path) -> None:
    done = kai(*arguments, data=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
