"""Calls for facts that the sheet lacks: `share(revenue, region="West")`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_CALL = 300
FORMS = (
    'value(measure, column="label")',
    'total(measure, column="label")',
    'average(measure, column="label")',
    'median(measure, column="label")',
    'highest(measure, column="label")',
    'lowest(measure, column="label")',
    'share(measure, column="label")',
    'gap(measure, column="label", column="other label")',
    'change(measure, "2025-10", "2026-10")',
    'change(measure, "2025-01".."2025-10", "2026-01".."2026-10")',
    "rises(measure)",
    'count(column="label")',
    "forecast(measure)",
    "outliers(measure)",
)
"""Forms of calls, as a model reads them. Conditions may be left out or be several; a period is a condition of
the column that holds it: `month="2026-06".."2026-10"`.
"""
KINDS = frozenset(form.partition("(")[0] for form in FORMS)
_STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|“[^”\n]*”'
CALL = re.compile(rf"\b[a-z][a-z_]{{2,20}}\((?:{_STRING}|[^()\"'“\n]){{0,60}}\)")
"""A call in a text. Its arguments hold no brackets outside of strings."""
_TOKEN = re.compile(
    rf"\s*(?:(?P<string>{_STRING})|(?P<range>\.\.)|(?P<sign>[=,])|(?P<word>(?:[^\s=,\"'“.]|\.(?!\.))+))"
)


class FactCallRefused(Exception):
    """A call that gives no fact. The message is a clause with the reason."""


@dataclass(frozen=True)
class Argument:
    """`name` is empty for an argument without one; `until` is the end of a range, else None."""

    name: str
    value: str
    until: str | None = None


@dataclass(frozen=True)
class FactCall:
    kind: str
    arguments: Sequence[Argument]


def parse_call(text: str) -> FactCall:
    """Parse a call of at most 300 characters. Raises `FactCallRefused`."""
    text = text.strip()
    if len(text) > LONGEST_CALL:
        raise FactCallRefused(f"it is longer than {LONGEST_CALL} characters")
    kind, bracket, rest = text.partition("(")
    if not bracket or not rest.endswith(")"):
        raise FactCallRefused("it is no call")
    tokens = _tokens(rest[:-1])
    arguments = list[Argument]()
    at = 0
    while at < len(tokens):
        argument, at = _argument(tokens, at)
        arguments.append(argument)
    return FactCall(kind.strip().lower(), arguments)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return the kinds and texts of the tokens, without the quotes of strings."""
    tokens = list[tuple[str, str]]()
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise FactCallRefused("its arguments cannot be read")
        kind = found.lastgroup
        token = found[kind]
        tokens.append((kind, re.sub(r"\\(.)", r"\1", token[1:-1]) if kind == "string" else token))
        at = found.end()
    return tokens


def _argument(tokens: Sequence[tuple[str, str]], at: int) -> tuple[Argument, int]:
    """Read `value`, `name=value` or a range of them; values are strings, or words with spaces between."""
    name = ""
    value, at = _value(tokens, at)
    if at < len(tokens) and tokens[at] == ("sign", "="):
        name = value
        value, at = _value(tokens, at + 1)
    until = None
    if at < len(tokens) and tokens[at][0] == "range":
        until, at = _value(tokens, at + 1)
    if at < len(tokens):
        if tokens[at] != ("sign", ","):
            raise FactCallRefused("its arguments cannot be read")
        at += 1
    return Argument(name, value, until), at


def _value(tokens: Sequence[tuple[str, str]], at: int) -> tuple[str, int]:
    if at < len(tokens) and tokens[at][0] == "string":
        return tokens[at][1], at + 1
    words = list[str]()
    while at < len(tokens) and tokens[at][0] == "word":
        words.append(tokens[at][1])
        at += 1
    if not words:
        raise FactCallRefused("its arguments cannot be read")
    return " ".join(words), at
