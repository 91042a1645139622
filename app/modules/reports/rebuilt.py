"""The chart that a person has built on the page, made again of all rows, as the page makes it.

Choices are columns by their index: `across`, `values` (each with `how` its rows are put together), `series`,
`time` (the unit), `mark` and `sort`. Any client may have stored them, so each is checked.
"""

import re
from calendar import day_name, month_name
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import fmean, median
from typing import Literal, TypeVar, get_args

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import MAX_POINTS, MAX_SERIES, Spec, mapping
from app.modules.analysis.chart.values import name
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit, Period
from app.modules.analysis.figures.numbers import number
from app.modules.analysis.words import title
from app.modules.run.records import Row
from graph.state import Column

How = Literal["sum", "mean", "count", "median"]
Key = TypeVar("Key", str, str | None)

_BUILT = ("across", "values", "series", "time")
_OF_PROPOSED = (None, "bar", "line", "area", "point")
"""Marks that a report draws of the points of the proposed chart. An area is drawn as its line."""
_MARKS = ("bar", "line", "area", "point", "stacked", "percent", "arc", "histogram")
_CALENDARS = (list(day_name), list(month_name)[1:])
_SHORTEST_NAME = 3
_MOST_VALUES = 3
_MOST_PLACES, _KEPT_PLACES = 30, 20
_BINS = 20
_NUMERIC = ("integer", "number")
_TIMED = ("date", "datetime")
_TIME = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?(?:[T ].*)?")


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """A chart's columns, all of them settled. `additive`: values of the first column may be added up."""

    mark: str
    across: int
    values: Sequence[tuple[int, How | None]]
    series: int | None
    time: CalendarUnit | None
    additive: bool
    sort: JsonValue


@dataclass(frozen=True)
class _Point:
    across: JsonValue
    value: float | None
    series: str | None = None


@dataclass
class _Draft:
    mark: str
    points: list[_Point]
    said: list[str] = field(default_factory=list)


def is_rebuilt(proposed: Spec | None, choice: Mapping[str, JsonValue] | None) -> bool:
    """True if the chosen chart has points that the proposed one has not, so that its rows are needed."""
    if not choice:
        return False
    built = any(each in choice for each in _BUILT)
    return proposed is None or built or choice.get("mark") not in _OF_PROPOSED


def can_be_drawn(choice: Mapping[str, JsonValue]) -> bool:
    """False for marks that reports do not draw: heat maps, and bars with a line."""
    return choice.get("mark") in (None, *_MARKS)


def rebuilt_chart(
    proposed: Spec | None, choice: Mapping[str, JsonValue], *, columns: Sequence[Column], rows: Sequence[Row]
) -> Spec | None:
    """Returns None if there is nothing to draw."""
    settings = _settings(proposed, choice, columns=columns, rows=rows)
    if settings is None:
        return None
    if settings.mark == "histogram":
        return _histogram(settings, columns, rows)
    draft = _put_together(settings, columns, rows)
    names = [title(columns[column]["name"]) for column, _ in settings.values]
    by = title(columns[settings.across]["name"])
    has_series = any(each.series is not None for each in draft.points)
    series = title(columns[settings.series]["name"]) if settings.series is not None else "value"
    return _spec(draft, across=by, value=", ".join(names), series=series if has_series else None)


def _settings(
    proposed: Spec | None, choice: Mapping[str, JsonValue], *, columns: Sequence[Column], rows: Sequence[Row]
) -> _Settings | None:
    own = _Proposed.of(proposed, len(columns))
    numbers = [at for at, column in enumerate(columns) if column["type"] in _NUMERIC]
    across = _column(choice.get("across"), columns)
    if across is None:
        across = own.across if own.across is not None else _names(columns, rows)
    values = _values(choice.get("values"), columns)
    if not values:
        fitting = next((at for at in numbers if at != across), None)
        first = own.value if own.value is not None else fitting
        if first is None:
            return None
        values = [(first, None)]
    series = own.series if choice.get("series") is None else _column(choice.get("series"), columns)
    chosen = choice.get("mark")
    is_timed = _is_timed(columns, rows, across)
    mark = chosen if chosen in _MARKS else own.mark or ("line" if is_timed else "bar")
    if mark in ("stacked", "percent") and series is None and len(values) == 1:
        series = next((at for at in range(len(columns)) if at not in numbers and at != across), None)
    unit = next((each for each in UNITS if each == choice.get("time")), None)
    return _Settings(
        mark=str(mark),
        across=across,
        values=values,
        series=None if series == across or len(values) > 1 else series,
        time=unit if is_timed else None,
        additive=own.adds and own.value == values[0][0],
        sort=choice.get("sort"),
    )


