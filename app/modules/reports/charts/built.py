"""The chart that a person has built on the page, made again of all rows, as the page makes it.

`ui/src/conversation/chart/golden/charts.json` holds this module and the page's `build.ts` to each other.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import fmean, median
from typing import TypeVar

from pydantic import JsonValue

from app.modules.analysis.chart.covered import Covered
from app.modules.analysis.chart.drawing import MAX_POINTS, MAX_SERIES, FieldType
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, read_periods
from app.modules.analysis.figures.numbers import number
from app.modules.reports.charts.choice import MOST_SLICES, NO_SERIES, Aggregate, Choice, ChosenValue, dressed
from app.modules.reports.charts.given import on_time
from app.modules.reports.charts.model import (
    Channel,
    Chart,
    Datum,
    Mark,
    Numbers,
    name_of,
    number_of,
    text_of,
)
from app.modules.reports.charts.numbers import compact, plain
from app.modules.reports.charts.scales import Linear
from app.modules.reports.charts.times import start_of, time_of
from app.modules.run.records import Row
from graph.state import Column

_MOST_PLACES, _KEPT_PLACES = 30, 20
_BINS = 20
_SAMPLE = 200
_NUMERIC = ("integer", "number")
_ISO = re.compile(r"\d{4}-\d\d(-\d\d)?([T ].*)?", re.DOTALL)
_COLUMN = re.compile(r"c(\d{1,3})")
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The columns and the mark of a chart, all of them settled."""

    mark: Mark
    across: int
    values: Sequence[ChosenValue]
    series: int | None
    time: CalendarUnit | None

    @property
    def is_melted(self) -> bool:
        """True if each value is a series of its own."""
        return len(self.values) > 1 and self.mark != "combo"


@dataclass(frozen=True)
class Table:
    """All rows of a result."""

    columns: Sequence[Column]
    rows: Sequence[Row]

    def is_numeric(self, at: int) -> bool:
        return self.columns[at]["type"] in _NUMERIC

    def is_timed(self, at: int) -> bool:
        """True if a column holds dates."""
        if self.columns[at]["type"] in ("date", "datetime"):
            return True
        known = [cell for row in self.rows[:_SAMPLE] if isinstance(cell := row[at], str)]
        return bool(known) and all(_ISO.fullmatch(cell) and time_of(cell) for cell in known)


@dataclass
class _Draft:
    mark: Mark
    data: list[Datum]
    adds: bool
    said: list[str]
    unit: CalendarUnit | None


@dataclass(frozen=True, kw_only=True)
class _Group:
    place: JsonValue
    series: str | None
    rows: Sequence[Row]


def settings_of(chart: Chart | None, choice: Choice, table: Table) -> Settings:
    """What was chosen; what is open is as in the proposed chart, or as the columns suggest."""
    width = len(table.columns)
    own_across = _column_of(chart.across if chart else None, width)
    own_value = _column_of(chart.value if chart else None, width)
    own_series = _column_of(chart.series if chart else None, width)
    numbers = [at for at in range(width) if table.is_numeric(at)]
    across = _first(choice.across, own_across)
    if across is None:
        across = _names(table)
    fitting = next((at for at in numbers if at != across), next(iter(numbers), 0))
    values = list(choice.values or [ChosenValue(fitting if own_value is None else own_value)])
    is_timed = table.is_timed(across)
    mark = choice.mark or (chart.mark if chart else "line" if is_timed else "bar")
    if mark == "combo" and len(values) < 2:
        other = next((at for at in numbers if at not in (values[0].column, across)), None)
        values += [] if other is None else [ChosenValue(other)]
    series = None if choice.series == NO_SERIES else _first(choice.series, own_series)
    if series == across:
        series = None
    if series is None and (mark == "heat" or (mark in ("stacked", "percent") and len(values) < 2)):
        series = next((at for at in _colors(table) if at != across), None)
    return Settings(
        mark=mark, across=across, values=values, series=series, time=choice.time if is_timed else None
    )


