"""What speaks against an answer although its statement ran: told to the analyst with the reading."""

from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.scope import Scope, traverse_scope

from app.modules.database_connection.parsing import sqlglot_errors_only
from app.modules.database_connection.schema import Table
from app.modules.sql_generation.checking.resolution import qualified
from app.modules.sql_generation.result_warnings.fan_out import find_repeated_rows
from app.modules.sql_generation.result_warnings.filters import find_unknown_texts
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.state import Rows

_MOST_TOLD = 4


def find_warnings(sql: str, rows: Rows, index: SchemaIndex) -> list[str]:
    """Sentences in Markdown, the most telling first; none when nothing can be told for certain."""
    told = [*_of_readable(sql, _is_empty(rows), index), *_null_columns(rows)]
    return list(dict.fromkeys(told))[:_MOST_TOLD]


def _of_readable(sql: str, empty: bool, index: SchemaIndex) -> list[str]:
    """None of a statement that sqlglot cannot read."""
    try:
        with sqlglot_errors_only():
            return list(_of_statement(sql, empty, index))
    except (SqlglotError, RecursionError):
        return []


def _of_statement(sql: str, empty: bool, index: SchemaIndex) -> Iterator[str]:
    dialect = index.names.dialect
    statement = sqlglot.parse_one(sql, dialect=dialect)
    resolved = qualified(normalize_identifiers(statement, dialect=dialect), index.names)
    if resolved is None:
        return
    for scope in traverse_scope(resolved):
        tables = _tables(scope, index)
        yield from find_unknown_texts(scope, tables, index, empty=empty)
        yield from find_repeated_rows(scope, tables, index.names)


def _tables(scope: Scope, index: SchemaIndex) -> Mapping[str, Table]:
    """The tables of the database that a scope reads, by alias."""
    found: dict[str, Table] = {}
    for alias, source in scope.sources.items():
        if isinstance(source, exp.Table) and source.name in index.names.tables:
            found[alias] = index.tables[index.names.tables[source.name]]
    return found


def _is_empty(rows: Rows) -> bool:
    """No rows, or none that says anything: the sum or count of nothing."""
    cells = [cell for row in rows["rows"] for cell in row]
    return all(cell is None for cell in cells) or (len(rows["rows"]) == 1 and not any(cells))


def _null_columns(rows: Rows) -> Iterator[str]:
    for position, column in enumerate(rows["columns"]):
        if rows["rows"] and all(row[position] is None for row in rows["rows"]):
            yield f"Every value of “{column['name']}” is null."
