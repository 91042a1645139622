"""A plan in words: every table, column and filter that the number depends on."""

from app.modules.sql_generation.builtin import plan
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

_FUNCTIONS = {
    "sum": "the sum",
    "avg": "the average",
    "median": "the median",
    "min": "the lowest",
    "max": "the highest",
}
_UNORDERED = " in no particular order"
_ONE = " (one of them, where several are equal)"
_CHOSEN = " (a number of my own: the question names none)"
_OPERATORS = {
    ">": "is over",
    ">=": "is at least",
    "<": "is under",
    "<=": "is at most",
    "=": "is",
    "between": "is between",
}


def explain_unlisted(query: plan.QueryPlan, network: SchemaNetwork) -> str:
    """Returns a sentence on the columns that a list of whole rows leaves out; empty for other plans."""
    return "" if query.measures or query.shown else network.unlisted(query.base)


def explain(query: plan.QueryPlan) -> str:
    """Returns the plan in words that follow "Understood as"."""
    parts = [_asked(query)]
    if query.dimensions:
        parts.append(f" per {' and '.join(map(grouping, query.dimensions))}")
        others = [
            one.table for one in query.dimensions if isinstance(one, plan.Entity) and one.table != query.base
        ]
        parts.append(f", only of {' and '.join(others)} that have any" if others else "")
    if query.with_tables:
        parts.append(f", with at least one row in {' and '.join(query.with_tables)}")
    if query.conditions:
        parts.append(f", where {' and '.join(map(filtering, query.conditions))}")
    parts += [f", only if {_comparing(one.measure, one)}" for one in query.having]
    if query.order and not query.order.descending:
        units = [one.unit for one in query.dimensions if isinstance(one, plan.Grain)]
        parts.append(f", only of {' and '.join(f'{unit}s' for unit in units)} that have any" if units else "")
    parts.append(_ordering(query))
    if query.within is not None:
        first = f"the first {query.limit}" if query.limit and query.limit > 1 else "the first"
        parts.append(f", {first} of each {grouping(query.within)} with all that are equal")
        parts.append(_CHOSEN if query.chosen else "")
    elif query.limit:
        parts.append(f", at most {query.limit} {'row' if query.limit == 1 else 'rows'}")
        parts.append("" if query.order or query.dimensions else _UNORDERED)
        parts.append(_ONE if query.order and query.limit == 1 else "")
        parts.append(_CHOSEN if query.chosen else "")
    unseen = [_unseen(one) for one in query.conditions if isinstance(one, plan.Among) and one.unseen]
    unseen += _unknown_days(query.change) if query.change else []
    return "".join(parts) + "." + "".join(unseen)


def _unseen(one: plan.Among) -> str:
    return f" {one.field} holds no {' or '.join(map(repr, one.values))}, as far as it is known."


def grouping(dimension: plan.Dimension) -> str:
    match dimension:
        case plan.Entity(table, _, shown):
            return f"row of {table} (shown as {', '.join(map(str, shown))})" if shown else f"row of {table}"
        case plan.Grain(field, unit):
            return f"{unit} of {field}"
        case plan.PlanColumn():
            return str(dimension)


def _unknown_days(change: plan.Change) -> list[str]:
    """Returns which days of the two periods are not known."""
    said = []
    if change.begins and change.begins > str(change.before.last):
        said.append(f" The data begin on {change.begins}, so nothing is known of the earlier period.")
    elif change.begins:
        said.append(f" The data begin on {change.begins}, within the earlier period.")
    if change.ends and change.ends < str(change.after.start):
        said.append(f" The data end on {change.ends}, so nothing is known of the later period.")
    elif change.ends:
        said.append(f" Of the later period, only days up to {change.ends} are known.")
    return said


