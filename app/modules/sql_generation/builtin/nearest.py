"""Questions that are near to one that the writer does not understand, and that it answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from app.modules.database_connection.schema import Schema, Table
from app.modules.sql_generation.builtin.periods import read_period, unit_of
from app.modules.sql_generation.builtin.question.lexicon import Lexicon, LexiconEntry
from app.modules.sql_generation.builtin.question.readings import plural, spoken
from app.modules.sql_generation.builtin.question.words import Token, synonyms, tokenise
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_MOST_TABLES = 4
_MOST_COLUMNS = 4
_MOST_READ = 40
"""Candidates that are planned, at most."""
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
    candidates = dict.fromkeys(made.questions())
    known = set[str]()
    for candidate in sorted(candidates, key=lambda text: -_likeness(text, asked))[:_MOST_READ]:
        sql = understand(candidate)
        if sql is not None and sql not in known:
            known.add(sql)
            yield Nearby(candidate, sql)


def _likeness(candidate: str, asked: set[str]) -> float:
    words = {token.word for token in tokenise(candidate)}
    return len(words & asked) - _EXTRA * len(words - asked)


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
        for group in dict.fromkeys(each for table in self._tables for each in self._groups(table)):
            yield f"What is the total revenue by {group}?"

    def _nearest_tables(self, schema: Schema) -> list[Table]:
        scores: dict[str, int] = {}
        for link in self._links:
            scores[link.table] = max(scores.get(link.table, 0), link.score)
        by_size = sorted(schema.tables, key=lambda table: -(table.row_count or 0))
        named = [table for table in by_size if table.name in scores]
        return (sorted(named, key=lambda table: -scores[table.name]) or by_size)[:_MOST_TABLES]

    def _counts(self, table: Table) -> Iterator[str]:
        rows = plural(table.name)
        yield f"How many {rows} are there?"
        for group in self._groups(table):
            yield f"How many {rows} per {group}?"
        if self._is_dated(table):
            for unit in ("day", "week", "month", "quarter", "year", "weekday"):
                yield f"How many {rows} per {unit}?"
            for period in self._periods:
                yield f"How many {rows} {period}?"
        for link in self._links:
            if link.table == table.name and link.field and link.value is not None:
                yield f"How many {rows} with {spoken(link.field.column)} {link.value}?"

    def _numbers(self, table: Table) -> Iterator[str]:
        for number in self._numbers_of(table):
            for function in ("average", "highest", "lowest", "total"):
                yield f"What is the {function} {number} of {plural(table.name)}?"
                for group in self._groups(table):
                    yield f"What is the {function} {number} of {plural(table.name)} per {group}?"

    def _rankings(self, table: Table) -> Iterator[str]:
        rows = plural(table.name)
        for number in self._numbers_of(table):
            yield f"What are the top 10 {rows} by {number}?"
        yield f"What are the top 10 {rows} by revenue?"
        for other in self._network.referring(table.name):
            yield f"Which {spoken(table.name)} has the most {plural(other)}?"
            yield f"What are the top 10 {rows} by number of {plural(other)}?"

    def _groups(self, table: Table) -> list[str]:
        """Returns what rows of a table are grouped by: columns of few values, and the tables it refers to."""
        columns = [
            column.name
            for column in table.columns
            if column.values and column.name not in table.foreign_key_columns
        ]
        referred = [
            spoken(key.referred_table) for key in table.foreign_keys if key.referred_table != table.name
        ]
        return [*referred[:_MOST_COLUMNS], *map(spoken, self._nearest_columns(columns))]

    def _numbers_of(self, table: Table) -> list[str]:
        numbers = [
            field.column
            for field in self._network.fields(table.name)
            if field.type in ("integer", "number") and not self._network.is_key(field)
        ]
        return [spoken(column) for column in self._nearest_columns(numbers)]

    def _nearest_columns(self, columns: Sequence[str]) -> list[str]:
        return sorted(columns, key=lambda column: column not in self._named)[:_MOST_COLUMNS]

    def _is_dated(self, table: Table) -> bool:
        return any(field.type in ("date", "datetime") for field in self._network.fields(table.name))


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
            text = " ".join(token.text for token in tokens[at : at + period[1]])
            found.append(text if unit_of(raws[at]) is None and not raws[at][:1].isdecimal() else f"in {text}")
        at += period[1] if period else 1
    return found
