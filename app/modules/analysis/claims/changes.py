"""The pairs of values that a sentence may compare: two periods, two labels, or one and its neighbours."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np

from app.modules.analysis.claims import cues
from app.modules.analysis.claims.context import Change, Sentence, grouped, ordered, period_key
from app.modules.analysis.claims.mentions import TIME, LabelMention
from app.modules.analysis.claims.numbers import WrittenNumber
from app.modules.analysis.claims.table import ClaimColumn, Places

_MOST = 4
_MOST_CHANGES = 120
_PAIR = 2
_CLOSE = 48
_MANY_LABELS = 2_000
_GRAINS = (("year",), ("year", "quarter"), ("year", "month"))


def changes(
    sentence: Sentence, column: ClaimColumn, named: tuple[LabelMention, ...], *, number: WrittenNumber
) -> Iterator[Change]:
    """The changes that a number may describe: pairs named in the text first, then implied ones."""
    found = iter(_known(sentence, column, named))
    near = sentence.between(number.end, min(sentence.end, number.end + 30))
    if not _YEAR_BEFORE.search(near) and not _STEP_BEFORE.search(near):
        near = sentence.left(number.start, 40) + near
    if (pair := _between(sentence, number)) is not None:
        return (each for each in found if set(each.names) == pair)
    if (anchor := _anchor(sentence, number)) is not None:
        here = {each.key for mentions in sentence.columns.values() for each in mentions}
        return (
            turned
            for each in found
            if ((not each.explicit and not each.names) or {*each.names} <= here or each.timed)
            and (turned := _against(each, anchor)) is not None
        )
    if sentence.table.has_time and _YEAR_BEFORE.search(near):
        return (each for each in found if each.kind == "year" or each.explicit or not each.timed)
    if sentence.table.has_time and _is_of_period(sentence, number):
        return (each for each in found if each.kind or not each.timed)
    if sentence.table.has_time and _STEP_BEFORE.search(near):
        return (each for each in found if each.kind == "step" or each.explicit or not each.timed)
    return found


def _known(sentence: Sentence, column: ClaimColumn, named: tuple[LabelMention, ...]) -> list[Change]:
    """All changes of a column, cached: they are the same for all numbers of a sentence."""
    key = (
        column.index,
        named,
        tuple(each for mentions in sentence.columns.values() for each in mentions),
        tuple(sentence.before.values()),
        tuple(each.index for each in sentence.measured),
        cues.MEAN.search(sentence.text) is not None,
    )
    if key not in sentence.known_changes:
        sentence.known_changes[key] = list(islice(_all(sentence, column, named), _MOST_CHANGES))
    return sentence.known_changes[key]


_YEAR_BEFORE = re.compile(
    r"\b(?:a|one) year (?:earlier|ago|before)|year[- ](?:over|on)[- ]year|\byoy\b|"
    r"same (?:month|quarter|period)|(?:prior|previous|last)[- ]year|vorjahr\w*",
    re.IGNORECASE,
)
_STEP_BEFORE = re.compile(
    r"\b(?:previous|prior|preceding) (?:month|quarter|day|week)|month[- ](?:over|"
    r"on)[- ]month|\bmom\b|vormonat\w*|vorquartal\w*|quarter[- ](?:over|on)[- "
    r"]quarter",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"\s*(?:\w+\s+){0,3}?(?:than|above|below|over|ahead of|behind|up on|down on|"
    r"down from|up from|from|vs\.?|versus|compared (?:to|with)|against|as|wie|of|"
    r"gegenüber|als|that of)\s+(?:in |the |that of |that in |what |dem |im |the "
    r"same )*$",
    re.IGNORECASE,
)


def _is_of_period(sentence: Sentence, number: WrittenNumber) -> bool:
    """ "Declined 6.4 % in 2025": from the year before."""
    after = next((each for each in sentence.columns.get(TIME, ()) if each.start >= number.end), None)
    beside = after is not None and re.fullmatch(
        r" (?:in|im|im Jahr) ", sentence.between(number.end, after.start)
    )
    return bool(beside) and moves(sentence, number) != 0


def _against(change: Change, anchor: str) -> Change | None:
    """The change, turned so that it starts at the anchor; None if the anchor is not one of its two."""
    if change.names[:1] == (anchor,):
        return change._replace(anchored=True)
    if change.timed and change.names[1:] == (anchor,):
        return change._replace(start=change.end, end=change.start, anchored=True)
    return None


def _between(sentence: Sentence, number: WrittenNumber) -> set[str] | None:
    """The keys of A and B in "the gap between A and B"; None without such a phrase."""
    found = re.search(r"\b(?:between|zwischen)\b", sentence.text, re.IGNORECASE)
    if found is None:
        return None
    at = sentence.start + found.end()
    for mentions in sentence.columns.values():
        named = [each for each in mentions if at <= each.start < at + _CLOSE]
        if len(named) >= _PAIR and len(sentence.between(named[0].end, named[1].start)) <= _PAIR * 6:
            return {named[0].key, named[1].key}
    return None


def _anchor(sentence: Sentence, number: WrittenNumber) -> str | None:
    """The key of the mention that a number is measured against: November in "35 % above November"."""
    for mentions in sentence.columns.values():
        after = next((each for each in mentions if each.start >= number.end), None)
        if (
            after is not None
            and after.start - number.end < _CLOSE
            and len({each.key for each in mentions}) > 1
            and (
                _ANCHOR.fullmatch(sentence.between(number.end, after.start))
                or (
                    number.kind == "times"
                    and re.fullmatch(r" (?:the |that of )?", sentence.between(number.end, after.start))
                )
            )
        ):
            return after.key
    return None


def moves(sentence: Sentence, number: WrittenNumber) -> int:
    """The direction that the text gives a number: 1 up, -1 down, 0 none."""
    if number.start not in sentence.moved:
        sentence.moved[number.start] = _moves(sentence, number)
    return sentence.moved[number.start]


def _moves(sentence: Sentence, number: WrittenNumber) -> int:
    left = sentence.left(number.start)
    right = sentence.right(number.end, 25)
    up = list(cues.UP.finditer(left)) or list(cues.UP.finditer(right))
    down = list(cues.DOWN.finditer(left)) or list(cues.DOWN.finditer(right))
    if cues.UP.search(left) or cues.DOWN.search(left):
        up = list(cues.UP.finditer(left))
        down = list(cues.DOWN.finditer(left))
    if not up and not down:
        return 0
    if up and down:
        return 1 if up[-1].start() > down[-1].start() else -1
    return 1 if up else -1


def _all(sentence: Sentence, column: ClaimColumn, named: tuple[LabelMention, ...]) -> Iterator[Change]:
    label_columns = [index for index in sentence.columns if index != TIME]
    labelled = [each for each in named if each.column != TIME]
    base = labelled[0].rows if labelled else None
    yield from _periods(sentence, column, base)
    if base is not None and (len(label_columns) > 0):
        yield from (
            _periods(sentence, column, None) if sentence.table.has_time and len(labelled[0].rows) == 1 else ()
        )
    for index in dict.fromkeys([*label_columns, *(each.column for each in labelled)]):
        yield from _labels(sentence, column, index, owners=[each for each in named if each.column == index])
    yield from _measures(sentence, named)
    if not label_columns and not labelled:
        yield from _outstanding(sentence, column)


def _periods(sentence: Sentence, column: ClaimColumn, base: Places | None) -> Iterator[Change]:
    if not sentence.table.has_time:
        return
    mentioned = sentence.columns.get(TIME, [])[:6]
    known = [(each, rows) for each in mentioned if len(rows := _within(each.rows, base))]
    known.sort(key=lambda each: _when(sentence, each[1]))
    yield from _between_named(sentence, column, known)
    mentions = mentioned or ([sentence.before[TIME]] if TIME in sentence.before else [])
    for grain, series in series_of(sentence, column, base):
        if len(series) > 1:
            course = _Course(column, [key for key, _ in series], [value for _, value in series])
            wanted = {period_key(each.period, grain) for each in mentions if each.period is not None}
            yield from course.around([at for at, key in enumerate(course.keys) if key in wanted][:6])
            if not mentioned:
                yield from course.whole()
    for each, rows in known[:2]:
        if len(rows) > 1:
            start = column.at(int(rows[0]))
            end = column.at(int(rows[-1]))
            yield Change(start, end, column.name, how=f"within {_text(sentence, each)}", timed=True)


def _between_named(
    sentence: Sentence, column: ClaimColumn, known: Sequence[tuple[LabelMention, Places]]
) -> Iterator[Change]:
    for place, (one, rows) in enumerate(known):
        for other, others in known[place + 1 : place + 1 + _MOST]:
            if one.key != other.key:
                yield Change(
                    sentence.value(rows, column),
                    sentence.value(others, column),
                    column.name,
                    how=f"{_text(sentence, one)} to {_text(sentence, other)}",
                    timed=True,
                    explicit=len(known) == _PAIR,
                    names=(one.key, other.key),
                )


@dataclass(frozen=True)
class _Course:
    """A measure over time at one grain."""

    column: ClaimColumn
    keys: Sequence[tuple[object, ...]]
    values: Sequence[float]

    def around(self, places: Sequence[int]) -> Iterator[Change]:
        """Changes between each place's period and its neighbours, the ends, the extremes, a year before."""
        last = len(self.keys) - 1
        high, low = self._extremes()
        for at in places:
            year = _year_before(self.keys, at)
            for other in dict.fromkeys((at - 1, 0, 1, last, last - 1, at + 1, year, high, low)):
                kind = "year" if other == year else "step" if other == at - 1 else ""
                yield from self._step(min(at, other), max(at, other), kind)

    def whole(self) -> Iterator[Change]:
        """Changes over the whole course, also without its first or last period, which may be incomplete."""
        last = len(self.keys) - 1
        high, low = self._extremes()
        pairs = (0, last), (last - 1, last), (1, last), (0, last - 1), (1, last - 1), (low, high), (high, low)
        for early, late in dict.fromkeys(pairs):
            yield from self._step(early, late, "step" if (early, late) == (last - 1, last) else "")

    def _extremes(self) -> tuple[int, int]:
        return self.values.index(max(self.values)), self.values.index(min(self.values))

    def _step(self, early: int, late: int, kind: str) -> Iterator[Change]:
        if early != late and min(early, late) >= 0 and max(early, late) < len(self.keys):
            how = f"{_said(self.keys[early])} to {_said(self.keys[late])}"
            yield Change(
                self.values[early], self.values[late], self.column.name, how=how, timed=True, kind=kind
            )


