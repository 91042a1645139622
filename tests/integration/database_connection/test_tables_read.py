"""The tables that a statement reads: those of the guard's tree, against those of the database's own plan."""

import json
import re
import sqlite3
from collections.abc import Iterator, Set
from contextlib import closing
from functools import cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pytest
from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.database_connection.engines.duckdb.database import DuckdbDatabase
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.guard.check import written
from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.threads import Stop
from graph.errors import StatementFailed, StatementRefused
from tests.support.corpus import DIALECTS, honest
from tests.support.sql_noise import statement
from tests.support.targets import Target

if TYPE_CHECKING:
    from clickhouse_connect.driver import Client

GENERATED = 1_500
# Snowflake's fake has no plan of a statement.
PLANNED = [each for each in DIALECTS if each != "snowflake"]
NAMES = (
    "orders",
    '"orders"',
    "'orders'",
    "[orders]",
    "`orders`",
    "main.orders",
    "public.orders",
    "shop.orders",
)
# Places in which some database reads a name as a table, or might.
PLACES = (
    *("select 1 in {}", "select 'a' not in {}", "select (1, 'a') in {}", "select 1 where 5 in {} or 1 = 1"),
    *("with x as (select 1 in {}) select * from x", "select * from customers where id in {}"),
    *("select 1 = any ({})", "select exists ({})", "select exists (table {})", "select array(from {})"),
    *("table {}", "select (table {})", "select 1 in (table {})", "values ((select 1 from {}))"),
    *("select count(*) filter (where 1 in {}) from customers", "select case when 1 in {} then 1 end"),
    *("select * from customers join categories on 1 in {}", "select 1 order by 1 in {}"),
    *("select * from customers, {}", "select * from (customers join {} on true)", "from {}", "select {}"),
    *("select * from customers positional join {}", "select * from customers natural join ({})"),
    *("select max(id) over (order by id in {}) from customers", "select id from customers limit 1 in {}"),
    *("select * from generate_series(1, (select count(*) from {}))", "select unnest({})", "select {}.*"),
    *(
        "with recursive x as (select 1 union select 2 from x where 1 in {}) select * from x",
        "select null::{}",
    ),
    *("with orders as (select 1 from {}) select * from orders", "with orders as (select 1) select 1 in {}"),
    *(
        "pivot {} on status using count(*)",
        "unpivot {} on id",
        "select * from {} pivot (sum(id) for id in (1))",
    ),
    *("pivot customers on id in (select id from {}) using count(*)", "summarize {}", "describe {}"),
)


def tables_in_tree(sql: str, dialect: str) -> set[str] | None:
    """Those that the guard checks, by name. None for a statement that it refuses, whatever its tables are."""
    try:
        nodes = written(sql, dialect).nodes
    except (StatementRefused, SqlglotError, RecursionError):
        return None
    common = CommonTables(dialect)
    return {
        node.name.lower()
        for node in nodes
        if isinstance(node, exp.Table)
        and isinstance(node.this, exp.Identifier)
        and not (not node.db and common.are_named_by(node))
    }


def tables_in_plan(sql: str, target: Target) -> set[str] | None:
    """Those that the database would read, views resolved. None for a statement that it does not take."""
    database = target.database
    try:
        match database.dialect:
            case "sqlite":
                assert isinstance(database, SqliteDatabase)
                return _by_authorizer(sql, database)
            case "duckdb":
                assert isinstance(database, DuckdbDatabase)
                plan = _duckdb_plan(sql, database)
                return {name.lower() for name in re.findall(r'"Table":\s*"(?:[^".]*\.)*([^".]+)"', plan)}
            case "postgres":
                plan = _asked(f"explain (format json, verbose) {sql}", target)
                return {each.lower() for each in _relations(json.loads(plan))}
            case "clickhouse":
                return _by_query_tree(sql, database.url)
            case _:
                return _by_note(sql, database.url)
    except (StatementFailed, sqlite3.Error, duckdb.Error):
        return None


def _duckdb_plan(sql: str, database: DuckdbDatabase) -> str:
    with duckdb.connect(database.path, read_only=True) as connection:
        return " ".join(
            str(row[-1]) for row in connection.execute(f"explain (format json) {sql}").fetchall()
        ).replace('\\"', "")


