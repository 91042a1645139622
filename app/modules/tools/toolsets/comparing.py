"""Comparison of two results row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isclose

from pydantic import JsonValue

from app.modules.database_connection.cells import one_spelling
from app.modules.database_connection.results import marked_column, type_of_values
from app.modules.prompts.rows import is_secret
from app.modules.records.model import Row
from app.modules.tools.tool import ToolFailed
from graph.state import Column, Rows

_LEAST_FOR_PATTERN = 3
_HOUR = 3_600

ColumnPair = tuple[str, int, int]
"""A name, and the positions of its column in the left and the right result."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Rows that differ come first, then those of one side only, then equal ones."""

    columns: list[Column]
    rows: list[Row]
    equal: int
    differing: int
    only_left: int
    only_right: int
    totals: Sequence[tuple[str, float, float]]
    """Sums of the columns of numbers: name, left, right."""
    patterns: Sequence[str]
    """What all rows that differ have in common, as sentences: a factor, a difference, a shift in time."""


def compare(
    left: Rows, right: Rows, keys: Sequence[ColumnPair], *, values: Sequence[ColumnPair]
) -> Comparison:
    """Compare the rows that have equal keys. Raises `ToolFailed` if the keys do not identify a row."""
    secret_keys = [_is_secret(left, right, key) for key in keys]
    ours = _by_key(left, [at for _, at, _ in keys], side="left", is_secret=any(secret_keys))
    theirs = _by_key(right, [at for _, _, at in keys], side="right", is_secret=any(secret_keys))
    equal: list[Row] = []
    differing: list[Row] = []
    only_left: list[Row] = []
    only_right: list[Row] = []
    for key, row in ours.items():
        other = theirs.get(key)
        shown = [row[at] for _, at, _ in keys]
        if other is None:
            only_left.append([*shown, "only left", *_cells(row, None, values)])
        elif all(_is_same(row[a], other[b]) for _, a, b in values):
            equal.append([*shown, "equal", *_cells(row, other, values)])
        else:
            differing.append([*shown, "differs", *_cells(row, other, values)])
    for key, row in theirs.items():
        if key not in ours:
            only_right.append([*(row[at] for _, _, at in keys), "only right", *_cells(None, row, values)])
    rows = [*differing, *only_left, *only_right, *equal]
    names = [name for name, _, _ in keys] + ["comparison"]
    for name, _, _ in values:
        names += [f"{name} left", f"{name} right", f"{name} difference"]
    are_secret = [*secret_keys, False, *(_is_secret(left, right, each) for each in values for _ in range(3))]
    columns = [
        marked_column(name, type_of_values(row[at] for row in rows), is_secret=is_secret)
        for at, (name, is_secret) in enumerate(zip(names, are_secret, strict=True))
    ]
    return Comparison(
        columns=columns,
        rows=[_of_types(row, columns) for row in rows],
        equal=len(equal),
        differing=len(differing),
        only_left=len(only_left),
        only_right=len(only_right),
        totals=[
            (name, _sum(left, a), _sum(right, b))
            for name, a, b in values
            if left["columns"][a]["type"] in ("integer", "number")
            and not _is_secret(left, right, (name, a, b))
        ],
        patterns=[
            sentence
            for at, pair in enumerate(values)
            if not _is_secret(left, right, pair)
            and (sentence := _pattern(pair[0], differing, len(keys) + 1 + 3 * at)) is not None
        ],
    )


def _is_secret(left: Rows, right: Rows, pair: ColumnPair) -> bool:
    _, ours, theirs = pair
    return is_secret(left["columns"][ours]) or is_secret(right["columns"][theirs])


def _pattern(name: str, differing: Sequence[Row], at: int) -> str | None:
    """Returns what the values of a column have in common in the rows that differ in it, if anything.

    `at` is the position of the left value; the right one and the difference follow it.
    """
    changed = [(row[at], row[at + 1]) for row in differing if not _is_same(row[at], row[at + 1])]
    if len(changed) < _LEAST_FOR_PATTERN:
        return None
    rows = f"in all {len(changed):,} rows that differ in it"
    hours = {_hours(left, right) for left, right in changed}
    if len(hours) == 1 and (shift := hours.pop()) is not None:
        return f"{name} is {abs(shift):g} hours {'later' if shift > 0 else 'earlier'} on the right {rows}."
    numbers = [(x, y) for each in changed if (x := _number(each[0])) and (y := _number(each[1])) is not None]
    if len(numbers) < len(changed):
        return None
    x, y = max(numbers, key=lambda pair: abs(pair[0]))
    if all(isclose(b, a * y / x, rel_tol=1e-3, abs_tol=0.006) for a, b in numbers):
        return f"{name} on the right is {y / x:.6g} times the left one {rows}."
    if all(isclose(b - a, y - x, rel_tol=1e-6, abs_tol=1e-9) for a, b in numbers):
        return f"{name} on the right is {y - x:+.6g} against the left one {rows}."
    return None


def _number(value: JsonValue) -> float | None:
    plain = _plain(value)
    return plain if isinstance(plain, float) else None


def _hours(left: JsonValue, right: JsonValue) -> float | None:
    """Returns how much later the right time is. Returns None for values that are no times."""
    earlier = _time(left)
    later = _time(right)
    return None if earlier is None or later is None else (later - earlier).total_seconds() / _HOUR


def _time(value: JsonValue) -> datetime | None:
    if not isinstance(value, str) or not value[:4].isdigit() or "-" not in value:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _of_types(row: Row, columns: Sequence[Column]) -> Row:
    """Values of two databases may differ in type: a column that has both holds texts."""
    return [
        str(value) if column["type"] == "text" and value is not None else value
        for column, value in zip(columns, row, strict=True)
    ]


def _by_key(
    rows: Rows, columns: Sequence[int], *, side: str, is_secret: bool
) -> dict[tuple[JsonValue, ...], Row]:
    found: dict[tuple[JsonValue, ...], Row] = {}
    for row in rows["rows"]:
        key = tuple(_plain(row[at]) for at in columns)
        if key in found:
            which = "the same ones" if is_secret else str(list(key))
            raise ToolFailed(
                f"The keys do not identify a row of the {side} result: several rows have {which}. Add "
                "keys, or aggregate the statement by them."
            )
        found[key] = row
    return found


def _plain(value: JsonValue) -> JsonValue:
    """Returns one value for what two databases write differently: 1 and 1.0, a day and its midnight."""
    match value:
        case bool():
            return float(value)
        case int() | float():
            return float(value)
        case str():
            return one_spelling(value.strip())
        case list() | dict():
            return str(value)
        case None:
            return None


def _is_same(left: JsonValue, right: JsonValue) -> bool:
    ours = _plain(left)
    theirs = _plain(right)
    if isinstance(ours, float) and isinstance(theirs, float):
        return isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return ours == theirs


def _cells(left: Row | None, right: Row | None, values: Sequence[ColumnPair]) -> Row:
    cells: Row = []
    for _, a, b in values:
        ours = left[a] if left is not None else None
        theirs = right[b] if right is not None else None
        x = _plain(ours)
        y = _plain(theirs)
        difference = (
            round(y - x, 9) if isinstance(x, float) and isinstance(y, float) else _hours(ours, theirs)
        )
        cells += [ours, theirs, difference]
    return cells


def _sum(rows: Rows, at: int) -> float:
    return sum(value for row in rows["rows"] if isinstance(value := _plain(row[at]), float))
