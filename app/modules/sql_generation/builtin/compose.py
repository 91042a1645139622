"""From a plan to a statement, with sqlglot's expressions only: no identifier or value becomes SQL by hand."""

from dataclasses import dataclass, field

from sqlglot import exp

from app.modules.sql_generation.builtin.network import Hop, Network
from app.modules.sql_generation.builtin.periods import Period
from app.modules.sql_generation.builtin.plan import (
    Among,
    Beyond,
    Compared,
    Condition,
    Dimension,
    Entity,
    Field,
    Grain,
    Measure,
    Missing,
    Order,
    Query,
    Within,
    Without,
)

_NUMERIC = ("integer", "number")
_LABELS = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_COMPARISONS: dict[str, type[exp.Binary]] = {
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
    "=": exp.EQ,
}


@dataclass
class Draft:
    """A statement being built: `names` are the tables in it, by the name each goes by there."""

    network: Network
    base: str
    select: exp.Select
    names: dict[str, str]
    through: tuple[str, ...] = ()
    fans_out: bool = field(default=False)

    def reach(self, table: str) -> None:
        """Joins what is needed to get from the base to `table`."""
        for hop in self.network.path(self.base, table, (*self.through, *self.names)):
            if hop.right not in self.names:
                self._join(hop)

    def _join(self, hop: Hop) -> None:
        self.names[hop.right] = hop.right
        self.fans_out = self.fans_out or hop.fans_out
        pairs = zip(hop.left_columns, hop.right_columns, strict=True)
        left, right = self.names[hop.left], hop.right
        on = exp.and_(
            *(exp.EQ(this=_column(left, one), expression=_column(right, two)) for one, two in pairs)
        )
        self.select = self.select.join(_table(hop.right), on=on, copy=False)

    def column(self, field: Field) -> exp.Expr:
        self.reach(field.table)
        return _column(self.names[field.table], field.column)


def compose(query: Query, network: Network, through: tuple[str, ...] = ()) -> exp.Select:
    """The statement of a plan; tables in `through` are preferred where joins could go several ways.

    Raises `Beyond` when a join would count a measured row more than once.
    """
    draft = Draft(
        network, query.base, exp.Select().from_(_table(query.base)), {query.base: query.base}, through
    )
    for table in query.with_tables:
        draft.reach(table)
    where = [condition(draft, one) for one in query.conditions if not _of_measure(one)]
    groups = [keys for dimension in query.dimensions for keys in group_keys(draft, dimension)]
    labels = [shown for dimension in query.dimensions for shown in labelled(draft, dimension)]
    if not query.measures:
        return _listed(draft, query, where)
    numbers = [exp.alias_(measured(draft, measure), measure.name, quoted=True) for measure in query.measures]
    select = draft.select.select(*labels, *numbers).where(*where)
    having = [condition(draft, one) for one in query.conditions if _of_measure(one)]
    select = select.group_by(*groups).having(*having)
    for ordered in _orders(draft, query):
        select = select.order_by(ordered)
    return select.limit(query.limit) if query.limit else select


def _listed(draft: Draft, query: Query, where: list[exp.Expr]) -> exp.Select:
    shown = query.shown or tuple(
        field for field in draft.network.fields(query.base) if field.type not in ("binary", "json")
    )
    columns = [draft.column(field) for field in shown]
    key = [draft.column(field) for field in draft.network.key(query.base)]
    orders = [draft.column(query.order.by)] if query.order and isinstance(query.order.by, Field) else []
    labels = [
        exp.alias_(column, _readable(field), quoted=True)
        for column, field in zip(columns, shown, strict=True)
    ]
    select = draft.select.select(*labels).where(*where)
    if query.distinct or (draft.fans_out and not key):
        select = select.distinct()
    elif draft.fans_out:
        select = select.group_by(*dict.fromkeys((*key, *columns, *orders)))
    if query.order:
        select = select.order_by(exp.Ordered(this=orders[0], desc=query.order.descending, nulls_first=False))
    return select.limit(query.limit) if query.limit else select


def measured(draft: Draft, measure: Measure) -> exp.Expr:
    """The aggregate of a measure. Raises `Beyond` when joins repeat its rows and so falsify it."""
    factors = [draft.column(field) for field in measure.fields]
    match measure.function:
        case "count" if draft.fans_out:
            key = draft.network.key(measure.table)
            if len(key) != 1:
                raise Beyond(f"{measure.table} has no single key to count its rows by.")
            return exp.Count(this=exp.Distinct(expressions=[draft.column(key[0])]))
        case "count":
            return exp.Count(this=exp.Star())
        case "count distinct":
            return exp.Count(this=exp.Distinct(expressions=factors))
        case "sum" | "avg" if draft.fans_out:
            raise Beyond(f"The joins this needs would count rows of {measure.table} more than once.")
    value = factors[0]
    for factor in factors[1:]:
        value = exp.Mul(this=value, expression=factor)
    functions = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
    return functions[measure.function](this=value)


