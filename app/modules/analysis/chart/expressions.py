"""Expressions of a specification from outside: comparisons and arithmetic with the fields of one row."""

import re
from collections.abc import Sequence

_LONGEST = 400
_MOST_PARTS = 80
_NAMES_OF_FUNCTIONS = """
abs ceil floor round sqrt log exp pow min max isValid isNaN isFinite year quarter month date day hours minutes
toNumber toString lower upper length trim if inrange
"""
_FUNCTIONS = frozenset(_NAMES_OF_FUNCTIONS.split())
_NAMES = frozenset(["true", "false", "null"])
_PART = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)
      | (?P<text>'[^'\\]*'|"[^"\\]*")
      | (?P<field>datum\s*(?:\.\s*[A-Za-z_]\w*|\[\s*(?:'[^'\\]*'|"[^"\\]*")\s*\]))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>===|!==|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:(),])
    )""",
    re.VERBOSE,
)


def fault_of_expression(text: str) -> str | None:
    """Says what an expression has that none from outside may have; None if nothing.

    There are no loops, objects, regular expressions and members of members, so that it is evaluated in a
    time that its length bounds.
    """
    if len(text) > _LONGEST:
        return f"an expression has at most {_LONGEST} characters"
    parts: list[tuple[str, str]] = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = _PART.match(text, at)
        if found is None:
            return f"{text[at:].strip()[:20]!r} is not allowed in an expression"
        parts.append((found.lastgroup or "", found[found.lastgroup or ""]))
        at = found.end()
    if len(parts) > _MOST_PARTS:
        return f"an expression has at most {_MOST_PARTS} parts"
    return _fault_of_parts(parts)


def _fault_of_parts(parts: Sequence[tuple[str, str]]) -> str | None:
    followers = [*parts[1:], ("end", "")]
    before = ("sign", "(")
    for (kind, part), (_, following) in zip(parts, followers, strict=True):
        is_value = kind != "sign" or part == ")"
        if is_value and part != ")" and (before[0] != "sign" or before[1] == ")"):
            return f"{part!r} is not allowed there in an expression"
        if kind == "field" and "__" in part:
            return f"{part!r} is not allowed in an expression"
        if kind == "name" and part not in _NAMES and not (part in _FUNCTIONS and following == "("):
            return f"{part!r} is not allowed in an expression"
        if part == "(" and kind == "sign" and before[0] != "sign" and before[1] not in _FUNCTIONS:
            return "only functions are called in an expression"
        before = (kind, part)
    return None
