"""Bands where a picture over time has no rows."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from app.modules.analysis.chart.axes import LETTER, milliseconds
from app.modules.analysis.chart.canvas import LABEL, Canvas, layer
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.timeline import Timeline, short_period
from app.modules.analysis.chart.values import Point
from app.modules.analysis.figures.calendar import Period

_MOST_BANDS = 6
_MOST_NAMED = 5
_DRAWN = 0.78
"""Share of the width that the times have."""


def say_gaps(canvas: Canvas, line: Timeline) -> None:
    """Name the periods that no row has, and those whose rows have no value."""
    there = {each.period for each in line.points}
    missing = [period for run in line.gaps for period in run]
    for key, some in (
        ("gaps", [each for each in missing if each not in there]),
        ("empty", [each for each in missing if each in there]),
    ):
        if some:
            canvas.note(key, _listed(canvas, some))


def say_series_gaps(canvas: Canvas, line: Timeline, runs_of: Mapping[str, Sequence[Sequence[Point]]]) -> None:
    """Name the periods at which others have a value, and a series between two of its own has none."""
    periods = sorted({each.period for each in line.points if each.period is not None})
    for series, runs in runs_of.items():
        missing = [
            period
            for before, after in pairwise(runs)
            for period in periods
            if before[-1].across < period.start.isoformat() < after[0].across
        ]
        if missing:
            canvas.note("gaps of", series, _listed(canvas, missing))


def _listed(canvas: Canvas, periods: Sequence[Period]) -> str:
    names = [short_period(each, canvas.plan.language) for each in periods[:_MOST_NAMED]]
    return canvas.formats.listed(names, len(periods) - len(names))


def gap_layers(canvas: Canvas, line: Timeline, across: str, *, index: int) -> list[Spec]:
    """Bands with the names of the periods that no row has; more than six runs are only said."""
    say_gaps(canvas, line)
    if not 0 < len(line.gaps) <= _MOST_BANDS:
        return []
    language = canvas.plan.language
    bands: list[Spec] = []
    there = {each.period for each in line.points}
    whole = (line.last - line.first).total_seconds()
    for run in line.gaps:
        before = run[0].after(-1).start
        after = run[-1].after(1).start
        start = (milliseconds(before) + milliseconds(run[0].start)) / 2
        end = (milliseconds(run[-1].start) + milliseconds(after)) / 2
        within = [short_period(each, language, year=each.unit == "year") for each in run]
        named = within[0] if len(within) == 1 else f"{within[0]}–{within[-1]}"
        words = canvas.say("no value" if there & set(run) else "no rows")
        share = (end - start) / 1000 / whole * _DRAWN
        bands.append(
            {
                "from": _iso(start),
                "to": _iso(end),
                "mid": _iso((start + end) / 2),
                "label": [words, named],
                "share": share,
                "need": max(len(words), len(named)) * LETTER,
            }
        )
    fits: Spec = {"test": "datum.share * width + 24 > datum.need", "value": 1}
    band: Spec = {"x": {"field": "from", "type": "temporal"}, "x2": {"field": "to"}}
    label: Spec = {
        "x": {"field": "mid", "type": "temporal"},
        "y": {"value": 6},
        "text": LABEL,
        "opacity": {"condition": fits, "value": 0},
    }
    name = f"gaps_{index}"
    return [
        layer({"type": "rect", "style": "kai-gap"}, band, bands, name=name),
        layer({"type": "text", "style": "kai-gap-label"}, label, bands, name=name),
    ]


def _iso(milliseconds_since: float) -> str:
    return datetime.fromtimestamp(milliseconds_since / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