@dataclass(frozen=True, kw_only=True)
class _Proposed:
    """Columns of the proposed chart, whose fields are named after them."""

    mark: str | None = None
    across: int | None = None
    value: int | None = None
    series: int | None = None
    adds: bool = False

    @classmethod
    def of(cls, spec: Spec | None, width: int) -> "_Proposed":
        if spec is None:
            return cls()
        encoding, drawn = mapping(spec.get("encoding")), mapping(spec.get("mark")).get("type")

        def column(channel: str) -> int | None:
            found = re.fullmatch(r"c(\d{1,3})", str(mapping(encoding.get(channel)).get("field")))
            return int(found[1]) if found and int(found[1]) < width else None

        x, y = mapping(encoding.get("x")), mapping(encoding.get("y"))
        adds = "stack" not in x and "stack" not in y
        mark = "stacked" if drawn == "bar" and adds and "color" in encoding else str(drawn)
        if drawn == "arc":
            return cls(mark=mark, across=column("color"), value=column("theta"), adds=adds)
        lies = x.get("type") == "quantitative" and y.get("type") != "quantitative"
        across, value = ("y", "x") if lies else ("x", "y")
        return cls(mark=mark, across=column(across), value=column(value), series=column("color"), adds=adds)


def _values(chosen: JsonValue, columns: Sequence[Column]) -> list[tuple[int, How | None]]:
    found: list[tuple[int, How | None]] = []
    for each in chosen[:_MOST_VALUES] if isinstance(chosen, list) else []:
        column = _column(mapping(each).get("column"), columns)
        if column is not None:
            wanted = mapping(each).get("how")
            found.append((column, next((how for how in get_args(How) if how == wanted), None)))
    return found


def _column(chosen: JsonValue, columns: Sequence[Column]) -> int | None:
    if isinstance(chosen, bool) or not isinstance(chosen, int) or not 0 <= chosen < len(columns):
        return None
    return chosen


def _names(columns: Sequence[Column], rows: Sequence[Row]) -> int:
    """The first column of dates, else of names, else the first."""
    timed = next((at for at in range(len(columns)) if _is_timed(columns, rows, at)), None)
    if timed is not None:
        return timed
    return next((at for at, column in enumerate(columns) if column["type"] not in _NUMERIC), 0)


def _is_timed(columns: Sequence[Column], rows: Sequence[Row], at: int) -> bool:
    if columns[at]["type"] in _TIMED:
        return True
    known = [row[at] for row in rows[:200] if isinstance(row[at], str)]
    return bool(known) and all(_day(each) is not None for each in known)


def _day(cell: JsonValue) -> date | None:
    found = _TIME.fullmatch(cell) if isinstance(cell, str) else None
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3] or 1))
    except ValueError:
        return None


