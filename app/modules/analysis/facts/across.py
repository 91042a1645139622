"""Facts over two results: a gap, a change, or the same value of one measure in both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.modules.analysis.facts.calls import FactCallRefused
from app.modules.analysis.facts.composing import reference, written
from app.modules.analysis.facts.fact import Fact
from app.modules.analysis.facts.wording import Amount, Percent, Points, Wording
from app.modules.analysis.formats import unit_of
from app.modules.analysis.words import title
from graph.state import Reference

_SIDE = r"(r\d{1,3}\.\d{1,3})\.(\w{1,60})"
_CALL = re.compile(rf"\s*(gap|change|same|\w+)\(\s*{_SIDE}\s*,\s*{_SIDE}\s*\)\s*")
_KINDS = ("gap", "change", "same")
_OF_ONE_VALUE = ("value", "total", "average", "median", "highest", "lowest", "count", "share")


@dataclass(frozen=True)
class Across:
    """A call for a fact over two results: its kind, then a result and a key of each side."""

    kind: str
    left: tuple[str, str]
    right: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Side:
    """A fact of one of two results. `name` tells the two apart for the reader."""

    result: str
    result_id: str
    name: str
    fact: Fact


def read_across(text: str) -> Across | None:
    """Returns the call, such as `gap(r1.1.total_revenue, r2.1.total_revenue)`. None if it is none."""
    found = _CALL.fullmatch(text)
    return None if found is None else Across(found[1], (found[2], found[3]), (found[4], found[5]))


def relate(kind: str, left: Side, right: Side, *, wording: Wording) -> tuple[str, list[Reference]]:
    """Returns the statements of both sides and one on their difference, with the sources of each.

    Raises `FactCallRefused` if the two cannot be compared.
    """
    before, after = _values(kind, left, right)
    text = ""
    references: list[Reference] = []
    for side in (left, right):
        text += " " if text else ""
        start = len(text)
        text += f"{side.name}: {side.fact.statement}"
        references.append(reference(side.fact, span=(start, len(text)), result_id=side.result_id))
    start = len(text) + 1
    text += f" {_difference(kind, before, after, measure=left.fact.columns[0], wording=wording)}"
    references.append(
        Reference(
            key=f"{kind}_{right.fact.key}"[:60],
            span=[start, len(text)],
            result_id=right.result_id,
            how=wording.say("across.how", left=left.result, right=right.result),
            value=written(after - before),
            cells=references[1]["cells"],
            cell_count=references[1]["cell_count"],
        )
    )
    return text, references


def _values(kind: str, left: Side, right: Side) -> tuple[Decimal, Decimal]:
    """Returns the values of both sides. Raises `FactCallRefused`."""
    ours, theirs = left.fact, right.fact
    if kind not in _KINDS:
        raise FactCallRefused(f"over two results there are only {', '.join(_KINDS)}")
    if left.result_id == right.result_id:
        raise FactCallRefused("both sides are of one result")
    if ours.kind != theirs.kind or ours.kind not in _OF_ONE_VALUE:
        raise FactCallRefused(f"{ours.key} and {theirs.key} are no values of one kind")
    if _titles(ours.columns) != _titles(theirs.columns) or not ours.columns:
        raise FactCallRefused("the two measures do not have the same name")
    if list(ours.labels) != list(theirs.labels):
        raise FactCallRefused("the two are of different rows")
    if not isinstance(ours.value, Decimal) or not isinstance(theirs.value, Decimal):
        raise FactCallRefused("the two are no numbers")
    if kind == "same" and ours.value != theirs.value:
        raise FactCallRefused("the two are not the same")
    return ours.value, theirs.value


def _titles(columns: Sequence[str]) -> list[str]:
    return [title(each) for each in columns]


def _difference(kind: str, before: Decimal, after: Decimal, *, measure: str, wording: Wording) -> str:
    """Returns the sentence on the difference. It is in points between percentages."""
    if before == after:
        return wording.say("across.same")
    unit = unit_of(measure, [before, after])
    size = abs(after - before)
    is_share = unit in ("percent", "ratio")
    amount = Points(size * 100 if unit == "ratio" else size) if is_share else Amount(size, measure, unit)
    has_percent = kind == "change" and before > 0 and after >= 0 and not is_share
    percent = Percent((after - before) / before, signed=True) if has_percent else None
    name = "across.more" if after > before else "across.less"
    return wording.say(name, amount=amount, percent=percent)
