"""sqlglot's dialects, where its trees or its text do not say what the database does.

Defining the classes replaces sqlglot's own of the same name.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects import clickhouse, duckdb, sqlite
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parser import Parser
from sqlglot.parsers.clickhouse import ClickHouseParser
from sqlglot.parsers.sqlite import SQLiteParser

_CASTS: Mapping[exp.DType, str] = {
    exp.DType.DATE: "DATE",
    exp.DType.DATETIME: "DATETIME",
    exp.DType.TIMESTAMP: "DATETIME",
    exp.DType.TIMESTAMPNTZ: "DATETIME",
    exp.DType.TIME: "TIME",
}
"""Functions that are written for casts to these types."""


class SQLite(sqlite.SQLite):
    """SQLite reads a name after IN as a table: `x IN t` is `x IN (SELECT * FROM t)`. sqlglot says column."""

    class Generator(SQLiteGenerator):
        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """Returns what sqlglot does, which parses the names of five types for each cast."""
            if (function := _CASTS.get(expression.to.this)) is not None:
                return self.func(function, expression.this)
            return super(SQLiteGenerator, self).cast_sql(expression, safe_prefix)

    class Parser(SQLiteParser):
        def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
            return _with_query(super()._parse_in(this, alias), self)


class ClickHouse(clickhouse.ClickHouse):
    """ClickHouse reads a name after IN as a table, too."""

    class Parser(ClickHouseParser):
        def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
            return _with_query(super()._parse_in(this, alias), self)


def _with_query(found: exp.In, parser: Parser) -> exp.In:
    """Returns a test with the name after IN as a query of that table."""
    named = found.args.get("field")
    if isinstance(named, exp.Expr):
        found.set("field", None)
        found.set("query", exp.select("*").from_(_table_named(named, parser), copy=False).subquery())
    return found


def _table_named(named: exp.Expr, parser: Parser) -> exp.Table:
    if isinstance(named, exp.Literal) and named.is_string:
        return exp.Table(this=exp.to_identifier(named.name, quoted=True))
    if not isinstance(named, exp.Column) or named.args.get("db"):
        parser.raise_error("Expecting a list, a query or a table after IN")
    return exp.Table(this=named.this, db=named.args.get("table"))


class DuckDB(duckdb.DuckDB):
    """sqlglot drops the qualifiers of every column below a PIVOT, also within the query that it pivots."""

    class Generator(DuckDBGenerator):
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
            kind: write for kind, write in DuckDBGenerator.TRANSFORMS.items() if kind is not exp.Pivot
        }
