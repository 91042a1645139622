"""Units of time, weight and length, of numbers in questions and in columns that are named after them."""

from decimal import Decimal

from app.modules.sql_generation.builtin.question.words import words_of

_SAID = """
time: ms msec millisecond 0.001; sec second 1; min minute 60; hr hour 3600; day 86400
weight: mg milligram 0.001; g gram 1; kg kilogram kilo 1000; lb lbs pound 453.59237
length: mm millimeter 0.001; cm centimeter 0.01; m meter metre 1; km kilometer kilometre 1000
"""


def _units() -> dict[str, tuple[str, Decimal]]:
    found: dict[str, tuple[str, Decimal]] = {}
    for line in _SAID.strip().splitlines():
        kind, units = line.split(": ")
        for unit in units.split("; "):
            *names, factor = unit.split()
            for name in names:
                found[name] = found[f"{name}s"] = (kind, Decimal(factor))
    return found


UNITS = _units()
"""What each unit measures, and how many of the smallest common unit it is."""


def converted(number: str, unit: str, column: str) -> str | None:
    """Returns a number of `unit` in the unit that a column is named after; None if it is not of that kind."""
    kind, factor = UNITS[unit]
    of_column = UNITS.get(words_of(column)[-1])
    if of_column is None or of_column[0] != kind:
        return None
    return f"{(Decimal(number) * factor / of_column[1]).normalize():f}"
