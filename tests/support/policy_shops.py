"""Databases with the shop whole, as each person knows it by policies, and as a copy of what they may see."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from clickhouse_connect.dbapi.connection import Connection as ClickhouseConnection
from sqlalchemy import make_url

from app.modules.database_connection.engines.clickhouse.database import ClickhouseDatabase
from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.guard.secrets import without_values
from app.modules.database_connection.limited_schemas import limit_schema
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.results import RawRows, ResultSet, collect
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from app.modules.policies.rights import Person
from graph.errors import StatementFailed, StatementRefused
from tests.support.clickhouse_server import ClickhouseServer
from tests.support.mariadb_server import MariadbServer
from tests.support.policy_corpus import COPIES, KEY, LAST, MORE, PEOPLE, POLICIES, SALES, SLOW_POLICIES
from tests.support.postgres_server import PostgresServer
from tests.support.shop import SHOP
from tests.support.shops import CLICKHOUSE, DUCKDB, MYSQL, POSTGRES

LIMITS = StatementLimits(timeout_seconds=1, max_rows=1_000)

_REFERENCES = re.compile(r" references \w+ ?(\(id\))?")


Fetch = Callable[[str], tuple[Sequence[str], Sequence[Sequence[object]]]]
"""Runs a checked statement. Returns names of columns, and rows."""


@dataclass(frozen=True)
class Place:
    """A database, and the name that statements call it by."""

    database: Database
    name: str
    schema: Schema
    connection: Fetch | None

    def run(self, sql: str) -> ResultSet:
        """Raises `StatementFailed`. A session for each statement would take most of the time, so that one is
        opened only for SQLite, whose authorizer has a part in it.
        """
        if self.connection is not None:
            to_run = check(sql, self.schema)
            try:
                names, rows = self.connection(to_run)
            except Exception as error:  # noqa: BLE001 - each driver has its own
                raise StatementFailed(str(error)) from None
            return collect(RawRows(names, [None] * len(names), rows), LIMITS)
        statement = UncheckedStatement(
            sql=sql, schema=self.schema, database=self.database, limits=LIMITS, connect_seconds=10
        )
        return statement.run(Stop())

    def plan(self, sql: str) -> str:
        """Returns how the database would run what the guard makes of a statement."""
        to_run = check(sql, self.schema)
        if self.connection is None:
            path = str(self.database.url).removeprefix("sqlite:///")
            with closing(sqlite3.connect(path)) as connection:
                return str(connection.execute(f"explain query plan {to_run}").fetchall())
        kind = "format=json" if self.schema.dialect == "mysql" else ""
        return str(self.connection(f"explain {kind} {to_run}")[1])


def _fetch_of(dialect: str, database: Database, opened: ExitStack) -> Fetch | None:
    cursor: Any
    if dialect == "sqlite":
        return None
    if dialect == "duckdb":
        import duckdb

        path = database.url.removeprefix("duckdb:///")
        cursor = opened.enter_context(duckdb.connect(path, read_only=True, config={"threads": 1}))
    elif dialect == "clickhouse":
        return opened.enter_context(_clickhouse_fetch(database))
    elif dialect == "postgres":
        import psycopg

        to_server = psycopg.connect(database.url, autocommit=True, cursor_factory=psycopg.RawCursor)
        cursor = opened.enter_context(to_server).cursor()
        cursor.execute("set statement_timeout = 1000")
    else:
        import pymysql

        url = make_url(database.url)
        to_mariadb = pymysql.connect(
            host=url.host or "",
            port=url.port or 0,
            user=url.username or "",
            password=str(url.password),
            database=url.database,
            autocommit=True,
        )
        cursor = opened.enter_context(to_mariadb).cursor()
        cursor.execute("set max_statement_time = 1")

    def fetch(sql: str) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        cursor.execute(sql)
        names = [each[0] for each in cursor.description or ()]
        return names, cursor.fetchmany(LIMITS.max_rows)

    return fetch


@contextmanager
def _clickhouse_fetch(database: Database) -> Iterator[Fetch]:
    assert isinstance(database, ClickhouseDatabase)
    stop = Stop()
    stop.after(3600)
    with database.engine(stop, 10) as engine, engine.connect() as connection:
        client = cast("ClickhouseConnection", connection.connection.driver_connection).client

        def fetch(sql: str) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
            found = client.query(sql, settings={"max_execution_time": 1})
            return found.column_names, found.result_rows

        yield fetch


class Run:
    """What a statement gave: rows without an order, or why it gave none."""

    def __init__(self, sql: str, place: Place) -> None:
        self.rows: Sequence[str] | None = None
        self.error = ""
        self.is_refused = False
        text = sql.replace("shop.", f"{place.name}.").replace("attacked.", f"{place.name}.")
        try:
            self.rows = _as_text(place.run(text))
        except StatementFailed as failed:
            self.error = without_values(failed.detail, text, place.schema)
            self.is_refused = isinstance(failed, StatementRefused)

    @property
    def given(self) -> object:
        return self.error if self.rows is None else self.rows

    def tells_more_than(self, copy: "Run") -> bool:
        """True if it gave something else than on a copy. An error that hidden rows raise tells, too."""
        return not self.is_refused and self.rows != copy.rows


def _as_text(found: ResultSet) -> list[str]:
    """Returns the rows without their order, and the names of columns that are no texts of expressions."""
    names = [column.name if column.name.isidentifier() else "" for column in found.columns]
    return [repr(names), *sorted(repr([_plain(cell) for cell in row]) for row in found.rows)]


def _plain(cell: object) -> object:
    """A row as a whole is text in one type and a list in another; a list has no order of its own."""
    if isinstance(cell, float):
        return round(cell, 9)
    if isinstance(cell, str) and cell.startswith("(") and cell.endswith(")"):
        cell = [part or None for part in cell[1:-1].split(",")]
    return sorted(map(str, cell)) if isinstance(cell, list) else cell


Make = Callable[[str, str], str]
"""Makes a database of a name by a script. Returns its URL."""


def _make_by(dialect: str, folder: Path, request: pytest.FixtureRequest) -> Make:
    def sqlite(name: str, script: str) -> str:
        path = folder / f"{name}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
        return f"sqlite:///{path}"

    def duckdb_(name: str, script: str) -> str:
        import duckdb

        path = folder / name / "shop.duckdb"
        path.parent.mkdir()
        with duckdb.connect(str(path)) as connection:
            connection.execute(script)
        return f"duckdb:///{path}"

    def postgres(name: str, script: str) -> str:
        import psycopg

        server: PostgresServer = request.getfixturevalue("postgres")
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        with psycopg.connect(server.url(name), autocommit=True) as connection:
            connection.execute(script)
        return server.url(name)

    def mysql(name: str, script: str) -> str:
        server: MariadbServer = request.getfixturevalue("mariadb")
        server.run(f"create database {name} character set utf8mb4")
        server.run(script, name)
        return server.root_url(name)

    def clickhouse(name: str, script: str) -> str:
        server: ClickhouseServer = request.getfixturevalue("clickhouse")
        server.run(f"create database {name}")
        server.run(_mutated(script), name)
        return server.url(name)

    return {
        "sqlite": sqlite,
        "duckdb": duckdb_,
        "postgres": postgres,
        "mysql": mysql,
        "clickhouse": clickhouse,
    }[dialect]


def _mutated(script: str) -> str:
    """Returns a script with the changes of rows as ClickHouse writes them."""
    script = re.sub(
        r"delete from (\w+)( where [^;]+)?;",
        lambda f: f"alter table {f[1]} delete{f[2] or ' where 1'};",
        script,
    )
    script = re.sub(
        r"update (\w+) set ([^;]+);",
        lambda f: f"alter table {f[1]} update {f[2]}{'' if ' where ' in f[2] else ' where 1'};",
        script,
    )
    return script.replace(";", ";\n")


def _script(dialect: str) -> str:
    script = {
        "sqlite": SHOP,
        "duckdb": DUCKDB,
        "postgres": POSTGRES,
        "mysql": MYSQL,
        "clickhouse": CLICKHOUSE.replace("create database shop;", "")
        .replace("shop.", "")
        .replace("total Decimal(10, 2)", "total Nullable(Decimal(10, 2))"),
    }[dialect]
    script = script.split("create role")[0].split("delimiter")[0].split("create database secret")[0]
    return _REFERENCES.sub("", script) + MORE[dialect]


@dataclass(frozen=True)
class Shop:
    """The shop as each person knows it, and the copy of it that holds only that."""

    dialect: str
    limited: dict[str, Place]
    limited_slowly: dict[str, Place]
    """Limited by filters of other forms, which planners run late."""
    copies: dict[str, Place]


def open_shop(
    dialect: str, folder: Path, request: pytest.FixtureRequest, people: Sequence[str] = tuple(PEOPLE)
) -> Shop:
    """Returns the shop of a dialect for some people, which is closed at the end of the session."""
    opened = ExitStack()
    request.session.addfinalizer(opened.close)
    make = _make_by(dialect, folder, request)

    def place(name: str, script: str) -> Place:
        database = read_url(make(name, script))
        schemas = [name] if dialect in {"mysql", "clickhouse"} else []
        found = scan(database, ConnectionLimits(), Stop(), schemas=schemas)
        called = "shop" if dialect == "duckdb" else name
        return Place(database, called, found, _fetch_of(dialect, database, opened))

    script = _script(dialect)
    last = LAST.get(dialect, "")
    whole = place("policy_whole", script + SALES[dialect] + last)
    scanned = ScannedSchema(whole.schema)

    def limited(policies: str) -> dict[str, Place]:
        known = {name: Person(name, PEOPLE[name]) for name in people}
        return {
            name: replace(whole, schema=limit_schema(scanned, policies, person, found_at=0, key=KEY).schema)
            for name, person in known.items()
        }

    copies = {name: place(f"policy_{name}", script + COPIES[name](dialect) + last) for name in people}
    return Shop(dialect, limited(POLICIES), limited(SLOW_POLICIES), copies)
