"""What stands out in a result: its shape, its measures and the columns that name and order them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import fsum
from typing import Literal

from pydantic import JsonValue

from app.modules.analysis.figures.asked import Direction, direction_of
from app.modules.analysis.figures.calendar import Period, Unit
from app.modules.analysis.figures.course import Course, Point, Span, course, folded, folded_span
from app.modules.analysis.figures.numbers import exact, exact_sum, number
from app.modules.analysis.figures.ranking import LabelOf, Ranking, ranked
from app.modules.analysis.figures.roles import Role, Roles, roles_of
from app.modules.analysis.figures.statement import Kind, StatementReading, read_statement
from app.modules.analysis.words import label, title
from graph.state import Column, Rows

Shape = Literal["empty", "single", "list", "ranking", "series", "grouped series", "matrix", "measures"]
"""`single` is one row; `list` rows of which no measure was asked for; `ranking` a label with measures;
`series` a time with measures; `grouped series` a time, a group and measures; `matrix` two groups and
measures; `measures` numbers without a label."""

_MEASURED = 12
_FEW_COLUMNS = 3
_FOLDED_DAYS = 90


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Statistics of a numeric column, without its nulls.

    `additive` says that its values may be added over groups, `adds_over_time` over periods too;
    `total` is their exact sum, None where a sum would mean nothing.
    """

    column: int
    name: str
    kind: Kind
    additive: bool
    adds_over_time: bool
    count: int
    missing: int
    minimum: float
    maximum: float
    mean: float
    total: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of all rows at hand.

    `main` is the measure asked for, the first of `measures`. `label` is the column that names the rows
    (in a grouped series the one that tells the series apart), `group` the second one of a matrix.
    `time` is the column of `periods`, which has one for each row, None where the cell is null.
    `direction` is the end of the scale that the question asks for. `limit` is the statement's own LIMIT
    where the rows reach it; `selective` says that the statement left groups out. `cut` says that KAI's
    limit cut rows off, and `complete` that all rows of the result are at hand.

    `course` is the main measure over time, of all groups together; `months` the same by months where the
    rows are days. `ranking` has the labels by the main measure, `second` the groups of a matrix; where
    these may not be added up, `ranking` has the single rows and `second` is None.
    """

    shape: Shape
    measures: Sequence[Measure]
    main: Measure | None
    label: int | None
    group: int | None
    time: int | None
    unit: Unit | None
    periods: Sequence[Period | None]
    direction: Direction | None
    sorted_descending: bool | None
    limit: int | None
    selective: bool
    grouped: bool
    cut: bool
    complete: bool
    course: Course | None
    months: Course | None
    ranking: Ranking | None
    second: Ranking | None

    @property
    def whole(self) -> bool:
        """Whether the rows are all that there are, so that their sum is a total."""
        return self.complete and self.limit is None and not self.selective


def figures(
    question: str,
    sql: str,
    dialect: str,
    rows: Rows,
    *,
    span: Span | None = None,
    today: date | None = None,
) -> Figures:
    """Reads the columns that matter once each; `dialect` is sqlglot's name for the SQL's.

    `span` is what the database holds of the days behind the periods, None where it is unknown.
    """
    statement = read_statement(sql, dialect)
    roles = roles_of(question, statement, rows)
    measures = [found for role in roles.measures[:_MEASURED] if (found := _measure(role, rows)) is not None]
    main = measures[0] if measures else None
    shape = _shape(rows, statement, roles, measures)
    sorted_by_main = main is not None and roles.sorted_by == main.column
    limited = statement.limit is not None and rows["row_count"] >= statement.limit
    cut = rows["truncated"] and rows.get("cut_by") != "values"
    points = _points(shape, rows, main, roles)
    return Figures(
        shape=shape,
        measures=measures,
        main=main,
        label=roles.label,
        group=roles.group,
        time=roles.time,
        unit=next((period.unit for period in roles.periods if period is not None), None),
        periods=roles.periods,
        direction=direction_of(question),
        sorted_descending=statement.descending if sorted_by_main else None,
        limit=statement.limit if limited else None,
        selective=statement.selective,
        grouped=statement.grouped,
        cut=cut,
        complete=len(rows["rows"]) == rows["row_count"] and not cut,
        course=course(points, span, today, additive=main is not None and main.adds_over_time),
        months=_months(points, main),
        ranking=_ranking(shape, rows, main, roles),
        second=_second(shape, rows, main, roles),
    )


def _points(shape: Shape, rows: Rows, main: Measure | None, roles: Roles) -> list[Point]:
    """The main measure by period: of all groups together where it may be added over them."""
    if main is None or not (shape == "series" or (shape == "grouped series" and main.additive)):
        return []
    sums: dict[Period, Decimal] = {}
    for period, row in zip(roles.periods, rows["rows"], strict=True):
        value = exact(row[main.column])
        if period is not None and value is not None:
            sums[period] = sums.get(period, Decimal(0)) + value
    return [Point(period, value) for period, value in sums.items()]


def _months(points: Sequence[Point], main: Measure | None) -> Course | None:
    if main is None or not main.adds_over_time or len(points) < _FOLDED_DAYS:
        return None
    if points[0].period.unit != "day":
        return None
    return course(folded(points, "month"), folded_span(points), None, additive=True)


def _ranking(shape: Shape, rows: Rows, main: Measure | None, roles: Roles) -> Ranking | None:
    if main is None or shape not in ("ranking", "matrix", "grouped series") or roles.label is None:
        return None
    additive = main.adds_over_time if shape == "grouped series" else main.additive
    columns = [roles.label]
    if not additive:
        columns += [at for at in (roles.group, roles.time) if at is not None]
    return ranked(rows, main.column, _labelled(columns, rows), additive=additive)


def _second(shape: Shape, rows: Rows, main: Measure | None, roles: Roles) -> Ranking | None:
    if shape != "matrix" or main is None or not main.additive or roles.group is None:
        return None
    return ranked(rows, main.column, _labelled([roles.group], rows), additive=True)


def _labelled(columns: Sequence[int], rows: Rows) -> LabelOf:
    """Labels as Markdown; numbers go with what they number."""
    kinds = [rows["columns"][at] for at in columns]

    def label_of(row: Sequence[JsonValue]) -> str:
        return " / ".join(_label(row[at], kind) for at, kind in zip(columns, kinds, strict=True))

    return label_of


def _label(cell: JsonValue, column: Column) -> str:
    text = label(cell)
    return f"{title(column['name'])} {text}" if column["type"] in ("integer", "number", "boolean") else text


def _shape(rows: Rows, statement: StatementReading, roles: Roles, measures: Sequence[Measure]) -> Shape:
    if not rows["rows"]:
        return "empty"
    if len(rows["rows"]) == 1:
        return "single"
    if not measures or not (statement.grouped or roles.asked or len(rows["columns"]) <= _FEW_COLUMNS):
        return "list"
    if roles.time is not None:
        return "series" if roles.label is None else "grouped series"
    if roles.label is None:
        return "measures"
    return "ranking" if roles.group is None else "matrix"


def _measure(role: Role, rows: Rows) -> Measure | None:
    cells = [row[role.column] for row in rows["rows"]]
    values = [value for cell in cells if (value := number(cell)) is not None]
    if not values:
        return None
    return Measure(
        column=role.column,
        name=role.name,
        kind=role.kind,
        additive=role.additive,
        adds_over_time=role.adds_over_time,
        count=len(values),
        missing=len(cells) - len(values),
        minimum=min(values),
        maximum=max(values),
        mean=fsum(values) / len(values),
        total=exact_sum(cells) if role.additive else None,
    )
