"""Statements against a real SQLite file."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

LIMITS = StatementLimits(timeout_seconds=60)


def run(sql: str, database: SqliteDatabase, schema: Schema) -> ResultSet:
    return UncheckedStatement(
        sql=sql, schema=schema, database=database, limits=LIMITS, connect_seconds=60
    ).run(Stop())


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
    with pytest.raises(DatabaseUnavailable, match="KAI's own"), SqliteDatabase(path).session(Stop(), 60):
        pass


KAIS_TABLES = {
    "the store": "create table _collections (name text)",
    "the checkpoints": "create table checkpoints (thread_id text, checkpoint_ns text, checkpoint_id text)",
}


@pytest.mark.parametrize("created", KAIS_TABLES.values(), ids=KAIS_TABLES.keys())
def test_a_copy_of_kais_own_files_is_not_opened_under_any_name(tmp_path: Path, created: str) -> None:
    path = tmp_path / "sales.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(created)
    with pytest.raises(DatabaseUnavailable, match="KAI's own"), SqliteDatabase(path).session(Stop(), 60):
        pass


def test_a_table_of_checkpoints_of_another_kind_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "races.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table checkpoints (id integer, thread_id integer)")
    with SqliteDatabase(path).session(Stop(), 60) as session:
        assert list(session.execute("select count(*) from checkpoints").rows) == [(0,)]


SORT = (
    "with recursive n(x) as (select 1 union all select x + 1 from n where x < {rows})"
    " select x, hex(x) || 'abcdefghijklmnopqrstuvwxyz' as y from n order by y desc"
)


def in_a_process(path: Path, rows: int, megabytes: int) -> str:
    """What becomes of a sort in a process that may write no file; the limit on the heap is a process's."""
    program = f"""
import resource
from pathlib import Path
from app.modules.database_connection.engines.sqlite import database
from app.modules.database_connection.threads import Stop
from graph.errors import StatementFailed
database.STATEMENT_MEMORY_BYTES = {megabytes} * 1024 * 1024
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    with database.SqliteDatabase(Path({str(path)!r})).session(Stop(), 60) as session:
        print(next(iter(session.execute({SORT.format(rows=rows)!r}).rows))[1])
except StatementFailed as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=110
    )
    return run.stdout.strip()


def test_a_sort_writes_no_file_and_ends_at_the_limit_of_memory(shop: SqliteDatabase) -> None:
    assert in_a_process(shop.path, rows=200_000, megabytes=512).startswith("39")
    assert "more memory than it may have" in in_a_process(shop.path, rows=600_000, megabytes=16)
