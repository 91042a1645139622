"""Reads the distinct values of text columns, if they are neither too many nor too long."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import (
    ColumnClause,
    ColumnElement,
    Executable,
    TableClause,
    Text,
    cast,
    column,
    func,
    quoted_name,
    select,
    table,
)

from app.modules.database_connection.scan.asking import Questions
from app.modules.database_connection.schema import Table, TableColumn
from app.modules.sql.table_names import TableName

LONGEST_TEXT = 100
_MOST_SHOWN = 50
"""Most values of a column that a prompt may list."""
_MOST_LOOKED_UP = 5_000
"""Most values of a column in which the words of a question are looked up."""
_ALL_DIFFERENT = 0.9
_BIG_TABLE_ROWS = 200_000


def distinct_texts(
    source: Table, each: TableColumn, sample: Sequence[object], *, questions: Questions | None
) -> Sequence[str] | None:
    """Returns every distinct value, in order; None if they are too many, too long, or not read in time.

    Without `questions` the sample is the whole table.
    """
    found = _distinct(sample)
    if not _are_short(found):
        return None
    if questions is not None:
        if _is_hopeless(source, found, sample):
            return None
        answer = questions.ask(_distinct_values(source, each.name))
        if answer is None:
            return None
        found = _distinct(row[0] for row in answer)
    return sorted(found) if len(found) <= _MOST_LOOKED_UP and _are_short(found) else None


def described(each: TableColumn, texts: Sequence[str] | None) -> TableColumn:
    """Returns the column with the count of its values, and the values themselves if they are few."""
    if texts is None:
        return each
    shown = texts if len(texts) <= _MOST_SHOWN else ()
    return replace(each, values=shown, distinct_count=len(texts))


def shortened(name: str) -> ColumnElement[object]:
    """Returns a column as text, cut one character after the maximum, so that longer texts are detected."""
    return func.substr(cast(column(name), Text), 1, LONGEST_TEXT + 1)


def _is_hopeless(source: Table, found: set[str], sample: Sequence[object]) -> bool:
    """True if querying a large table would only show that nearly all its values differ."""
    big = source.row_count is None or source.row_count > _BIG_TABLE_ROWS
    return big and len(found) > _ALL_DIFFERENT * len(sample)


def _distinct(values: Iterable[object]) -> set[str]:
    return {str(value) for value in values if value is not None}


def _are_short(values: Iterable[str]) -> bool:
    return all(len(value) <= LONGEST_TEXT for value in values)


def table_source(named: Table, *columns: ColumnClause[object]) -> TableClause:
    """Returns a table as a source of a query, by its full name."""
    name = named.in_database
    schema = TableName("", name.catalog, name.schema).sql("duckdb") if name.catalog else name.schema
    return table(
        name.name, *columns, schema=quoted_name(schema, False if name.catalog else None) if schema else None
    )


def _distinct_values(source: Table, column_name: str) -> Executable:
    return (
        select(shortened(column_name))
        .distinct()
        .select_from(table_source(source))
        .where(column(column_name).is_not(None))
        .limit(_MOST_LOOKED_UP + 1)
    )
