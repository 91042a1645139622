"""One statement over several databases: what is fetched from each, and what the join of it gives."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from cryptography.fernet import Fernet

from app.core.auth.caller import calling
from app.core.secrets import SecretBox
from app.core.storage.sqlite import open_sqlite
from app.modules.database_connection import joins
from app.modules.database_connection.file_connections import FileConnections, UploadLimits
from app.modules.database_connection.joins import DatabaseJoins, JoinedResult
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.network import Access
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.database_connection.uploads.folder import UploadFolder
from graph.errors import DatabaseUnavailable, StatementFailed, StatementNeedsApproval, StatementRefused
from migrations.runner import migrate
from tests.support.callers import admin
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer
from tests.support.records import no_records

ASKER = Asker(owner="ann", purpose="question")
ORDERS = """
create schema sales;
create table sales.orders (
    id int, email text, amount numeric(10, 2), day date, paid timestamptz, "Note" text
);
insert into sales.orders values
    (1, 'ann@x.org', 10.10, '2024-01-05', '2024-01-05 10:00+02', 'a'),
    (2, 'bob@x.org', 0.20, '2024-02-05', null, null),
    (3, 'Cid@x.org ', 5.00, '2024-03-05', null, 'c'),
    (4, null, 7.00, '2024-03-06', null, 'd');
create table sales.odd (
    id int, code char(5), doc jsonb, weight real, big numeric(20), tags text[], at time, moment timestamptz
);
insert into sales.odd values
    (1, 'DE', '"free"', 0.1, 18446744073709551615, '{a,b}', '10:30', '2024-01-05 01:30+02'),
    (2, 'FR', '{"a": [1, "x"]}', 0.5, 5, null, null, null),
    (3, null, '7', 'NaN', null, '{}', '23:59:59', 'infinity');
create table sales.clicks as select n as id, n % 7 as kind from generate_series(1, 3000) as n;
"""
PEOPLE = """
CREATE DATABASE crm;
CREATE TABLE crm.people (email VARCHAR(50), country CHAR(2), `group` INT) COLLATE utf8mb4_general_ci;
INSERT INTO crm.people VALUES ('ann@x.org', 'DE', 1), ('bob@x.org', 'FR', 1),
    ('cid@x.org', 'DE', 2), ('eve@x.org', 'de', 2);
CREATE TABLE crm.odd (
    id BIGINT UNSIGNED, day VARCHAR(10), price DECIMAL(10,2) UNSIGNED, is_new BOOLEAN, ratio FLOAT, path TEXT
);
INSERT INTO crm.odd VALUES (18446744073709551615, '2024-13-35', 0.10, TRUE, 0.1, 'C:\\\\new'),
    (5, '2024-01-05', 0.20, FALSE, 0.5, 'it''s'), (NULL, NULL, NULL, NULL, NULL, NULL);
"""
LITE = """
CREATE TABLE odd (id INTEGER, day TEXT, kind, amount NUMERIC, is_new BOOLEAN);
INSERT INTO odd VALUES (1, '2024-01-05', 5, 1.5, 1), (2, '2024-01-06 10:00', 'five', NULL, 0),
    (3, NULL, 5, NULL, 1);
