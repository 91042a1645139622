"""Draws a chart of an answer as SVG: bars, lines, points. The same specification always gives the same SVG.

Text is escaped, and nothing of the specification becomes markup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, isfinite, log10

from pydantic import JsonValue

from app.modules.analysis.chart.drawing import mapping
from app.modules.analysis.computed.drawn import HIGH, LOW, RING

_WIDTH, _HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 16, 14, 52
_BAR_HEIGHT = 24
_LYING_LEFT = 190
_MOST_BARS = 40
_MOST_LABELS = 12
_LABEL_CHARACTERS = 26
_LARGEST = 1e300
"""Larger values are not drawn: the distance of two could not be computed."""
SERIES = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9")


@dataclass(frozen=True)
class _Datum:
    """A point. `band` are the ends of a band around it; `is_ringed` points stand out."""

    across: JsonValue
    value: float | None
    series: str
    band: tuple[float, float] | None = None
    is_ringed: bool = False


@dataclass(frozen=True)
class Figure:
    """An SVG element, its description, and sentences on what it leaves out."""

    svg: str
    description: str
    notes: Sequence[str]


def draw_figure(spec: Mapping[str, JsonValue] | None, number: int) -> Figure | None:
    """Returns the chart of a Vega-Lite specification of KAI's own, or None if it has none to draw.

    `number` distinguishes the ids of several figures on a page.
    """
    if spec is None:
        return None
    spec = _upper_layer(spec)
    data = _data(spec)
    if not any(each.value is not None for each in data):
        return None
    mark = _mark(spec)
    across, value = _titles(spec)
    notes = _notes(spec)
    if mark in ("line", "point"):
        drawn = _upright(data, mark)
    elif mark == "bar" and (stack := _stack(spec)) is not None:
        places = list(dict.fromkeys(str(each.across) for each in data))
        if len(places) > _MOST_BARS:
            notes.append(f"The first {_MOST_BARS} of {len(places)} bars are drawn.")
        drawn = _stacked(data, places[:_MOST_BARS], is_share=stack == "normalize")
    else:
        if len(data) > _MOST_BARS:
            notes.append(f"The first {_MOST_BARS} of {len(data)} bars are drawn.")
        drawn = _lying(data[:_MOST_BARS], is_share=_is_share(spec))
    names = list(dict.fromkeys(each.series for each in data if each.series))
    said = f"{value} by {across}"
    body, height = drawn
    legend, height = _legend(names, height)
    svg = (
        f'<svg role="img" aria-labelledby="figure-{number}" viewBox="0 0 {_WIDTH} {height}">'
        f'<title id="figure-{number}">{escape(said)}</title>'
        f"{body}{legend}</svg>"
    )
    return Figure(svg, said, notes)


def _upper_layer(spec: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The chart of a specification with layers, which is the last of them."""
    layers = spec.get("layer")
    return {**spec, **mapping(layers[-1])} if isinstance(layers, list) and layers else spec


def _is_share(spec: Mapping[str, JsonValue]) -> bool:
    axis = mapping(mapping(mapping(spec.get("encoding")).get("y")).get("axis"))
    return str(axis.get("format", "")).endswith("%")


def _stack(spec: Mapping[str, JsonValue]) -> str | None:
    """How bars of several series are put on each other: from zero, or `normalize`. None if they are not."""
    encoding = mapping(spec.get("encoding"))
    stacks = [mapping(encoding.get(each)).get("stack", "zero") for each in ("x", "y")]
    if "color" not in encoding or None in stacks:
        return None
    return "normalize" if "normalize" in stacks else "zero"


def _data(spec: Mapping[str, JsonValue]) -> list[_Datum]:
    encoding = mapping(spec.get("encoding"))
    across, value, series = _fields(encoding)
    values = mapping(spec.get("data")).get("values")
    found: list[_Datum] = []
    for each in values if isinstance(values, list) else []:
        datum = mapping(each)
        name = datum.get(series) if series else None
        low, high = _number(datum.get(LOW)), _number(datum.get(HIGH))
        found.append(
            _Datum(
                datum.get(across),
                _number(datum.get(value)),
                "" if name is None else str(name),
                band=None if low is None or high is None else (low, high),
                is_ringed=RING in datum,
            )
        )
    return found


def _fields(encoding: Mapping[str, JsonValue]) -> tuple[str, str, str]:
    """Names of the fields of the axis, the value and the series. The last is empty without series."""
    x, y = mapping(encoding.get("x")), mapping(encoding.get("y"))
    if "theta" in encoding:
        return _field(mapping(encoding.get("color"))), _field(mapping(encoding.get("theta"))), ""
    lies = x.get("type") == "quantitative" and y.get("type") != "quantitative"
    series = _field(mapping(encoding.get("color")))
    return (_field(y), _field(x), series) if lies else (_field(x), _field(y), series)


