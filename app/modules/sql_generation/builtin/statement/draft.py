"""A statement being built: its tables, the joins to reach more of them, and aggregates over its rows."""

from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from app.modules.sql_generation.builtin.plan import Beyond, Definition, Measure, PlanColumn
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork
from app.modules.sql_generation.foreign_keys import Hop


@dataclass(kw_only=True)
class SelectDraft:
    """A SELECT over `base`. `names` maps each table in it to its alias there.

    `fans_out`: a join repeats rows of `base`.
    """

    network: SchemaNetwork
    base: str
    select: exp.Select
    names: dict[str, str] = field(kw_only=True)
    through: tuple[str, ...] = field(default=(), kw_only=True)
    fans_out: bool = field(default=False, kw_only=True)
    optional: bool = field(default=False, kw_only=True)
    """Further tables are joined without leaving rows out that have no match."""

    def reach(self, table: str) -> None:
        """Joins the tables on the path from the base to `table`."""
        if table not in self.names:
            for hop in self.network.path(self.base, table, (*self.through, *self.names)):
                self.join(hop)

    def join(self, hop: Hop) -> None:
        if hop.right in self.names:
            return
        self.names[hop.right] = hop.right
        self.fans_out = self.fans_out or hop.fans_out
        self.select = self.select.join(
            table_expression(hop.right),
            on=meeting(hop, self.names[hop.left]),
            join_type="LEFT" if self.optional else "",
            copy=False,
        )

    def column(self, field: PlanColumn) -> exp.Expr:
        self.reach(field.table)
        return column_expression(self.names[field.table], field.column)

    def stated(self, definition: Definition) -> exp.Expr:
        """Returns a formula of the glossary over the tables of this statement."""

        def own(node: exp.Expr) -> exp.Expr:
            return (
                column_expression(self.names[node.table], node.name) if isinstance(node, exp.Column) else node
            )

        for each in definition.fields:
            self.reach(each.table)
        formula: exp.Expr = exp.maybe_parse(definition.formula, dialect=self.network.schema.dialect)
        return formula.transform(own)


def meeting(hop: Hop, left: str) -> exp.Expr:
    """Returns the join condition of a hop; `left` is the alias of its left table."""
    return exp.and_(
        *(
            exp.EQ(this=column_expression(left, one), expression=column_expression(hop.right, two))
            for one, two in hop.pairs
        )
    )


def measured_value(draft: SelectDraft, measure: Measure) -> exp.Expr | None:
    """Returns what a measure aggregates; None for a count of rows."""
    if measure.definition is not None:
        return draft.stated(measure.definition)
    factors = [draft.column(field) for field in measure.fields]
    if measure.days:
        last, first = (exp.TsOrDsToDate(this=date) for date in factors)
        return exp.DateDiff(this=last, expression=first, unit=exp.var("DAY"))
    return reduce(lambda one, two: exp.Mul(this=one, expression=two), factors) if factors else None


def measured(draft: SelectDraft, measure: Measure, only: exp.Expr | None = None) -> exp.Expr:
    """Returns the aggregate of a measure, with `only` a count or sum of the rows that fulfil it.

    Raises `Beyond` when joins repeat its rows and so falsify it.
    """
    value = measured_value(draft, measure)
    factors = [draft.column(field) for field in measure.fields]
    if only is not None:
        value = _value_if(draft, measure, value, only=only)
        factors = [value]
    match measure.function:
        case "count" if draft.fans_out:
            key = draft.network.key(measure.table)
            if len(key) != 1:
                raise Beyond(f"{measure.table} has no single key to count its rows by.")
            return exp.Count(this=exp.Distinct(expressions=[value or draft.column(key[0])]))
        case "count":
            return exp.Count(this=value or exp.Star())
        case "count distinct":
            return exp.Count(this=exp.Distinct(expressions=factors))
        case "sum" | "avg" | "defined" if draft.fans_out:
            raise Beyond(f"The joins this needs would count rows of {measure.table} more than once.")
        case "avg" if measure.each is not None:
            rows = exp.Count(this=exp.Distinct(expressions=[draft.column(measure.each)]))
            return divided(exp.Mul(this=exp.Sum(this=value), expression=exp.Literal.number("1.0")), rows)
        case "defined" if value is not None:
            return exp.paren(value)
    functions = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
    return functions[measure.function](this=value)


def _value_if(draft: SelectDraft, measure: Measure, value: exp.Expr | None, *, only: exp.Expr) -> exp.Expr:
    """Returns what a measure aggregates of a row that fulfils `only`; 0 of others for a sum, else NULL."""
    if measure.function not in ("count", "count distinct", "sum"):
        raise Beyond("I can compare and take parts of sums and of numbers of rows only.")
    if value is None:
        key = draft.network.key(measure.table)
        value = draft.column(key[0]) if draft.fans_out and len(key) == 1 else exp.Literal.number(1)
    chosen = exp.Case().when(only, value)
    return chosen.else_(exp.Literal.number(0)) if measure.function == "sum" else chosen


def divided(number: exp.Expr, by: exp.Expr) -> exp.Expr:
    """Returns a quotient; NULL for a division by zero."""
    return exp.Div(this=number, expression=exp.Nullif(this=by, expression=exp.Literal.number(0)))


def column_expression(table: str, name: str) -> exp.Expr:
    return exp.column(name, table=table, quoted=True)


def table_expression(name: str, alias: str | None = None) -> exp.Expr:
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    return exp.alias_(table, alias, table=True, quoted=True) if alias else table
