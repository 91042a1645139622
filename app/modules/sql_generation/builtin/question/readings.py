"""The readings of ambiguous parts of a question, each with the words that ask for it."""

import re
from collections.abc import Sequence

from app.core import words
from app.modules.sql_generation.builtin.plan import PlanColumn, Reading
from app.modules.sql_generation.builtin.question.lexicon import LexiconEntry
from app.modules.sql_generation.builtin.question.words import singular, words_of

FUNCTIONS = ("average", "highest", "lowest", "total")
_UNITS = ("day", "month", "year")


def spoken(name: str) -> str:
    """Returns an identifier as words: OrderItems gives order items."""
    return " ".join(re.findall(r"[^\W_]+", words.split_identifier(name))).lower()


def plural(name: str) -> str:
    """Returns the words of a table's name in the plural."""
    return words.plural(spoken(name))


def single(name: str) -> str:
    """Returns the words of a table's name in the singular."""
    *before, last = spoken(name).split() or [""]
    return " ".join((*before, singular(last)))


def qualified(field: PlanColumn) -> str:
    """Returns the words of a column, after those of its table unless it begins with them already."""
    table = words_of(field.table)
    column = words_of(field.column)
    own = spoken(field.column)
    named = column[: len(table)] == table and len(column) > len(table)
    return own if named else f"{spoken(field.table)} {own}"


def offer_meaning(text: str, link: LexiconEntry) -> Reading:
    """Returns the reading of one meaning of `text`; a stored value is written after its column."""
    if link.field is None:
        return Reading(label=spoken(link.table), mark=link.table, words=text, instead=spoken(link.table))
    name = qualified(link.field)
    return Reading(
        label=name, mark=link.field, words=text, instead=name if link.value is None else f"{name} {{}}"
    )


def offer_date(field: PlanColumn) -> Reading:
    """Returns the reading of one date for a period or calendar unit."""
    name = spoken(field.column)
    return Reading(label=name, mark=field, added=f", using {name}")


def offer_units(text: str, field: PlanColumn) -> list[Reading]:
    """Returns a reading for each unit that a date may be grouped by."""
    added = f", using {spoken(field.column)}"
    return [Reading(label=unit, mark=field, words=text, instead=unit, added=added) for unit in _UNITS]


def offer_comparison(number: str, field: PlanColumn) -> Reading:
    name = spoken(field.column)
    return Reading(label=name, mark=field, words=number, instead=f"with {name} {{}}", compares=True)


def offer_functions(text: str, field: PlanColumn, functions: Sequence[str]) -> list[Reading]:
    """Returns a reading for each function of a number."""
    return [Reading(label=each, mark=field, words=text, instead=f"{each} {text}") for each in functions]


def offer_order(name: str, mark: PlanColumn | str) -> Reading:
    """Returns the reading of one column or table to rank by."""
    # The comma keeps the noun "order" and "by" from being read as a sort.
    return Reading(label=name, mark=mark, added=f", by {name}")
