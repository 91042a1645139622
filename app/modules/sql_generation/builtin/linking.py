"""Which tables, columns and stored values the words of a question may mean."""

import difflib
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product

from app.modules.database_connection.schema import Column, Schema, Table
from app.modules.sql_generation.builtin.plan import Field
from app.modules.sql_generation.builtin.words import (
    ORDERING,
    SELLING,
    Token,
    synonyms,
    words_of,
)

Phrase = tuple[str, ...]
EXACT_TABLE, EXACT, CLOSE, PARTIAL = 4, 3, 2, 1
_NUMERIC = ("integer", "number")


@dataclass(frozen=True)
class Link:
    """One meaning of a phrase: a table, a column of it, or a value stored in that column. Higher scores are
    closer matches."""

    table: str
    score: int
    field: Field | None = None
    value: str | None = None
    key: bool = False

    @property
    def is_table(self) -> bool:
        return self.field is None

    @property
    def is_column(self) -> bool:
        return self.field is not None and self.value is None

    @property
    def is_number(self) -> bool:
        return self.is_column and not self.key and self.field is not None and self.field.type in _NUMERIC

    @property
    def is_date(self) -> bool:
        """A date, or a year kept as text or number."""
        if self.field is None or self.value is not None:
            return False
        return self.field.type in ("date", "datetime") or words_of(self.field.column)[-1:] == ("year",)


_Meanings = dict[tuple[str, str | None], Link]


class Lexicon:
    """Every phrase that names something in the schema."""

    def __init__(self, schema: Schema) -> None:
        self._names: defaultdict[Phrase, _Meanings] = defaultdict(dict)
        self._synonyms: defaultdict[Phrase, _Meanings] = defaultdict(dict)
        self._values: defaultdict[Phrase, list[Link]] = defaultdict(list)
        for table in schema.tables:
            self._add_table(table)
            for column in table.columns:
                self._add_column(table, column)
        self._longest = max(map(len, (*self._names, *self._synonyms, *self._values)), default=0)

    def find(self, tokens: Sequence[Token]) -> tuple[int, tuple[Link, ...]]:
        """The longest phrase that `tokens` begin with: how many tokens long (0 if none), and its meanings."""
        if tokens and tokens[0].kind == "quoted":
            return 1, tuple(self._values.get(words_of(tokens[0].text), ()))
        for length in range(min(self._longest, len(tokens)), 0, -1):
            if links := self._links(tokens[:length]):
                return length, links
        return 0, ()

    def close_to(self, word: str) -> str | None:
        """A single word of the schema that looks like a misspelt `word`."""
        known = [phrase[0] for phrase in (*self._names, *self._values) if len(phrase) == 1]
        return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.8)), None)

    def _links(self, tokens: Sequence[Token]) -> tuple[Link, ...]:
        phrase = tuple(token.word for token in tokens)
        if any(token.kind in ("sign", "quoted") for token in tokens):
            return ()
        names = tuple((self._names.get(phrase) or self._synonyms.get(phrase) or {}).values())
        if len(tokens) == 1 and len(tokens[0].raw) < 3 and not tokens[0].capital:
            return names
        return names + tuple(self._values.get(phrase, ()))

    def _add_table(self, table: Table) -> None:
        phrase = words_of(table.name)
        self._add(phrase, Link(table.name, EXACT_TABLE))
        if ORDERING.intersection(phrase) and len(phrase) == 1:
            for word in SELLING:
                self._add((word,), Link(table.name, CLOSE))
        if len(phrase) == 1:
            self._add((_participle(phrase[0]),), Link(table.name, CLOSE))

    def _add_column(self, table: Table, column: Column) -> None:
        phrase, field = words_of(column.name), Field(table.name, column.name, column.type)
        foreign = {name for key in table.foreign_keys for name in key.columns}
        self._add(
            phrase,
            Link(
                table.name, PARTIAL if column.name in foreign else EXACT, field, key=_is_key(column, foreign)
            ),
        )
        if column.primary_key and column.name not in foreign:
            self._add(("id",), Link(table.name, EXACT, field, key=True))
        elif column.name not in foreign:
            self._add_shorter(words_of(table.name), phrase, field)
        for value in column.values:
            self._add_value(table, field, value)

    def _add_shorter(self, table: Phrase, phrase: Phrase, field: Field) -> None:
        """Parts of a column's name, and that name qualified by its table's."""
        own = phrase[len(table) :] if phrase[: len(table)] == table else phrase
        self._add(own, Link(field.table, EXACT, field))
        self._add((*table, *own), Link(field.table, EXACT_TABLE, field))
        if own[-1:] == ("name",):
            self._add(own[:-1], Link(field.table, CLOSE, field))
        if own[:1] in (("number",), ("count",)):
            self._add(("number", "of", *own[1:]), Link(field.table, EXACT, field))
        if "of" in own:
            at = own.index("of")
            self._add((*own[at + 1 :], *own[:at]), Link(field.table, EXACT, field))
        if Link(field.table, CLOSE, field).is_date:
            for verb in set(own) - {"date", "year", "of", "on", "at", "time"}:
                self._add((_participle(verb),), Link(field.table, CLOSE, field))
        for start in range(1, len(own)):
            self._add(own[start:], Link(field.table, PARTIAL, field))
        for end in range(2, len(own)):
            self._add(own[:end], Link(field.table, PARTIAL, field))

    def _add(self, phrase: Phrase, link: Link) -> None:
        if not phrase or phrase[0] == "of":
            return
        _insert(self._names[phrase], link)
        for words in product(*((word, *sorted(synonyms(word))) for word in phrase)):
            if words != phrase:
                _insert(self._synonyms[words], replace(link, score=min(link.score, CLOSE)))

    def _add_value(self, table: Table, field: Field, value: str) -> None:
        phrase = words_of(value)
        if phrase and not value.strip().isdigit() and len(phrase) <= 8:
            self._values[phrase].append(Link(table.name, EXACT, field, value))


def _is_key(column: Column, foreign: Collection[str]) -> bool:
    return column.primary_key or column.name in foreign or words_of(column.name)[-1:] == ("id",)


def _insert(meanings: _Meanings, link: Link) -> None:
    """Keeps the best score for each meaning."""
    name = (link.table, link.field.column if link.field else None)
    known = meanings.get(name)
    if known is None or known.score < link.score:
        meanings[name] = link


def _participle(verb: str) -> str:
    """hire gives hired, order gives ordered, ship gives shipped."""
    if verb.endswith("ed"):
        return verb
    doubled = verb + verb[-1] if len(verb) <= 4 and verb[-1] in "pt" else verb
    return f"{doubled.removesuffix('e')}ed"
