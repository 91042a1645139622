"""Indexes of a schema, built once for all questions, each part on first use."""

import time
from functools import cached_property

from cachetools import LRUCache

from app.core.llm.tokens import approximate_tokens
from app.modules.database_connection.guard.check import check as check_by_guard
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Table
from app.modules.sql_generation.checking.check import check as check_names
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.foreign_keys import ForeignKeyGraph
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.cards import DETAIL, CardDetail, card
from app.modules.sql_generation.linking.columns import Columns
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from app.modules.sql_generation.linking.words import telling_words, words_of
from graph.errors import StatementRefused

_TEXTS_SHARED_SECONDS = 10
_NAME_WEIGHT = 2
_MOST_FAULTS = 2_000
"""Statements whose faults an index remembers: twice the examples that are read of a database."""
_CURE = (
    "Change the SQL, or scan again once the database has what it names. A column that its owner hides counts "
    "as missing."
)


class SchemaIndex:
    """Indexes of one state of the schema. A newer state gets indexes of its own."""

    def __init__(
        self, scanned: ScannedSchema, stored: StoredTexts | None = None, detail: CardDetail = DETAIL
    ) -> None:
        self.detail = detail
        self.scanned = scanned
        self.tables = {table.name: table for table in scanned.schema.tables}
        self.stored = stored or StoredTexts(scanned.texts)
        self._faults: LRUCache[str, str | None] = LRUCache(_MOST_FAULTS)

    @cached_property
    def cards(self) -> dict[str, str]:
        """One card per table, in the schema's order."""
        return {name: card(table, self.detail) for name, table in self.tables.items()}

    @cached_property
    def tokens(self) -> int:
        """Tokens of all cards together."""
        return approximate_tokens("\n\n".join(self.cards.values()))

    def fits(self, budget_tokens: int) -> bool:
        """True if all cards may be shown."""
        return self.tokens <= budget_tokens

    @cached_property
    def words(self) -> Bm25:
        """The tables by the words of their names, columns and descriptions.

        Stored values are left out: measured, they rank the wrong tables higher.
        """
        return Bm25({name: _words(table) for name, table in self.tables.items()})

    @cached_property
    def foreign_keys(self) -> ForeignKeyGraph:
        return ForeignKeyGraph.inferring(self.scanned.schema.tables)

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.scanned.schema.tables, self.stored.texts)

    @cached_property
    def _words_of_tables(self) -> frozenset[str]:
        words = (telling_words(name) or words_of(name) for name in self.tables)
        return frozenset(word for each in words for word in each)

    @cached_property
    def _words_of_columns(self) -> dict[str, set[frozenset[str]]]:
        """The words of each column's name, by one of them."""
        found: dict[str, set[frozenset[str]]] = {}
        for table in self.tables.values():
            for column in table.columns:
                if words := telling_words(column.name):
                    found.setdefault(min(words), set()).add(frozenset(words))
        return found

    def is_named_in(self, text: str) -> bool:
        """True if a text has a word of a table's name, or all words of a column's."""
        words = frozenset(words_of(text))
        return not words.isdisjoint(self._words_of_tables) or any(
            name <= words for word in words for name in self._words_of_columns.get(word, ())
        )

    def has_name(self, name: str) -> bool:
        """True for the name of a table, or of a column as `table.column`, in any case."""
        known = self.names.table_names
        table, _, column = name.rpartition(".")
        return bool(known.read(name)) or any(
            self._has_column(each, column.casefold()) for each in known.read(table)
        )

    def _has_column(self, table: str, folded_column: str) -> bool:
        return folded_column in self._columns_by_table[table]

    @cached_property
    def _columns_by_table(self) -> dict[str, frozenset[str]]:
        return {
            name: frozenset(column.name.casefold() for column in table.columns)
            for name, table in self.tables.items()
        }

    @cached_property
    def names(self) -> SchemaNames:
        return SchemaNames(self.scanned.schema)

    def fault(self, sql: str) -> str | None:
        """Returns why a stored statement would not run on this schema, and the cure. None if it would.

        Remembered. Takes a few milliseconds the first time, seconds for the longest statements.
        """
        if sql not in self._faults:
            self._faults[sql] = self._find_fault(sql)
        return self._faults[sql]

    def _find_fault(self, sql: str) -> str | None:
        if report := check_names(sql, self.names).report:
            found = ". ".join(f"{line[0].upper()}{line[1:]}" for line in report.splitlines())
            return f"{found}. {_CURE}"
        try:
            check_by_guard(sql, self.scanned.schema)
        except StatementRefused as refused:
            return refused.detail
        return None


class SchemaIndexes:
    """Indexes of the databases used last."""

    def __init__(self, limit: int, detail: CardDetail = DETAIL) -> None:
        self._detail = detail
        self._indexes: LRUCache[tuple[str, str], SchemaIndex] = LRUCache(limit)
        """By connection, and by the rights of the person where it has policies."""

    def of(self, connection_id: str, scanned: ScannedSchema) -> SchemaIndex:
        """Rebuilt as soon as more of the schema is known; stored texts follow within ten seconds."""
        limiter = scanned.schema.limiter
        key = (connection_id, "" if limiter is None else limiter.rights.fingerprint)
        index = self._indexes.get(key)
        stored = _texts(index, scanned)
        if index is None or index.scanned is not scanned or index.stored is not stored:
            index = SchemaIndex(scanned, stored, self._detail)
            self._indexes[key] = index
        return index


def _words(table: Table) -> list[str]:
    texts = [table.description]
    for column in table.columns:
        texts += [column.name, column.description]
    return words_of(table.name) * _NAME_WEIGHT + words_of(" ".join(texts))


def _texts(index: SchemaIndex | None, scanned: ScannedSchema) -> StoredTexts:
    """Returns the cached indexes if they are current, or so new that questions during a scan should
    share them.
    """
    if index is not None:
        young = time.monotonic() - index.stored.made_at < _TEXTS_SHARED_SECONDS
        if young or index.stored.scanned is scanned.texts:
            return index.stored
    return StoredTexts(scanned.texts)
