"""Key figures of a result, computed from the rows at hand and never extrapolated."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from pydantic import JsonValue

from graph.state import Rows

_TIMES = ("date", "datetime")
_NUMBERS = ("integer", "number")
_NOT_SUMMED = ("id", "year", "month", "quarter", "week", "day", "rank", "zip", "code", "number")
_AVERAGES = ("avg", "average", "mean", "price", "rate", "share", "percent", "ratio", "per_", "median")


@dataclass(frozen=True)
class Measure:
    """Statistics of a numeric column, nulls left out; `total` is None where a sum would mean nothing."""

    column: int
    name: str
    count: int
    minimum: float
    maximum: float
    mean: float
    total: float | None


@dataclass(frozen=True)
class Figures:
    """What stands out in a result.

    `label` is the column that names the rows, `time` the one that orders them in time, `main` the
    measure that the answer is about; each is None where there is none. `complete` says that the
    figures cover the whole result.
    """

    measures: Sequence[Measure]
    main: Measure | None
    label: int | None
    time: int | None
    nulls: int
    complete: bool


def figures(rows: Rows) -> Figures:
    """Reads the rows once a column."""
    names = [column["name"] for column in rows["columns"]]
    types = [column["type"] for column in rows["columns"]]
    numeric = [index for index, kind in enumerate(types) if kind in _NUMBERS]
    measures = [found for index in numeric if (found := _measure(index, names[index], rows)) is not None]
    time = next(
        (index for index, kind in enumerate(types) if kind in _TIMES or _is_period(index, rows)), None
    )
    candidates = [each for each in measures if not _is_key(each.name) and each.column != time]
    return Figures(
        measures=measures,
        main=candidates[-1] if candidates else None,
        label=next((index for index, kind in enumerate(types) if kind == "text" and index != time), None),
        time=time,
        nulls=sum(cell is None for row in rows["rows"] for cell in row),
        complete=len(rows["rows"]) == rows["row_count"] and not rows["truncated"],
    )


def number(cell: JsonValue) -> float | None:
    """A cell as a number; None for null, for what is no number, and for what is not finite."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    try:
        value = float(cell)
    except OverflowError:
        return None
    return value if isfinite(value) else None


def _measure(index: int, name: str, rows: Rows) -> Measure | None:
    values = [value for row in rows["rows"] if (value := number(row[index])) is not None]
    if not values:
        return None
    summed = not _is_key(name) and not any(word in name.lower() for word in _AVERAGES)
    total = sum(values)
    return Measure(
        index, name, len(values), min(values), max(values), total / len(values), total if summed else None
    )


def _is_key(name: str) -> bool:
    words = name.lower().replace(" ", "_").split("_")
    return words[-1] in _NOT_SUMMED or name.endswith("Id")


def _is_period(index: int, rows: Rows) -> bool:
    """Text such as 2025-03 or 2025-Q1, in rising or falling order, is a time too; so is a year."""
    name = rows["columns"][index]["name"].lower()
    cells = [row[index] for row in rows["rows"] if row[index] is not None]
    if len(cells) < 2:
        return False
    if name in ("year", "month", "quarter", "week", "day") or name.endswith("_year"):
        return _ordered([str(cell) for cell in cells])
    dated = [str(cell) for cell in cells]
    return all(_looks_dated(text) for text in dated) and _ordered(dated)


def _looks_dated(text: str) -> bool:
    return len(text) >= 6 and text[:4].isdigit() and text[4] == "-"


def _ordered(texts: Sequence[str]) -> bool:
    rising = all(one <= two for one, two in pairwise(texts))
    return rising or all(one >= two for one, two in pairwise(texts))