def _put_together(settings: _Settings, columns: Sequence[Column], rows: Sequence[Row]) -> _Draft:
    """Group the rows by place and series, and reduce them to what a chart can show."""
    by = title(columns[settings.across]["name"])
    is_timed = _is_timed(columns, rows, settings.across)
    unit = settings.time
    groups = _grouped(settings, rows, unit)
    for coarser in UNITS[UNITS.index(unit) + 1 if unit else 0 :] if is_timed else ():
        if len(groups) <= MAX_POINTS:
            break
        unit, groups = coarser, _grouped(settings, rows, coarser)
    repeats = len(groups) < len(rows)
    usual: How = "sum" if settings.additive else "mean"
    is_raw = (
        unit is None
        and (not repeats or settings.mark == "point")
        and not any(how for _, how in settings.values)
    )
    draft = _Draft(settings.mark, [])
    if is_raw:
        for row in rows:
            draft.points += _points(settings, columns, [row], place=row[settings.across], usual="sum")
        adds = settings.additive or not repeats
    else:
        for (place, _), group in groups.items():
            draft.points += _points(settings, columns, group, place=place, usual=usual)
        first = settings.values[0][1] or usual
        adds = first in ("sum", "count")
        if repeats:
            of_one = f"{unit} of {by}" if unit else by
            draft.said.append(f"Each point is the {first} of the rows of one {of_one}.")
    _settle_mark(draft, adds=adds)
    if is_timed:
        draft.points.sort(key=lambda each: str(each.across))
    elif draft.mark != "point":
        _keep_leaders(draft, adds=adds, by=by)
        _sort(draft.points, settings.sort)
    _keep_series(draft)
    if len(draft.points) > MAX_POINTS:
        step = -(-len(draft.points) // MAX_POINTS)
        draft.points = draft.points[::step]
        draft.said.append(f"One in {step} points is shown.")
    return draft


def _grouped(
    settings: _Settings, rows: Sequence[Row], unit: CalendarUnit | None
) -> dict[tuple[JsonValue, str | None], list[Row]]:
    groups: dict[tuple[JsonValue, str | None], list[Row]] = {}
    for row in rows:
        cell = row[settings.across]
        day = _day(cell) if unit else None
        if unit and day is not None:
            cell = Period(day, "day").within(unit).start.isoformat()
        place = str(cell) if isinstance(cell, list | dict) else cell
        groups.setdefault((place, _series_of(settings, row)), []).append(row)
    return groups


def _series_of(settings: _Settings, row: Row) -> str | None:
    return None if settings.series is None else name(row[settings.series])


def _points(
    settings: _Settings, columns: Sequence[Column], rows: Sequence[Row], *, place: JsonValue, usual: How
) -> Iterable[_Point]:
    """A point of these rows for each value; several values are series of their own."""
    for column, how in settings.values:
        is_one = len(settings.values) == 1
        series = _series_of(settings, rows[0]) if is_one else title(columns[column]["name"])
        yield _Point(place, _together([row[column] for row in rows], how or usual), series)


def _together(cells: Sequence[JsonValue], how: How) -> float | None:
    """Gaps do not count. None without a value."""
    if how == "count":
        return float(sum(cell is not None for cell in cells))
    values = [found for cell in cells if (found := number(cell)) is not None]
    if not values:
        return None
    match how:
        case "sum":
            return float(f"{sum(values):.15g}")
        case "mean":
            return fmean(values)
        case "median":
            return median(values)


def _settle_mark(draft: _Draft, *, adds: bool) -> None:
    """Replace a mark whose parts would mean nothing, and one that reports draw as another."""
    negative = any((each.value or 0) < 0 for each in draft.points)
    if draft.mark in ("stacked", "percent", "arc") and (not adds or (negative and draft.mark != "stacked")):
        draft.mark = "bar"
        draft.said.append("Bars beside each other, as the values are not parts of a whole.")
    elif draft.mark == "arc":
        draft.mark = "bar"
        draft.said.append("A pie on the page; a report draws it as bars.")
    elif draft.mark == "area":
        draft.mark = "line"


def _totals(points: Iterable[tuple[Key, _Point]]) -> dict[Key, float]:
    """Returns the sum of the values of each key, in the order in which the keys come first."""
    totals: dict[Key, float] = {}
    for key, each in points:
        totals[key] = totals.get(key, 0.0) + (each.value or 0.0)
    return totals


def _keep_leaders(draft: _Draft, *, adds: bool, by: str) -> None:
    """Keep the names with the highest values; the others become one, or are left out."""
    totals = _totals((name(each.across), each) for each in draft.points)
    if len(totals) <= _MOST_PLACES:
        return
    leading = sorted(totals, key=lambda each: -totals[each])[:_KEPT_PLACES]
    rank = {each: at for at, each in enumerate(leading)}
    kept = sorted(
        (each for each in draft.points if name(each.across) in rank), key=lambda each: rank[name(each.across)]
    )
    other = f"Other ({len(totals) - _KEPT_PLACES:,})"
    said = f"Of {len(totals):,} values of {by}, the {_KEPT_PLACES} highest are shown; the others are"
    draft.said.append(f"{said} added up as {other}." if adds else f"{said} left out.")
    rest = _totals((each.series, each) for each in draft.points if adds and name(each.across) not in rank)
    draft.points = [*kept, *(_Point(other, value, series) for series, value in rest.items())]


def _keep_series(draft: _Draft) -> None:
    """Keep the series with the highest values: no more than there are colours."""
    totals = _totals((each.series, each) for each in draft.points if each.series is not None)
    if len(totals) <= MAX_SERIES:
        return
    kept = sorted(totals, key=lambda each: -totals[each])[:MAX_SERIES]
    draft.points = [each for each in draft.points if each.series in kept]
    draft.said.append(f"The {MAX_SERIES} highest of {len(totals):,} series are shown.")


def _sort(points: list[_Point], sort: JsonValue) -> None:
    if sort == "value":
        totals = _totals((name(each.across), each) for each in points)
        points.sort(key=lambda each: -totals[name(each.across)])
    elif sort == "name":
        points.sort(key=lambda each: name(each.across).casefold())
    elif sort in ("natural", None):
        calendar = _calendar({name(each.across) for each in points})
        if calendar:
            points.sort(key=lambda each: calendar[name(each.across)])
        elif sort == "natural":
            points.sort(key=lambda each: _by_size(name(each.across)))


def _calendar(names: Collection[str]) -> Mapping[str, int]:
    """Returns the places of weekdays or months in their calendar. Empty if not all names are such."""
    for calendar in _CALENDARS:
        places = {
            each: at
            for each in names
            for at, long in enumerate(calendar)
            if len(each) >= _SHORTEST_NAME and long.casefold().startswith(each.casefold())
        }
        if len(places) == len(names):
            return places
    return {}


def _by_size(text: str) -> list[tuple[int, str]]:
    """Sorts numbers in names by size."""
    return [
        (int(part), "") if part.isdecimal() else (0, part.casefold()) for part in re.split(r"(\d+)", text)
    ]


def _histogram(settings: _Settings, columns: Sequence[Column], rows: Sequence[Row]) -> Spec | None:
    """How many rows lie in each of twenty ranges of equal width."""
    column, _ = settings.values[0]
    known = [found for row in rows if (found := number(row[column])) is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    width = (high - low) / _BINS or 1.0
    counts = [0] * (_BINS if high > low else 1)
    for value in known:
        counts[min(int((value - low) / width), len(counts) - 1)] += 1
    points = [
        _Point(f"{low + at * width:,.4g} – {low + (at + 1) * width:,.4g}", float(count))
        for at, count in enumerate(counts)
    ]
    by = title(columns[column]["name"])
    draft = _Draft("bar", points, [f"Each bar counts the rows with a {by} in its range."])
    return _spec(draft, across=by, value="rows", series=None)


def _spec(draft: _Draft, *, across: str, value: str, series: str | None) -> Spec:
    """A specification with as much as a report reads."""
    lies = draft.mark in ("bar", "stacked", "percent")
    place: Spec = {"field": "a0", "type": "nominal", "title": across}
    amount: Spec = {"field": "v0", "type": "quantitative", "title": value}
    amount["stack"] = {"stacked": "zero", "percent": "normalize"}.get(draft.mark)
    encoding: Spec = {"y": place, "x": amount} if lies else {"x": place, "y": amount}
    if series is not None:
        encoding["color"] = {"field": "s0", "type": "nominal", "title": series}
    points: list[JsonValue] = [
        {"a0": each.across, "v0": each.value, **({} if each.series is None else {"s0": each.series})}
        for each in draft.points
    ]
    return {
        "data": {"values": points},
        "mark": {"type": "bar" if lies else draft.mark},
        "encoding": encoding,
        "usermeta": {"kai": {"how": " ".join(draft.said)}},
    }
