"""What the values of a table are like: how many rows, which few values, from where to where."""

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Null,
    Text,
    cast,
    column,
    func,
    null,
    select,
    table,
)
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.databases import stopped
from app.modules.database_connection.limits import Limits
from app.modules.database_connection.results import type_of_values
from app.modules.database_connection.schema import Column, Table
from app.modules.database_connection.threads import Stop

_SAMPLE_ROWS = 200
_MOST_VALUES = 50
_LONGEST_VALUE = 100
_ORDERED = {"integer", "number", "date", "datetime"}
_GUESSED = {"date", "datetime"}

Rows: TypeAlias = Sequence[Sequence[object]]


@dataclass(frozen=True)
class Questions:
    """Asks about values, each time within the time for one statement and for the whole scan."""

    connection: Connection
    stop: Stop
    statement_seconds: float
    end: float

    @classmethod
    def within(cls, limits: Limits, connection: Connection, stop: Stop) -> "Questions":
        return cls(connection, stop, limits.profile_statement_seconds, time.monotonic() + limits.scan_seconds)

    def ask(self, statement: Executable) -> Rows | None:
        """The answer, or None if there is none in time. Raises `StatementFailed` once nobody waits."""
        self.stop.after(min(self.statement_seconds, self.end - time.monotonic()))
        try:
            if not self.stop.due:
                return self.connection.execute(statement).all()
        except DBAPIError:
            pass  # too slow, or a view that cannot be computed: no profile
        if self.stop.abandoned:
            raise stopped(self.stop)
        return None


def profiled(plain: Table, questions: Questions) -> Table:
    """The table with as much of its profile as could be had in time."""
    rows = questions.ask(_sample(plain))
    if rows is None:
        return plain
    samples = list(zip(*rows, strict=True)) or [()] * len(plain.columns)
    whole = len(rows) < _SAMPLE_ROWS
    columns = plain.columns
    if questions.connection.dialect.name == "sqlite":
        columns = [_guessed(each, sample) for each, sample in zip(columns, samples, strict=True)]
    columns = _with_ranges(plain.name, columns, questions)
    return replace(
        plain,
        columns=[
            replace(each, values=_values(plain.name, each, sample, whole, questions))
            for each, sample in zip(columns, samples, strict=True)
        ],
        row_count=len(rows) if whole else plain.row_count or _row_count(plain.name, questions),
    )


def _sample(plain: Table) -> Executable:
    source = table(plain.name, *(column(each.name) for each in plain.columns))
    return select(*(_sampled(each) for each in plain.columns)).select_from(source).limit(_SAMPLE_ROWS)


def _sampled(each: Column) -> ColumnElement[object] | Null:
    """Enough of a value to know it by; of what is no text, number or time only its place."""
    if each.type == "text" and each.database_type:
        return _shortened(each.name)
    if each.type in {"binary", "json"}:
        return null()
    return column(each.name)


def _shortened(name: str) -> ColumnElement[object]:
    return func.substr(cast(column(name), Text), 1, _LONGEST_VALUE + 1)


def _guessed(each: Column, sample: Sequence[object]) -> Column:
    """SQLite keeps dates as text, and says no type for a view's expressions."""
    if each.type != "text" or all(value is None for value in sample):
        return each
    guess = type_of_values(sample)
    return replace(each, type=guess) if guess in _GUESSED or not each.database_type else each


def _with_ranges(name: str, columns: Sequence[Column], questions: Questions) -> Sequence[Column]:
    ordered = [each.name for each in columns if each.type in _ORDERED]
    if not ordered:
        return columns
    bounds: list[ColumnElement[object]] = []
    for each in ordered:
        bounds += [func.min(column(each)), func.max(column(each))]
    answer = questions.ask(select(*bounds).select_from(table(name)))
    if not answer:
        return columns
    texts = [None if value is None else str(value)[:_LONGEST_VALUE] for value in answer[0]]
    ranges = dict(zip(ordered, zip(texts[::2], texts[1::2], strict=True), strict=True))
    return [
        replace(each, minimum=ranges[each.name][0], maximum=ranges[each.name][1])
        if each.name in ranges
        else each
        for each in columns
    ]


def _values(
    name: str, each: Column, sample: Sequence[object], whole: bool, questions: Questions
) -> Sequence[str]:
    """Every distinct value of a text column, in order; none if they are many or long."""
    if each.type != "text" or not _are_few(found := _distinct(sample)):
        return ()
    if not whole:
        answer = questions.ask(_distinct_values(name, each.name))
        found = _distinct([row[0] for row in answer or ()])
    return sorted(found) if _are_few(found) else ()


def _distinct(values: Iterable[object]) -> set[str]:
    return {str(value) for value in values if value is not None}


def _are_few(values: Set[str]) -> bool:
    return len(values) <= _MOST_VALUES and all(len(value) <= _LONGEST_VALUE for value in values)


def _distinct_values(table_name: str, column_name: str) -> Executable:
    return (
        select(_shortened(column_name))
        .distinct()
        .select_from(table(table_name))
        .where(column(column_name).is_not(None))
        .limit(_MOST_VALUES + 1)
    )


def _row_count(name: str, questions: Questions) -> int | None:
    answer = questions.ask(select(func.count()).select_from(table(name)))
    count = answer[0][0] if answer else None
    return count if isinstance(count, int) else None
