"""The plan of a question, in terms of the schema. SQL and explanation are made from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from app.modules.database_connection.schema import ColumnType
from app.modules.sql_generation.builtin.periods import CalendarUnit, DateRange

Function = Literal["count", "count distinct", "sum", "avg", "median", "min", "max", "defined"]
Operator = Literal[">", ">=", "<", "<=", "=", "between"]


NOT_UNDERSTOOD = "I did not understand all of this question."


class Beyond(Exception):
    """The question is not understood well enough to be answered.

    `reason` is for the user. It quotes no words of the question: what fails is the writer, not the word.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AsksForChange(Beyond):
    """The question is an order to change data, which no writer carries out."""

    def __init__(self) -> None:
        super().__init__("KAI only reads data and never changes it. Ask about the data instead.")


@dataclass(frozen=True)
class PlanColumn:
    """A column, by the names of its table and itself in the schema."""

    table: str
    column: str
    type: ColumnType

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True)
class Definition:
    """The SQL of a term of the glossary.

    A measure is computed of many rows, a value of each row, and a condition holds for a row or not. The
    columns of `formula`, which is in the schema's dialect, are `fields`, quoted and with their tables.
    """

    term: str
    sql: str
    kind: Literal["measure", "value", "condition"]
    formula: str
    fields: tuple[PlanColumn, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to understand an unclear question, and the rewording that asks for it.

    `words` of the question are replaced by `instead`, in which `{}` stands for them; `added` is appended.
    With `compares`, `words` are the number of a comparison, and `{}` includes its operator. The statement
    of this reading must read `mark`, a column or a table.
    """

    label: str
    mark: PlanColumn | str
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
    """An aggregate over the rows of `table`. `fields` are multiplied with each other; a count has none.

    With `days`, the fields are two dates, and the days from the second to the first are aggregated. With a
    definition, its formula takes the place of the fields; the function `defined` is in the formula.
    With `each`, the key of a table, an average is the sum divided by the number of rows of that table.
    """

    function: Function
    table: str
    name: str
    fields: tuple[PlanColumn, ...] = ()
    definition: Definition | None = None
    each: PlanColumn | None = None
    days: bool = False


@dataclass(frozen=True)
class Entity:
    """Grouping by the rows of a table. They are identified by `key` and displayed by `shown`."""

    table: str
    key: tuple[PlanColumn, ...]
    shown: tuple[PlanColumn, ...]


@dataclass(frozen=True)
class Grain:
    """Grouping by the calendar unit a date falls into, or by its weekday or hour."""

    field: PlanColumn
    unit: CalendarUnit


Dimension = PlanColumn | Entity | Grain


@dataclass(frozen=True)
class Related:
    """A measure over the rows of its table that belong to one row of the base."""

    measure: Measure


@dataclass(frozen=True)
class Among:
    """The field holds one of these stored values, or none of them if `negated`.

    `unseen`: the scan found no such value in this column.
    """

    field: PlanColumn
    values: tuple[str, ...]
    negated: bool = False
    unseen: bool = False


@dataclass(frozen=True)
class PersonNamed:
    """The row has this first name and this last name; `negated` reverses it."""

    first: tuple[PlanColumn, str]
    last: tuple[PlanColumn, str]
    negated: bool = False


@dataclass(frozen=True)
class Flagged:
    """The field is true if `holds`, else false.

    `yes` and `no` are the stored texts for true and false; None for booleans and numbers.
    """

    field: PlanColumn
    holds: bool
    yes: str | None
    no: str | None


@dataclass(frozen=True)
class Fulfils:
    """The condition of a term of the glossary holds, or does not; `field` is one of its columns."""

    field: PlanColumn
    definition: Definition
    holds: bool


@dataclass(frozen=True)
class Within:
    field: PlanColumn
    period: DateRange


@dataclass(frozen=True)
class OnWeekdays:
    """The date falls on one of these days, by their English names."""

    field: PlanColumn
    days: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """A comparison of a column or a related measure. `numbers` has one item, two for `between`."""

    subject: PlanColumn | Related
    operator: Operator
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class Earliest:
    """The date is the earliest of the rows with the same `key`: a customer's first order."""

    field: PlanColumn
    key: PlanColumn


@dataclass(frozen=True)
class Missing:
    """The field holds no value, or if `negated` a value; with `or_zero`, zero counts as no value."""

    field: PlanColumn
    or_zero: bool = False
    negated: bool = False


@dataclass(frozen=True)
class Without:
    """The row has no related row in `table`, or with `within` none whose date lies in that period."""

    table: str
    within: Within | None = None


Filter = Among | PersonNamed | Flagged | Fulfils | Within | OnWeekdays | Earliest | Missing


@dataclass(frozen=True)
class Superior:
    """A reference of a table to itself: `field` holds the `key` of another row that fulfils `of`.

    `above` reverses it: the row is the one that the other row refers to.
    """

    field: PlanColumn
    key: PlanColumn
    of: tuple[Filter, ...]
    above: bool


QueryCondition = Filter | Compared | Without | Superior


@dataclass(frozen=True)
class Having:
    """A comparison of a measure of each group."""

    measure: Measure
    operator: Operator
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """The measure of one period beside that of an earlier one. `relative`: groups are ordered by percent.
    `begins` is the first day of the data if it lies after the first of the earlier period, `ends` the last
    known one if it lies before the last of the later period, else empty.
    """

    field: PlanColumn
    before: DateRange
    after: DateRange
    relative: bool
    begins: str = ""
    ends: str = ""


@dataclass(frozen=True)
class SortOrder:
    by: PlanColumn | Grain | Measure | Related
    descending: bool


@dataclass(frozen=True)
class Preferences:
    """Tables and columns to prefer where several are possible; `clause` is the text that names them."""

    clause: str = ""
    tables: frozenset[str] = frozenset()
    fields: frozenset[PlanColumn] = frozenset()


NO_PREFERENCES = Preferences()


@dataclass(frozen=True, kw_only=True)
class QueryPlan:
    """A plan. `base` is the table whose rows are counted, measured or listed.

    Rows need a matching row in each of `with_tables`. Without measures and dimensions the plan is a list of
    `shown`, or of whole rows. `chosen`: the limit was not in the question. Joins prefer `preferences` and the
    tables `through` where several paths exist. With `whole`, the measure is in percent of that of this plan,
    which has no groups; with `part`, that of the rows that fulfil it (a name: have a row in that table) is in
    percent of that of all. With `within`, the order and the limit hold for each of its groups.
    """

    base: str
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    shown: tuple[PlanColumn | Related, ...] = ()
    conditions: tuple[QueryCondition, ...] = ()
    having: tuple[Having, ...] = ()
    with_tables: tuple[str, ...] = ()
    order: SortOrder | None = None
    limit: int | None = None
    chosen: bool = False
    distinct: bool = False
    through: tuple[str, ...] = ()
    preferences: Preferences = NO_PREFERENCES
    whole: "QueryPlan | None" = None
    part: tuple[QueryCondition | str, ...] = ()
    change: Change | None = None
    within: Dimension | None = None

    @property
    def is_list(self) -> bool:
        return not self.measures


_PLANS = TypeAdapter(QueryPlan)


def write_plan(plan: QueryPlan) -> str:
    """Returns a plan as JSON."""
    return _PLANS.dump_json(plan).decode()


def read_plan(text: str) -> QueryPlan | None:
    """Returns a plan written by `write_plan`; None for any other text."""
    try:
        return _PLANS.validate_json(text)
    except ValidationError:
        return None
