"""A sentence of an analysis: its mentions and numbers, and the values of the rows it is about."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np

from app.modules.analysis.claims import cues
from app.modules.analysis.claims.mentions import TIME, LabelMention, Mentions
from app.modules.analysis.claims.numbers import WrittenNumber
from app.modules.analysis.claims.periods import PartialDate
from app.modules.analysis.claims.table import ClaimColumn, ClaimTable, Floats, OrderedValues, Places
from graph.state import ClaimSource, ClaimStatus

_FOLLOWS = re.compile(
    r"^[^.;:,(\d]{0,32}?\b(?:for|in|from|by|of|at|on|im|in|für|von|aus|bei|during|"
    r"since|seit|was|is|were|belongs? to|went to|goes to|came from|am|to)\s+"
    r"(?:the |der |die |den |jahr |monat |quartal |month of |category |year )?$",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[;—]|\s[–-]\s|, (?:while|whereas|but|with|whilst|während|aber|compared|followed|and then)\b|\. "
)
_ANOTHER = re.compile(
    r"^[ ,]*(?:and|und|then|but|before)\b (?:\w+ )*?(?:hit|f[ea]ll\w*|rose|dropp\w*|reach\w*|had|was|were|"
    r"grew|fiel\w*|stieg\w*|sank\w*|erreicht\w*|hatte\w*)\b",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"[\s,]*(?:and|und|&|to|auf|bis)?[\s,]*\W?")
_AGAINST = re.compile(r"\d[\w.,]* (?:to|versus|vs\.?|against|zu|gegen) \W?\d")
_MOST_MENTIONS = 60
_A_FIGURE = 10
_A_COUNT = 1_000
_SHORT_GAP = 24


@dataclass(frozen=True)
class ClaimVerdict:
    status: ClaimStatus
    source: ClaimSource | None = None


JudgedSpan = tuple[int, int, ClaimVerdict]
"""Start and end of a claim in the text, and its verdict."""


@dataclass(frozen=True)
class ClaimScope:
    """Rows that a claim is about. `named` are the mentions that chose them."""

    rows: Places
    named: tuple[LabelMention, ...] = ()


class Change(NamedTuple):
    """A change from one value to another. `explicit`: the text names both; `timed`: they are two periods."""

    start: float
    end: float
    column: str
    how: str
    timed: bool = False
    explicit: bool = False
    anchored: bool = False
    """The text says which of the two the other is measured against."""
    kind: str = ""
    """`year`: against the same period a year before; `step`: against the period before; else empty."""
    names: tuple[str, ...] = ()
    """Keys of the two mentions; empty if the text names neither."""

    def source(self, kind: str) -> ClaimSource:
        return ClaimSource(column=self.column, row=None, how=f"{kind}, {self.how}")


@dataclass(kw_only=True)
class Sentence:
    """A sentence: `here` are its mentions, `before` the last earlier mention of each column."""

    start: int
    end: int
    text: str
    table: ClaimTable
    mentions: Mentions
    here: list[LabelMention]
    before: dict[int, LabelMention] = field(default_factory=dict)
    topic: dict[int, LabelMention] = field(default_factory=dict)
    """The first mention in the last earlier sentence that named one, by column."""
    measured_before: list[ClaimColumn] = field(default_factory=list)
    numbers: list[WrittenNumber] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    """Starts of the numbers that are a limit in a count's condition: 100 in "five exceed 100"."""
    moved: dict[int, int] = field(default_factory=dict)
    """A cache: the direction of a number (1, -1 or 0) by its start."""
    known_changes: dict[object, list[Change]] = field(default_factory=dict)
    """A cache, shared by all sentences of a text."""
    _lefts: dict[tuple[int, int], str] = field(default_factory=dict)
    _rights: dict[tuple[int, int], str] = field(default_factory=dict)

    @cached_property
    def measured(self) -> list[ClaimColumn]:
        """The measures that the sentence names, in order."""
        return list(
            dict.fromkeys(each.column for each in self.mentions.measures_within(self.start, self.end))
        )

    @cached_property
    def columns(self) -> dict[int, list[LabelMention]]:
        """The mentions that are in the rows, by column."""
        found: dict[int, list[LabelMention]] = {}
        for each in self.here[:_MOST_MENTIONS]:
            if each.found:
                found.setdefault(each.column, []).append(each)
        return found

    @cached_property
    def cuts(self) -> list[int]:
        """The offsets at which clauses begin, and the end of the sentence."""
        return [self.start, *(self.start + each.end() for each in _BREAK.finditer(self.text)), self.end]

    def clause(self, at: int) -> tuple[int, int]:
        after = bisect_right(self.cuts, at)
        return self.cuts[max(0, after - 1)], self.cuts[after] if after < len(self.cuts) else self.end

    @cached_property
    def _edges(self) -> tuple[list[int], list[int]]:
        return [each.start for each in self.numbers], [each.end for each in self.numbers]

    def left(self, at: int, most: int = 60) -> str:
        """The text before `at`, back to the previous number or clause; at most `most` characters."""
        if (at, most) not in self._lefts:
            start, _ = self.clause(at)
            before = bisect_right(self._edges[1], at)
            while before and self._is_small_count(self.numbers[before - 1], at):
                before -= 1
            edge = self._edges[1][before - 1] if before else start
            self._lefts[at, most] = self.mentions.text[max(start, at - most, edge) : at]
        return self._lefts[at, most]

    def _is_small_count(self, number: WrittenNumber, at: int) -> bool:
        """ "The total of the 12 shown, 533": the 12 does not separate "total" from the 533."""
        gap = self.between(number.end, at)
        small = (
            number.kind == "plain" and not number.currency and number.value == int(number.value) < _A_COUNT
        )
        return small and len(gap) <= _SHORT_GAP and re.fullmatch(r" (?:\w+ ?){1,2},? ?", gap) is not None

    def right(self, at: int, most: int = 45) -> str:
        """The text after `at`, up to the next number or clause; at most `most` characters."""
        if (at, most) not in self._rights:
            _, end = self.clause(at)
            after = bisect_left(self._edges[0], at)
            edge = self._edges[0][after] if after < len(self._edges[0]) else end
            self._rights[at, most] = self.mentions.text[at : min(end, at + most, edge)]
        return self._rights[at, most]

    def between(self, start: int, end: int) -> str:
        return self.mentions.text[start:end]

    # The rows that a number belongs to

    def scopes(self, number: WrittenNumber) -> list[ClaimScope]:
        """The rows that a number may be about, the likeliest first; empty when nothing is named."""
        chosen = [
            self._owners(number, mentions)
            for mentions in self.columns.values()
            if not self._is_later(number, mentions)
        ]
        scopes = [*self._months_of_years(chosen), *self._crossed(chosen)]
        for mentions in chosen:
            scopes += [
                ClaimScope(each.loose[at : at + 1], (each,))
                for each in mentions
                if each.loose is not None
                for at in range(min(6, len(each.loose)))
            ]
        if scopes and len(scopes[0].rows) == 1:
            return scopes
        inherited = [
            [each, *([self.topic[column]] if column in self.topic and self.topic[column] is not each else [])]
            for column, each in self.before.items()
            if column not in self.columns
        ]
        if inherited:
            scopes += list(self._crossed([*chosen, *inherited], apart=not chosen))
        return scopes

    def _is_later(self, number: WrittenNumber, mentions: list[LabelMention]) -> bool:
        """Return True if a column is first named only after the next number or a comma.

        The number then belongs to another column of the sentence.
        """
        first = mentions[0].start
        following = bisect_left(self._edges[0], number.end)
        return (
            len(self.columns) > 1
            and first >= number.end
            and (
                (following < len(self._edges[0]) and self._edges[0][following] < first)
                or re.search(r"[,;(–—]", self.between(number.end, first)) is not None
            )
        )

    def _months_of_years(self, chosen: Sequence[Sequence[LabelMention]]) -> Iterator[ClaimScope]:
        """ "Every December (1,259 in 2024, 1,504 in 2025)": the December of each year."""
        for owners in chosen:
            period = owners[0].period
            if period is None or period.grain() != ("year",):
                continue
            for other in self.columns[owners[0].column][:6]:
                if other.loose is None:
                    continue
                rows = np.intersect1d(owners[0].rows, other.loose)
                if len(rows):
                    yield ClaimScope(rows, (other, owners[0]))

    def lists(self, mentions: list[LabelMention]) -> list[list[LabelMention]]:
        """The runs of mentions that form a list, "A, B and C"; then all mentions together."""
        runs: list[list[LabelMention]] = [mentions[:1]]
        for one, other in pairwise(mentions):
            if cues.LIST_GLUE.fullmatch(self.between(one.end, other.start)):
                runs[-1].append(other)
            else:
                runs.append([other])
        return [each for each in [*runs, mentions] if len(each) > 1]

    def _crossed(
        self, chosen: Sequence[Sequence[LabelMention]], *, apart: bool = True
    ) -> Iterator[ClaimScope]:
        if not chosen:
            return
        options: list[tuple[LabelMention, ...]] = [()]
        for owners in chosen[:4]:
            options = [(*option, owner) for option in options for owner in owners][:8]
        for option in options:
            rows = option[0].rows
            for other in option[1:]:
                rows = np.intersect1d(rows, other.rows, assume_unique=True)
            if len(rows):
                yield ClaimScope(rows, option)
            elif apart:
                yield from (ClaimScope(each.rows, (each,)) for each in option)

    def _owners(self, number: WrittenNumber, mentions: list[LabelMention]) -> list[LabelMention]:
        """The mentions of one column that a number can belong to, the likeliest first."""
        inherited = [
            each
            for each in (self.topic.get(mentions[0].column), self.before.get(mentions[0].column))
            if each is not None
        ]
        if len(mentions) == 1:
            late = mentions[0].start >= number.end and inherited
            if (
                not late
                or _FOLLOWS.match(self.between(number.end, mentions[0].start))
                or self._adjacent(number, mentions[0])
            ):
                return mentions
            return (
                [*mentions, *inherited]
                if self.clause(number.start) == self.clause(mentions[0].start)
                else [*inherited, *mentions]
            )
        if (paired := self._paired(number, mentions)) is not None:
            return [paired]
        before = [each for each in mentions if each.end <= number.start]
        after = [each for each in mentions if each.start >= number.end]
        if after and self._adjacent(number, after[0]) and not (before and self._directly(before[-1], number)):
            return [after[0]]
        if after and _FOLLOWS.match(self.between(number.end, after[0].start)):
            between = before and self.between(before[-1].end, number.start)
            other = before and _ANOTHER.search(self.between(number.end, after[0].start))
            if not other and not (between and re.fullmatch(r"[^\w,;]{0,3}", between)):
                return [after[0]]
        if not before:
            return [*after[:1], *inherited]
        owners = [before[-1]]
        if self._directly(before[-1], number):
            return owners
        lead = self.between(max(self.start, before[-1].start - 26), before[-1].start)
        if len(before) > 1 and cues.THAN.search(lead):
            subject = before[-2]
            owners = [subject, before[-1]]
        return owners

    def _adjacent(self, number: WrittenNumber, mention: LabelMention) -> bool:
        """Return True if the mention follows the number directly: "142 clubs"."""
        return self.between(number.end, mention.start) in (" ", " (")

    def _directly(self, mention: LabelMention, number: WrittenNumber) -> bool:
        """Return True if the number follows the mention directly: "Tents (150)", "Tents with 150"."""
        return (
            re.fullmatch(
                r"[\s(:=–-]{1,3}|['’]s? |,? (?:with|at|mit|bei|on|of) (?:just |only |nur )?\W?",
                self.between(mention.end, number.start),
            )
            is not None
        )

    def _paired(self, number: WrittenNumber, mentions: list[LabelMention]) -> LabelMention | None:
        """ "A and B had 10 and 20": the mention in the number's place; None without such a pairing."""
        before = [each for each in mentions if each.end <= number.start]
        group = before[-1:]
        for each in reversed(before[:-1]):
            if not cues.LIST_GLUE.fullmatch(self.between(each.end, group[0].start)):
                break
            group.insert(0, each)
        if len(group) < 2 and len(before) > 1 and _AGAINST.search(self.text):
            group = before[-2:]
        if len(group) < 2:
            return None
        figures = [number]
        others = [each for each in self.numbers if each.start >= group[-1].end]
        at = next((at for at, each in enumerate(others) if each.start == number.start), None)
        if at is None:
            return None
        for figure in reversed(others[:at]):
            if not _FIGURES.fullmatch(self.between(figure.end, figures[0].start)):
                break
            figures.insert(0, figure)
        for figure in others[at + 1 :]:
            if not _FIGURES.fullmatch(self.between(figures[-1].end, figure.start)):
                break
            figures.append(figure)
        if len(figures) != len(group):
            return None
        return group[next(place for place, each in enumerate(figures) if each.start == number.start)]

    # Values

    def value(self, rows: Places, column: ClaimColumn) -> float:
        """The cell of one row; for several rows the sum, or the mean if not additive. NaN without a value."""
        if len(rows) == 1:
            return column.at(int(rows[0]))
        found = column.values[rows]
        found = found[~np.isnan(found)]
        if not len(found):
            return float("nan")
        return float(found.sum() if column.additive else found.mean())

    def groups(self, label: int, column: ClaimColumn, within: Places | None) -> dict[object, float]:
        """The value of each label, or period at its own grain, within these rows."""
        return grouped(self.table, label, column, within=within)

    def measures(self, number: WrittenNumber | None = None) -> list[ClaimColumn]:
        """The measures that a claim may be about."""
        return self.measured or self.table.likely

    @cached_property
    def ranked(self) -> list[ClaimColumn]:
        """The measures of a ranking: those named, else those of the sentence's figures and the main one."""
        if self.measured:
            return self.measured
        main = [self.table.main] if self.table.main is not None else []
        return list(dict.fromkeys([*self.figured, *self.measured_before, *main]))

    @cached_property
    def figured(self) -> list[ClaimColumn]:
        """The measures whose cells the figures of the sentence repeat."""
        return [
            column
            for column in self.table.likely
            for number in self.numbers[:12]
            for each in self.here[:12]
            if number.kind == "plain"
            and number.value >= _A_FIGURE
            and len(each.rows) == 1
            and number.fits(column.at(int(each.rows[0])))
        ]