def _grains(sentence: Sentence) -> Iterator[tuple[str, ...]]:
    periods = sentence.table.time_rows
    sample = next((each for each in periods if each is not None), None)
    if sample is None:
        return
    own = sample.grain()
    finest = ("year", "month", "day") if "month" in own else ("year", "quarter")
    yield tuple(each for each in finest if each in own)
    for grain in _GRAINS:
        if set(grain) < set(own):
            yield grain


def _series(
    sentence: Sentence, column: ClaimColumn, base: Places | None, *, grain: tuple[str, ...]
) -> list[tuple[tuple[object, ...], float]]:
    key = (column.index, None if base is None else (len(base), base.tobytes()[:4_000]), grain)
    cache = sentence.table.cache
    if key not in cache:
        found = grouped(sentence.table, TIME, column, within=base, grain=grain)
        cache[key] = sorted(
            ((k, v) for k, v in found.items() if isinstance(k, tuple) and None not in k),
            key=lambda each: each[0],
        )
    return cache[key]


def series_of(
    sentence: Sentence, column: ClaimColumn, base: Places | None
) -> Iterator[tuple[tuple[str, ...], list[tuple[tuple[object, ...], float]]]]:
    """The course of a measure at each grain of time, the finest first."""
    for grain in _grains(sentence):
        yield grain, _series(sentence, column, base, grain=grain)


