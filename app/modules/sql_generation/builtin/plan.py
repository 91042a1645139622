"""What a question asks for, in the terms of the schema: the plan that SQL and explanation are made of."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.modules.database_connection.schema import ColumnType
from app.modules.sql_generation.builtin.periods import Period, Unit

Function = Literal["count", "count distinct", "sum", "avg", "min", "max"]
Operator = Literal[">", ">=", "<", "<=", "=", "between"]


class Beyond(Exception):
    """The question is not understood well enough to be answered; `reason` is for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Field:
    """A column of a table, by their names in the schema."""

    table: str
    column: str
    type: ColumnType

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to understand an unclear question, and how to ask for just that.

    `words` of the question are put as `instead`, where `{}` stands for themselves; `added` follows at the
    end. With `compares`, `words` are the number of a comparison, whose operator belongs to them. The
    statement of this reading reads `mark`, a column or a table.
    """

    label: str
    mark: Field | str
    words: str = ""
    instead: str = ""
    added: str = ""
    compares: bool = False


class Unclear(Exception):
    """The question has several equally good readings; `text` asks the user for one of `readings`."""

    def __init__(self, text: str, readings: Iterable[Reading]) -> None:
        super().__init__(text)
        self.text = text
        self.readings = tuple(readings)


@dataclass(frozen=True)
class Measure:
    """A number over the rows of `table`: `fields` are multiplied with each other; a count has none."""

    function: Function
    table: str
    name: str
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Entity:
    """Grouping by the rows of a table: told apart by `key`, shown by `shown`."""

    table: str
    key: tuple[Field, ...]
    shown: tuple[Field, ...]


@dataclass(frozen=True)
class Grain:
    """Grouping by the calendar unit a date falls into."""

    field: Field
    unit: Unit


Dimension = Field | Entity | Grain


@dataclass(frozen=True)
class Among:
    """The field holds one of these values, spelled as they are stored."""

    field: Field
    values: tuple[str, ...]


@dataclass(frozen=True)
class Within:
    field: Field
    period: Period


@dataclass(frozen=True)
class Compared:
    """`numbers` are one, or two for `between`."""

    subject: Field | Measure
    operator: Operator
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class Missing:
    """The field holds no value."""

    field: Field


@dataclass(frozen=True)
class Without:
    """No row of `table` refers to the row by `column`."""

    field: Field
    referring: Field


Condition = Among | Within | Compared | Missing | Without


@dataclass(frozen=True)
class Order:
    by: Field | Measure
    descending: bool


@dataclass(frozen=True)
class Query:
    """`base` is the table whose rows are counted, measured or listed; `with_tables` must have matching rows.

    Without measures and dimensions it is a list of `shown`.
    """

    base: str
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    shown: tuple[Field, ...] = ()
    conditions: tuple[Condition, ...] = ()
    with_tables: tuple[str, ...] = ()
    order: Order | None = None
    limit: int | None = None
    distinct: bool = False
