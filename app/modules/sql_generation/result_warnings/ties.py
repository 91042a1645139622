"""The one row that LIMIT 1 keeps, although others may share its place."""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.result_warnings.model import ResultWarning
from graph.state import Rows

_PLACE = "kai_place"


def find_hidden_tie(
    statement: exp.Expr, tables: Mapping[str, Table], rows: Rows, *, dialect: str
) -> Iterator[ResultWarning]:
    """Yields a warning, to be probed, if the statement sorts its rows and keeps one.

    `statement` is qualified, and `tables` are those that it reads, by alias. A sort by a primary key has no
    ties.
    """
    if not isinstance(statement, exp.Select) or rows["row_count"] != 1 or statement.args.get("distinct"):
        return
    order = statement.args.get("order")
    if _kept(statement) != "1" or statement.args.get("offset") or not isinstance(order, exp.Order):
        return
    place = _sorted_by(order.expressions[0].this, statement)
    if place is None or _is_key(place, tables):
        return
    two = statement.copy().select(exp.alias_(place.copy(), _PLACE, quoted=True)).limit(2)
    value = exp.column(_PLACE, quoted=True)
    counted = exp.select(
        exp.alias_(exp.Count(this=value.copy()), "places"),
        exp.alias_(exp.Count(this=exp.Distinct(expressions=[value])), "values_of_them"),
    ).from_(two.subquery("kept"))
    probe = exp.select("1").from_(counted.subquery("tie")).where("places = 2 AND values_of_them = 1")
    yield ResultWarning("hidden tie", probe=probe.sql(dialect))


def _kept(select: exp.Select) -> str:
    """Returns the number of rows that a LIMIT or FETCH keeps, as it is written. Empty if there is none."""
    limit = select.args.get("limit")
    count = limit.args.get("expression") or limit.args.get("count") if limit is not None else None
    return count.name if isinstance(count, exp.Literal) else ""


def _sorted_by(first: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """Returns the expression that rows are sorted by first. None for a position that does not exist."""
    if isinstance(first, exp.Literal):
        at = int(first.name) - 1 if first.name.isdecimal() else -1
        return select.selects[at].unalias() if 0 <= at < len(select.selects) else None
    if isinstance(first, exp.Column) and not first.table:
        named = (each.unalias() for each in select.selects if each.alias_or_name == first.name)
        return next(named, None)
    return first


def _is_key(place: exp.Expr, tables: Mapping[str, Table]) -> bool:
    """True for a column that is the whole primary key of its table."""
    if not isinstance(place, exp.Column) or place.table not in tables or len(tables) != 1:
        return False
    return [each.name for each in tables[place.table].columns if each.primary_key] == [place.name]
