"""Columns of recursive CTEs: while their branches are read, marks stand for the CTE's own columns."""

from collections.abc import Sequence
from dataclasses import replace

from app.modules.sql.provenance.combining import distinct_sources
from app.modules.sql.provenance.model import QueryDescription, TableColumnRef
from app.modules.sql.provenance.scopes import Known


def mark(query: str, at: int) -> TableColumnRef:
    return TableColumnRef(table=f"\0{query}", column=str(at))


def closed(query: str, branches: Sequence[Known]) -> list[tuple[TableColumnRef, ...]]:
    """Returns what each column of a recursive CTE is made of, without marks."""
    columns = [each.columns for each in branches if each.columns is not None]
    width = len(columns[0]) if columns else 0
    made = [distinct_sources(each[at].sources for each in columns if at < len(each)) for at in range(width)]
    for _ in range(width):
        made = [_replaced(each, query, made) for each in made]
    return [tuple(each for each in some if each.table != f"\0{query}") for some in made]


def _replaced(
    sources: Sequence[TableColumnRef], query: str, made: Sequence[Sequence[TableColumnRef]]
) -> tuple[TableColumnRef, ...]:
    """Returns the sources with, beside each mark, what its column is made of."""
    return distinct_sources(
        [each, *made[int(each.column)]] if each.table == f"\0{query}" else [each] for each in sources
    )


def without_marks(
    described: QueryDescription, query: str, made: Sequence[Sequence[TableColumnRef]]
) -> QueryDescription:
    columns = [
        replace(
            column,
            sources=[each for each in _replaced(column.sources, query, made) if each.table != f"\0{query}"],
        )
        for column in described.columns
    ]
    return replace(described, columns=columns)
