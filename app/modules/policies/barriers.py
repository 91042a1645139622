"""Barriers between a filter and the conditions of a statement.

A planner merges the subquery of a table into the statement and may evaluate the statement's conditions first:
one that fails then tells of rows that the filter hides. A bound that bounds nothing keeps the subquery whole.
"""

from collections.abc import Iterator, Mapping

from sqlglot import exp

IS_LIMITED = "kai_limited"
"""Mark of a subquery that stands for a table, in the metadata of its node."""

BARRIERS: Mapping[str, str] = {
    "postgres": " OFFSET 0",
    "duckdb": " OFFSET 0",
    "sqlite": " LIMIT -1",
    "mysql": " LIMIT 18446744073709551615",
    "clickhouse": " LIMIT 18446744073709551615",
}
_MERGED = ("where", "having", "qualify", "joins", "laterals", "from_", "with_")
_CANNOT_FAIL = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Star, exp.Paren, exp.Tuple),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In),
    *(exp.Between, exp.Exists, exp.Coalesce, exp.Case, exp.If, exp.Alias, exp.TableAlias, exp.Ordered),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.CurrentDate),
    *(exp.Table, exp.Subquery, exp.Lateral, exp.Var),
    *(exp.AggFunc, exp.From, exp.Join, exp.Where, exp.Having, exp.With, exp.CTE, exp.Order, exp.Group),
    *(exp.Limit, exp.Offset, exp.Distinct, exp.SetOperation, exp.Values, exp.DataType),
)
_SOURCES = (exp.From, exp.Join, exp.In, exp.Lateral, exp.Exists, exp.Subquery)


def needs_barrier(tree: exp.Expr, dialect: str) -> bool:
    """True if an expression that can fail could be evaluated before a filter. DuckDB orders conditions by
    itself, so that any of them may be the first; in ClickHouse a comparison of a decimal fails, too.
    """
    if dialect in {"duckdb", "clickhouse"}:
        return tree.find(exp.Where, exp.Join, exp.Having, exp.Qualify) is not None
    return any(map(_can_fail, _pushed_down(tree, is_top=True, is_merged=False)))


def _pushed_down(node: exp.Expr, *, is_top: bool, is_merged: bool) -> Iterator[exp.Expr]:
    """Yields the nodes that a planner may evaluate below a filter: conditions, and the select lists of inner
    queries, of which conditions are made when these are merged.
    """
    if node.meta.get(IS_LIMITED):
        return
    if isinstance(node, exp.Select):
        for name, value in node.args.items():
            merged = name in _MERGED or not is_top
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, exp.Expr):
                    yield from _pushed_down(child, is_top=False, is_merged=merged)
        return
    if is_merged:
        yield node
    is_outer = is_top and isinstance(node, exp.SetOperation | exp.Subquery)
    for child in node.iter_expressions():
        stays_top = is_outer and not isinstance(child, exp.With)
        yield from _pushed_down(child, is_top=stays_top, is_merged=is_merged)


def _can_fail(node: exp.Expr) -> bool:
    """True if an expression may raise an error for some values. Its own operands are looked at, too."""
    if isinstance(node, exp.Like | exp.ILike):
        return not (isinstance(node.expression, exp.Literal) and "\\" not in node.expression.name)
    if isinstance(node, exp.Subquery) and not isinstance(node.parent, _SOURCES):
        return not _gives_one_row(node.unnest())
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        return False  # it fails while the statement is planned, whatever the rows are
    return not isinstance(node, _CANNOT_FAIL)


def _gives_one_row(query: exp.Expr) -> bool:
    if not isinstance(query, exp.Select) or query.args.get("group") is not None:
        return False
    return any(isinstance(each.unalias(), exp.AggFunc) for each in query.expressions)
