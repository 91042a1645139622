"""Inspection of a statement without running it, and the statement for a table's sample rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Schema, Table
from app.modules.sql.layout import laid_out
from app.modules.sql.provenance.model import QueryDescription, TableRead
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.reading import describe
from app.modules.sql.statement import statement_of

SAMPLE_ROWS = 20


@dataclass(frozen=True)
class InspectedStatement:
    """A statement that the guard allows, formatted for reading, and what it does.

    Without tables and queries if only the database can read it.
    """

    sql: str
    tables: Sequence[TableRead]
    queries: Sequence[QueryDescription]


def inspect(sql: str, schema: Schema, max_characters: int = STATEMENT_CHARACTERS) -> InspectedStatement:
    """Check, format and describe a statement without running it. Raises `StatementRefused`.

    Takes up to a second of processor time for the largest statements.
    """
    check(sql, schema, max_characters)
    statement = statement_of(sql, schema.dialect)
    described = describe(statement, declared_names(schema))
    shown = laid_out(sql, schema.dialect)
    if described is None:
        return InspectedStatement(shown, (), ())
    return InspectedStatement(shown, described.tables, described.queries)


def declared_names(schema: Schema) -> DeclaredNames:
    """Returns the names of a schema, for reading statements."""
    return DeclaredNames(
        schema.names, {table.name: [each.name for each in table.columns] for table in schema.tables}
    )


def sample_statement(table: Table, dialect: str) -> str:
    """Returns a statement for one row more than a sample shows, which tells whether there are more."""
    columns = [exp.column(exp.to_identifier(each.name, quoted=True)) for each in table.columns]
    return exp.select(*columns).from_(table.short_name.node()).limit(SAMPLE_ROWS + 1).sql(dialect=dialect)


def sampled(found: ResultSet) -> ResultSet:
    """Returns the rows of a sample, without the extra row that its statement reads."""
    if len(found.rows) <= SAMPLE_ROWS:
        return found
    return replace(found, rows=found.rows[:SAMPLE_ROWS], truncated=True, cut_by="rows")
