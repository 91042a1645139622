"""Tables by how well they fit a question: several rankings, fused into one."""

from collections import defaultdict
from collections.abc import Sequence

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import words_of

_NAME_WEIGHT = 2
_FLATTENING = 60
"""The usual constant of reciprocal rank fusion: how little the very first places stand out."""


def index_tables(tables: Sequence[Table]) -> Bm25:
    """Tables by the words of their names, columns and descriptions.

    Not by stored values: measured, they draw the ranking to the wrong tables.
    """
    return Bm25({table.name: _document(table) for table in tables})


def fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion: names that stand high in many rankings come first, ties by name.

    A ranking by any other measure of likeness is one more list.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, name in enumerate(ranking):
            scores[name] += 1 / (_FLATTENING + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))


def _document(table: Table) -> list[str]:
    told = [table.description]
    for column in table.columns:
        told += [column.name, column.description]
    return words_of(table.name) * _NAME_WEIGHT + words_of(" ".join(told))
