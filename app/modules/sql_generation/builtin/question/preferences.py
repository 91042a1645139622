"""The clause at a question's end that prefers a join or column: "through customers", "using ship date"."""

from collections.abc import Sequence

from sqlglot import exp

from app.modules.sql_generation.builtin.plan import NO_PREFERENCES, NOT_UNDERSTOOD, Beyond, Preferences
from app.modules.sql_generation.builtin.question.lexicon import Lexicon, LexiconEntry
from app.modules.sql_generation.builtin.question.words import Token

_THROUGH = ("through", "via")
_USING = "using"


def require(preferences: Preferences, select: exp.Select) -> None:
    """Raises `Beyond` when the statement reads none of the preferred tables and columns."""
    if not preferences.clause:
        return
    tables = {table.alias_or_name: table.name for table in select.find_all(exp.Table)}
    columns = {(tables.get(each.table, ""), each.name) for each in select.find_all(exp.Column)}
    used = preferences.tables.intersection(tables.values()) or any(
        (field.table, field.column) in columns for field in preferences.fields
    )
    if not used:
        raise Beyond(NOT_UNDERSTOOD)


def split(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[list[Token], Preferences]:
    """Returns the question without its clause, and its preferences. "using" counts only before a column."""
    at = next((at for at in range(len(tokens) - 1, 0, -1) if tokens[at].raw in (*_THROUGH, _USING)), 0)
    named = _named(tokens[at + 1 :], lexicon) if at else None
    if not named or (tokens[at].raw == _USING and any(link.is_table for link in named)):
        return list(tokens), NO_PREFERENCES
    before = list(tokens[:at])
    while before and before[-1].raw == ",":
        before.pop()
    clause = " ".join(token.text for token in tokens[at:])
    tables = frozenset(link.table for link in named if link.is_table)
    fields = frozenset(link.field for link in named if link.field is not None)
    return before, Preferences(clause, tables, fields)


def _named(tokens: Sequence[Token], lexicon: Lexicon) -> list[LexiconEntry]:
    """Returns the links of the tokens if they name only tables and columns; else an empty list."""
    found: list[LexiconEntry] = []
    at = 0
    while at < len(tokens):
        if tokens[at].raw in ("and", ",", "the"):
            at += 1
            continue
        length, links = lexicon.find(tokens[at:])
        named = [link for link in links if link.value is None]
        if not named:
            return []
        best = max(link.score for link in named)
        found += [link for link in named if link.score == best]
        at += length
    return found