def labelled(draft: Draft, dimension: Dimension) -> list[exp.Expr]:
    """What a group is shown as, with readable names."""
    match dimension:
        case Entity(table, _, shown):
            return [exp.alias_(draft.column(one), _readable(one, table), quoted=True) for one in shown]
        case Grain(_, unit):
            return [exp.alias_(_truncated(draft, dimension), unit, quoted=True)]
        case Field():
            return [exp.alias_(draft.column(dimension), _readable(dimension), quoted=True)]


def group_keys(draft: Draft, dimension: Dimension) -> list[exp.Expr]:
    match dimension:
        case Entity(_, key, shown):
            return [draft.column(one) for one in dict.fromkeys((*key, *shown))]
        case Grain():
            return [_truncated(draft, dimension)]
        case Field():
            return [draft.column(dimension)]


def _truncated(draft: Draft, grain: Grain) -> exp.Expr:
    """Text that sorts as time does: 2025, 2025-03 or the day."""
    return exp.TimeToStr(this=draft.column(grain.field), format=exp.Literal.string(_LABELS[grain.unit]))


def condition(draft: Draft, one: Condition) -> exp.Expr:
    match one:
        case Among(field, values):
            return _among(draft.column(field), values)
        case Within(field, period):
            return _within(draft.column(field), field, period)
        case Compared(subject, operator, numbers):
            value = measured(draft, subject) if isinstance(subject, Measure) else draft.column(subject)
            return _compared(value, operator, numbers)
        case Missing(field):
            return exp.Is(this=draft.column(field), expression=exp.Null())
        case Without(field, referring):
            return _without(draft, field, referring)


def _among(column: exp.Expr, values: tuple[str, ...]) -> exp.Expr:
    wanted = [exp.Literal.string(value) for value in dict.fromkeys(values)]
    if len(wanted) == 1:
        return exp.EQ(this=column, expression=wanted[0])
    return exp.In(this=column, expressions=wanted)


def _within(column: exp.Expr, field: Field, period: Period) -> exp.Expr:
    def bound(day: object) -> exp.Expr:
        if field.type in ("date", "datetime"):
            return exp.Literal.string(str(day))
        year = str(day)[:4]
        return exp.Literal.number(year) if field.type in _NUMERIC else exp.Literal.string(year)

    bounds: list[exp.Expr] = []
    if period.start:
        bounds.append(exp.GTE(this=column, expression=bound(period.start)))
    if period.end:
        bounds.append(exp.LT(this=column.copy(), expression=bound(period.end)))
    return exp.and_(*bounds)


def _compared(value: exp.Expr, operator: str, numbers: tuple[str, ...]) -> exp.Expr:
    literals = [exp.Literal.number(number) for number in numbers]
    if operator == "between":
        return exp.Between(this=value, low=literals[0], high=literals[1])
    return _COMPARISONS[operator](this=value, expression=literals[0])


def _without(draft: Draft, field: Field, referring: Field) -> exp.Expr:
    inner = _column(referring.table, referring.column)
    refers = exp.EQ(this=inner, expression=draft.column(field))
    rows = exp.Select().select(exp.Literal.number(1)).from_(_table(referring.table)).where(refers)
    return exp.Not(this=exp.Exists(this=rows))


def _orders(draft: Draft, query: Query) -> list[exp.Expr]:
    if query.order:
        return [_ordered(draft, query.order)]
    if any(isinstance(dimension, Grain) for dimension in query.dimensions):
        return [key for dimension in query.dimensions for key in group_keys(draft, dimension)]
    if query.dimensions:
        return [_ordered(draft, Order(query.measures[0], descending=True))]
    return []


def _ordered(draft: Draft, order: Order) -> exp.Expr:
    target = measured(draft, order.by) if isinstance(order.by, Measure) else draft.column(order.by)
    return exp.Ordered(this=target, desc=order.descending, nulls_first=False)


def _of_measure(one: Condition) -> bool:
    return isinstance(one, Compared) and isinstance(one.subject, Measure)


def _readable(field: Field, table: str | None = None) -> str:
    """A name for people; the bare "name" of an entity is that of its table."""
    return table if table and field.column.lower() in ("name", "title") else field.column


def _column(table: str, name: str) -> exp.Expr:
    return exp.column(name, table=table, quoted=True)


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