def grouped(
    table: ClaimTable, label: int, column: ClaimColumn, *, within: Places | None, grain: tuple[str, ...] = ()
) -> dict[object, float]:
    """The sum (or the mean, if not additive) for each label or period; cached in the table."""
    key = _key(label, column, within, grain=grain)
    if key not in table.groups:
        keys, values = _summed(table, label, column, within=within, grain=grain)
        table.groups[key] = dict(zip(keys, values.tolist(), strict=True))
    return table.groups[key]


def ordered(
    table: ClaimTable, label: int, column: ClaimColumn, *, within: Places | None, grain: tuple[str, ...] = ()
) -> OrderedValues:
    """The values of `grouped`, highest first."""
    key = _key(label, column, within, grain=grain)
    if key not in table.orders:
        keys, values = _summed(table, label, column, within=within, grain=grain)
        table.orders[key] = OrderedValues(keys, values, np.argsort(-values, kind="stable"))
    return table.orders[key]


def _key(label: int, column: ClaimColumn, within: Places | None, *, grain: tuple[str, ...]) -> object:
    return label, column.index, grain, None if within is None else (len(within), within.tobytes()[:4_000])


def _summed(
    table: ClaimTable, label: int, column: ClaimColumn, *, within: Places | None, grain: tuple[str, ...]
) -> tuple[Sequence[object], Floats]:
    codes, keys = table.time_codes(grain) if label == TIME else table.columns[label].codes
    values = column.values
    if within is not None:
        codes, values = codes[within], values[within]
    present = ~np.isnan(values)
    weighed = np.bincount(codes[present], weights=values[present], minlength=len(keys))
    counts = np.bincount(codes[present], minlength=len(keys))
    sums: Floats = weighed.astype(np.float64)
    if not column.additive:
        sums /= np.maximum(counts, 1)
    held = counts > 0
    if None in keys:
        held[keys.index(None)] = False
    if held.all():
        return keys, sums
    return list(compress(keys, held.tolist())), sums[held]


def period_key(period: PartialDate, grain: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(getattr(period, each) for each in grain)
