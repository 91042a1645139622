"""Format figures, cells and column names as text for Markdown."""

import re
from decimal import ROUND_HALF_UP, Decimal, localcontext

from pydantic import JsonValue

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")
_MAX_CELL = 80
_CALL = re.compile(r'"?(\w+)\(([\w*. ]*)\)"?')
_FUNCTIONS = {"count_star": "count", "avg": "average", "min": "minimum", "max": "maximum", "sum": "total"}
_LONGEST_INTEGER = Decimal(10) ** 30
_PRECISION = 60


def amount(value: Decimal) -> str:
    """Format a number with thousands separators: two decimals from 1 on, three digits below."""
    if abs(value) >= _LONGEST_INTEGER:
        return f"{value:.4g}"
    if value == value.to_integral_value():
        return f"{int(value):,}"
    return f"{_rounded(value, 2):,}" if abs(value) >= 1 else f"{value:.3g}"


def share(part: Decimal, whole: Decimal) -> str:
    """Format a share as whole per cent; below 10 % with one decimal, below 0.1 % with two."""
    return _per_cent(part / whole, "")


def change(first: Decimal, last: Decimal) -> str:
    """Format the change relative to `first`, which must not be zero, as signed per cent."""
    return _per_cent((last - first) / first, "+")


def _per_cent(ratio: Decimal, sign: str) -> str:
    decimals = 0 if abs(ratio) >= Decimal("0.1") or ratio == 0 else 1 if abs(ratio) >= Decimal("0.001") else 2
    return f"{_rounded(ratio * 100, decimals):{sign},}%"


def _rounded(value: Decimal, decimals: int) -> Decimal:
    """Round half away from zero, as people do; numbers beyond the precision stay as they are."""
    if value.adjusted() > _PRECISION // 2:
        return value
    with localcontext(prec=_PRECISION):
        return value.quantize(Decimal(10) ** -decimals, ROUND_HALF_UP)


def label(cell: JsonValue) -> str:
    """Format a cell as one line, with Markdown and HTML escaped, at most 80 characters before that."""
    return _SPECIAL.sub(r"\\\1", plain_label(cell, _MAX_CELL))


def plain_label(cell: JsonValue, max_characters: int) -> str:
    """Format a cell as one line without escapes. A longer text is cut."""
    if cell is None:
        return "(none)"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = " ".join(str(cell).split())
    if not text:
        return "(empty)"
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


def title(name: str) -> str:
    """A column's name as words: `total_amount` and `TotalAmount` become `total amount`.

    `avg(price)`, a database's name for a column without an alias, becomes `average price`.
    """
    call = _CALL.fullmatch(name.strip())
    if call is not None:
        function = call.group(1).lower()
        argument = title(call.group(2))
        word = _FUNCTIONS.get(function, function)
        return word if argument in ("", "*", "1") else f"{word} {argument.removeprefix('distinct ')}"
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")
    return " ".join(spaced.split()).lower()
