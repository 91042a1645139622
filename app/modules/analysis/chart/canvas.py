"""What every picture is drawn on: its plan, the rows, and the names and numbers as people write them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from app.modules.analysis.chart.axes import HEIGHT, NARROW_HEIGHT, WIDTH
from app.modules.analysis.chart.choice import ChosenMark, ChosenValue
from app.modules.analysis.chart.covered import Covered
from app.modules.analysis.chart.numbers import Numbers, numbers_of
from app.modules.analysis.chart.plan import Plan, Spec
from app.modules.analysis.chart.specification import SCHEMA
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.chart.texts import text
from app.modules.analysis.chart.values import Point, namer
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.names import calendar_title, is_additive
from app.modules.analysis.formats import Formats
from app.modules.database_connection.results import cut_sentence
from graph.state import Rows

MAX_POINTS = 2_000
TOP_PADDING: Spec = {"top": 22, "left": 0, "right": 0, "bottom": 0}
"""Room above a picture, where the highest label of its axis stands."""


@dataclass(frozen=True, eq=False)
class Canvas:
    """A plan with its rows. `how` gathers the sentences on what was added up, selected or left out."""

    plan: Plan
    table: ChartTable
    how: list[str] = field(default_factory=list)

    @property
    def rows(self) -> Rows:
        return self.table.rows

    @property
    def found(self) -> Figures:
        return self.table.found

    @property
    def formats(self) -> Formats:
        return Formats(self.plan.language)

    def say(self, key: str, *values: object) -> str:
        return text(self.plan.language, key, *values)

    def note(self, key: str, *values: object) -> None:
        """Add a sentence on how the picture was made, once."""
        said = self.say(key, *values)
        said = said[:1].upper() + said[1:]
        if said not in self.how:
            self.how.append(said)

    def title(self, column: int) -> str:
        """The name of a column, without the unit that its numbers have.

        One of years is named by the unit of its periods if a second column has the months or quarters.
        """
        own = self.rows["columns"][column]["name"]
        is_finer = column == self.found.time and self.plan.time in ("month", "quarter")
        if is_finer and calendar_title(own).endswith("year"):
            return self.say(f"unit {self.plan.time}")
        name = self.formats.title(own)
        if not self.table.is_numeric(column):
            return name
        return numbers_of(self.measure(column), self.formats, form="auto", suffix=None).bare(name)

    def value_name(self, value: ChosenValue) -> str:
        return self.say("rows") if value.how == "count" else self.title(value.column)

    @property
    def named(self) -> str:
        """What the picture shows, such as "revenue by month"."""
        names = [self.value_name(each) for each in self.plan.values]
        by = [self.title(at) for at in (self.plan.across, self.plan.series) if at is not None]
        return self.say("by", self.formats.listed(names), self.formats.listed(by))

    def names(self, column: int) -> list[str]:
        """The name of the cell of each row."""
        named = namer(self.rows, column, self.formats)
        return [named[repr(row[column])] for row in self.rows["rows"]]

    def measure(self, column: int) -> NumericColumn:
        found = next((each for each in self.found.measures if each.column == column), None)
        if found is not None:
            return found
        name = self.rows["columns"][column]["name"]
        adds = is_additive(name)
        cells = [row[column] for row in self.rows["rows"]]
        return NumericColumn(column=column, name=name, kind="plain", additive=adds, cells=cells)

    def numbers(self, at: int = 0) -> Numbers:
        """The numbers of a value of the plan."""
        value = self.plan.values[at]
        numbers = numbers_of(
            self.measure(value.column), self.formats, form=self.plan.format, suffix=self.plan.unit
        )
        return replace(numbers, unit=None) if value.how == "count" else numbers

    @property
    def lowest_first(self) -> bool:
        """True if the question or the statement asks for the low end."""
        if self.found.direction is not None:
            return self.found.direction == "lowest"
        return self.found.sorted_descending is False and self.found.limit is not None


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A drawn picture: its view with the data, and what is said of it.

    `values` are the data of the points, `named` is what it shows if it is not the plan's values by their
    names, `seen` is what there is to see in it.
    """

    view: Spec
    values: Sequence[Spec]
    named: str = ""
    seen: str = ""
    covered: Covered | None = None
    shown: int | None = None


