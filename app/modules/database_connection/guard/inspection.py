"""Inspection of a statement without running it, and the statement for a table's sample rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import OptimizeError, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Schema, Table
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of

SAMPLE_ROWS = 20


@dataclass(frozen=True)
class TableRead:
    """A table that a statement reads, and the columns known to be read. Names are as declared."""

    name: str
    columns: Sequence[str]


@dataclass(frozen=True)
class InspectedStatement:
    """A statement that the guard allows, formatted for reading, and its tables."""

    sql: str
    tables: Sequence[TableRead]


def inspect(sql: str, schema: Schema, max_characters: int = STATEMENT_CHARACTERS) -> InspectedStatement:
    """Check and format a statement without running it. Raises `StatementRefused`.

    Takes a few seconds of processor time for the longest statements.
    """
    checked = check(sql, schema, max_characters)
    try:
        with sqlglot_errors_only():
            laid_out = statement_of(sql, schema.dialect).tree.sql(dialect=schema.dialect, pretty=True)
            return InspectedStatement(
                laid_out, _tables_read(statement_of(checked, schema.dialect).tree, schema)
            )
    except (SqlglotError, RecursionError):
        return InspectedStatement(checked, ())  # a statement that only the database can parse


def sample_statement(table: Table, dialect: str) -> str:
    """Returns a statement for one row more than a sample shows, which tells whether there are more."""
    columns = [exp.column(exp.to_identifier(each.name, quoted=True)) for each in table.columns]
    source = exp.Table(this=exp.to_identifier(table.name, quoted=True))
    return exp.select(*columns).from_(source).limit(SAMPLE_ROWS + 1).sql(dialect=dialect)


def sampled(found: ResultSet) -> ResultSet:
    """Returns the rows of a sample, without the extra row that its statement reads."""
    if len(found.rows) <= SAMPLE_ROWS:
        return found
    return replace(found, rows=found.rows[:SAMPLE_ROWS], truncated=True, cut_by="rows")


def _tables_read(statement: exp.Expr, schema: Schema) -> list[TableRead]:
    known = {table.name.lower(): table for table in schema.tables}
    read: defaultdict[str, set[str]] = defaultdict(set)
    for scope in traverse_scope(_qualified(statement, schema)):
        for _, source in scope.selected_sources.values():
            if isinstance(source, exp.Table):
                read[source.name.lower()] |= set()
        for column in scope.columns:
            origin = scope.sources.get(column.table)
            if isinstance(origin, exp.Table):
                read[origin.name.lower()].add(column.name.lower())
    return [_table_read(known[name], columns) for name, columns in sorted(read.items()) if name in known]


def _table_read(table: Table, columns: set[str]) -> TableRead:
    return TableRead(table.name, [each.name for each in table.columns if each.name.lower() in columns])


def _qualified(statement: exp.Expr, schema: Schema) -> exp.Expr:
    """Returns the statement with qualified columns, or unchanged if they cannot be qualified."""
    types: dict[str, object] = {
        table.name: {column.name: column.database_type or "TEXT" for column in table.columns}
        for table in schema.tables
    }
    try:
        return qualify(statement.copy(), dialect=schema.dialect, schema=types, validate_qualify_columns=False)
    except OptimizeError:
        return statement
