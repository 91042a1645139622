"""Hostile and honest statements: `tests/corpus`, a file a dialect.

A line holds a category, a tab, and a statement. Statements of the category `runs on` are harmless but for
what they cost: limits stop them, the guard lets them pass.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from app.modules.database_connection.schema import Schema, Table
from app.modules.sql.table_names import TableName

DIALECTS = ("sqlite", "postgres", "mysql", "duckdb", "clickhouse", "snowflake")
RUNS_ON = "runs on"

_CORPUS = Path(__file__).parents[1] / "corpus"
_DATABASES = {
    "sqlite": "",
    "postgres": "attacked",
    "mysql": "shop",
    "duckdb": "shop",
    "clickhouse": "shop",
    "snowflake": "SHOP",
}
_TABLES = ("categories", "customers", "files", "order lines", "orders", "spending")


class Line(NamedTuple):
    category: str
    sql: str


def attacks(dialect: str) -> Sequence[Line]:
    return _lines(f"attacks_{dialect}.tsv")


def honest(dialect: str) -> Sequence[Line]:
    return _lines(f"honest_{dialect}.tsv")


def categories(lines: Sequence[Line]) -> Sequence[str]:
    return list(dict.fromkeys(line.category for line in lines))


def shop_schema(dialect: str) -> Schema:
    """The tables that the statements name, as a scan finds them, without columns."""
    named = _in_public if dialect == "snowflake" else _alone
    return Schema(dialect, [named(name) for name in _TABLES], _DATABASES[dialect])


def _alone(name: str) -> Table:
    return Table(name=name, kind="table", columns=[])


def _in_public(name: str) -> Table:
    """Returns a table as Snowflake names it: in upper case unless it needs quotes, in a schema."""
    stored = name if " " in name else name.upper()
    return Table(name=stored, full_name=TableName("", "PUBLIC", stored), kind="table", columns=[])


def _lines(name: str) -> Sequence[Line]:
    text = (_CORPUS / name).read_text(encoding="utf-8")
    return [Line(*line.split("\t", 1)) for line in text.splitlines()]
