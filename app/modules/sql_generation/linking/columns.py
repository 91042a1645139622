"""The columns of a schema: the words of their names, and the kind of text they hold."""

from collections.abc import Mapping, Sequence, Set

from app.modules.database_connection.schema import Table, TableColumn
from app.modules.sql_generation.linking.contents import ColumnContents, contents_of
from app.modules.sql_generation.linking.words import telling_words, words_of


class Columns:
    """The columns of a schema, by table, with their stored texts. Each is classified on first use.

    `words` are those of all names: see `words_of_names`.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        texts: Mapping[str, Mapping[str, Sequence[str]]],
        words: Set[str],
    ) -> None:
        self.words = words
        self._tables = tables
        self._texts = texts
        self._contents: dict[tuple[str, str], ColumnContents] = {}

    def holds(self, table: str, column: str) -> ColumnContents:
        """Returns the kind of text in a column. A column that is not in the schema is judged by its texts."""
        key = table, column
        if key not in self._contents:
            found = self._tables.get(table) or Table(name=table, kind="table", columns=[])
            texts = self._texts.get(table, {}).get(column, ())
            self._contents[key] = contents_of(
                found, TableColumn(name=column, type="text", database_type=""), texts
            )
        return self._contents[key]


def is_named(column: str, asked: Set[str]) -> bool:
    """True if the words of a question include all words of a column's name."""
    words = set(telling_words(column))
    return bool(words) and words <= asked


def words_of_names(tables: Sequence[Table]) -> frozenset[str]:
    """Returns the words of all names of tables and columns."""
    names = {name for table in tables for name in (table.name, *(column.name for column in table.columns))}
    return frozenset(words_of(" ".join(names)))