def _titles(spec: Mapping[str, JsonValue]) -> tuple[str, str]:
    encoding = mapping(spec.get("encoding"))
    across, value, _ = _fields(encoding)
    titles = {_field(mapping(each)): str(mapping(each).get("title", "")) for each in encoding.values()}
    return titles.get(across, ""), titles.get(value, "")


def _notes(spec: Mapping[str, JsonValue]) -> list[str]:
    how = mapping(mapping(spec.get("usermeta")).get("kai")).get("how")
    return [how] if isinstance(how, str) and how else []


def _mark(spec: Mapping[str, JsonValue]) -> str:
    return str(mapping(spec.get("mark")).get("type", ""))


def _lying(data: Sequence[_Datum], *, is_share: bool) -> tuple[str, int]:
    """Horizontal bars, which have room for names."""
    ticks = _ticks([0.0, *(each.value or 0.0 for each in data)])
    height = _TOP + len(data) * _BAR_HEIGHT + 30
    low, high = ticks[0], ticks[-1]

    def place(value: float) -> float:
        return _LYING_LEFT + (value - low) / (high - low) * (_WIDTH - _LYING_LEFT - 80)

    names = list(dict.fromkeys(each.series for each in data))
    parts = [_line(place(0), _TOP, place(0), height - 30, "axis")]
    for number, each in enumerate(data):
        top = _TOP + number * _BAR_HEIGHT
        if number == 0 or not each.series or data[number - 1].across != each.across:
            parts.append(_text(_LYING_LEFT - 8, top + 15, _label(each.across), "end"))
        if each.value is None:
            continue
        start, stop = sorted((place(0), place(each.value)))
        colour = SERIES[names.index(each.series) % len(SERIES)]
        parts.append(
            f'<rect class="{colour}" x="{start:.1f}" y="{top + 3}" width="{max(stop - start, 1):.1f}" '
            f'height="{_BAR_HEIGHT - 7}"/>'
        )
        figure = f"{each.value:+.1%}" if is_share else _figure(each.value)
        parts.append(_text(stop + 6, top + 15, figure, "start"))
    return "".join(parts), height


def _stacked(data: Sequence[_Datum], places: Sequence[str], *, is_share: bool) -> tuple[str, int]:
    """Horizontal bars whose parts lie one after the other, those below zero to the left."""
    names = list(dict.fromkeys(each.series for each in data))
    parts_of = {place: [each for each in data if str(each.across) == place] for place in places}
    wholes = {
        place: sum(abs(each.value or 0.0) for each in own) if is_share else 1.0
        for place, own in parts_of.items()
    }
    ends = [0.0, 1.0] if is_share else [0.0]
    for own in () if is_share else parts_of.values():
        values = [each.value or 0.0 for each in own]
        ends += [sum(value for value in values if value > 0), sum(value for value in values if value < 0)]
    ticks = _ticks(ends)
    low, high = ticks[0], ticks[-1]
    height = _TOP + len(places) * _BAR_HEIGHT + 30

    def x_of(value: float) -> float:
        return _LYING_LEFT + (value - low) / (high - low) * (_WIDTH - _LYING_LEFT - 80)

    drawn = [_line(x_of(0), _TOP, x_of(0), height - 30, "axis")]
    for row, (place, own) in enumerate(parts_of.items()):
        top = _TOP + row * _BAR_HEIGHT
        drawn.append(_text(_LYING_LEFT - 8, top + 15, _label(own[0].across), "end"))
        above = below = 0.0
        for each in own:
            value = (each.value or 0.0) / (wholes[place] or 1.0)
            begin = above if value > 0 else below
            start, stop = sorted((x_of(begin), x_of(begin + value)))
            above, below = above + max(value, 0.0), below + min(value, 0.0)
            colour = SERIES[names.index(each.series) % len(SERIES)]
            if value:
                drawn.append(
                    f'<rect class="{colour} part" x="{start:.1f}" y="{top + 3}" '
                    f'width="{max(stop - start, 0.5):.1f}" height="{_BAR_HEIGHT - 7}"/>'
                )
        if not is_share:
            drawn.append(_text(x_of(above) + 6, top + 15, _figure(above + below), "start"))
    if is_share:
        drawn += [_text(x_of(each), height - 12, f"{each:.0%}", "middle") for each in (0.0, 0.5, 1.0)]
    return "".join(drawn), height