def finish(canvas: Canvas, picture: Picture, marks: Sequence[ChosenMark]) -> Spec:
    """The specification of a picture; `marks` are those that a reader may choose.

    Fields are named c0, c1, …: Vega reads dots and brackets as paths.
    """
    plan = canvas.plan
    how = [*_coverage(canvas), *canvas.how]
    shows = picture.named or canvas.named
    named = shows if plan.title is None else plan.title
    heading: Spec = {"text": named[:1].upper() + named[1:]}
    if how:
        heading["subtitle"] = [*how]
    kind = canvas.say(_KINDS.get(plan.mark, "bar"))
    described = [f"{kind}: {shows}.", picture.seen, *how]
    note: Spec = {
        "rows": canvas.rows["row_count"],
        "shown": len(picture.values) if picture.shown is None else picture.shown,
        "how": [*how],
        "mark": plan.mark,
        "across": plan.across,
        "values": [{"column": each.column, "how": each.how} for each in plan.values],
        "series": plan.series,
        "time": plan.time,
        "sort": plan.sort,
        "limit": plan.limit,
        "share": plan.share,
        "facet": plan.facet,
        "marks": [*marks],
    }
    if picture.covered is not None:
        note["covered"] = picture.covered.model_dump(mode="json")
    if plan.mark == "map" or picture.view.get("height") == HEIGHT:
        note["narrow_height"] = NARROW_HEIGHT
    spec: Spec = {
        "$schema": SCHEMA,
        "description": " ".join(filter(None, described)),
        "data": {"name": "rows", "values": [*picture.values]},
        **picture.view,
        "usermeta": {"kai": note},
    }
    if heading["text"]:
        spec["title"] = heading
    return spec


_KINDS = {
    "line": "line",
    "area": "line",
    "combo": "combo",
    "arc": "arc",
    "heat": "heat",
    "histogram": "histogram",
    "point": "point",
    "map": "map",
}


def nominal(field: str) -> Spec:
    return {"field": field, "type": "nominal"}


LABEL = nominal("label")


def point_datum(point: Point, said: str, fields: Spec) -> Spec:
    """The datum of a point, with what is said of it and the row that it is, if it is exactly one."""
    datum = {**fields, "said": said}
    return datum if point.row is None else {**datum, "row": point.row}


def fitted(layers: Sequence[Spec], height: float = HEIGHT, *, padding: JsonValue = TOP_PADDING) -> Spec:
    """A view that spans the picture; upright ones have room above them for the highest label."""
    return {
        "width": WIDTH,
        "height": height,
        "padding": padding,
        "autosize": {"type": "fit", "contains": "padding"},
        "layer": [*layers],
    }


def layer(mark: Spec, encoding: Spec, data: Sequence[Spec] | None = None, *, name: str = "") -> Spec:
    """A layer over the rows, or over data of its own under a name."""
    made: Spec = {"mark": mark, "encoding": encoding}
    if data is not None:
        made = {"data": {"name": name, "values": [*data]}, **made}
    return made


def points_layer(encoding: Spec, *, index: int = 0, mark: Spec | None = None) -> Spec:
    """The layer whose items are the points: readers step through them, and see what is said of each."""
    shape: Spec = mark or {"type": "point", "size": 120, "opacity": 0}
    name = "points" if index == 0 else f"points_{index}"
    said = nominal("said")
    return {"name": name, "mark": shape, "encoding": {**encoding, "tooltip": said, "description": said}}


def _coverage(canvas: Canvas) -> list[str]:
    """Sentences that say so when the picture does not cover all rows of the result."""
    at_hand = len(canvas.rows["rows"])
    count = canvas.rows["row_count"]
    gone = canvas.say("gone", canvas.formats.count(at_hand), canvas.formats.count(count))
    return list(filter(None, [cut_sentence(canvas.rows), gone if at_hand < count else ""]))


def coloured(field: str, names: Sequence[str]) -> Spec:
    domain: list[JsonValue] = [*names]
    return {**nominal(field), "legend": None, "scale": {"domain": domain}, "sort": None}
