"""Ranking of tables by how well their words fit a question."""

from collections.abc import Sequence

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import words_of

_NAME_WEIGHT = 2


def index_tables(tables: Sequence[Table]) -> Bm25:
    """Returns an index of tables by the words of their names, columns and descriptions.

    Stored values are left out: measured, they rank the wrong tables higher.
    """
    return Bm25({table.name: _document(table) for table in tables})


def _document(table: Table) -> list[str]:
    texts = [table.description]
    for column in table.columns:
        texts += [column.name, column.description]
    return words_of(table.name) * _NAME_WEIGHT + words_of(" ".join(texts))