def built(base: Chart | None, settings: Settings, choice: Choice, *, table: Table) -> Chart:
    """The chart of all rows. `base` tells which values may be added up."""
    choice = replace(choice, mark=None)
    names = [column["name"] for column in table.columns]
    first = settings.values[0].column
    if settings.mark == "histogram":
        return dressed(_histogram(first, table), choice)
    is_additive = base is not None and base.adds and _column_of(base.value, len(names)) == first
    draft = _put_together(settings, table, is_additive=is_additive)
    draft.said += _partly_covered(base, settings, table, unit=draft.unit)
    by = None
    if settings.is_melted:
        by = Channel("s0", "nominal", "value")
    elif settings.series is not None:
        by = Channel("s0", "nominal", names[settings.series])
    shown = settings.values if settings.is_melted else settings.values[:1]
    value = Channel("v0", "quantitative", ", ".join(names[each.column] for each in shown))
    has_second = settings.mark == "combo" and len(settings.values) > 1
    within = [names[settings.across], *([by.title] if by and not settings.is_melted else [])]
    heading = f"{value.title} by {' and '.join(within)}"
    across = Channel("a0", _kind(settings, table), names[settings.across])
    chart = Chart(
        mark=draft.mark,
        across=on_time(across, draft.data),
        value=value,
        series=by,
        second=Channel("v1", "quantitative", names[settings.values[1].column]) if has_second else None,
        adds=draft.adds,
        how=" ".join(draft.said),
        rows=len(table.rows),
        computed=False,
        covered=None,
        data=draft.data,
        heading=heading[:1].upper() + heading[1:],
        numbers=Numbers(),
    )
    return dressed(chart, choice)


def _partly_covered(
    base: Chart | None, settings: Settings, table: Table, *, unit: CalendarUnit | None
) -> list[str]:
    """Sentences on the first and the last period. The proposed chart knows the days of its own axis; of
    another, the rows tell.
    """
    if base is not None and base.covered and _column_of(base.across, len(table.columns)) == settings.across:
        covered = base.covered
    else:
        cells = [row[settings.across] for row in table.rows] if unit else []
        periods = [each for each in read_periods(cells) or [] if each is not None]
        if not periods:
            return []
        covered = Covered.by(periods)
    return covered.sentences(unit or covered.unit)


def _kind(settings: Settings, table: Table) -> FieldType:
    if table.is_timed(settings.across):
        return "temporal"
    is_scaled = settings.mark == "point" and table.is_numeric(settings.across)
    return "quantitative" if is_scaled else "nominal"


def _column_of(channel: Channel | None, width: int) -> int | None:
    """The column of a channel of the proposed chart, whose fields are named after their columns."""
    found = None if channel is None else _COLUMN.fullmatch(channel.field)
    return int(found[1]) if found and int(found[1]) < width else None


def _first(*given: Item | None) -> Item | None:
    return next((each for each in given if each is not None), None)


def _names(table: Table) -> int:
    """The first column of dates, else of names, else the first."""
    all_columns = range(len(table.columns))
    timed = next((at for at in all_columns if table.is_timed(at)), None)
    return next((at for at in all_columns if not table.is_numeric(at)), 0) if timed is None else timed


def _colors(table: Table) -> Iterable[int]:
    """Columns with few enough names to tell them apart by colour."""
    for at in range(len(table.columns)):
        names = {json_key(row[at]) for row in table.rows}
        if not table.is_numeric(at) and 1 < len(names) <= max(2, len(table.rows) / 2):
            yield at


def json_key(cell: JsonValue) -> tuple[bool, JsonValue]:
    """Distinguishes true from 1, which are equal in Python. Objects are their text."""
    return isinstance(cell, bool), _plain(cell)


def _plain(cell: JsonValue) -> JsonValue:
    return text_of(cell) if isinstance(cell, dict | list) else cell