def _asked(sql: str, target: Target) -> str:
    stop = Stop()
    with target.database.session(stop, 60) as session:
        stop.after(60)
        cell = list(session.execute(sql).rows)[-1][-1]
    return cell if isinstance(cell, str) else json.dumps(cell)


def _relations(plan: object) -> Iterator[str]:
    if isinstance(plan, dict):
        if "Relation Name" in plan:
            yield plan["Relation Name"]
        for each in plan.values():
            yield from _relations(each)
    elif isinstance(plan, list):
        for each in plan:
            yield from _relations(each)


def _by_authorizer(sql: str, database: SqliteDatabase) -> set[str]:
    read: set[str] = set()

    def note(action: int, table: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ and table:
            read.add(table.lower())
        return sqlite3.SQLITE_OK

    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute("select 1 from json_each('[]'), json_tree('[]')").fetchall()
        connection.set_authorizer(note)
        connection.execute(f"explain {sql}")
    return read - {"json_each", "json_tree"}


def _by_query_tree(sql: str, url: str) -> set[str] | None:
    from clickhouse_connect.driver.exceptions import ClickHouseError

    try:
        client = _clickhouse(url.partition("?")[0].replace("clickhouse", "http", 1))
        tree = str(client.command(f"explain query tree {sql}"))
    except ClickHouseError:
        return None
    return {name.lower() for name in re.findall(r"table_name: shop\.([^,\n]+)", tree)}


@cache
def _clickhouse(dsn: str) -> "Client":
    import clickhouse_connect

    return clickhouse_connect.get_client(dsn=dsn)


def _by_note(sql: str, url: str) -> set[str] | None:
    """MariaDB's plan has aliases only; its note on the plan has the statement with whole names."""
    import pymysql
    from sqlalchemy import make_url

    parts = make_url(url)
    connection = pymysql.connect(
        host=parts.host,
        port=parts.port or 0,
        user=parts.username,
        password=parts.password or "",
        database="shop",
    )
    with closing(connection), connection.cursor() as cursor:
        try:
            cursor.execute(f"explain extended {sql}")
            cursor.execute("show warnings")
        except pymysql.Error:
            return None
        notes = " ".join(str(row[2]) for row in cursor.fetchall())
    return {name.lower() for name in re.findall(r"`shop`\.`([^`]+)`(?!\.)", notes)}


def unseen(sql: str, target: Target) -> Set[str] | None:
    """The tables that the database reads and the guard does not see. None where one of them refuses it."""
    dialect = target.database.dialect
    seen = tables_in_tree(sql, dialect)
    if seen is None:
        return None
    read = tables_in_plan(written(sql, dialect).text, target)
    if read is None:
        return None
    views = {"spending": {"customers", "orders"}} if dialect == "sqlite" else {}
    return read - seen - {table for view in seen for table in views.get(view, ())}


@pytest.mark.parametrize("dialect", PLANNED)
def test_the_guard_sees_each_table_that_an_honest_question_reads(dialect: str, target: Target) -> None:
    found = {
        line.sql: unseen(line.sql, target) for line in honest(dialect) if "explain" not in line.sql.lower()
    }
    assert {sql: tables for sql, tables in found.items() if tables} == {}
    taken = [tables for tables in found.values() if tables is not None]
    assert len(taken) > 0.9 * len(found)


@pytest.mark.parametrize("dialect", PLANNED)
def test_the_guard_sees_a_table_wherever_its_name_stands(dialect: str, target: Target) -> None:
    found = {sql: unseen(sql, target) for sql in (place.format(name) for place in PLACES for name in NAMES)}
    assert {sql: tables for sql, tables in found.items() if tables} == {}
    assert sum(tables is not None for tables in found.values()) >= 20


@pytest.mark.parametrize("dialect", PLANNED)
def test_the_guard_sees_each_table_that_a_statement_by_chance_reads(dialect: str, target: Target) -> None:
    made = (statement(Random(seed), dialect) for seed in range(GENERATED))
    passed = [sql for sql in made if sql and tables_in_tree(sql, dialect)]
    found = {sql: unseen(sql, target) for sql in islice(passed, 400) if not written(sql, dialect).prefix}
    assert {sql: tables for sql, tables in found.items() if tables} == {}
    assert sum(tables is not None for tables in found.values()) >= 10
