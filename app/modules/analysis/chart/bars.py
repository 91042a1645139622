"""Bars by name: rankings, signed values, groups and stacks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.modules.analysis.chart.axes import LETTER
from app.modules.analysis.chart.canvas import (
    LABEL,
    Canvas,
    Picture,
    coloured,
    fitted,
    layer,
    nominal,
    point_datum,
    points_layer,
)
from app.modules.analysis.chart.leaders import MOST_NAMES, leaders, named_points, sorted_points
from app.modules.analysis.chart.numbers import Numbers
from app.modules.analysis.chart.plan import Spec
from app.modules.analysis.chart.values import Point, plotted, spans_of, totals_of
from app.modules.analysis.figures.names import calendar_title

ROW = 22.4
_TWO_LINES = 33.0
_NAMES = 168
_LETTERS = 23
_SHARES = 52
_CAPITAL = 10.0
_MOST_GROUPED = 40
_MOST_SIGNED = 30
_NO_PARTS = re.compile(r"\b(?:step|schritt|paso|étape|period|zeitraum|periode|periodo|période)$")
"""Names of columns whose values overlap or are compared, so that their sum says nothing."""
_LEAST_SEGMENT = 0.08
_GROUP_GAP = 8
_GROUPED_ROW = 17.0


def lines_of(name: str) -> list[str]:
    """A name on at most two lines; a longer one is cut in its middle."""
    if len(name) <= _LETTERS:
        return [name]
    if len(name) > 2 * _LETTERS:
        return [_whole_words(name, from_start=True) + "…", _whole_words(name, from_start=False)]
    space = name.rfind(" ", 0, _LETTERS + 1)
    at = space if space >= _LETTERS // 3 else _LETTERS
    first, second = name[:at].rstrip(), name[at:].strip()
    if len(second) > _LETTERS:
        second = f"{second[: _LETTERS // 2]}…{second[-(_LETTERS // 2) :]}"
    return [first, second]


def _whole_words(name: str, *, from_start: bool) -> str:
    """The beginning or the end of a name, of whole words if these are not too long."""
    part = name[: _LETTERS - 1] if from_start else name[-_LETTERS:]
    space = part.rfind(" ") if from_start else part.find(" ")
    if from_start:
        return part[:space] if space >= _LETTERS // 2 else part
    return part[space + 1 :] if 0 <= space < _LETTERS // 2 else part


def _length(text: str) -> float:
    """Pixels that a text needs; capitals are wider than other letters."""
    return sum(_CAPITAL if each.isupper() else LETTER for each in text)


@dataclass(frozen=True, kw_only=True)
class BarRows:
    """The places of a picture of lying bars: names to the left, room for values to the right."""

    names: Sequence[str]
    values_room: float
    before_room: float = 0.0
    row: float = ROW

    @property
    def height(self) -> float:
        return round(self.row * len(self.names), 1)

    @property
    def names_room(self) -> str:
        longest = max((_length(line) for name in self.names for line in lines_of(name)), default=0)
        return f"min({round(min(_NAMES, longest) + 12)}, 0.4 * width)"

    def y(self, field: str) -> Spec:
        domain: list[JsonValue] = [*self.names]
        scale: Spec = {"paddingInner": 0.3, "paddingOuter": 0.15, "domain": domain}
        return {**nominal(field), "sort": None, "scale": scale, "axis": None}

    def x(self, field: str, low: float, high: float) -> Spec:
        left: Spec = {"expr": f"{self.names_room} + {round(self.before_room)}"}
        right: Spec = {"expr": f"width - {round(self.values_room)}"}
        scale: Spec = {"domain": [low, high], "nice": False, "zero": False, "range": [left, right]}
        return {"field": field, "type": "quantitative", "scale": scale, "axis": None}

    def name_layers(self, field: str) -> list[Spec]:
        """The names, each once; no two are cut to the same text."""
        seen: dict[str, int] = {}
        data: dict[int, list[Spec]] = {1: [], 2: []}
        for name in self.names:
            lines = lines_of(name)
            shown = " ".join(lines)
            seen[shown] = seen.get(shown, 0) + 1
            if seen[shown] > 1:
                lines[-1] = f"({seen[shown]}) {lines[-1]}"
            data[len(lines)].append({field: name, "name": [*lines]})
        encoding: Spec = {"y": self.y(field), "x": {"value": 0}, "text": nominal("name")}
        mark: Spec = {"type": "text", "style": "kai-name", "limit": {"expr": f"{self.names_room} - 8"}}
        return [
            layer({**mark, "dy": -7 * (lines - 1)}, encoding, each, name=f"names_{lines}")
            for lines, each in data.items()
            if each
        ]


def draw_bars(canvas: Canvas) -> Picture:
    """Lying bars of one value by name."""
    plan = canvas.plan
    value = plan.values[0]
    numbers = canvas.numbers()
    points = named_points(canvas, value)
    is_signed = any(each.amount < 0 for each in points)
    most = _MOST_SIGNED if is_signed else MOST_NAMES  # the ends of signed values matter, both of them
    points, total = leaders(canvas, points, numbers, most=plan.limit or most)
    own = calendar_title(canvas.rows["columns"][plan.across or 0]["name"])
    are_parts = not _NO_PARTS.search(own.lower()) and not canvas.lowest_first
    return _ranking(canvas, points, numbers, total=total if are_parts else None)


def _ranking(canvas: Canvas, points: Sequence[Point], numbers: Numbers, *, total: float | None) -> Picture:
    plan = canvas.plan
    value = plan.values[0]
    across, field = f"c{plan.across}", f"c{value.column}"
    amounts = [each.amount for each in points]
    labels = numbers.labels([plotted(each.value) or 0 for each in points])
    shares = numbers.shares([each.amount / total for each in points]) if total else []
    if plan.share and shares:
        labels, shares = shares, []
    is_signed = min(amounts) < 0 < max(amounts) or max(amounts) <= 0
    before = max((len(text) for text, at in zip(labels, amounts, strict=True) if at < 0), default=0)
    room = max((len(text) for text, at in zip(labels, amounts, strict=True) if at >= 0), default=0)
    two_lines = any(len(lines_of(each.across)) > 1 for each in points)
    place = BarRows(
        names=[each.across for each in points],
        values_room=room * LETTER + 14 + (_SHARES if shares else 0),
        before_room=before * LETTER + 10 if before else 0,
        row=_TWO_LINES if two_lines else ROW,
    )
    answers = _answers(canvas, points)
    data: list[Spec] = []
    for at, point in enumerate(points):
        datum: Spec = {across: point.across, field: plotted(point.value)}
        datum |= {"answer": point.across in answers, "label": labels[at] if plan.labels else ""}
        if shares:
            datum["share"] = shares[at]
        said = f"{point.across}: {numbers.exact(point.amount)}"
        data.append(point_datum(point, f"{said}, {shares[at]}" if shares else said, datum))
    y = place.y(across)
    x = place.x(field, min(0.0, *amounts), max(0.0, *amounts) or (1.0 if min(amounts) == 0 else 0.0))
    layers = [*place.name_layers(across), *_bar_layers(canvas, x, y, is_signed=is_signed)]
    if shares:
        share: Spec = {"y": y, "x": {"value": "width"}, "text": nominal("share")}
        layers.append({"mark": {"type": "text", "style": "kai-share"}, "encoding": share})
    size = round(min(place.row * 0.6, 14), 1)
    layers.append(points_layer({"x": x, "y": y}, mark={"type": "bar", "opacity": 0, "size": size}))
    return Picture(view=fitted(layers, place.height, padding=0), values=data, seen=f"{data[0]['said']}.")


def _bar_layers(canvas: Canvas, x: Spec, y: Spec, *, is_signed: bool) -> list[Spec]:
    """Bars with values at their ends: the answer in the accent, and values below zero in their own colour."""
    color: Spec = {"color": canvas.plan.color} if canvas.plan.color else {}
    field = x["field"]
    kinds = [("kai-answer", "kai-value-answer", "datum.answer"), ("kai-rest", "kai-value", "!datum.answer")]
    layers: list[Spec] = []
    for style, value_style, test in kinds:
        sides: list[tuple[str, Spec, Spec]] = [(test, {"style": style}, {"style": value_style})]
        if is_signed:
            left: Spec = {"style": value_style, "align": "right", "dx": -7}
            sides = [
                (f"{test} && datum.{field} >= 0", {"style": style}, {"style": value_style}),
                (f"{test} && datum.{field} < 0", {"style": "kai-negative"}, left),
            ]
        for kept, bar_style, label_style in sides:
            bar: Spec = {"type": "bar", "size": 13, **bar_style, **color}
            label: Spec = {"type": "text", **label_style}
            only: list[JsonValue] = [{"filter": kept}]
            layers.append({"transform": only, "mark": bar, "encoding": {"x": x, "y": y}})
            layers.append({"transform": only, "mark": label, "encoding": {"x": x, "y": y, "text": LABEL}})
    if is_signed:
        zero: Spec = {"x": {"datum": 0, "type": "quantitative", "axis": None}}
        layers.append(layer({"type": "rule", "style": "kai-zero"}, zero, [{}], name="zero"))
    return layers


def _answers(canvas: Canvas, points: Sequence[Point]) -> set[str]:
    """The names with the highest value, or the lowest if the question asks for it; none if all are equal."""
    amounts = [each.amount for each in points]
    end = min(amounts) if canvas.lowest_first else max(amounts)
    names = {each.across for each in points if each.amount == end}
    return names if len(names) < len(points) else set()


def series_points(canvas: Canvas) -> tuple[list[Point], list[str]]:
    """The points of all series, and the names of these: of a column, or of several values."""
    plan = canvas.plan
    if plan.series is None:
        made = [
            Point(across=each.across, value=each.value, series=canvas.value_name(value), row=each.row)
            for value in plan.values
            for each in named_points(canvas, value)
        ]
    else:
        made = named_points(canvas, plan.values[0])
    return made, list(dict.fromkeys(each.series for each in made))


def draw_groups(canvas: Canvas) -> Picture:
    """Lying bars by name and series: side by side, stacked, or as shares of each name."""
    plan = canvas.plan
    numbers = canvas.numbers()
    points, series = series_points(canvas)
    totals = totals_of(points)
    whole = [Point(across=name, value=total) for name, total in totals.items()]
    ordered = sorted_points(whole, plan.sort, lowest_first=canvas.lowest_first)
    is_stacked = plan.mark in ("stacked", "percent")
    most = plan.limit or (MOST_NAMES if is_stacked else max(2, _MOST_GROUPED // len(series)))
    names = [each.across for each in ordered[:most]]
    if len(ordered) > most:
        count = canvas.formats.count
        canvas.note("first", count(len(ordered)), count(most))
    drawn = [each for each in points if each.across in names]
    drawn.sort(key=lambda each: (names.index(each.across), series.index(each.series)))
    as_share = plan.mark == "percent" or plan.share
    return _grouped(canvas, drawn, numbers, names=names, series=series, totals=totals if as_share else {})


def _grouped(
    canvas: Canvas,
    points: Sequence[Point],
    numbers: Numbers,
    *,
    names: Sequence[str],
    series: Sequence[str],
    totals: dict[str, float],
) -> Picture:
    plan = canvas.plan
    across = f"c{plan.across}"
    is_stacked = plan.mark in ("stacked", "percent")
    labels = numbers.labels([plotted(each.value) or 0 for each in points])
    data, ends = _group_data(canvas, points, numbers, labels=labels, totals=totals)
    low = min(0.0, *(float(str(each["to"])) for each in data))
    high = max(0.0, *(float(str(each["to"])) for each in data))
    sums = numbers.labels([ends[name] for name in names]) if plan.mark == "stacked" and not totals else []
    texts = sums if is_stacked else labels
    place = BarRows(
        names=names,
        values_room=max(map(len, texts), default=0) * LETTER + 14,
        row=_TWO_LINES * 0.9 if is_stacked else _GROUPED_ROW * len(series) + _GROUP_GAP,
    )
    y, x = place.y(across), place.x("to", low, high)
    color: Spec = {**coloured("series", series)}
    color["legend"] = {"columns": {"expr": "max(1, floor(width / 150))"}}
    encoding: Spec = {"y": y, "x": {**x, "stack": None}, "x2": {"field": "from"}, "color": color}
    layers = [*place.name_layers(across)]
    mark: Spec = {"type": "text", "style": "kai-value"}
    at_end: Spec = {"y": y, "x": {**x, "stack": None}, "text": LABEL}
    if is_stacked:
        layers.append({"mark": {"type": "bar", "cornerRadius": 0}, "encoding": encoding})
        layers += _inside(canvas, y, x, low=low, high=high)
        ending: list[Spec] = [
            {across: name, "to": ends[name], "label": label} for name, label in zip(names, sums, strict=False)
        ]
        layers += [layer(mark, at_end, ending, name="sums")] if ending else []
    else:
        offset: Spec = {**nominal("series"), "sort": None}
        encoding = {**encoding, "yOffset": offset}
        layers.append({"mark": {"type": "bar"}, "encoding": encoding})
        if plan.labels:
            middle: Spec = {"yOffset": {**offset, "bandPosition": 0.5}}
            layers.append({"mark": mark, "encoding": {**at_end, **middle}})
    layers.append(points_layer(encoding, mark={"type": "bar", "opacity": 0}))
    return Picture(view=fitted(layers, place.height + 30, padding=0), values=data)


def _group_data(
    canvas: Canvas,
    points: Sequence[Point],
    numbers: Numbers,
    *,
    labels: Sequence[str],
    totals: dict[str, float],
) -> tuple[list[Spec], dict[str, float]]:
    """The data of the bars, and where the stack of each name ends."""
    across = f"c{canvas.plan.across}"
    is_stacked = canvas.plan.mark in ("stacked", "percent")
    shares = [each.amount / totals[each.across] if totals.get(each.across) else None for each in points]
    lengths = [each.amount if share is None else share for each, share in zip(points, shares, strict=True)]
    data: list[Spec] = []
    spans = spans_of(points, lengths, is_stacked=is_stacked)
    for at, (start, end) in enumerate(spans):
        point, share = points[at], shares[at]
        percent = "" if share is None else numbers.shares([share])[0]
        datum: Spec = {across: point.across, "series": point.series, "from": start, "to": end}
        datum |= {"mid": start + lengths[at] / 2, "label": percent or labels[at]}
        said = f"{point.across}, {point.series}: {numbers.exact(point.amount)}"
        data.append(point_datum(point, f"{said}, {percent}" if percent else said, datum))
    ends = {point.across: end for point, (_, end) in zip(points, spans, strict=True)}
    return data, ends


def _inside(canvas: Canvas, y: Spec, x: Spec, *, low: float, high: float) -> list[Spec]:
    """Labels within the segments that are long enough."""
    if not canvas.plan.labels:
        return []
    least = (high - low) * _LEAST_SEGMENT
    mark: Spec = {"type": "text", "style": "kai-cell-high", "align": "center", "baseline": "middle"}
    middle: Spec = {**x, "field": "mid", "stack": None}
    encoding: Spec = {"y": y, "x": middle, "text": LABEL}
    wide = f"(datum.to - datum.from) * (width - 260) > {high - low} * {LETTER} * length(datum.label)"
    long = f"{wide} && datum.to - datum.from > {least}"
    return [{"transform": [{"filter": long}], "mark": mark, "encoding": encoding}]
