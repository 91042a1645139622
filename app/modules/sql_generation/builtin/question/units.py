"""Units of time, weight and length, of numbers in questions and in columns that are named after them."""

from decimal import Decimal

from app.core.words import split_identifier
from app.modules.sql_generation.builtin.question.words import words_of

_SAID = """
time: ms msec millisecond 0.001; sec second 1; min minute 60; hr hour 3600; day 86400
weight: mg milligram 0.001; g gram 1; kg kilogram kilo 1000; lb lbs pound 453.59237
length: mm millimeter 0.001; cm centimeter 0.01; m meter metre 1; km kilometer kilometre 1000
celsius: c celsius 1
fahrenheit: f fahrenheit 1
"""
_DEGREES = ("celsius", "fahrenheit")


def _units() -> dict[str, tuple[str, Decimal]]:
    found: dict[str, tuple[str, Decimal]] = {}
    for line in _SAID.strip().splitlines():
        kind, units = line.split(": ")
        for unit in units.split("; "):
            *names, factor = unit.split()
            for name in names:
                found[name] = (kind, Decimal(factor))
                if len(name) > 1:  # ms are no meters
                    found[f"{name}s"] = found[name]
    return found


UNITS = _units()
"""What each unit measures, and how many of the smallest common unit it is."""
DEGREES = ("degree", "degrees")


def unit_of_column(column: str) -> tuple[str, Decimal] | None:
    """Returns the unit that a column is named after at its end, such as that of `length_ms`; None without."""
    return UNITS.get(split_identifier(column).replace("_", " ").lower().split(" ")[-1])


def quantity_of(column: str) -> str:
    """Returns the last word of a column's name without its unit: "duration" of `duration_min`."""
    words = words_of(column)
    return words[-2] if len(words) > 1 and unit_of_column(column) is not None else words[-1]


def converted(number: str, unit: str, column: str) -> str | None:
    """Returns a number of `unit` in the unit that a column is named after; None if it is not of that kind.

    Degrees are those of the column.
    """
    of_column = unit_of_column(column)
    if of_column is None:
        return None
    if unit in DEGREES and of_column[0] in _DEGREES:
        return number
    kind, factor = UNITS.get(unit, ("", Decimal(1)))
    if of_column[0] != kind:
        return None
    return f"{(Decimal(number) * factor / of_column[1]).normalize():f}"
