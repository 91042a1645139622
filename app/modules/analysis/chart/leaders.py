"""The points of a picture of names: which ones are drawn, in which order, and what is said of the rest."""

import math
import re
from collections.abc import Sequence

from app.core.values.numbers import as_double
from app.modules.analysis.chart.canvas import Canvas
from app.modules.analysis.chart.choice import ChosenValue, Sort
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.values import Point, gathered, numbered, plotted
from app.modules.analysis.figures.calendar import month_number

MOST_NAMES = 15


def named_points(canvas: Canvas, value: ChosenValue) -> list[Point]:
    """One point for each name and series, with values only. Rows that are not put together get numbers."""
    plan = canvas.plan
    across = plan.across or 0
    names = canvas.names(across)
    series = canvas.names(plan.series) if plan.series is not None else [""] * len(names)
    cells = [row[value.column] for row in canvas.rows["rows"]]
    if value.how is None:
        pairs = list(zip(names, series, strict=True))
        if len(set(pairs)) < len(pairs) and plan.series is None:
            names = numbered(names)
            canvas.note("numbered", canvas.title(across))
    points = [
        Point(across=name, value=cell, series=group, row=at)
        for at, (name, group, cell) in enumerate(zip(names, series, cells, strict=True))
    ]
    made = gathered(points, value.how)
    if len(made) < len(points) and value.how == "sum":
        canvas.note("added up", canvas.title(across))
    known = [each for each in made if plotted(each.value) is not None]
    if len(known) < len(made):
        missing = canvas.formats.count(len(made) - len(known))
        canvas.note("without value", missing, canvas.title(value.column))
    return known


def leaders(
    canvas: Canvas, points: Sequence[Point], numbers: Numbers, *, most: int
) -> tuple[list[Point], float | None]:
    """Sort the points as the plan says, keep `most` of them, and say what is left out.

    Returns those that are kept, and the sum of all; None if they may not be added up or are not all.
    """
    value = canvas.plan.values[0]
    ordered = sorted_points(points, canvas.plan.sort, lowest_first=canvas.lowest_first)
    kept, left = ordered[:most], ordered[most:]
    adds = value.how in ("sum", "count") or (value.how is None and canvas.measure(value.column).additive)
    sums = adds and all(each.amount >= 0 for each in points)
    total = sum(each.amount for each in points) if sums and canvas.found.whole else None
    if left:
        _say_rest(canvas, kept, left, numbers=numbers, adds_up=sums, total=total)
    return kept, total


def _say_rest(
    canvas: Canvas,
    kept: Sequence[Point],
    left: Sequence[Point],
    *,
    numbers: Numbers,
    adds_up: bool,
    total: float | None,
) -> None:
    count = canvas.formats.count
    name = canvas.title(canvas.plan.values[0].column)
    by_value = canvas.plan.sort == "value" or canvas.found.sorted_descending is not None
    everything = count(len(kept) + len(left))
    end = ("lowest" if canvas.lowest_first else "highest") if by_value else "first"
    canvas.note(end, everything, count(len(kept)), name)
    if adds_up and not (by_value and canvas.lowest_first):
        rest = sum(each.amount for each in left)
        if total:
            share = numbers.shares([rest / total])[0]
            canvas.note("more", count(len(left)), numbers.short(rest), share, numbers.short(total))
        else:
            canvas.note("more of rows", count(len(left)), numbers.short(rest))
    elif by_value and not adds_up:
        canvas.note("left", count(len(left)), name)
    tied = sum(each.amount == kept[-1].amount for each in left)
    if tied and by_value:
        canvas.note("tied", count(tied), numbers.exact(kept[-1].amount))


def sorted_points(points: Sequence[Point], sort: Sort, *, lowest_first: bool = False) -> list[Point]:
    match sort:
        case "value":
            return sorted(points, key=lambda each: each.amount, reverse=not lowest_first)
        case "name":
            return sorted(points, key=lambda each: each.across.casefold())
        case "natural":
            return sorted(points, key=lambda each: natural(each.across))
        case "rows":
            return list(points)


def natural(name: str) -> tuple[int, float, str]:
    """A key that sorts numbers, bands and times of day by size, and names of a calendar as it does."""
    value = float(name) if name.isdecimal() else as_double(name)  # "01" is a number, too
    if value is None:
        value = clock_minutes(name)
    if value is None and (band := band_of(name)) is not None:
        value = band[0]
    if value is not None:
        return 0, value, name
    at = month_number(name) or weekday_number(name)
    return (1, float(at), name) if at is not None else (2, 0.0, name.casefold())


def clock_minutes(name: str) -> float | None:
    """The minutes since midnight of a time of day such as "08:30"; None for anything else."""
    found = _CLOCK.fullmatch(name.strip())
    return None if found is None else int(found[1]) * 60 + int(found[2]) + int(found[3] or 0) / 60


def band_of(name: str) -> tuple[float, float] | None:
    """The ends of a band such as "18-29", "under 18" or "75+"; None for anything else."""
    found = _BAND.fullmatch(name.strip().lower())
    if found is None:
        return None
    first, last = (None if each is None else _amount(each) for each in found.group("first", "last"))
    if found["below"] and first is not None and last is None and not found["more"]:
        return -math.inf, first
    if first is None or (last is None and not found["above"] and not found["more"]):
        return None
    return first, math.inf if last is None else last


def _amount(text: str) -> float:
    """A number as bands write it: thousands may be grouped, or written with a k."""
    digits = text.rstrip("k ")
    grouped = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", digits)
    return float(grouped.replace(",", ".")) * (1000 if text.endswith("k") else 1)


_CLOCK = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?")
_AMOUNT = r"\d+(?:[.,]\d{3})*(?:[.,]\d+)?(?:\s?k\b)?"
_BAND = re.compile(
    r"(?:(?P<below><=?|≤|under |below |less than |up to |unter |bis |weniger als |menos de |moins de )"
    r"|(?P<above>>=?|≥|over |above |more than |from |über |ab |mehr als |más de |plus de ))?"
    rf"[€$£]?\s?(?P<first>{_AMOUNT})\s?[€$£%]?"
    rf"(?:\s?(?:-|–|—|\.\.|to|bis|a|à)\s?[€$£]?\s?(?P<last>{_AMOUNT})\s?[€$£%]?)?"
    r"(?P<more>\s?(?:\+|and (?:more|over|above|older)|or (?:more|older)|und (?:mehr|älter)|y más|et plus))?"
    r"(?:\s?(?:years|jahre|años|ans|days|tage|eur|euro|kg|g|km))?"
)


_WEEKDAYS = {
    name: at
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "mon tue wed thu fri sat sun",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "mo di mi do fr sa so",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
    )
    for at, name in enumerate(names.split(), 1)
}


def weekday_number(name: str) -> int | None:
    return _WEEKDAYS.get(name.strip().lower())
