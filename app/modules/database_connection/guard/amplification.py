"""Refuses functions that build huge values from small ones before any limit of the database applies."""

import re
from collections.abc import Iterable, Mapping
from math import ceil

from sqlglot import exp

from graph.errors import StatementRefused

_LARGEST_FACTOR = 10_000
_LARGEST_PRODUCT = 1_000_000
# Possessive quantifiers: a zero is a flag or a digit, and backtracking over forty zeros would take hours.
_HARMLESS_PERCENTS = re.compile(r"(?:[^%]|%%|%(?:\d{1,3}\$)?+[-+ 0,#!]*+\d{0,3}+(?:\.\d{1,3}+)?+[a-zA-Z])*+")
_HARMLESS_BRACES = re.compile(
    r"(?:[^{}]|{{|}}|{\d*+(?::[-+ #0<>^]*+\d{0,3}+[,_]?+(?:\.\d{1,3}+)?+[a-zA-Z%]?+)?+})*+"
)
_TEMPLATES = {"format", "printf"}
# The position of the argument with the length, from 0.
_REPEATING = {"repeat": 1, "space": 0}
_PADDING = {"bar": 3, "lpad": 1, "rpad": 1}


def check_amplification(nodes: Iterable[exp.Expr], dialect: str) -> None:
    """Check the functions among the nodes of a statement.

    Raises `StatementRefused` when they repeat or pad text too much, or by a length not known.
    """
    repeated = 1
    longest = 1
    for function in nodes:
        if not isinstance(function, exp.Func):
            continue
        if (times := _argument(function, _REPEATING, exp.Repeat, name="times")) is not None:
            repeated *= _factor(times)
        if (length := _argument(function, _PADDING, exp.Pad, name="expression")) is not None:
            longest = max(longest, _factor(length))
        if isinstance(function, exp.Replace | exp.RegexpReplace):
            repeated *= _widening(function)
        if dialect != "mysql" and _name(function) in _TEMPLATES:
            _check_template(function, dialect)
    if repeated * longest > _LARGEST_PRODUCT:
        raise StatementRefused(
            "The statement repeats text too often; give it fewer or smaller repetitions.", "amplification"
        )


def _argument(
    function: exp.Func, places: Mapping[str, int], known: type[exp.Func], *, name: str
) -> exp.Expr | None:
    """Returns the length argument of a function in `places`, an empty literal if it is missing.

    Returns None for other functions.
    """
    if isinstance(function, known):
        found: exp.Expr | None = function.args.get(name)
        return found or exp.Literal.string("")
    place = places.get(_name(function))
    if place is None or not isinstance(function, exp.Anonymous | exp.Space):
        return None
    arguments = [*function.iter_expressions()]
    return arguments[place] if place < len(arguments) else exp.Literal.string("")


def _factor(length: exp.Expr) -> int:
    """Returns the number of repetitions or characters. Raises `StatementRefused` if not a small literal."""
    if not isinstance(length, exp.Literal) or not length.name.isdigit():
        raise StatementRefused(
            "The length of repeated or padded text must be written as a plain number.", "amplification"
        )
    if int(length.name) > _LARGEST_FACTOR:
        raise StatementRefused(
            f"Text is repeated or padded to at most {_LARGEST_FACTOR} here.", "amplification"
        )
    return max(int(length.name), 1)


def _widening(replace: exp.Func) -> int:
    """Returns the most times by which a replacement can lengthen a text."""
    found = "" if isinstance(replace, exp.RegexpReplace) else _literal_text(replace.args.get("expression"))
    put = _literal_text(replace.args.get("replacement"))
    return max(ceil(len(put or "") / max(len(found or ""), 1)), 1)


def _check_template(function: exp.Func, dialect: str) -> None:
    """Refuse templates with large widths: padding to a gigabyte ends before any limit can stop it."""
    text = _literal_text(next(function.iter_expressions(), None)) or "%*"
    harmless = _HARMLESS_PERCENTS.fullmatch(text) and (
        dialect != "duckdb" or _HARMLESS_BRACES.fullmatch(text)
    )
    if not harmless:
        raise StatementRefused(
            "The format must be a literal, with widths below 1000 and without *.", "amplification"
        )


def _literal_text(node: exp.Expr | None) -> str | None:
    return node.this if isinstance(node, exp.Literal) and node.is_string else None


def _name(function: exp.Func) -> str:
    known = isinstance(function, exp.Anonymous | exp.AnonymousAggFunc)
    return function.name.lower() if known else function.sql_name().lower()