def _year_before(keys: Sequence[tuple[object, ...]], at: int) -> int:
    key = keys[at]
    before = (key[0] - 1, *key[1:]) if isinstance(key[0], int) else key
    return keys.index(before) if before in keys else -1


def _labels(
    sentence: Sentence, column: ClaimColumn, index: int, *, owners: list[LabelMention]
) -> Iterator[Change]:
    """Changes between two labels of a sentence, then between one label and its neighbours by rank."""
    mentions = sentence.columns.get(index, [])
    own = owners[0] if owners else mentions[0]
    before = sentence.before.get(index)
    others = [each for each in ([*mentions, before] if before else mentions) if each.key != own.key]
    timed = sentence.columns.get(TIME) or ([sentence.before[TIME]] if TIME in sentence.before else [])
    for within in [each.rows for each in timed[:2]] + [None]:
        mine = _within(own.rows, within)
        if not len(mine):
            continue
        value = sentence.value(mine, column)
        seen = [(other, rows) for other in others[:6] if len(rows := _within(other.rows, within))]
        for other, rows in seen:
            how = f"{_text(sentence, other)} to {_text(sentence, own)}"
            names = (other.key, own.key)
            yield Change(
                sentence.value(rows, column),
                value,
                column.name,
                how=how,
                explicit=len(seen) == 1,
                names=names,
            )
            yield Change(value, sentence.value(rows, column), column.name, how=how, names=names[::-1])
        for (one, rows), (two, more) in pairwise(seen):
            if one.key == two.key:
                continue
            yield Change(
                sentence.value(rows, column),
                sentence.value(more, column),
                column.name,
                how=f"{_text(sentence, one)} to {_text(sentence, two)}",
                names=(one.key, two.key),
            )
        if sentence.table.columns[index].distinct > _MANY_LABELS:
            continue
        groups = ordered(sentence.table, index, column, within=within)
        at = next((at for at, each in enumerate(groups) if each[0] == own.key), None)
        if at is None or len(groups) < 2:
            continue
        mean = sum(each[1] for each in groups) / len(groups)
        if not others or cues.MEAN.search(sentence.text):
            yield Change(mean, value, column.name, how=f"the mean to {groups[at][0]}")
        if not others:
            for place in dict.fromkeys((at + 1, at - 1, 0, len(groups) - 1)):
                if 0 <= place < len(groups) and place != at:
                    how = f"{groups[place][0]} to {groups[at][0]}"
                    yield Change(groups[place][1], value, column.name, how=how)
                    yield Change(value, groups[place][1], column.name, how=how)


