"""Indexes of a schema, built once for all questions, each part on first use."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from cachetools import LRUCache

from app.core.llm.tokens import approximate_tokens
from app.modules.database_connection.guard.check import check as check_by_guard
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table
from app.modules.sql_generation.checking.check import check as check_names
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.foreign_keys import ForeignKeyGraph
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.cards import DETAIL, CardDetail, card
from app.modules.sql_generation.linking.columns import Columns, words_of_names
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


class _Cards(Mapping[str, str]):
    """The cards of tables, in the schema's order, each made on first use."""

    def __init__(self, tables: Mapping[str, Table], detail: CardDetail) -> None:
        self._tables = tables
        self._detail = detail
        self._made: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = card(self._tables[name], self._detail)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


class _Outline:
    """Indexes of the names, descriptions and keys of tables, which a scan leaves when it reads values."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables
        self._names: SchemaNames | None = None

    def names(self, schema: Schema) -> SchemaNames:
        """Returns the names of a schema with these tables."""
        self._names = SchemaNames(schema) if self._names is None else self._names.copy_with_profiles(schema)
        return self._names

    def take(self, tables: Sequence[Table]) -> bool:
        """Takes tables with the same names, descriptions, types and keys; returns False for others. The next
        ones are compared with them, most by their identity.
        """
        is_same = len(tables) == len(self._tables) and all(
            one is other or _said(one) == _said(other)
            for one, other in zip(self._tables, tables, strict=True)
        )
        if is_same:
            self._tables = tables
        return is_same

    @cached_property
    def words(self) -> Bm25:
        return Bm25({table.name: _words(table) for table in self._tables})

    @cached_property
    def foreign_keys(self) -> ForeignKeyGraph:
        return ForeignKeyGraph.inferring(self._tables)

    @cached_property
    def words_of_names(self) -> frozenset[str]:
        return words_of_names(self._tables)

    @cached_property
    def words_of_tables(self) -> frozenset[str]:
        words = (telling_words(table.name) or words_of(table.name) for table in self._tables)
        return frozenset(word for each in words for word in each)

    @cached_property
    def words_of_columns(self) -> Mapping[str, set[frozenset[str]]]:
        """The words of each column's name, by one of them."""
        found: dict[str, set[frozenset[str]]] = {}
        for table in self._tables:
            for column in table.columns:
                if words := telling_words(column.name):
                    found.setdefault(min(words), set()).add(frozenset(words))
        return found

    @cached_property
    def columns_by_table(self) -> Mapping[str, frozenset[str]]:
        return {
            table.name: frozenset(column.name.casefold() for column in table.columns)
            for table in self._tables
        }


class SchemaIndex:
    """Indexes of one state of the schema. A newer state gets indexes of its own.

    It shares with the index of an earlier state, `before`, what that has of the same names and keys.
    """

    def __init__(
        self,
        scanned: ScannedSchema,
        stored: StoredTexts | None = None,
        detail: CardDetail = DETAIL,
        *,
        before: "SchemaIndex | None" = None,
    ) -> None:
        self.detail = detail
        self.scanned = scanned
        self.tables = scanned.schema.by_name
        self.stored = stored or StoredTexts(scanned.texts)
        self.cards: Mapping[str, str] = _Cards(self.tables, detail)
        self.outline = _Outline(scanned.schema.tables)
        if before is not None and before.outline.take(scanned.schema.tables):
            self.outline = before.outline
        self._fitting: dict[int, bool] = {}
        self._faults: LRUCache[str, str | None] = LRUCache(_MOST_FAULTS)

    @cached_property
    def tokens(self) -> int:
        """Tokens of all cards together."""
        return approximate_tokens("\n\n".join(self.cards.values()))

    def fits(self, budget_tokens: int) -> bool:
        """True if all cards may be shown. Makes no more of them than it takes to see that they may not."""
        if budget_tokens not in self._fitting:
            self._fitting[budget_tokens] = self._fits(budget_tokens)
        return self._fitting[budget_tokens]

    def _fits(self, budget_tokens: int) -> bool:
        each = map(approximate_tokens, self.cards.values())
        is_far_beyond = any(spent > 2 * budget_tokens for spent in accumulate(each))
        return not is_far_beyond and self.tokens <= budget_tokens

    @property
    def words(self) -> Bm25:
        """The tables by the words of their names, columns and descriptions.

        Stored values are left out: measured, they rank the wrong tables higher.
        """
        return self.outline.words

    @property
    def foreign_keys(self) -> ForeignKeyGraph:
        return self.outline.foreign_keys

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.tables, self.stored.texts, self.outline.words_of_names)

    def is_named_in(self, text: str) -> bool:
        """True if a text has a word of a table's name, or all words of a column's."""
        words = frozenset(words_of(text))
        return not words.isdisjoint(self.outline.words_of_tables) or any(
            name <= words for word in words for name in self.outline.words_of_columns.get(word, ())
        )

    def has_name(self, name: str) -> bool:
        """True for the name of a table, or of a column as `table.column`, in any case."""
        known = self.names.table_names
        table, _, column = name.rpartition(".")
        return bool(known.read(name)) or any(
            self._has_column(each, column.casefold()) for each in known.read(table)
        )

    def _has_column(self, table: str, folded_column: str) -> bool:
        return folded_column in self.outline.columns_by_table[table]

    @cached_property
    def names(self) -> SchemaNames:
        return self.outline.names(self.scanned.schema)

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
            index = SchemaIndex(scanned, stored, self._detail, before=index)
            self._indexes[key] = index
        return index


def _words(table: Table) -> list[str]:
    texts = [table.description]
    for column in table.columns:
        texts += [column.name, column.description]
    return words_of(table.name) * _NAME_WEIGHT + words_of(" ".join(texts))


def _said(table: Table) -> object:
    """Returns what indexes of names, descriptions and keys are made of."""
    columns = [(each.name, each.description, each.type, each.primary_key) for each in table.columns]
    return table.name, table.full_name, table.description, columns, list(table.foreign_keys)


def _texts(index: SchemaIndex | None, scanned: ScannedSchema) -> StoredTexts:
    """Returns the cached indexes if they are current, or so new that questions during a scan should
    share them.
    """
    if index is not None:
        young = time.monotonic() - index.stored.made_at < _TEXTS_SHARED_SECONDS
        if young or index.stored.scanned is scanned.texts:
            return index.stored
    return StoredTexts(scanned.texts, None if index is None else index.stored)
