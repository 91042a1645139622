"""Registered databases, over the embedded store."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import psycopg
import pytest
from cryptography.fernet import Fernet

from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.secrets import SecretBox
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Query
from app.core.storage.sqlite import SqliteStorage
from app.modules.database_connection.errors import (
    ConnectionNotFound,
    DatabaseDown,
    DatabaseUnreachable,
    TableNotFound,
    UrlNotSupported,
)
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.network import Access
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql_generation.checking.correct import Corrected
from graph.errors import DatabaseUnavailable, StatementFailed, StatementRefused, StatementTimedOut
from tests.support.postgres_server import PostgresServer
from tests.support.records import ASKER, no_records
from tests.support.shop import make_shop


@pytest.fixture
def connections(storage: SqliteStorage) -> DatabaseConnections:
    return DatabaseConnections(
        storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_shop(tmp_path / "shop.db")


@pytest.fixture
async def shop(connections: DatabaseConnections, path: Path) -> Connection:
    return await connections.register("ann", f"sqlite:///{path}", "Shop", description="")


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def remove(path: Path) -> None:
    path.unlink()


async def test_a_question_needs_no_scan_beforehand(
    connections: DatabaseConnections, shop: Connection
) -> None:
    assert shop.scanned_at is None
    result = await connections.run(shop, "select count(*) as n from customers", ASKER)
    assert (result.columns, result.rows) == ((("n", "integer"),), [[3]])
    assert (await connections.repository.get("ann", shop.id)).table_count == 6


async def test_a_url_is_kept_encrypted_and_shown_masked(
    connections: DatabaseConnections, storage: SqliteStorage, postgres: PostgresServer
) -> None:
    kept = await connections.register("ann", postgres.url("postgres"), "Server", description="")
    document = await storage.get("database_connections", kept.id)
    assert "s3cret" not in f"{document} {kept!r}"
    assert kept.masked_url == f"postgresql://analyst@127.0.0.1:{postgres.port}/postgres"
    assert (await connections.run(kept, "select 1", ASKER)).rows == [[1]]


async def test_an_account_that_may_write_is_registered_with_a_warning(
    connections: DatabaseConnections, postgres: PostgresServer
) -> None:
    kept = await connections.register("ann", postgres.url("postgres"), "Server", description="")
    warning, without_tables = kept.warnings
    assert "no tables" in without_tables
    assert "superuser" in warning
    assert (await connections.repository.get("ann", kept.id)).warnings == kept.warnings


async def test_a_host_that_may_not_be_reached_is_refused_now_and_at_every_later_use(
    connections: DatabaseConnections, storage: SqliteStorage, postgres: PostgresServer
) -> None:
    secrets, strict = SecretBox(Fernet.generate_key()), Access(networks=())
    careful = DatabaseConnections(storage, secrets, ConnectionLimits(), records=no_records(), access=strict)
    with pytest.raises(DatabaseUnreachable, match="KAI_DATABASES__NETWORKS"):
        await careful.register("ann", postgres.url("postgres"), "Server", description="")
    kept = await DatabaseConnections(storage, secrets, ConnectionLimits(), records=no_records()).register(
        "ann", postgres.url("postgres"), "Server", description=""
    )
    with pytest.raises(DatabaseUnavailable, match="KAI_DATABASES__NETWORKS"):
        await careful.run(kept, "select 1", ASKER)


async def test_what_cannot_be_reached_is_not_kept(connections: DatabaseConnections, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("This is no database, whatever its name says." * 100)
    with pytest.raises(DatabaseUnreachable, match="not a SQLite database"):
        await connections.register("ann", f"sqlite:///{tmp_path}/notes.db", "Notes", description="")
    with pytest.raises(UrlNotSupported, match="names no existing file"):
        await connections.register("ann", f"sqlite:///{tmp_path}", "Folder", description="")
    assert await connections.repository.page("ann", ListRequest(limit=10)) == Listed([], None)


async def test_connections_of_others_are_as_unknown_as_those_that_never_were(
    connections: DatabaseConnections, shop: Connection
) -> None:
    said = []
    for owner, connection_id in [("bob", shop.id), ("ann", new_id()), ("ann", "../x"), ("ANN", shop.id)]:
        with pytest.raises(NotFound) as refused:
            await connections.repository.get(owner, connection_id)
        said.append(refused.value.detail)
    assert len(set(said)) == 1
    assert await connections.repository.page("bob", ListRequest(limit=10)) == Listed([], None)


async def test_lists_come_in_pages(connections: DatabaseConnections, path: Path) -> None:
    made = [
        (await connections.register("ann", f"sqlite:///{path}", "Same name", description="")).id
        for _ in range(3)
    ]
    first = await connections.repository.page("ann", ListRequest(descending=False, limit=2))
    rest = await connections.repository.page(
        "ann", ListRequest(descending=False, limit=2, cursor=first.next_cursor)
    )
    assert ([each.id for each in first.items + rest.items], rest.next_cursor) == (made, None)


async def test_a_scan_follows_the_database_and_keeps_descriptions(
    connections: DatabaseConnections, shop: Connection, path: Path
) -> None:
    await connections.scan("ann", shop.id)
    await connections.describe_table("ann", shop.id, "order lines", description="What was bought")
    change(path, "drop view spending; drop table files; create table visits (at date)")
    assert (await connections.scan("ann", shop.id)).table_count == 5
    tables, _ = await connections.tables("ann", shop.id, 10, cursor=None)
    assert [(each.name, each.description) for each in tables] == [
        ("categories", ""),
        ("customers", ""),
        ("order lines", "What was bought"),
        ("orders", ""),
        ("visits", ""),
    ]
    schema = await connections.schema(shop)
    assert [each.name for each in schema.tables] == [each.name for each in tables]


async def test_a_description_is_in_the_schema_at_once(
    connections: DatabaseConnections, shop: Connection
) -> None:
    await connections.schema(shop)
    await connections.describe_table("ann", shop.id, "orders", description="One row an order")
    schema = await connections.schema(shop)
    assert [each.description for each in schema.tables if each.name == "orders"] == ["One row an order"]


async def test_a_table_that_was_never_found_cannot_be_described(
    connections: DatabaseConnections, shop: Connection
) -> None:
    with pytest.raises(TableNotFound):
        await connections.describe_table("ann", shop.id, "nothing", description="x")
    with pytest.raises(ConnectionNotFound):
        await connections.describe_table("bob", shop.id, "orders", description="x")


async def test_a_schema_read_by_a_new_process_is_the_one_that_was_scanned(
    connections: DatabaseConnections, shop: Connection, storage: SqliteStorage, path: Path
) -> None:
    scanned = await connections.schema(shop)
    change(path, "create table later (a)")
    other = DatabaseConnections(
        storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
    )
    again = await other.schema(shop)
    assert [replace(each, columns=()) for each in again.tables] == [
        replace(each, columns=()) for each in scanned.tables
    ]


async def test_a_changed_address_is_scanned_and_keeps_only_what_people_wrote(
    connections: DatabaseConnections, shop: Connection, storage: SqliteStorage, tmp_path: Path
) -> None:
    await connections.scan("ann", shop.id)
    await connections.describe_table(
        "ann", shop.id, "customers", description="Who buys", columns={"country": {"unit": "ISO"}}
    )
    other = make_shop(tmp_path / "other.db")
    change(other, "drop table files; update customers set country = 'Peru'")
    changed = await connections.change("ann", shop.id, {"name": "Other"}, url=f"sqlite:///{other}")
    assert (changed.name, changed.masked_url, changed.scanned_at) == ("Other", "other.db", None)
    tables = {each.name: each for each in (await connections.schema(changed)).tables}
    assert "files" not in tables
    country = next(each for each in tables["customers"].columns if each.name == "country")
    assert (tables["customers"].description, country.unit) == ("Who buys", "ISO")
    assert "Norway" not in country.values
    result = await connections.run(changed, "SELECT DISTINCT country FROM customers", ASKER)
    assert result.rows == [["Peru"]]
    scanned = await connections.scan("ann", shop.id)
    texts = (await connections.scanned_schema(scanned)).texts
    assert "Norway" not in str(texts)


async def test_an_address_that_cannot_be_used_changes_nothing(
    connections: DatabaseConnections, shop: Connection, tmp_path: Path, postgres: PostgresServer
) -> None:
    (tmp_path / "empty.txt").write_text("no database")
    for url, error in [
        (f"sqlite:///{tmp_path / 'empty.txt'}", DatabaseUnreachable),
        (f"sqlite:///{tmp_path / 'nothing.db'}", UrlNotSupported),
        (postgres.url("postgres"), UrlNotSupported),
    ]:
        with pytest.raises(error):
            await connections.change("ann", shop.id, {"name": "Other", "shared": True}, url=url)
    with pytest.raises(ConnectionNotFound):
        await connections.change("bob", shop.id, {"name": "Mine"})
    assert await connections.repository.get("ann", shop.id) == shop


async def test_a_password_is_kept_for_its_own_server_only(
    connections: DatabaseConnections, postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as server:
        server.execute("create database elsewhere")
    account = f"postgresql://{postgres.user}@127.0.0.1:{postgres.port}"
    shop = await connections.register("ann", postgres.url("postgres"), "Server", description="")
    with caplog.at_level("INFO", "kai.audit"):
        moved = await connections.change("ann", shop.id, {}, url=f"{account}/elsewhere")
    assert moved.masked_url == f"{account}/elsewhere"
    with pytest.raises(DatabaseUnreachable, match="password"):
        await connections.change("ann", shop.id, {}, url=f"{account}/elsewhere?sslmode=disable")
    (line,) = (each for each in caplog.records if each.message == "connection changed")
    assert (vars(line)["owner"], vars(line)["fields"]) == ("ann", ["address"])
    assert postgres.password not in str(vars(line))
    tested = await connections.test("ann", f"{account}/postgres", shop.id)
    assert tested.masked_url == f"{account}/postgres"
    assert (await connections.repository.get("ann", shop.id)).masked_url == moved.masked_url


async def test_many_first_questions_share_one_scan(
    connections: DatabaseConnections, shop: Connection
) -> None:
    schemas = await asyncio.gather(*(connections.schema(shop) for _ in range(10)))
    assert all(each is schemas[0] for each in schemas)


async def test_a_deleted_connection_is_gone_with_its_tables(
    connections: DatabaseConnections, shop: Connection, storage: SqliteStorage
) -> None:
    await connections.scan("ann", shop.id)
    with pytest.raises(ConnectionNotFound):
        await connections.delete("bob", shop.id)
    await connections.delete("ann", shop.id)
    with pytest.raises(ConnectionNotFound):
        await connections.repository.get("ann", shop.id)
    assert (await storage.query("tables", Query())).items == []


async def test_a_connection_deleted_during_its_scan_stays_deleted(
    connections: DatabaseConnections, shop: Connection, storage: SqliteStorage
) -> None:
    scan = asyncio.create_task(connections.scan("ann", shop.id))
    await asyncio.sleep(0)
    await connections.delete("ann", shop.id)
    with pytest.raises(ConnectionNotFound):
        await scan
    assert (await storage.query("database_connections", Query())).items == []
    assert (await storage.query("tables", Query())).items == []


async def test_a_database_that_went_away_is_unavailable(
    connections: DatabaseConnections, shop: Connection, path: Path
) -> None:
    await connections.schema(shop)
    remove(path)
    with pytest.raises(DatabaseUnavailable, match="no existing file"):
        await connections.run(shop, "select 1", ASKER)
    with pytest.raises(DatabaseDown, match="no existing file"):
        await connections.scan("ann", shop.id)


async def test_a_url_under_another_key_is_unavailable_with_the_cure(
    storage: SqliteStorage, connections: DatabaseConnections, shop: Connection
) -> None:
    await connections.schema(shop)
    other = DatabaseConnections(
        storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
    )
    with pytest.raises(DatabaseUnavailable, match="register the database again"):
        await other.run(shop, "select 1", ASKER)


async def test_a_statement_on_an_unknown_table_is_refused_with_advice(
    connections: DatabaseConnections, shop: Connection
) -> None:
    with pytest.raises(StatementFailed, match="did you mean customers"):
        await connections.run(shop, "select * from custmers", ASKER)


async def test_a_statement_that_timed_out_is_not_run_again(storage: SqliteStorage, path: Path) -> None:
    limits = ConnectionLimits(statement=StatementLimits(timeout_seconds=1))
    connections = DatabaseConnections(storage, SecretBox(Fernet.generate_key()), limits, records=no_records())
    shop = await connections.register("ann", f"sqlite:///{path}", "Shop", description="")
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
    with pytest.raises(StatementTimedOut, match="add filters"):
        await connections.run(shop, endless, ASKER)
    with pytest.raises(StatementTimedOut, match="not run again"):
        await connections.run(shop, endless.replace("select", "\nSELECT") + " -- once more", ASKER)
    assert (await connections.run(shop, "select 1", ASKER)).rows == [[1]]


async def test_a_statement_is_refused_for_its_length_before_anything_else(
    storage: SqliteStorage, path: Path
) -> None:
    limits = ConnectionLimits(statement=StatementLimits(max_characters=20))
    connections = DatabaseConnections(storage, SecretBox(Fernet.generate_key()), limits, records=no_records())
    shop = await connections.register("ann", f"sqlite:///{path}", "Shop", description="")
    with pytest.raises(StatementRefused, match="longer than 20 characters") as refused:
        await connections.run(shop, "(" * 21, ASKER)
    assert refused.value.rule == "length"


async def test_a_check_that_takes_too_long_is_given_up(storage: SqliteStorage, path: Path) -> None:
    limits = ConnectionLimits(check_seconds=0.05, max_checks=1)
    connections = DatabaseConnections(storage, SecretBox(Fernet.generate_key()), limits, records=no_records())
    released = threading.Event()
    try:
        with pytest.raises(StatementRefused, match="could not be checked within"):
            await connections.examine("select 1", released.wait)
        with pytest.raises(DatabaseUnavailable, match="still checking your other statements"):
            await connections.examine("select 1", released.wait)
    finally:
        released.set()


async def test_a_statement_that_was_checked_ahead_runs_by_the_present_schema(
    connections: DatabaseConnections, shop: Connection
) -> None:
    async def checked_ahead(sql: str) -> str:
        return (await connections.examine_to_run(sql, await connections.schema(shop), Corrected)).sql

    sql = await checked_ahead("select name from customers order by id")
    assert len((await connections.run(shop, sql, ASKER)).rows) == 3
    sql = await checked_ahead(sql)
    await connections.describe_table("ann", shop.id, "customers", columns={"name": {"hidden": True}})
    with pytest.raises(StatementFailed, match="name"):
        await connections.run(shop, sql, ASKER)
    refused = await checked_ahead("delete from customers")
    with pytest.raises(StatementRefused, match="Only queries"):
        await connections.run(shop, refused, ASKER)


async def test_an_error_of_the_database_quotes_no_value_of_a_table_with_secrets(
    connections: DatabaseConnections, tmp_path: Path
) -> None:
    with duckdb.connect(str(tmp_path / "logins.duckdb")) as made:
        made.execute("CREATE TABLE logins (name TEXT, password TEXT)")
        made.execute("INSERT INTO logins VALUES ('ada', ?)", ["Tr0mb'o\"ne5 x"])
    url = f"duckdb:///{tmp_path}/logins.duckdb"
    logins = await connections.register("ann", url, "Logins", description="")
    for sql in (
        "SELECT CAST(password AS INTEGER) AS n FROM logins",
        "WITH l(a, b) AS (SELECT * FROM logins) SELECT count(*) FROM l WHERE CAST(b AS DATE) IS NULL",
    ):
        with pytest.raises(StatementFailed, match=r"\[redacted\]") as failed:
            await connections.run(logins, sql, ASKER)
        assert "ne5" not in failed.value.detail
        assert "Tr0mb" not in failed.value.detail
    with pytest.raises(StatementFailed, match='"password"'):
        await connections.run(logins, "SELECT passwort FROM logins", ASKER)