def filtering(condition: plan.QueryCondition) -> str:
    match condition:
        case plan.Among(field, values, negated):
            said = " or ".join(repr(value) for value in values)
            return f"{field} is not {said}" if negated else f"{field} is {said}"
        case plan.PersonNamed((first, given), (last, surname), negated):
            verb = "are not" if negated else "are"
            return f"{first} and {last} {verb} {given!r} and {surname!r}"
        case plan.Flagged(field, holds):
            return f"{field} is {'true' if holds else 'false'}"
        case plan.Fulfils(field, known, holds):
            said = "is" if holds else "is not"
            return f"{field.table} {said} “{known.term}” as the glossary defines it ({known.sql})"
        case plan.Within(field, period):
            return f"{field} is {period}"
        case plan.OnWeekdays(field, days):
            return f"{field} is a {' or '.join(days)}"
        case plan.Earliest(field, key):
            return f"{field} is the first of the {key}"
        case plan.Compared(subject):
            return _comparing(subject.measure if isinstance(subject, plan.Related) else subject, condition)
        case plan.Missing(field, _, negated=True):
            return f"{field} is not {'0' if field.type in ('integer', 'number') else 'missing'}"
        case plan.Missing(field, or_zero):
            return f"{field} is missing or 0" if or_zero else f"{field} is missing"
        case plan.Without(table, within):
            return f"there is no row in {table}{f' where {filtering(within)}' if within else ''}"
        case plan.Superior(field, key, of, above):
            other = " and ".join(map(filtering, of))
            if above:
                return f"{key} is the {field} of a row where {other}"
            return f"{field} is the {key.column} of a row where {other}"


def _comparing(subject: plan.PlanColumn | plan.Measure, one: plan.Compared | plan.Having) -> str:
    name = measuring(subject) if isinstance(subject, plan.Measure) else str(subject)
    return f"{name} {_OPERATORS[one.operator]} {' and '.join(one.numbers)}"


def measuring(measure: plan.Measure) -> str:
    factors = " * ".join(map(str, measure.fields))
    if measure.days:
        factors = f"the days from {measure.fields[1]} to {measure.fields[0]}"
    if (known := measure.definition) is not None:
        factors = f"“{known.term}” as the glossary defines it ({known.sql})"
    match measure.function:
        case "avg" if measure.each is not None:
            return f"the sum of {factors} divided by the number of different {measure.each}"
        case "median" if measure.each is not None:
            return f"the median of the sums of {factors} of each {measure.each}"
        case "defined":
            return factors
        case "count":
            return f"the number of rows of {measure.table}"
        case "count distinct":
            return f"the number of different values of {factors}"
        case function:
            return f"{_FUNCTIONS[function]} of {factors}"


def _asked(query: plan.QueryPlan) -> str:
    if query.part:
        held = [f"there is a row in {one}" if isinstance(one, str) else filtering(one) for one in query.part]
        return f"{measuring(query.measures[0])} where {' and '.join(held)}, in percent of that of all rows"
    if query.change is not None:
        change = query.change
        by = f"{change.field} from the period {change.before} to that {change.after}"
        return f"the change of {measuring(query.measures[0])} by {by}"
    if query.whole is not None:
        only = (
            f" where {' and '.join(map(filtering, query.whole.conditions))}" if query.whole.conditions else ""
        )
        return f"{measuring(query.measures[0])} in percent of that of all rows{only}"
    if query.measures:
        return " and ".join(map(measuring, query.measures))
    distinct = "the different " if query.distinct else ""
    return (
        f"{distinct}{', '.join(map(_showing, query.shown))} of {query.base}"
        if query.shown
        else f"rows of {query.base}"
    )


def _showing(shown: plan.PlanColumn | plan.Related) -> str:
    return measuring(shown.measure) if isinstance(shown, plan.Related) else str(shown)


def _ordering(query: plan.QueryPlan) -> str:
    order = query.order
    if order is None and query.dimensions and query.measures:
        if any(isinstance(dimension, plan.Grain) for dimension in query.dimensions):
            return ", in order of time"
        order = plan.SortOrder(query.measures[0], descending=True)
    if order is None:
        return ""
    by = f" {order.by}" if isinstance(order.by, plan.PlanColumn) else ""
    by = f" {measuring(order.by.measure)}" if isinstance(order.by, plan.Related) else by
    return f",{by} {'highest' if order.descending else 'lowest'} first"
