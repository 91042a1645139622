"""The readings of ambiguous parts of a question, each with the words that ask for it."""

import re
from collections.abc import Sequence

from app.core import words
from app.modules.sql_generation.builtin.plan import ColumnRef, Reading
from app.modules.sql_generation.builtin.question.lexicon import Link
from app.modules.sql_generation.builtin.question.words import words_of

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
FUNCTIONS = ("average", "highest", "lowest", "total")
_UNITS = ("day", "month", "year")


def spoken(name: str) -> str:
    """Returns an identifier as words: OrderItems gives order items."""
    return " ".join(word for word in _BOUNDARY.split(name) if word).lower()


def plural(name: str) -> str:
    """Returns the words of a table's name in the plural."""
    return words.plural(spoken(name))


def qualified(field: ColumnRef) -> str:
    """Returns the words of a column, after those of its table unless it begins with them already."""
    table = words_of(field.table)
    column = words_of(field.column)
    own = spoken(field.column)
    named = column[: len(table)] == table and len(column) > len(table)
    return own if named else f"{spoken(field.table)} {own}"


def of_meaning(text: str, link: Link) -> Reading:
    """Returns the reading of one meaning of `text`; a stored value is written after its column."""
    if link.field is None:
        return Reading(label=spoken(link.table), mark=link.table, words=text, instead=spoken(link.table))
    name = qualified(link.field)
    return Reading(
        label=name, mark=link.field, words=text, instead=name if link.value is None else f"{name} {{}}"
    )


def of_date(field: ColumnRef) -> Reading:
    """Returns the reading of one date for a period or calendar unit."""
    name = spoken(field.column)
    return Reading(label=name, mark=field, added=f", using {name}")


def of_units(text: str, field: ColumnRef) -> list[Reading]:
    """Returns a reading for each unit that a date may be grouped by."""
    added = f", using {spoken(field.column)}"
    return [Reading(label=unit, mark=field, words=text, instead=unit, added=added) for unit in _UNITS]


def of_compared(number: str, field: ColumnRef) -> Reading:
    name = spoken(field.column)
    return Reading(label=name, mark=field, words=number, instead=f"with {name} {{}}", compares=True)


def of_functions(text: str, field: ColumnRef, functions: Sequence[str]) -> list[Reading]:
    """Returns a reading for each function of a number."""
    return [Reading(label=each, mark=field, words=text, instead=f"{each} {text}") for each in functions]


def of_order(name: str, mark: ColumnRef | str) -> Reading:
    """Returns the reading of one column or table to rank by."""
    # The comma keeps the noun "order" and "by" from being read as a sort.
    return Reading(label=name, mark=mark, added=f", by {name}")
