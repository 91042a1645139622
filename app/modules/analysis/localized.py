"""Babel's formatters of numbers and lists, imported with their first use: babel loads slowly."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel import Locale


def locale_of(name: str) -> "Locale":
    from babel import Locale  # noqa: PLC0415

    return Locale.parse(name)


def format_list(names: Sequence[str], *, locale: "Locale") -> str:
    from babel import lists  # noqa: PLC0415

    return lists.format_list(names, locale=locale)


def format_decimal(value: Decimal, *, pattern: str, locale: "Locale") -> str:
    from babel import numbers  # noqa: PLC0415

    return numbers.format_decimal(value, format=pattern, locale=locale)


def format_percent(value: Decimal, *, pattern: str, locale: "Locale") -> str:
    from babel import numbers  # noqa: PLC0415

    return numbers.format_percent(value, format=pattern, locale=locale)


def format_currency(value: Decimal, currency: str, *, pattern: str, locale: "Locale") -> str:
    """The pattern decides on the digits, not the currency."""
    from babel import numbers  # noqa: PLC0415

    return numbers.format_currency(value, currency, format=pattern, locale=locale, currency_digits=False)