"""
BUDGET = b"country,budget\nDE,100\nFR,50\nIT,5\n"


@dataclass
class Joined:
    connections: DatabaseConnections
    joins: DatabaseJoins

    async def run(self, sql: str, *, is_approved: bool = False) -> JoinedResult:
        found = await self.joins.run(sql, ASKER, is_approved=is_approved)
        assert found is not None
        return found

    async def rows(self, sql: str) -> Sequence[Sequence[object]]:
        return (await self.run(sql)).result.rows


@pytest.fixture(scope="module")
def urls(postgres: PostgresServer, mariadb: MariadbServer) -> tuple[str, str]:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("drop database if exists joined")
        connection.execute("create database joined")
    with psycopg.connect(postgres.url("joined"), autocommit=True) as connection:
        connection.execute(ORDERS)
    mariadb.run("DROP DATABASE IF EXISTS crm;" + PEOPLE)
    return postgres.url("joined"), mariadb.root_url("crm")


@pytest.fixture
async def joined(tmp_path: Path, urls: tuple[str, str]) -> AsyncIterator[Joined]:
    folder = tmp_path / "uploads"
    async with open_sqlite(tmp_path / "kai.db") as storage:
        await migrate(storage)
        connections = DatabaseConnections(
            storage,
            SecretBox(Fernet.generate_key()),
            ConnectionLimits(),
            records=no_records(),
            access=Access(own_folders=[folder]),
            uploads=UploadFolder(folder),
        )
        files = FileConnections(
            connections,
            UploadFolder(folder),
            UploadLimits(max_bytes=1_000_000, owner_bytes=1_000_000, import_seconds=60),
        )

        async def content() -> AsyncIterator[bytes]:
            yield BUDGET

        shop, crm = [
            await connections.register("ann", url, name, description="")
            for url, name in zip(urls, ("Shop", "crm"), strict=True)
        ]
        plan, _ = await files.create("ann", "plan.csv", content(), name="plan")
        yield Joined(connections, DatabaseJoins(connections, [("Shop", shop), ("crm", crm), ("plan", plan)]))
        await connections.close()


async def test_rows_of_three_databases_are_joined_as_they_are_stored_and_each_gives_what_is_needed(
    joined: Joined,
) -> None:
    found = await joined.run(
        "SELECT p.country, sum(o.amount) AS total, max(b.budget) AS budget FROM shop.sales.orders o "
        "JOIN crm.people p ON o.email = p.email JOIN plan.plan b USING (country) "
        "WHERE o.day BETWEEN '2024-01-01' AND '2024-02-28' AND p.\"group\" = 1 AND p.country IN ('DE', 'FR') "
        "GROUP BY ALL ORDER BY 1"
    )
    assert found.result.rows == [["DE", 10.1, 100], ["FR", 0.2, 50]]
    # MariaDB finds 'de' for 'DE', too: the join tests it again.
    keys, *said = found.notes
    assert "country" not in keys
    assert said[-1].startswith("Joined in memory: `SELECT")
    fetched = "\n".join(said)
    assert (
        'Fetched 2 rows from Shop (PostgreSQL): `SELECT "email", "amount", "day" FROM "orders" '
        "WHERE \"day\" BETWEEN '2024-01-01' AND '2024-02-28'`" in "\n".join(found.notes)
    )
    assert "rows from crm (MySQL): `SELECT `email`, `country`, `group` FROM `people` WHERE" in fetched
    assert "3 rows from plan (DuckDB)" in fetched
    # Moments are in UTC.
    sql = "SELECT o.* FROM orders o, plan.plan b WHERE b.country = 'IT' AND o.id = 1"
    assert await joined.rows(sql) == [
        [1, "ann@x.org", 10.1, "2024-01-05", "2024-01-05T08:00:00", "a"],
    ]
    # An outer join keeps what has no pair.
    unlike = "SELECT count(*) FROM orders o LEFT JOIN crm.people p ON o.email = p.email WHERE p.email IS NULL"
    assert await joined.rows(unlike) == [[2]]


async def test_keys_that_differ_in_case_or_spaces_are_said_and_one_database_compares_them_itself(
    joined: Joined,
) -> None:
    found = await joined.run("SELECT count(*) FROM orders AS o JOIN crm.people AS p ON o.email = p.email")
    assert found.result.rows == [[2]]
    assert found.notes[0].startswith(
        "1 value of Shop.orders.email is in crm.people.email only with other case"
    )
    through = (
        "WITH o AS (SELECT email AS mail FROM orders) SELECT count(*) FROM o JOIN crm.people ON mail = email"
    )
    assert (await joined.run(through)).notes[0] == found.notes[0]
    folded = "SELECT count(*) FROM orders o JOIN crm.people p ON lower(trim(o.email)) = lower(trim(p.email))"
    alike = await joined.run(folded)
    assert alike.result.rows == [[3]]
    assert "only with other case" not in "".join(alike.notes)
    # A statement of one database runs there, and one that names none is no join.
    moved = await joined.run("SELECT count(*) AS n, max(length(email)) FROM crm.people WHERE country = 'DE'")
    assert moved.result.rows == [[3, 9]]  # as MariaDB compares
    ran = "SELECT COUNT(*) AS n, MAX(CHAR_LENGTH(email)) FROM `people` AS people WHERE country = 'DE'"
    assert moved.notes == [f"Run on crm (MySQL): `{ran}`"]
    assert not await joined.joins.names_databases("SELECT count(*) FROM orders")
    assert not await joined.joins.names_databases("SELECT 'crm' AS named FROM orders")
    assert await joined.joins.run("SELECT count(*) FROM orders", ASKER) is None


async def test_values_mean_the_same_beside_those_of_other_databases(joined: Joined, tmp_path: Path) -> None:
    file = tmp_path / "lite.db"
    with closing(sqlite3.connect(file)) as lite:
        lite.executescript(LITE)
    connection = await joined.connections.register("ann", f"sqlite:///{file}", "lite", description="")
    joined.joins = DatabaseJoins(joined.connections, [*joined.joins.databases, ("lite", connection)])
    one = "(SELECT 1 FROM plan.plan LIMIT 1)"
    large = "18446744073709551615"
    wanted: dict[str, Sequence[Sequence[object]]] = {
        # The spaces that fill up a CHAR, and a real as it is shown.
        f"SELECT id, doc, at, moment FROM shop.odd, {one} WHERE code = 'DE' AND weight <= 0.1": [
            [1, "free", "10:30:00", "2024-01-04T23:30:00"]
        ],
        "SELECT o.id, doc FROM shop.odd o, plan.plan b WHERE o.code = b.country ORDER BY 1": [
            [1, "free"],
            [2, {"a": [1, "x"]}],
        ],
        # Numbers of every size, flags, and texts that only look like days.
        f"SELECT id, day FROM crm.odd, {one} WHERE ratio = 0.1 AND path = 'C:\\new' AND is_new = TRUE": [
            [large, "2024-13-35"]
        ],
        "SELECT count(*), sum(p.price), sum(o.big), count(*) FILTER (WHERE p.is_new) FROM shop.odd o "
        "JOIN crm.odd p ON o.big = p.id": [[2, 0.3, "18446744073709551620", 1]],
        # SQLite's columns hold values of any type, or none.
        "SELECT count(*), sum(amount) FROM lite.odd x JOIN shop.odd o ON x.id = o.id WHERE x.id = 99": [
            [0, None]
        ],
        f"SELECT sum(amount) FROM lite.odd, {one} WHERE id = 3": [[None]],
        f"SELECT count(*) FROM lite.odd, {one} WHERE kind = '5' AND is_new": [[2]],
        # Rows without a pair, and names of a WHERE that a SELECT gives, too.
        "SELECT o.id FROM shop.odd o FULL JOIN lite.odd x ON o.id = x.id AND x.id = 1 WHERE o.id = 2": [[2]],
        "SELECT o.id + 1 AS id FROM shop.odd o, plan.plan b WHERE id = 2 AND budget = 5": [[3]],
    }

    async def find_wrong(sql: str, rows: Sequence[Sequence[object]]) -> tuple[str, object] | None:
        try:
            found = await joined.rows(sql)
        except (StatementFailed, DatabaseUnavailable) as error:
            return sql, error.detail
        return None if found == rows else (sql, found)

    assert set(await asyncio.gather(*(find_wrong(*each) for each in wanted.items()))) == {None}
    # Schemas of the first database are no other databases.
    assert not await joined.joins.names_databases("SELECT count(*) FROM sales.orders")
    renamed = DatabaseJoins(
        joined.connections, [("sales", joined.joins.databases[0][1]), ("lite", connection)]
    )
    assert not await renamed.names_databases("SELECT count(*) FROM sales.orders")
    assert await renamed.names_databases("SELECT count(*) FROM sales.orders, lite.odd")


async def test_a_part_beyond_the_bounds_asks_and_gives_no_figure_if_it_is_cut_even_then(
    joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = 'SELECT count(*) FROM clicks JOIN crm.people ON kind = "group"'
    monkeypatch.setattr(joins, "JOINED", StatementLimits(max_rows=1_000))
    with pytest.raises(StatementNeedsApproval, match=r"than 1,000 rows .* Shop\.clicks went beyond"):
        await joined.run(sql)
    assert (await joined.run(sql, is_approved=True)).result.rows == [[1716]]
    monkeypatch.setattr(joins, "JOINED_IF_APPROVED", StatementLimits(max_rows=2_000))
    with pytest.raises(StatementFailed, match="so none is made"):
        await joined.run(sql, is_approved=True)
    assert (await joined.run(f"{sql} WHERE clicks.id <= 900")).result.rows == [[516]]


async def test_statements_that_reach_further_are_refused_and_runaways_end(joined: Joined) -> None:
    refused = {
        "SELECT * FROM crm.people, read_csv('/etc/passwd')": "read_csv is not allowed",
        "SELECT * FROM crm.people, orders; SELECT 1": "Send exactly one statement",
        "SELECT * FROM crm.people, 'a.parquet'": "parquet",
        "COPY (SELECT * FROM crm.people, orders) TO 'x'": "Only queries",
        "SELECT * FROM crm.nothing, orders": "The table nothing of crm is not in that database",
        "SELECT * FROM crm.people, erp.orders": "Name a table of another database by that database",
        "SELECT * FROM crm.people, mysql.user": "There is no table mysql.user",
        "ATTACH 'x.db'; SELECT * FROM crm.people": "Send exactly one",
    }
    for sql, why in refused.items():
        with pytest.raises(StatementRefused, match=why):
            await joined.run(sql)
    with pytest.raises(StatementFailed, match="nosuch"):
        await joined.run("SELECT nosuch FROM crm.people, orders")


async def test_each_part_is_what_its_connections_policies_let_the_person_see(joined: Joined) -> None:
    (_, shop), (_, crm), _ = joined.joins.databases
    rules = {"rows": ["country = {{ user.country }}"], "columns": {"group": "hidden"}}
    policies = {"default": "allow", "policies": [{"name": "own country", "tables": {"people": rules}}]}
    tables = (await joined.connections.whole_schema(crm)).schema.tables
    await joined.connections.edit_policies(crm, json.dumps(policies), tables)
    limited = await joined.connections.repository.get("ann", crm.id)
    both = DatabaseJoins(joined.connections, [("shop", shop), ("crm", limited)])
    sql = "SELECT count(*) FROM orders o JOIN crm.people p ON o.email = p.email"
    for country, count in (("FR", 1), ("IT", 0)):
        with calling(replace(admin("ann"), attributes={"country": country})):
            found = await both.run(sql, ASKER)
            assert found is not None
            assert (found.result.rows, found.result.row_policies) == ([[count]], ["own country"])
            with pytest.raises(StatementFailed, match="group"):
                await both.run(sql.replace("count(*)", 'max(p."group")'), ASKER)

    # A join that runs away ends with its task.
    sql = "SELECT count(*) FROM clicks a, clicks b, clicks c, crm.people WHERE a.id + b.id + c.id % 2 = 1"
    running = asyncio.create_task(joined.run(sql))
    await asyncio.sleep(0.5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 5)