def _put_together(settings: Settings, table: Table, *, is_additive: bool) -> _Draft:
    """Group the rows by place and series, and reduce them to what a chart can show."""
    usual: Aggregate = "sum" if is_additive else "mean"
    kind = _kind(settings, table)
    by = table.columns[settings.across]["name"]
    values = settings.values[: 2 if settings.mark == "combo" else None]
    unit = settings.time
    groups = _grouped(settings, table.rows, unit)
    has_repeats = len(groups) < len(table.rows)
    alone: Aggregate = usual if has_repeats and settings.mark != "point" else "none"
    hows = [each.how or alone for each in values]
    if kind == "temporal" and len(groups) > MAX_POINTS:
        for coarser in UNITS[UNITS.index(unit) + 1 if unit else 0 :]:
            if len(groups) <= MAX_POINTS:
                break
            unit, groups = coarser, _grouped(settings, table.rows, coarser)
        hows = [usual if how == "none" else how for how in hows]
    is_raw = unit is None and all(how == "none" for how in hows)
    hows = hows if is_raw else [usual if how == "none" else how for how in hows]
    if is_raw:
        groups = [
            _Group(place=_plain(row[settings.across]), series=_series_of(settings, row), rows=[row])
            for row in table.rows
        ]
    data = [datum for group in groups for datum in _data(group, settings, names=table.columns, hows=hows)]
    said: list[str] = []
    if not is_raw and len(groups) < len(table.rows):
        of_one = f"{unit} of {by}" if unit else by
        said.append(f"Each point is the {hows[0]} of the rows of one {of_one}.")
    adds = (is_additive or not has_repeats) if is_raw else hows[0] in ("sum", "count")
    draft = _Draft(settings.mark, data, adds, said, unit)
    if is_raw and has_repeats and draft.mark != "point":
        draft.mark = "point"
        said.append(f"Several values have the same {by}: each is a point.")
    _settle_mark(draft)
    _keep_leaders(draft, settings, table, kind=kind)
    if len(draft.data) > MAX_POINTS:
        step = -(-len(draft.data) // MAX_POINTS)
        draft.data = draft.data[::step]
        said.append(f"One in {plain(step, 0)} points is shown.")
    return draft


def _grouped(settings: Settings, rows: Sequence[Row], unit: CalendarUnit | None) -> list[_Group]:
    groups: dict[tuple[tuple[bool, JsonValue], str | None], list[Row]] = {}
    for row in rows:
        cell = row[settings.across]
        place = start_of(cell, unit) if unit else cell
        groups.setdefault((json_key(place), _series_of(settings, row)), []).append(row)
    return [_Group(place=place, series=series, rows=own) for ((_, place), series), own in groups.items()]


def _series_of(settings: Settings, row: Row) -> str | None:
    if settings.series is None or settings.is_melted:
        return None
    return name_of(_plain(row[settings.series]))


def _data(
    group: _Group, settings: Settings, *, names: Sequence[Column], hows: Sequence[Aggregate]
) -> list[Datum]:
    """A datum for each value in a series of its own, or one with all values."""
    cells = [
        _together([row[value.column] for row in group.rows], how)
        for value, how in zip(settings.values, hows, strict=False)
    ]
    if settings.is_melted:
        return [
            {"a0": group.place, "v0": cell, "s0": names[value.column]["name"]}
            for cell, value in zip(cells, settings.values, strict=True)
        ]
    second: Datum = {"v1": cells[1]} if len(cells) > 1 else {}
    return [{"a0": group.place, "v0": cells[0], **second, "s0": group.series}]


def _together(cells: Sequence[JsonValue], how: Aggregate) -> float | None:
    """Gaps do not count. None without a value. `none` is for a single cell."""
    if how == "count":
        return float(sum(cell is not None for cell in cells))
    values = [found for cell in cells if (found := number(cell)) is not None]
    if not values:
        return None
    if how == "mean":
        return _finite(fmean(values))
    if how == "median":
        return _finite(median(values))
    return values[0] if how == "none" else _finite(sum(values))


def _finite(value: float) -> float | None:
    """Without the noise of the last digit."""
    return float(f"{value:.15g}") if isfinite(value) else None


def _settle_mark(draft: _Draft) -> None:
    """Bars in place of parts that are no parts of a whole."""
    has_negative = any((number_of(datum["v0"]) or 0) < 0 for datum in draft.data)
    if draft.mark in ("stacked", "percent", "arc") and (
        not draft.adds or (has_negative and draft.mark != "stacked")
    ):
        draft.mark = "bar"
        draft.said.append("Bars beside each other, as the values are not parts of a whole.")


def _keep_leaders(draft: _Draft, settings: Settings, table: Table, *, kind: FieldType) -> None:
    """Keep the places and the series with the highest values."""
    is_pie = draft.mark == "arc"
    if is_pie and settings.series is not None:
        draft.data = [{**datum, "s0": None} for datum in draft.data]
    if kind == "nominal" and draft.mark != "point":
        title = table.columns[settings.across]["name"]
        most, kept = (MOST_SLICES, MOST_SLICES - 1) if is_pie else (_MOST_PLACES, _KEPT_PLACES)
        _lead(draft, "a0", title, most=most, kept=kept)
    if settings.series is not None and not settings.is_melted and not is_pie:
        title = table.columns[settings.series]["name"]
        most = _MOST_PLACES if draft.mark == "heat" else MAX_SERIES
        _lead(draft, "s0", title, most=most, kept=most)


def _lead(draft: _Draft, field: str, title: str, *, most: int, kept: int) -> None:
    """Keep the names with the highest values; the others become one, or are left out."""
    totals: dict[str, float] = {}
    for datum in draft.data:
        name = name_of(datum[field])
        totals[name] = totals.get(name, 0.0) + (number_of(datum["v0"]) or 0.0)
    if len(totals) <= most:
        return
    names = sorted(totals, key=lambda each: -totals[each])
    rank = {name: at for at, name in enumerate(names)}
    other = f"Other ({plain(len(names) - kept, 0)})"
    rest = f"the others are added up as {other}." if draft.adds else "the others are left out."
    draft.said.append(f"Of {plain(len(names), 0)} values of {title}, the {kept} highest are shown; {rest}")
    head = [datum for datum in draft.data if rank[name_of(datum[field])] < kept]
    if field == "a0":
        head.sort(key=lambda each: rank[name_of(each[field])])
    others: dict[str, Datum] = {}
    for datum in draft.data if draft.adds else ():
        if rank[name_of(datum[field])] < kept:
            continue
        key = name_of(datum["s0" if field == "a0" else "a0"])
        before = others.get(key, {})
        sums = {
            each: (number_of(before.get(each)) or 0.0) + (number_of(datum[each]) or 0.0)
            for each in ("v0", "v1")
            if each in datum
        }
        others[key] = {**datum, field: other, **sums}
    draft.data = [*head, *others.values()]


def _histogram(column: int, table: Table) -> Chart:
    """How many rows lie in each of about twenty ranges of equal width."""
    name = table.columns[column]["name"]
    return Chart(
        mark="histogram",
        across=Channel("a0", "ordinal", name),
        value=Channel("v0", "quantitative", "rows"),
        series=None,
        second=None,
        adds=True,
        how=f"Each bar counts the rows with a {name} in its range.",
        rows=len(table.rows),
        computed=False,
        covered=None,
        data=_bins([found for row in table.rows if (found := number(row[column])) is not None]),
        heading=f"Distribution of {name}",
        numbers=Numbers(),
    )


def _bins(known: Sequence[float]) -> list[Datum]:
    if not known:
        return []
    low, high = min(known), max(known)
    edges = Linear.nice((low, low + 1 if high == low else high), (0, 1), _BINS).ticks(_BINS)
    counts = [0] * (len(edges) - 1)
    if not counts:
        return []
    for value in known:
        at = next((at for at in range(len(edges) - 1, -1, -1) if edges[at] <= value), 0)
        counts[min(at, len(counts) - 1)] += 1
    written = compact if high >= 1e6 else plain
    names = [written(edge, 4) for edge in edges]
    return [{"a0": f"{names[at]} – {names[at + 1]}", "v0": count} for at, count in enumerate(counts)]
