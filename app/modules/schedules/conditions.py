"""Conditions on one cell of the rows of a pin."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from pydantic import JsonValue

from app.core.values.numbers import read_number
from app.modules.schedules.model import Condition, NoticeFailure
from graph.state import Column


@dataclass(frozen=True)
class Verdict:
    """Whether a condition is met, and the cell that it looked at. With a failure it could not be judged."""

    is_met: bool
    value: JsonValue = None
    failure: NoticeFailure | None = None


def judge(
    condition: Condition,
    columns: Sequence[Column],
    first_row: Sequence[JsonValue] | None,
    *,
    previous: JsonValue,
) -> Verdict:
    """Judge the first row, None if there is none. `previous` is the cell of the run before.

    A null, a missing row and a first run without a value to compare with meet no condition but `no_rows`.
    """
    if condition.kind == "no_rows":
        return Verdict(first_row is None)
    names = [column["name"] for column in columns]
    if condition.column not in names:
        return Verdict(False, failure=_failure(f"The rows have no column {condition.column!r} any more."))
    cell = None if first_row is None else first_row[names.index(condition.column)]
    if cell is None:
        return Verdict(False)
    number = read_number(cell)
    if number is None:
        return Verdict(False, cell, _failure(f"The first cell of {condition.column!r} is no number."))
    bound = Decimal(str(condition.value))
    match condition.kind:
        case "above":
            return Verdict(number > bound, cell)
        case "below":
            return Verdict(number < bound, cell)
        case "changed":
            before = read_number(previous)
            if before is None:
                return Verdict(False, cell)
            return Verdict(abs(number - before) * 100 > bound * abs(before), cell)
        case _:
            assert_never(condition.kind)


def _failure(detail: str) -> NoticeFailure:
    return NoticeFailure(
        title="The condition could not be judged",
        detail=detail,
        cure="Change the condition of the schedule, or the statement of the pin.",
    )
