"""Judge counts with a condition: "only five countries exceed 100", "three were below the average"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.modules.analysis.claims.context import ClaimVerdict, Sentence, grouped
from app.modules.analysis.claims.mentions import TIME, LabelMention
from app.modules.analysis.claims.numbers import WrittenNumber
from app.modules.analysis.claims.table import ClaimColumn, Floats, figure
from graph.state import ClaimSource

_LINES = ("above", "at_least", "at_most", "below")
_AVERAGE = re.compile(
    r"\b(?P<over>above|over|exceed\w*|beat\w*|more than|higher than|better than|über|oberhalb)|"
    r"\b(?P<under>below|under|less than|fewer than|lower than|worse than|unter|unterhalb)",
    re.IGNORECASE,
)
_ITS_MEAN = re.compile(
    r"^[ -](?:the |this |that |its |dem |den |der )?(?:overall |monthly |yearly |daily )?"
    r"(?:average|mean|\w*durchschnitt\w*|mittelwert)",
    re.IGNORECASE,
)
_EXACTLY = re.compile(
    r"\b(?:exactly|just|only|tied (?:\w+ ){0,3}(?:at|with|on)|share|same|each|genau|nur|jeweils|are|"
    r"are all|have|has|had|sind|haben|offer|with|mit|je)\s+(?:\w+ (?=\$))?[$€£]?$",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"\b(?:the|these|those|all|top|bottom|first|last|next|other|remaining|die|diese|alle|ersten|letzten|"
    r"übrigen|rank|number|no\.|platz)[ -](?:\w+ )?$",
    re.IGNORECASE,
)
_STRESSED = re.compile(r"\b(?:only|just|exactly|precisely|nur|genau|lediglich)\s+$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;:]|, (?:while|whereas|but|and|with|während|aber)\b")
_NEGATIVE = re.compile(r"\b(?:negative\w*|made a loss|losses|negativ\w*)\b", re.IGNORECASE)
_POSITIVE = re.compile(r"\b(?:positive\w*|positiv\w*)\b", re.IGNORECASE)
_GRAINS: dict[str, tuple[str, ...]] = {
    "year": ("year",),
    "quarter": ("year", "quarter"),
    "month": ("year", "month"),
    "day": ("year", "month", "day"),
}
_FAR = 160


@dataclass(frozen=True)
class CountCondition:
    """The condition of a count: a measure above or below a line, or equal to a value.

    `values` are the readings of the line; empty for the mean. `number` is the line's number in the text.
    """

    words: str
    test: str
    """`>`, `<` or `=`; a value on the line may count for either side."""
    values: tuple[float, ...]
    number: WrittenNumber | None = None


def condition_of(number: WrittenNumber, sentence: Sentence) -> CountCondition | None:
    """Parse the condition that follows a count; None if there is none or it is not understood."""
    before = sentence.between(max(sentence.start, number.start - 18), number.start)
    if _IDLE.search(before) and not re.search(r"\bof (?:the |these )?$", before):
        return None
    if number.spoken and number.value <= 1 and not _STRESSED.search(before):
        return None
    following = [each for each in sentence.numbers if number.end <= each.start < number.end + _FAR][:3]
    text = sentence.between(number.end, min(number.end + _FAR, sentence.end))
    end = _CLAUSE_END.search(text)
    text = text[: end.start()] if end else text
    stop = number.end + len(text)
    for each in following:
        if each.start >= stop:
            break
        gap = sentence.between(number.end, each.start)
        if each.kind == "plain" and each.bound in _LINES and _is_line(gap):
            test = ">" if each.bound in ("above", "at_least") else "<"
            return CountCondition(_line(each, test), test, _readings(each), number=each)
        if (
            each.kind == "plain"
            and each.bound == "exact"
            and _EXACTLY.search(gap)
            and len(gap) < 60
            and _is_plain(sentence, number, each)
        ):
            return CountCondition(f"of {figure(each.value)}", "=", _readings(each), number=each)
        if each.kind != "plain" and each.kind != "ordinal":
            return None
    for found in _AVERAGE.finditer(text):
        if _ITS_MEAN.match(text[found.end() :]):
            over = found["over"] is not None
            return CountCondition(f"{'above' if over else 'below'} the mean", ">" if over else "<", ())
    if _NEGATIVE.search(text):
        return CountCondition("below 0", "<", (0.0,))
    if _POSITIVE.search(text):
        return CountCondition("above 0", ">", (0.0,))
    return None


def _is_plain(sentence: Sentence, number: WrittenNumber, other: WrittenNumber) -> bool:
    """Return True if neither a label nor a comma stands between a count and a value."""
    named = sentence.mentions.within(number.end, other.start)
    return not named and "," not in sentence.between(number.end, other.start)


def _is_line(gap: str) -> bool:
    """Return True if the words between a count and a line are about each thing, not their sum."""
    return len(gap) < 80 and not re.search(r"\b(?:account|contribut|together|combined|total)", gap)


def _line(number: WrittenNumber, test: str) -> str:
    return f"{'above' if test == '>' else 'below'} {figure(number.value)}"


def _readings(number: WrittenNumber) -> tuple[float, ...]:
    return tuple(value for value, _ in number.readings)


def judge_condition(
    number: WrittenNumber, sentence: Sentence, noun: "ClaimColumn | str | None"
) -> ClaimVerdict | None:
    """Judge a count by the rows or groups that fulfil its condition; None without a condition."""
    condition = condition_of(number, sentence)
    if condition is None:
        return None
    counted: list[tuple[int, str, ClaimColumn, int]] = []
    for column in _measures(sentence, condition):
        for values in _groupings(sentence, column, noun, number=number):
            for many in _fulfilled(values, condition):
                if condition.number is not None and (condition.test != "=" or many):
                    sentence.lines.add(condition.number.start)
                if number.fits(many):
                    how = f"{many} of {len(values)} with {column.title} {condition.words}"
                    return ClaimVerdict("checked", ClaimSource(column=column.name, row=None, how=how))
                counted.append((many, condition.words, column, len(values)))
    if not counted or number.bound != "exact":
        return None
    if condition.test == "=" and not _is_met(counted):
        return None
    many, words, column, size = next((each for each in counted if each[0]), counted[0])
    how = f"{many} of {size} have {column.title} {words}"
    return ClaimVerdict("contradicted", ClaimSource(column=column.name, row=None, how=how))


def _is_met(counted: list[tuple[int, str, ClaimColumn, int]]) -> bool:
    """Return True if any row has the value; otherwise the value is wrong, and judged by itself."""
    return any(many for many, *_ in counted)


def _measures(sentence: Sentence, condition: CountCondition) -> Sequence[ClaimColumn]:
    line = condition.number
    if line is not None:
        aged = aged_columns(line, sentence)
        if aged:
            return aged
    return sentence.measured or (
        sentence.measures() if condition.test != "=" else list(sentence.table.measures)
    )


def aged_columns(number: WrittenNumber, sentence: Sentence) -> list[ClaimColumn]:
    """The age columns if the number is an age ("43 years old", "older than 48"), else none."""
    around = sentence.between(max(sentence.start, number.start - 24), min(sentence.end, number.end + 24))
    if not re.search(
        r"\b(?:older|younger|aged|years? old|years of age|jahre alt|älter|jünger)\b", around, re.IGNORECASE
    ):
        return []
    return [each for each in sentence.table.measures if {"age", "alter"} & {*each.words}]


def _groupings(
    sentence: Sentence, column: ClaimColumn, noun: "ClaimColumn | str | None", *, number: WrittenNumber
) -> Iterator[Floats]:
    """Yield the values of the counted things: rows, or groups by a label or a unit of time."""
    before = [
        each
        for mentions in sentence.columns.values()
        for each in mentions
        if each.end <= number.start or each.column == TIME
    ]
    withins: list[LabelMention | None] = [None, *before[:3]]
    for within in withins:
        rows = None if within is None else within.rows
        if isinstance(noun, ClaimColumn) and not noun.is_time and noun.distinct < sentence.table.size:
            yield np.array(list(grouped(sentence.table, noun.index, column, within=rows).values()))
            continue
        unit = noun if isinstance(noun, str) else noun.words[-1] if noun is not None and noun.words else ""
        if sentence.table.has_time and unit in _GRAINS:
            groups = grouped(sentence.table, TIME, column, within=rows, grain=_GRAINS[unit])
            if len(groups) > 1:
                yield np.array(list(groups.values()))
                continue
        values = column.values if rows is None else column.values[rows]
        yield values[~np.isnan(values)]
        if noun is None:
            for label in sentence.table.labels[:2]:
                if label.distinct < sentence.table.size:
                    yield np.array(list(grouped(sentence.table, label.index, column, within=rows).values()))


def _fulfilled(values: Floats, condition: CountCondition) -> Iterator[int]:
    values = values[~np.isnan(values)]
    if not len(values):
        return
    lines = condition.values or (float(values.mean()),)
    for line in lines:
        slack = 1e-9 * max(1.0, abs(line))
        if condition.test == "=":
            yield int((np.abs(values - line) <= max(slack, _half(condition))).sum())
            continue
        bound = condition.number.bound if condition.number is not None else ""
        if condition.test == ">":
            yield int((values >= line - slack if bound == "at_least" else values > line + slack).sum())
        else:
            yield int((values < line - slack).sum())
            if bound == "at_most":
                yield int((values <= line + slack).sum())


def _half(condition: CountCondition) -> float:
    return 0.5 * condition.number.readings[0][1] if condition.number is not None else 0.0


def is_difference(number: WrittenNumber, sentence: Sentence) -> bool:
    """Return True if the text calls the number a difference: "by 12", "12 more", "a gap of 12"."""
    left = sentence.left(number.start)
    right = sentence.right(number.end)
    return bool(_DIFFERS_BEFORE.search(left) or _DIFFERS_AFTER.match(right))


_DIFFERS_BEFORE = re.compile(
    r"\b(?:by|um|up|down|added|gained|lost|shed|another|additional|plus|minus|improved|increased|"
    r"decreased|grew|rose|fell|dropped|jumped|climbed|zusätzlich\w*)\s+"
    r"(?:(?:only|just|about|nearly|almost|over|roughly|around|more than|some|rund|etwa|nur|fast|a|an) )*"
    r"[$€£]?$|"
    r"\b(?:differ\w*|gaps?|lead (?:of|over)|margins?|increase|decrease|rise|drop|gain|loss|decline|growth|"
    r"change|swing|spread|jump|distance|differenz|abstand|vorsprung|unterschied\w*|zuwachs|rückgang|"
    r"anstieg)\b(?! from)[^;.]{0,70}$",
    re.IGNORECASE,
)
_DIFFERS_AFTER = re.compile(
    r"\s*(?:[^\W\d_]+\s+){0,2}(?:more|less|fewer|higher|lower|above|below|ahead|behind|apart|additional|older|"
    r"younger|longer|shorter|larger|bigger|smaller|than|short|mehr|weniger|höher|niedriger|vorsprung|"
    r"unterschied|abstand)\b",
    re.IGNORECASE,
)
