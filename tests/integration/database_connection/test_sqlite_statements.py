"""Hostile and honest statements against a real SQLite file."""

import sqlite3
from contextlib import closing

import pytest

from app.modules.database_connection.execution import Statement
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import RawRows, ResultSet, collect
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.sqlite import SqliteDatabase
from app.modules.database_connection.threads import Stop
from graph.errors import StatementFailed
from tests.integration.database_connection.statements import ATTACKS, HONEST

LIMITS = StatementLimits(timeout_seconds=5)


def run(sql: str, database: SqliteDatabase, schema: Schema) -> ResultSet:
    return Statement(sql, schema, database, LIMITS, connect_seconds=5).run(Stop())


@pytest.mark.parametrize("sql", ATTACKS)
def test_an_attack_is_refused_and_changes_nothing(
    sql: str, shop: SqliteDatabase, shop_schema: Schema
) -> None:
    before = shop.path.read_bytes()
    with pytest.raises(StatementFailed):
        run(sql, shop, shop_schema)
    assert shop.path.read_bytes() == before
    assert [each.name for each in shop.path.parent.iterdir()] == ["shop.db"]


@pytest.mark.parametrize("sql", HONEST)
def test_an_honest_question_gets_what_the_database_would_answer(
    sql: str, shop: SqliteDatabase, shop_schema: Schema
) -> None:
    with closing(sqlite3.connect(shop.path)) as plain:
        cursor = plain.execute(sql)
        rows = cursor.fetchall()
    names = [column[0] for column in cursor.description]
    expected = collect(RawRows(names, [None] * len(names), rows), LIMITS)
    assert run(sql, shop, shop_schema).rows == expected.rows


# What the guard would refuse is refused once more, by the session alone.
BEHIND_THE_GUARD = [
    "delete from customers",
    "drop view if exists nothing",
    "create temp table t (a)",
    "attach database 'stolen.db' as s",
    "attach ':memory:' as s",
    "vacuum into 'stolen.db'",
    "pragma query_only = off",
    "pragma temp_store_directory = '/tmp'",
    "begin immediate",
    "select load_extension('x')",
    "select fts3_tokenizer('simple')",
    "select zeroblob(100)",
    "select * from pragma_query_only",
    "select 1; delete from customers",
]


@pytest.mark.parametrize("sql", BEHIND_THE_GUARD)
def test_a_session_by_itself_only_reads(sql: str, shop: SqliteDatabase) -> None:
    with pytest.raises(StatementFailed), shop.session(Stop(), 5) as session:
        list(session.execute(sql).rows)


def test_a_column_keeps_its_name_though_the_statement_is_rewritten(
    shop: SqliteDatabase, shop_schema: Schema
) -> None:
    result = run('select id as "Order Id", total, total from orders', shop, shop_schema)
    assert result.columns == (("Order Id", "integer"), ("total", "number"), ("total_2", "number"))


def test_a_failed_statement_is_told_in_the_databases_words(shop: SqliteDatabase, shop_schema: Schema) -> None:
    with pytest.raises(StatementFailed, match="no such column: price"):
        run("select price from orders", shop, shop_schema)
