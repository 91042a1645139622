"""Profiles of tables: row counts, values of columns with few values, and ranges."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Executable, Null, column, func, null, select

from app.modules.database_connection.results import type_of_values
from app.modules.database_connection.scan.asking import Questions
from app.modules.database_connection.scan.formats import text_format
from app.modules.database_connection.scan.texts import (
    LONGEST_TEXT,
    described,
    distinct_texts,
    shortened,
    table_source,
)
from app.modules.database_connection.schema import Table, TableColumn, TableProfile

_SAMPLE_ROWS = 200
_ORDERED = {"integer", "number", "date", "datetime"}
_GUESSED = {"date", "datetime"}


def profiled(plain: Table, questions: Questions) -> TableProfile:
    """Returns the table with as much of its profile as the time limits allow. Of columns that a view makes of
    secrets nothing is read.
    """
    rows = questions.ask(_sample(plain))
    if rows is None:
        return TableProfile(plain, {})
    samples = list(zip(*rows, strict=True)) or [()] * len(plain.columns)
    whole = len(rows) < _SAMPLE_ROWS
    columns: Sequence[TableColumn] = [
        _with_format(_guessed(each, sample, questions), sample)
        for each, sample in zip(plain.columns, samples, strict=True)
    ]
    counted = [] if whole or plain.row_count is not None else [func.count()]
    columns, rows_there = _measured(plain, columns, counted, questions=questions)
    count = len(rows) if whole else plain.row_count or rows_there
    found = replace(plain, columns=columns, row_count=count)
    texts = {
        each.name: distinct_texts(found, each, sample, questions=questions if not whole else None)
        for each, sample in zip(columns, samples, strict=True)
        if each.type == "text" and each.name not in plain.secrets
    }
    return _add_texts(found, texts)


def _add_texts(found: Table, texts: Mapping[str, Sequence[str] | None]) -> TableProfile:
    columns = [described(each, texts.get(each.name)) for each in found.columns]
    return TableProfile(replace(found, columns=columns), {name: each for name, each in texts.items() if each})


def _sample(plain: Table) -> Executable:
    source = table_source(plain, *(column(each.name) for each in plain.columns))
    sampled = (null() if each.name in plain.secrets else _sampled(each) for each in plain.columns)
    return select(*sampled).select_from(source).limit(_SAMPLE_ROWS)


def _sampled(each: TableColumn) -> ColumnElement[object] | Null:
    """Returns the expression that samples a column: texts shortened, binary and JSON values as NULL."""
    if each.type == "text" and each.database_type:
        return shortened(each.name)
    if each.type in {"binary", "json"}:
        return null()
    return column(each.name)


def _guessed(each: TableColumn, sample: Sequence[object], questions: Questions) -> TableColumn:
    """Guess a column's type from its values. SQLite only: dates are texts there, and views are untyped."""
    if questions.connection.dialect.name != "sqlite":
        return each
    if each.type != "text" or all(value is None for value in sample):
        return each
    guess = type_of_values(sample)
    return replace(each, type=guess) if guess in _GUESSED or not each.database_type else each


def _with_format(each: TableColumn, sample: Sequence[object]) -> TableColumn:
    """Returns the column with the format of its values that are stored as text."""
    texts = [value for value in sample if isinstance(value, str)]
    return replace(each, format=text_format(texts)) if texts else each


def _measured(
    plain: Table,
    columns: Sequence[TableColumn],
    counted: Sequence[ColumnElement[int]],
    *,
    questions: Questions,
) -> tuple[Sequence[TableColumn], int | None]:
    """Returns the columns with their ranges, and the row count if requested, by one statement."""
    ordered = [each.name for each in columns if each.type in _ORDERED and each.name not in plain.secrets]
    asked: list[ColumnElement[object]] = []
    for each in ordered:
        asked += [func.min(column(each)), func.max(column(each))]
    if not counted and not asked:
        return columns, None
    answer = questions.ask(select(*counted, *asked).select_from(table_source(plain)))
    if not answer:
        return columns, None
    values = list(answer[0])
    count = values.pop(0) if counted else None
    texts = [None if value is None else str(value)[:LONGEST_TEXT] for value in values]
    ranges = dict(zip(ordered, zip(texts[::2], texts[1::2], strict=True), strict=True))
    measured = [
        replace(each, minimum=ranges[each.name][0], maximum=ranges[each.name][1])
        if each.name in ranges
        else each
        for each in columns
    ]
    return measured, count if isinstance(count, int) else None
