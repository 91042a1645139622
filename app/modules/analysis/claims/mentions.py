"""The labels, periods and measures that a text names, their places, and the rows they stand for."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from app.modules.analysis.claims.periods import PartialDate, WrittenPeriod, written_periods
from app.modules.analysis.claims.plain import Plain
from app.modules.analysis.claims.table import (
    NO_LABEL,
    PUNCTUATION,
    ClaimColumn,
    ClaimTable,
    Places,
    label_key,
    stem,
)

TIME = -1
"""The column number of a period, which may be spread over several columns."""

_WORD = re.compile(r"\w+(?:['’\-.&/]\w+)*")
_SPLIT = re.compile(r"[\s,]+")
_KEY_FIRST = re.compile(r"(?<![\w.,])(?P<digits>\d{1,9})[ -](?P<word>[^\W\d_]+)")
_CLOSING = tuple(").!?\"'")
_MOST_WORDS = 7
_LONGEST = 80
_FEW_LABELS = 400


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON = _words(
    "other others all total none unknown yes no the a an and or in of for to from by with on at is "
    "are was one two three first last top best most least more less average mean sum count this that "
    "as not be has have had so than but per each i we you it"
)
_FUNCTION = _COMMON | _words("may will can its their his her")
"""Labels that are also common words; a mention must be in bold, or capitalised like the label."""

_ORDINARY = _COMMON | _words(
    "new open closed high low medium active paid month year quarter week day name number male female "
    "single main international group store company team center centre street service services great "
    "good music"
)
_ALIASES = {
    "usa": (
        "united states",
        "us",
        "u.s.",
        "america",
        "united states of america",
        "vereinigte staaten",
        "the us",
    ),
    "united states": ("usa", "us", "u.s.", "america", "vereinigte staaten"),
    "united kingdom": ("uk", "u.k.", "britain", "great britain", "großbritannien", "vereinigtes königreich"),
    "germany": ("deutschland",),
    "france": ("frankreich",),
    "brazil": ("brasilien",),
    "canada": ("kanada",),
    "norway": ("norwegen",),
    "italy": ("italien",),
    "spain": ("spanien",),
    "austria": ("österreich",),
    "sweden": ("schweden",),
    "poland": ("polen",),
    "belgium": ("belgien",),
    "netherlands": ("niederlande",),
    "czech republic": ("tschechien", "tschechische republik", "czechia"),
    "hungary": ("ungarn",),
    "denmark": ("dänemark",),
    "finland": ("finnland",),
    "ireland": ("irland",),
    "india": ("indien",),
    "switzerland": ("schweiz",),
    "australia": ("australien",),
    "argentina": ("argentinien",),
    "japan": (),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelMention:
    """A label or a period in the text, and the rows that carry it."""

    start: int
    end: int
    column: int
    key: str
    rows: Places
    period: PartialDate | None = None
    loose: Places | None = None
    """Rows of the period in all years, if its year was inferred from the text around it."""

    @property
    def found(self) -> bool:
        return len(self.rows) > 0


@dataclass(frozen=True)
class MeasureMention:
    start: int
    end: int
    column: ClaimColumn


class Mentions:
    """The labels, periods and measures of the result that the text names, each sorted by place."""

    def __init__(self, plain: Plain, table: ClaimTable) -> None:
        self.text = plain.text
        self._bold = plain.bold
        self._table = table
        self._rows_of_period: dict[PartialDate, Places] = {}
        self._taken = bytearray(len(plain.text) + 1)
        self._words = [(found.start(), found.end()) for found in _WORD.finditer(plain.text)]
        labels = [*self._labels(), *self._keys(), *self._empty()]
        self.written = [
            each for each in written_periods(plain.text) if not any(self._taken[each.start : each.end])
        ]
        self.all = sorted([*labels, *self._periods()], key=lambda each: (each.start, each.column))
        self._starts = [each.start for each in self.all]
        self.measures = self._measures()
        self._measure_starts = [each.start for each in self.measures]

    def within(self, start: int, end: int) -> list[LabelMention]:
        return self.all[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def measures_within(self, start: int, end: int) -> list[MeasureMention]:
        return self.measures[
            bisect_left(self._measure_starts, start) : bisect_left(self._measure_starts, end)
        ]

    def is_taken(self, start: int, end: int) -> bool:
        """Return True if a label or a date overlaps this span."""
        return any(self._taken[start:end])

    @cached_property
    def _written(self) -> set[str]:
        """The word groups of the text as they are spelled."""
        found: set[str] = set()
        ends = [end for _, end in self._words]
        for at, (start, _) in enumerate(self._words):
            for end in ends[at : at + _MOST_WORDS]:
                if end - start > _LONGEST:
                    break
                found.add(self.text[start:end])
                if end in self._closed:
                    found.add(self.text[start : end + 1])
                if end in self._owning:
                    found.add(self.text[start : end - 2])
        return found

    @cached_property
    def _low(self) -> str:
        return self.text.lower() if len(self.text.lower()) == len(self.text) else self.text

    @cached_property
    def _groups(self) -> set[str]:
        """The word groups of the text in lower case."""
        return {each.lower() for each in self._written} if self._low != self.text else self._written

    @cached_property
    def _closed(self) -> set[int]:
        """The ends of words before a punctuation mark that may belong to a label."""
        return {end for _, end in self._words if self.text[end : end + 1] in _CLOSING}

    @cached_property
    def _owning(self) -> set[int]:
        return {end for _, end in self._words if self.text[end - 2 : end].lower() in ("'s", "’s")}

    @cached_property
    def _edges(self) -> tuple[set[int], set[int]]:
        """The offsets at which words begin, and those at which a label may end."""
        ends = {end for _, end in self._words}
        ends |= {end + 1 for end in self._closed} | {end - 2 for end in self._owning}
        return {start for start, _ in self._words}, ends

    def _spans(self, group: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of a word group, in upper or lower case."""
        if group not in self._groups:
            return
        starts, ends = self._edges
        start = self._low.find(group)
        while start >= 0:
            if start in starts and start + len(group) in ends:
                yield start, start + len(group)
            start = self._low.find(group, start + 1)

    def _labels(self) -> list[LabelMention]:
        # Columns with many labels are compared case-sensitively: lower-casing them took too long.
        spelled = self._table.spelled(self._written)
        matches: list[tuple[int, int, ClaimColumn, str]] = []
        for column in self._table.labels:
            among_many = spelled.get(column.index)
            distinct = column.labels if among_many is None else among_many
            lows = {cell.lower() for cell in distinct}
            for low in lows & self._groups:
                key = label_key(low)
                if not key.replace(".", "").replace(",", "").isdigit() or all(
                    str(each).isdigit() for each in column.sample
                ):
                    original = (
                        next(cell for cell in distinct if cell.lower() == low)
                        if key in _FUNCTION or len(key) == 1
                        else low
                    )
                    matches += [
                        (*span, column, key) for span in self._spans(low) if self._means(span, key, original)
                    ]
            if len(lows) <= _FEW_LABELS:
                matches += self._aliased(column, [label_key(low) for low in lows])
        matches.sort(key=lambda each: (each[0] - each[1], each[0]))
        mentions: list[LabelMention] = []
        spans_taken: set[tuple[int, int]] = set()
        wanted: dict[int, set[str]] = {}
        kept: list[tuple[int, int, ClaimColumn, str]] = []
        for start, end, column, key in matches:
            if (start, end) not in spans_taken and any(self._taken[start:end]):
                continue
            spans_taken.add((start, end))
            self._taken[start:end] = b"\1" * (end - start)
            wanted.setdefault(column.index, set()).add(key)
            kept.append((start, end, column, key))
        rows = {index: self._table.columns[index].rows_of(keys) for index, keys in wanted.items()}
        for start, end, column, key in kept:
            mentions.append(
                LabelMention(start=start, end=end, column=column.index, key=key, rows=rows[column.index][key])
            )
        return mentions

    def _means(self, span: tuple[int, int], key: str, original: str) -> bool:
        """Return True if the word means the label.

        A common word does so only when it is spelled like the label and is bold, or capitalised within a
        sentence.
        """
        start, end = span
        if key not in _FUNCTION and len(key) > 1:
            return True
        before = self.text[max(0, start - 2) : start]
        written = self.text[start:end] == original.strip(PUNCTUATION)
        return written and (
            (start, end) in self._bold
            or (original[:1].isupper() and before[-1:] == " " and before[:1] not in ".!?:•-")
        )

    def _aliased(self, column: ClaimColumn, keys: list[str]) -> list[tuple[int, int, ClaimColumn, str]]:
        found: list[tuple[int, int, ClaimColumn, str]] = []
        known = set(keys)
        split = {key: _SPLIT.split(key) for key in keys}
        counts = Counter(chain.from_iterable(map(set, split.values())))
        for key, words in split.items():
            others = [alias for alias in _ALIASES.get(key, ()) if alias not in known]
            if len(words) > 1 and len(key) > 6:
                others += [key + "s", *([key[:-1] + "ies"] if key.endswith("y") else [])]
            if len(words) == 1 and len(key) > 3:
                others += (
                    [key[:-1]]
                    if key.endswith("s") and key[:-1] not in known
                    else [key + "s", key + "es"]
                    if key + "s" not in known
                    else []
                )
            for alias in others:
                found += [
                    (*span, column, key)
                    for span in self._spans(alias)
                    if alias not in ("us", "america") or self.text[span[0] : span[1]][:1].isupper()
                ]
            if len(words) > 1:
                for word in words:
                    bare = word.strip(PUNCTUATION)
                    if (
                        len(bare) >= 4
                        and bare in self._groups
                        and counts[word] == 1
                        and bare not in _ORDINARY
                        and bare not in known
                        and not bare.isdigit()
                    ):
                        found += [
                            (*span, column, key)
                            for span in self._spans(bare)
                            if self.text[span[0]].isupper() and stem(bare) not in self._column_words
                        ]
        return found

    def _empty(self) -> list[LabelMention]:
        """ "(none)" stands for the rows without a label."""
        found: list[LabelMention] = []
        for place in re.finditer(re.escape(NO_LABEL), self.text):
            column = next((each for each in self._table.labels if each.nulls), None)
            if column is not None:
                rows = np.array([at for at, cell in enumerate(column.cells) if cell is None], dtype=np.intp)
                found.append(
                    LabelMention(
                        start=place.start(), end=place.end(), column=column.index, key=NO_LABEL, rows=rows
                    )
                )
        return found

    @cached_property
    def _column_words(self) -> set[str]:
        return {word for column in self._table.columns for word in (*column.words, *column.called)}

    def _keys(self) -> list[LabelMention]:
        """ "store 3", where a column of whole numbers is called store or store_id."""
        mentions: list[LabelMention] = []
        named = {
            word: column
            for column in reversed(self._table.columns)
            if column.is_number and column.type == "integer" and (column.is_key or not column.additive)
            for word in column.core
        }
        if not named:
            return []
        for (start, end), (after, to) in zip(self._words, self._words[1:], strict=False):
            column = named.get(stem(self.text[start:end]))
            digits = self.text[after:to]
            if column is None or not digits.isdigit() or self.text[end:after] not in (" ", " #"):
                continue
            rows = np.flatnonzero(column.values == float(digits))
            if len(rows):
                self._taken[after:to] = b"\1" * (to - after)
                mentions.append(LabelMention(start=after, end=to, column=column.index, key=digits, rows=rows))
        for found in _KEY_FIRST.finditer(self.text):
            column = named.get(stem(found["word"]))
            if column is None or any(self._taken[found.start() : found.end("digits")]):
                continue
            rows = np.flatnonzero(column.values == float(found["digits"]))
            if len(rows) and column.distinct == self._table.size:
                start, end = found.span("digits")
                self._taken[start:end] = b"\1" * (end - start)
                mentions.append(
                    LabelMention(start=start, end=end, column=column.index, key=found["digits"], rows=rows)
                )
        return mentions

    def _periods(self) -> list[LabelMention]:
        if not self._table.has_time:
            return []
        mentions: list[LabelMention] = []
        for at in range(len(self.written)):
            mention = self._period(at)
            if mention is None and self.written[at].month_end:
                written = self.written[at]
                month = written.period._replace(day=None)
                self.written[at] = written._replace(end=written.month_end, period=month, month_end=0)
                mention = self._period(at)
            if mention is not None:
                self._taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
                mentions.append(mention)
        return mentions

    def _period(self, at: int) -> LabelMention | None:
        """A period of the text; None if no row has it and it may be a number, or a month and a number."""
        written = self.written[at]
        period = self._with_year(at, written)
        if not len(self._rows_in(period)):
            period = written.period
        rows = self._rows_in(period)
        if not len(rows) and (written.doubtful or written.month_end):
            return None
        loose = None if written.period.year or period == written.period else self._rows_in(written.period)
        return LabelMention(
            start=written.start,
            end=written.end,
            column=TIME,
            key=str(period),
            rows=rows,
            period=period,
            loose=loose,
        )

    def _rows_in(self, period: PartialDate) -> Places:
        if period not in self._rows_of_period:
            self._rows_of_period[period] = self._table.rows_in(period)
        return self._rows_of_period[period]

    def _with_year(self, at: int, written: WrittenPeriod) -> PartialDate:
        """The period with the nearest year of the text: "January and March 2026", "in 2025 ... March"."""
        period = written.period
        if period.year is not None:
            return period
        near = [
            (abs(other.start - written.start), other.period.year)
            for other in self.written[max(0, at - 4) : at + 4]
            if other.period.year is not None
            and "\n\n" not in self.text[min(other.end, written.end) : max(other.start, written.start)]
        ]
        return period._replace(year=min(near)[1]) if near and min(near)[0] < 160 else period

    def _measures(self) -> list[MeasureMention]:
        named: dict[str, list[ClaimColumn]] = {}
        for column in self._table.measures:
            for word in column.called:
                named.setdefault(word, []).append(column)
        found: list[MeasureMention] = []
        for start, end in self._words:
            if not self._taken[start] and not (
                self._taken[min(end + 1, len(self._taken) - 1)] and self.text[end + 1 : end + 2].isdigit()
            ):
                columns = named.get(stem(self.text[start:end]), ())
                found += [MeasureMention(start, end, column) for column in columns]
        return found
