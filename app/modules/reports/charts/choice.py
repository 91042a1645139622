"""What a person has chosen of a chart. Any client may have stored it, so it is read field by field."""

import re
import unicodedata
from calendar import day_name, month_name
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import mapping
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit
from app.modules.reports.charts.model import MARKS, Chart, Mark, NumberFormat, name_of, number_of

Aggregate = Literal["none", "sum", "mean", "count", "median"]
Sort = Literal["rows", "value", "name", "natural"]
Known = TypeVar("Known", bound=str)

NO_SERIES = -1
MOST_SLICES = 8
_MOST_VALUES = 3
_LONGEST_UNIT = 12
_LONGEST_TITLE = 200
_SHORTEST_NAME = 3
_CALENDARS = ([each.lower() for each in day_name], [each.lower() for each in month_name if each])


@dataclass(frozen=True)
class ChosenValue:
    """A column by its index, and how its values are put together."""

    column: int
    how: Aggregate | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Columns are indices. What is None stays as it was proposed; a `series` of `NO_SERIES` is none."""

    mark: Mark | None = None
    across: int | None = None
    values: Sequence[ChosenValue] | None = None
    series: int | None = None
    sort: Sort | None = None
    time: CalendarUnit | None = None
    format: NumberFormat | None = None
    unit: str | None = None
    title: str | None = None


def read_choice(raw: Mapping[str, JsonValue] | None, columns: int) -> Choice:
    """What is known of a stored choice, for rows of so many columns."""
    given = raw or {}
    chosen = given.get("values")
    values = [
        ChosenValue(column, _one_of(get_args(Aggregate), mapping(each).get("how")))
        for each in (chosen[:_MOST_VALUES] if isinstance(chosen, list) else [])
        if (column := _column(mapping(each).get("column"), columns)) is not None
    ]
    series = given.get("series")
    is_none = series == NO_SERIES and not isinstance(series, bool)
    return Choice(
        mark=_one_of(MARKS, given.get("mark")),
        across=_column(given.get("across"), columns),
        values=values or None,
        series=NO_SERIES if is_none else _column(series, columns),
        sort=_one_of(get_args(Sort), given.get("sort")),
        time=_one_of(UNITS, given.get("time")),
        format=_one_of(get_args(NumberFormat), given.get("format")),
        unit=_text(given.get("unit"), _LONGEST_UNIT),
        title=_text(given.get("title"), _LONGEST_TITLE),
    )


def needs_rows(chart: Chart | None, choice: Choice) -> bool:
    """True if the proposed chart has not what the choice asks for."""
    if chart is None or (choice.mark is not None and choice.mark not in marks(chart)):
        return True
    return any(each is not None for each in (choice.across, choice.values, choice.series, choice.time))


def marks(chart: Chart) -> Sequence[Mark]:
    """Marks that draw the chart's own points and do not mislead: parts of a whole must add up."""
    is_positive = all((number_of(datum.get(chart.value.field)) or 0) >= 0 for datum in chart.data)
    has_series = chart.series is not None
    allowed: Mapping[Mark, bool] = {
        "arc": chart.adds and is_positive and not has_series and len(chart.data) <= MOST_SLICES,
        "stacked": chart.adds and has_series,
        "percent": chart.adds and is_positive and has_series,
        "area": chart.adds or not has_series,
        "heat": has_series,
        "histogram": False,
        "combo": False,
    }
    return [mark for mark in MARKS if allowed.get(mark, True)]


def dressed(chart: Chart, choice: Choice) -> Chart:
    """The chart with the chosen mark, order, title and numbers."""
    is_drawable = choice.mark is not None and choice.mark in marks(chart)
    numbers = replace(
        chart.numbers,
        format=choice.format or chart.numbers.format,
        unit=chart.numbers.unit if choice.unit is None else choice.unit,
    )
    heading = chart.heading if choice.title is None else choice.title
    mark = choice.mark if choice.mark is not None and is_drawable else chart.mark
    return _sorted(replace(chart, mark=mark, heading=heading, numbers=numbers), choice.sort)


def _sorted(chart: Chart, sort: Sort | None) -> Chart:
    """Names in the order asked for; weekdays and months come in theirs unless another is asked for."""
    if chart.across.kind not in ("nominal", "ordinal"):
        return chart
    own = [name_of(datum.get(chart.across.field)) for datum in chart.data]
    names = list(dict.fromkeys(own))
    order = sort or ("natural" if _calendar(names) else "rows")
    if order == "rows" or chart.mark == "histogram":
        return chart
    if order == "value":
        sums = dict.fromkeys(names, 0.0)
        for name, datum in zip(own, chart.data, strict=True):
            sums[name] += number_of(datum.get(chart.value.field)) or 0
        names.sort(key=lambda each: -sums[each])
    elif order == "name":
        names.sort(key=_by_letters)
    else:
        calendar = _calendar(names)
        names.sort(key=(lambda each: calendar[each]) if calendar else _by_size)
    rank = {name: at for at, name in enumerate(names)}
    return replace(
        chart, data=sorted(chart.data, key=lambda each: rank[name_of(each.get(chart.across.field))])
    )


def _calendar(names: Sequence[str]) -> Mapping[str, int]:
    """Places of weekdays or months in their calendar. Empty if not all names are such."""
    for calendar in _CALENDARS:
        places = {
            name: next((at for at, long in enumerate(calendar) if long.startswith(short)), -1)
            for name in names
            if len(short := name.strip().lower()) >= _SHORTEST_NAME
        }
        if len(places) == len(names) and -1 not in places.values():
            return places
    return {}


def _by_size(text: str) -> list[tuple[int, int, str]]:
    """Sorts numbers in names by size, before letters."""
    parts = [each for each in re.split(r"(\d+)", text) if each]
    return [(1, int(part), "") if part.isdecimal() else (*_letter(part[0]), _folded(part)) for part in parts]


def _by_letters(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Signs before digits before letters, without regard to case and accents."""
    return [(*_letter(each), each) for each in _folded(text)], text.swapcase()


def _letter(sign: str) -> tuple[int, int]:
    return (2, 0) if sign.isalpha() else (1, 0) if sign.isdecimal() else (0, 0)


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return "".join(each for each in apart if not unicodedata.combining(each)).casefold()


def _one_of(known: Sequence[Known], value: JsonValue) -> Known | None:
    return next((each for each in known if each == value), None)


def _column(value: JsonValue, columns: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < columns:
        return None
    return value


def _text(value: JsonValue, most: int) -> str | None:
    return value[:most] if isinstance(value, str) else None
