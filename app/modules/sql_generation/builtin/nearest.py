"""Questions that are near to one that the writer does not understand, and that it answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from app.modules.database_connection.schema import Schema, Table
from app.modules.sql_generation.builtin.periods import read_period, unit_of
from app.modules.sql_generation.builtin.planning.measures import numbers_of
from app.modules.sql_generation.builtin.question.lexicon import ANY_TABLE, Lexicon, LexiconEntry
from app.modules.sql_generation.builtin.question.readings import plural, single, spoken
from app.modules.sql_generation.builtin.question.words import (
    REVENUE,
    WORDS,
    Token,
    synonyms,
    tokenise,
    word_set,
)
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_MOST_TABLES = 4
_MOST_COLUMNS = 4
_MOST_READ = 40
"""Candidates that are planned, at most."""
_UNITS = ("month", "year", "quarter", "week", "day")
_TOTALS = frozenset({"sum", "average", "avg", "mean", "max", "min", "maximum", "minimum"})
_FORMS = word_set(WORDS["forms"])
"""Words of the forms, which make no two questions alike."""
_EXTRA = 0.3
"""What a word costs that the question does not have; one that it has gains 1."""


@dataclass(frozen=True)
class Nearby:
    """A question that the writer answers, and its statement."""

    question: str
    sql: str


Understand = Callable[[str], str | None]
"""Returns the statement of a question; None if it is not understood."""


def nearest(
    question: str, schema: Schema, lexicon: Lexicon, *, today: date, understand: Understand
) -> Iterator[Nearby]:
    """Yields questions whose statements differ, the nearest first.

    They are made of tables and columns, at first those that the question names, by a few forms.
    """
    tokens = tokenise(question)
    asked = {word for token in tokens for word in (token.word, *synonyms(token.word))}
    made = _Candidates(tokens, schema, lexicon, today=today)
    if not REVENUE.isdisjoint(asked):
        asked.add("revenue")
    candidates = {each: {token.word for token in tokenise(each)} for each in made.questions()}
    known = set[str]()
    for candidate in sorted(candidates, key=lambda each: _distance(candidates[each], asked))[:_MOST_READ]:
        sql = understand(candidate)
        if sql is not None and sql not in known:
            known.add(sql)
            yield Nearby(candidate, sql)


def _distance(words: set[str], asked: set[str]) -> tuple[bool, float]:
    """Orders candidates: first those about something that the question names."""
    return not words & asked - _FORMS, _EXTRA * len(words - asked) - len(words & asked)


class _Candidates:
    """Questions about the tables that a question names, or else about the largest."""

    def __init__(self, tokens: Sequence[Token], schema: Schema, lexicon: Lexicon, *, today: date) -> None:
        self._network = SchemaNetwork(schema)
        self._links = _links(tokens, lexicon)
        self._named = {link.field.column for link in self._links if link.field}
        self._periods = _periods(tokens, today)
        self._tables = self._nearest_tables(schema)

    def questions(self) -> Iterator[str]:
        for table in self._tables:
            yield from self._counts(table)
            yield from self._numbers(table)
            yield from self._rankings(table)
        yield "What is the total revenue?"
        for value in dict.fromkeys(link.value for link in self._links if link.value is not None):
            yield f"What is the total revenue of {value}?"
        for group in (
            *_UNITS,
            *dict.fromkeys(each for table in self._tables for each in self._groups(table)),
        ):
            yield f"What is the total revenue per {group}?"

    def _nearest_tables(self, schema: Schema) -> list[Table]:
        scores: dict[str, int] = {}
        for link in self._links:
            scores[link.table] = max(scores.get(link.table, 0), link.score)
        by_size = sorted(schema.tables, key=lambda table: -(table.row_count or 0))
        named = [table for table in by_size if table.name in scores]
        return (sorted(named, key=lambda table: -scores[table.name]) or by_size)[:_MOST_TABLES]

    def _counts(self, table: Table) -> Iterator[str]:
        rows = plural(_said(table.name))
        yield f"How many {rows} are there?"
        for group in self._groups(table):
            yield f"How many {rows} are there per {group}?"
        if self._is_dated(table):
            for unit in (*_UNITS, "weekday"):
                yield f"How many {rows} are there per {unit}?"
            for period in self._periods:
                yield f"How many {rows} are there {period}?"
        for link in self._links:
            if link.table == table.name and link.field and link.value is not None:
                yield f"How many {rows} have the {spoken(link.field.column)} {link.value}?"

    def _numbers(self, table: Table) -> Iterator[str]:
        rows, groups = plural(_said(table.name)), self._groups(table)
        for number in self._numbers_of(table):
            said = set(number.split())
            for function in ("average", "highest", "lowest", "total"):
                if function in said or (function == "total" and not said.isdisjoint(_TOTALS)):
                    continue
                yield f"What is the {function} {number} of {rows}?"
                for group in groups:
                    yield f"What is the {function} {number} of {rows} per {group}?"

    def _rankings(self, table: Table) -> Iterator[str]:
        rows = plural(_said(table.name))
        for number in self._numbers_of(table):
            yield f"What are the top 10 {rows} by {number}?"
        yield f"What are the top 10 {rows} by revenue?"
        referring = [each for each in self._network.referring(table.name) if _said(each).split()[0] != "has"]
        for other in referring:
            yield f"Which {single(_said(table.name))} has the most {plural(_said(other))}?"
            yield f"What are the top 10 {rows} by number of {plural(_said(other))}?"

    def _groups(self, table: Table) -> list[str]:
        """Returns what rows of a table are grouped by: columns of few values, and the tables it refers to."""
        names = [field.column for field in self._network.name_fields(table.name)]
        left_out = {*table.foreign_key_columns, *names}
        columns = [each.name for each in table.columns if each.values and each.name not in left_out]
        referred = [
            single(_said(key.referred_table))
            for key in table.foreign_keys
            if key.referred_table != table.name
        ]
        return [*referred[:_MOST_COLUMNS], *map(spoken, self._nearest_columns(columns))]

    def _numbers_of(self, table: Table) -> list[str]:
        numbers = [field.column for field in numbers_of(self._network, table.name)]
        return [spoken(column) for column in self._nearest_columns(numbers)]

    def _nearest_columns(self, columns: Sequence[str]) -> list[str]:
        return sorted(columns, key=lambda column: column not in self._named)[:_MOST_COLUMNS]

    def _is_dated(self, table: Table) -> bool:
        return any(field.type in ("date", "datetime") for field in self._network.fields(table.name))


def _said(table: str) -> str:
    """Returns the words of a table's name as people say them: films of `films_data`."""
    words = spoken(table).split()
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in ANY_TABLE else words)


def _links(tokens: Sequence[Token], lexicon: Lexicon) -> list[LexiconEntry]:
    """Returns all meanings of the words of a question."""
    found: list[LexiconEntry] = []
    at = 0
    while at < len(tokens):
        length, links = lexicon.find(tokens[at:])
        found += links
        at += max(length, 1)
    return found


def _periods(tokens: Sequence[Token], today: date) -> list[str]:
    """Returns the periods of a question as they are written, each with its preposition."""
    raws = [token.raw for token in tokens]
    found: list[str] = []
    at = 0
    while at < len(tokens):
        period = read_period(raws[at:], today)
        if period:
            first = at + 1 if raws[at] in ("of", "for") else at
            text = " ".join(token.text for token in tokens[first : at + period[1]])
            is_bare = first > at or unit_of(raws[at]) is not None or raws[at][:1].isdecimal()
            found.append(f"in {text}" if is_bare and raws[first] not in ("last", "this", "next") else text)
        at += period[1] if period else 1
    return found
