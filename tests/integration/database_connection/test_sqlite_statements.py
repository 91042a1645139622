"""Statements against a real SQLite file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.modules.database_connection.engines.sqlite import SqliteDatabase
from app.modules.database_connection.execution import UncheckedStatement
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

LIMITS = StatementLimits(timeout_seconds=5)


def run(sql: str, database: SqliteDatabase, schema: Schema) -> ResultSet:
    return UncheckedStatement(sql, schema, database, LIMITS, connect_seconds=5).run(Stop())


def test_a_column_keeps_its_name_though_the_statement_is_rewritten(
    shop: SqliteDatabase, shop_schema: Schema
) -> None:
    result = run('select id as "Order Id", total, total from orders', shop, shop_schema)
    assert result.columns == (("Order Id", "integer"), ("total", "number"), ("total_2", "number"))


def test_a_failed_statement_is_reported_in_the_databases_words(
    shop: SqliteDatabase, shop_schema: Schema
) -> None:
    with pytest.raises(StatementFailed, match="no such column: price"):
        run("select price from orders", shop, shop_schema)


def test_a_plan_can_be_asked_for(shop: SqliteDatabase, shop_schema: Schema) -> None:
    (row,) = run("explain query plan select * from customers", shop, shop_schema).rows
    assert row[-1] == "SCAN customers"


def test_a_store_of_kais_own_is_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table _collections (name text)")
    with pytest.raises(DatabaseUnavailable, match="KAI's own"), SqliteDatabase(path).session(Stop(), 5):
        pass
