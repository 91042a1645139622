"""The number that a question means: an amount, a quantity, or revenue as price times quantity."""

from collections.abc import Collection

from app.modules.sql_generation.builtin.plan import (
    Beyond,
    Definition,
    Function,
    Measure,
    PlanColumn,
    Reading,
    Unclear,
)
from app.modules.sql_generation.builtin.question.readings import qualified
from app.modules.sql_generation.builtin.question.words import WORDS, word_set, words_of
from app.modules.sql_generation.builtin.statement.network import SchemaNetwork

FUNCTION_WORDS = {"avg": "average", "sum": "total", "min": "lowest", "max": "highest"}
_EARNED = frozenset({"revenue", "sale", "turnover"})
_AMOUNTS = frozenset({"amount", "total", "subtotal"})
_OTHER_MONEY = word_set(WORDS["other_money"])
NUMERIC = ("integer", "number")
_PERCENT = frozenset({"percent", "percentage", "pct", "ratio"})
RATES = frozenset(
    {"rate", "discount", "share", "tax", "vat", "margin", "commission", "fraction", "probability"}
)


def numbers_of(network: SchemaNetwork, table: str) -> list[PlanColumn]:
    return [field for field in network.fields(table) if field.type in NUMERIC and not network.is_key(field)]


def amounts_of(network: SchemaNetwork, table: str) -> list[PlanColumn]:
    """Returns the columns of a table that hold money earned."""
    return [field for field in numbers_of(network, table) if _earning(field)]


def quantity_of(network: SchemaNetwork, table: str) -> PlanColumn | None:
    return next((field for field in numbers_of(network, table) if is_quantity(field)), None)


def is_rate(network: SchemaNetwork, field: PlanColumn) -> bool:
    """True if a column holds parts of something, whose sum says nothing: percentages, or rates up to 1."""
    words = words_of(field.column)
    if _PERCENT.intersection(words):
        return True
    column = network.column(field)
    try:
        low, high = float(column.minimum or 0), float(column.maximum or "inf")
    except ValueError:
        return False
    return bool(RATES.intersection(words)) and field.type == "number" and low >= 0 and high <= 1


def is_quantity(field: PlanColumn) -> bool:
    """True if a column is a quantity, so that a question about several rows means its sum."""
    return words_of(field.column)[-1] == "quantity"


def revenue(network: SchemaNetwork, anchors: Collection[str], text: str = "revenue") -> Measure:
    """Returns the measure of money earned, from a table whose joins to `anchors` do not repeat it.

    `text` is the question's word for it.

    Raises `Beyond` when the schema has no such column, `Unclear` when several unrelated tables have one.
    """
    found = [
        (_earning(field), measure)
        for table in network.schema.tables
        if not _OTHER_MONEY.intersection(words_of(table.name))
        for field, measure in _candidates(network, table.name)
    ]
    usable = [(score, measure) for score, measure in found if _safe(network, measure.table, anchors)]
    if not usable:
        raise Beyond(
            "I find no amount in this database that the revenue could be summed from for this question."
        )
    ranked = sorted(usable, key=lambda pair: (-pair[0], _distances(network, pair[1].table, anchors)))
    (score, best), *others = ranked
    rank = _distances(network, best.table, anchors)
    for other_score, other in others:
        same = (other_score, _distances(network, other.table, anchors)) == (score, rank)
        if same and network.distance(best.table, other.table) not in (1, 2):
            fields = (best.fields[0], other.fields[0])
            readings = [
                Reading(label=name, mark=field, words=text, instead=f"total {name}")
                for field in fields
                for name in [qualified(field)]
            ]
            raise Unclear(f"Which {text} do you mean: {' or '.join(map(qualified, fields))}?", readings)
        if same and _safe(network, best.table, [other.table]):
            best = other  # the header of the lines: one amount for each order
    return best


def defined(
    network: SchemaNetwork, definition: Definition, function: Function | None, *, text: str
) -> Measure:
    """Returns the measure that a term of the glossary defines. `text` is the question's word for it.

    Raises `Beyond` if the function does not fit, or if no table has one row for each of its columns.
    """
    if definition.kind == "measure" and function is not None:
        raise Beyond(
            f"“{text}” is computed as the glossary defines it ({definition.sql}); ask for it without an "
            "average, a total or an extreme."
        )
    if definition.kind == "value" and function is None:
        raise Beyond(
            f"“{text}” is defined for each row ({definition.sql}): ask for the total or the average of it."
        )
    tables = dict.fromkeys(field.table for field in definition.fields)
    for table in tables:
        if not any(network.fans_out(table, other) for other in tables if other != table):
            name = text.casefold() if function is None else f"{FUNCTION_WORDS[function]} {text.casefold()}"
            return Measure(function or "defined", table, name, definition.fields, definition)
    raise Beyond(f"The columns of “{text}” ({definition.sql}) lie in tables that repeat each other's rows.")


def _candidates(network: SchemaNetwork, table: str) -> list[tuple[PlanColumn, Measure]]:
    amounts = [(field, Measure("sum", table, "revenue", (field,))) for field in amounts_of(network, table)]
    quantity = quantity_of(network, table)
    prices = [field for field in numbers_of(network, table) if words_of(field.column)[-1] == "price"]
    if amounts or not quantity or len(prices) != 1:
        return amounts
    if _has_discount(network, table):
        raise Beyond(f"I cannot tell how the discount of {table} lowers the price.")
    return [(quantity, Measure("sum", table, "revenue", (quantity, *prices)))]


def _has_discount(network: SchemaNetwork, table: str) -> bool:
    return any(words_of(field.column)[-1] == "discount" for field in numbers_of(network, table))


def _earning(field: PlanColumn) -> int:
    """Returns how certain it is that a column holds money earned: 3, 2, or 0 for no."""
    words = words_of(field.column)
    if _OTHER_MONEY.intersection(words):
        return 0
    return 3 if words[-1] in _EARNED else 2 if _AMOUNTS.intersection((words[0], words[-1])) else 0


def _safe(network: SchemaNetwork, table: str, anchors: Collection[str]) -> bool:
    return all(
        network.distance(table, anchor) is not None and not network.fans_out(table, anchor, anchors)
        for anchor in anchors
    )


def _distances(network: SchemaNetwork, table: str, anchors: Collection[str]) -> int:
    return sum(network.distance(table, anchor) or 0 for anchor in anchors)