def _upright(data: Sequence[_Datum], mark: str) -> tuple[str, int]:
    ends = [end for each in data if each.band for end in each.band]
    known = [each.value for each in data if each.value is not None]
    ticks = _ticks([*known, *ends], from_zero=mark == "line")
    low, high = ticks[0], ticks[-1]
    bottom = _HEIGHT - _BOTTOM
    positions = _positions([each.across for each in data])

    def x_of(across: JsonValue) -> float:
        return _LEFT + positions[str(across)] * (_WIDTH - _LEFT - _RIGHT)

    def y_of(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - _TOP)

    parts: list[str] = []
    for tick in ticks:
        parts.append(_line(_LEFT, y_of(tick), _WIDTH - _RIGHT, y_of(tick), "grid"))
        parts.append(_text(_LEFT - 8, y_of(tick) + 4, _figure(tick), "end"))
    shown = list(dict.fromkeys(str(each.across) for each in data))
    step = max(1, -(-len(shown) // _MOST_LABELS))
    for label in shown[::step]:
        x = _LEFT + positions[label] * (_WIDTH - _LEFT - _RIGHT)
        parts.append(_text(x, bottom + 18, _label(label)[:10], "middle"))
    names = list(dict.fromkeys(each.series for each in data))
    for number, name in enumerate(names):
        colour = SERIES[number % len(SERIES)]
        own = [each for each in data if each.series == name]
        band = [(x_of(each.across), *map(y_of, each.band)) for each in own if each.band]
        if band:
            outline = [*((x, low) for x, low, _ in band), *((x, high) for x, _, high in reversed(band))]
            around = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
            parts.append(f'<polygon class="{colour} band" points="{around}"/>')
        parts += [
            f'<circle class="ring" cx="{x_of(e.across):.1f}" cy="{y_of(e.value):.1f}" r="7"/>'
            for e in own
            if e.is_ringed and e.value is not None
        ]
        if mark == "line":
            parts += [
                f'<polyline class="{colour}" points="{" ".join(run)}"/>'
                for run in _runs([(x_of(e.across), None if e.value is None else y_of(e.value)) for e in own])
            ]
        parts += [
            f'<circle class="{colour}" cx="{x_of(e.across):.1f}" cy="{y_of(e.value):.1f}" r="3"/>'
            for e in own
            if e.value is not None and (mark == "point" or len(own) <= _MOST_BARS)
        ]
    return "".join(parts), _HEIGHT


def _runs(points: Sequence[tuple[float, float | None]]) -> list[list[str]]:
    """Points without gaps: a missing value interrupts the line."""
    runs: list[list[str]] = [[]]
    for x, y in points:
        if y is None:
            runs.append([])
        else:
            runs[-1].append(f"{x:.1f},{y:.1f}")
    return [run for run in runs if len(run) > 1]


def _positions(values: Sequence[JsonValue]) -> Mapping[str, float]:
    """Place of each value of the axis, from 0 to 1: numbers by size, all others in their order."""
    numbers = [_number(each) for each in values]
    known = [each for each in numbers if each is not None]
    if len(known) == len(values) and min(known) < max(known):
        low, high = min(known), max(known)
        return {str(value): ((_number(value) or 0.0) - low) / (high - low) for value in values}
    distinct = list(dict.fromkeys(str(value) for value in values))
    return {value: (place + 0.5) / len(distinct) for place, value in enumerate(distinct)}


def _ticks(values: Sequence[float], *, from_zero: bool = True) -> list[float]:
    """Round numbers that enclose the values."""
    low, high = min(values), max(values)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-290):
        margin = max(1.0, abs(low) / 10)
        low, high = low - margin, high + margin
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    first, last = floor(low / step), -floor(-high / step)
    return [number * step for number in range(first, last + 1)]


def _legend(names: Sequence[str], height: int) -> tuple[str, int]:
    if not names:
        return "", height
    parts: list[str] = []
    for number, name in enumerate(names):
        row, column = divmod(number, 4)
        x, y = 16 + column * 175, height + 8 + row * 20
        parts.append(f'<rect class="{SERIES[number % len(SERIES)]}" x="{x}" y="{y}" width="10" height="10"/>')
        parts.append(_text(x + 16, y + 9, _label(name)[:20], "start"))
    return "".join(parts), height + 12 + 20 * (-(-len(names) // 4))


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:  # noqa: PLR0917 - two points
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:  # noqa: PLR0917 - a point, and what stands there
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _label(value: JsonValue) -> str:
    text = "null" if value is None else " ".join(str(value).split())
    text = text.removesuffix("T00:00:00")
    return text if len(text) <= _LABEL_CHARACTERS else f"{text[: _LABEL_CHARACTERS - 1]}…"


def _figure(value: float) -> str:
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"


def _field(encoded: Mapping[str, JsonValue]) -> str:
    return str(encoded.get("field", ""))


def _number(value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) and abs(number) <= _LARGEST else None