def _measures(sentence: Sentence, named: tuple[LabelMention, ...]) -> Iterator[Change]:
    """Changes between two measures of the same rows, such as actual and budget."""
    measures = sentence.measured if len(sentence.measured) > 1 else sentence.table.measures
    if not 1 < len(measures) <= _MOST or len(sentence.measured) < 2:
        return
    rows = named[0].rows if named else np.arange(sentence.table.size)
    for one in measures:
        for other in measures:
            if one is not other:
                yield Change(
                    sentence.value(rows, one),
                    sentence.value(rows, other),
                    one.name,
                    how=f"{one.title} to {other.title}",
                )


def _outstanding(sentence: Sentence, column: ClaimColumn) -> Iterator[Change]:
    """Changes between leading and trailing labels, for sentences that name no label."""
    for label in sentence.table.labels[:2]:
        groups = ordered(sentence.table, label.index, column, within=None)
        if len(groups) > 1:
            for one, other in ((0, 1), (0, len(groups) - 1), (1, 2), (len(groups) - 2, len(groups) - 1)):
                if 0 <= one < len(groups) and 0 <= other < len(groups) and one != other:
                    how = f"{groups[other][0]} to {groups[one][0]}"
                    yield Change(groups[other][1], groups[one][1], column.name, how=how)
                    yield Change(groups[one][1], groups[other][1], column.name, how=how)


def _within(rows: Places, base: Places | None) -> Places:
    return rows if base is None else np.intersect1d(rows, base, assume_unique=True)


def _when(sentence: Sentence, rows: Places) -> tuple[int, ...]:
    period = sentence.table.time_rows[int(rows[0])]
    return tuple(each or 0 for each in period) if period is not None else ()


def _text(sentence: Sentence, mention: LabelMention) -> str:
    return sentence.between(mention.start, mention.end)


@lru_cache(maxsize=4_096)
def _said(key: tuple[object, ...]) -> str:
    return "-".join(f"{each:02d}" if isinstance(each, int) else str(each) for each in key)
