"""Filters for a text that is not stored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.sentences import WarningPhrase


@dataclass(frozen=True, kw_only=True)
class ComparedText:
    """A text that a column must equal."""

    table: str
    column: str
    text: str
    is_listed: bool
    """It is one of several texts."""
    is_stored: bool | None
    """None if not all texts of the column are known."""

    @property
    def place(self) -> str:
        return f"{self.table}.{self.column}"


def find_unknown_texts(
    scope: Scope, tables: Mapping[str, Table], index: SchemaIndex, *, empty: bool
) -> Iterator[ResultWarning]:
    """Yields a warning for each compared text that its column does not hold.

    Only columns whose texts are all known are checked. If the result has rows (not `empty`), only texts in a
    list of several are reported, and only if a similar text is stored.
    """
    for each in compared_texts(scope, tables, index):
        if each.is_stored is not False or not (empty or each.is_listed):
            continue
        near = index.stored.nearest(each.table, each.column, each.text)
        if near or empty:
            # Without a similar text the filter may be intended, so the statement is not worth a repair.
            yield missing_text(each.place, each.text, near)


def compared_texts(scope: Scope, tables: Mapping[str, Table], index: SchemaIndex) -> Iterator[ComparedText]:
    """Yields the texts that columns of scanned tables are compared with."""
    for column, text, listed in _compared(scope):
        table = tables.get(column.table)
        if table is None:
            continue
        name = index.names.real_column(table.name, column.name)
        is_known = index.stored.knows(table.name, name)
        yield ComparedText(
            table=table.name,
            column=name,
            text=text,
            is_listed=listed,
            is_stored=index.stored.holds(table.name, name, text) if is_known else None,
        )


def _compared(scope: Scope) -> Iterator[tuple[exp.Column, str, bool]]:
    """Yields each compared column, the text it must equal, and whether that is one of several texts."""
    for equal in scope.find_all(exp.EQ):
        for one, other in ((equal.this, equal.expression), (equal.expression, equal.this)):
            if isinstance(one, exp.Column) and isinstance(other, exp.Literal) and other.is_string:
                yield one, other.this, isinstance(equal.find_ancestor(exp.Or, exp.Select), exp.Or)
    for within in scope.find_all(exp.In):
        if isinstance(within.this, exp.Column) and not isinstance(within.parent, exp.Not):
            for each in within.expressions:
                if isinstance(each, exp.Literal) and each.is_string:
                    yield within.this, each.this, len(within.expressions) > 1


def missing_text(column: str, text: str, near: list[str]) -> ResultWarning:
    if not near:
        return ResultWarning("unknown text", (column, text))
    *first, last = near
    others = WarningPhrase("quoted", (last,))
    for each in reversed(first):
        others = WarningPhrase("quoted before", (each, others))
    return ResultWarning("unknown text with others", (column, text, others), worth_repair=True)
