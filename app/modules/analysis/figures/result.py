"""What stands out in a result: its shape, its measures and the columns that name and order them."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import fsum
from typing import Literal

from app.modules.analysis.figures.asked import Direction, direction_of
from app.modules.analysis.figures.calendar import Period, Unit
from app.modules.analysis.figures.numbers import exact_sum, number
from app.modules.analysis.figures.roles import Role, Roles, roles_of
from app.modules.analysis.figures.statement import Kind, StatementReading, read_statement
from graph.state import Rows

Shape = Literal["empty", "single", "list", "ranking", "series", "grouped series", "matrix", "measures"]
"""`single` is one row; `list` rows of which no measure was asked for; `ranking` a label with measures;
`series` a time with measures; `grouped series` a time, a group and measures; `matrix` two groups and
measures; `measures` numbers without a label."""

_MEASURED = 12
_FEW_COLUMNS = 3


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
    limit cut the result, and `complete` that all rows of the result are at hand.
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


def figures(question: str, sql: str, dialect: str, rows: Rows) -> Figures:
    """Reads the columns that matter once each; `dialect` is sqlglot's name for the SQL's."""
    statement = read_statement(sql, dialect)
    roles = roles_of(question, statement, rows)
    measures = [found for role in roles.measures[:_MEASURED] if (found := _measure(role, rows)) is not None]
    sorted_by_main = bool(measures) and roles.sorted_by == measures[0].column
    unit = next((period.unit for period in roles.periods if period is not None), None)
    return Figures(
        shape=_shape(rows, statement, roles, measures),
        measures=measures,
        main=measures[0] if measures else None,
        label=roles.label,
        group=roles.group,
        time=roles.time,
        unit=unit,
        periods=roles.periods,
        direction=direction_of(question),
        sorted_descending=statement.descending if sorted_by_main else None,
        limit=statement.limit
        if statement.limit is not None and rows["row_count"] >= statement.limit
        else None,
        selective=statement.selective,
        grouped=statement.grouped,
        cut=rows["truncated"],
        complete=len(rows["rows"]) == rows["row_count"] and not rows["truncated"],
    )


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
