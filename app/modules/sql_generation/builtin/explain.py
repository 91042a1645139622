"""A plan in words: every table, column and filter that the number depends on."""

from app.modules.sql_generation.builtin.plan import (
    Among,
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

_FUNCTIONS = {"sum": "the sum", "avg": "the average", "min": "the lowest", "max": "the highest"}
_OPERATORS = {
    ">": "is over",
    ">=": "is at least",
    "<": "is under",
    "<=": "is at most",
    "=": "is",
    "between": "is between",
}


def explain(query: Query) -> str:
    """One sentence."""
    parts = [f"Understood as: {_asked(query)}"]
    if query.dimensions:
        parts.append(f" per {' and '.join(map(grouping, query.dimensions))}")
    if query.with_tables:
        parts.append(f", with at least one row in {' and '.join(query.with_tables)}")
    if query.conditions:
        parts.append(f", where {' and '.join(map(filtering, query.conditions))}")
    parts.append(_ordering(query))
    if query.limit:
        parts.append(f", at most {query.limit} {'row' if query.limit == 1 else 'rows'}")
    return "".join(parts) + "."


def grouping(dimension: Dimension) -> str:
    match dimension:
        case Entity(table, _, shown):
            return f"row of {table} (shown as {', '.join(map(str, shown))})" if shown else f"row of {table}"
        case Grain(field, unit):
            return f"{unit} of {field}"
        case Field():
            return str(dimension)


def filtering(condition: Condition) -> str:
    match condition:
        case Among(field, values):
            return f"{field} is {' or '.join(repr(value) for value in values)}"
        case Within(field, period):
            return f"{field} is {period}"
        case Compared(subject, operator, numbers):
            name = measuring(subject) if isinstance(subject, Measure) else str(subject)
            return f"{name} {_OPERATORS[operator]} {' and '.join(numbers)}"
        case Missing(field):
            return f"{field} is missing"
        case Without(_, referring):
            return f"there is no row in {referring.table}"


def measuring(measure: Measure) -> str:
    factors = " * ".join(map(str, measure.fields))
    match measure.function:
        case "count":
            return f"the number of rows of {measure.table}"
        case "count distinct":
            return f"the number of different values of {factors}"
        case function:
            return f"{_FUNCTIONS[function]} of {factors}"


def _asked(query: Query) -> str:
    if query.measures:
        return " and ".join(map(measuring, query.measures))
    distinct = "the different " if query.distinct else ""
    return (
        f"{distinct}{', '.join(map(str, query.shown))} of {query.base}"
        if query.shown
        else f"rows of {query.base}"
    )


def _ordering(query: Query) -> str:
    order = query.order
    if order is None and query.dimensions and query.measures:
        if any(isinstance(dimension, Grain) for dimension in query.dimensions):
            return ", in order of time"
        order = Order(query.measures[0], descending=True)
    if order is None:
        return ""
    by = "" if isinstance(order.by, Measure) else f" {order.by}"
    return f",{by} {'highest' if order.descending else 'lowest'} first"
