"""Rows that a statement keeps as the first of their group, such as the best product of each category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

_SEEN_THROUGH = (exp.Alias, exp.Paren, exp.Cast, exp.TryCast, exp.Round)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)


@dataclass(frozen=True)
class Winners:
    """`groups` are the columns of the groups and `by` the one that orders each, by their names in lower case.

    `by` is None if it is no column of the result.
    """

    groups: frozenset[str]
    by: str | None
    descending: bool

    def seen_from(self, select: exp.Select) -> "Winners":
        """The same under the names of an outer query's outputs."""
        names = {each: each for each in (*self.groups, self.by or "")} if select.is_star else {}
        for each in select.selects:
            if isinstance(column := _bare(each), exp.Column):
                names[column.name.lower()] = each.alias_or_name.lower()
        groups = frozenset(names[each] for each in self.groups if each in names)
        return Winners(groups, names.get(self.by or ""), self.descending)


def ranks_of(select: exp.Select) -> dict[str, Winners]:
    """The outputs that number the rows of each group, by their names."""
    found = {each.alias_or_name.lower(): _ranked(each.unalias(), select) for each in select.selects}
    return {name: each for name, each in found.items() if each is not None}


def winners_of(
    select: exp.Select, ranks: Mapping[str, Winners], *, inner: Winners | None, regrouped: bool
) -> Winners | None:
    """The winners that a select keeps.

    `ranks` are those of its inner queries, `inner` their own winners. `regrouped` says that it groups what
    they have grouped.
    """
    where, qualify = select.args.get("where"), select.args.get("qualify")
    names = [each.name.lower() for each in where.find_all(exp.Column)] if where is not None else []
    found = next((ranks[each] for each in names if each in ranks), inner)
    if found is not None:
        return None if select.args.get("group") is not None else found.seen_from(select)
    if qualify is not None:
        own = ranks_of(select)
        windows = [_ranked(each, select) for each in qualify.find_all(exp.Window)]
        windows += [own.get(each.name.lower()) for each in qualify.find_all(exp.Column)]
        return next((each for each in windows if each is not None), None)
    compared = _compared_with_extreme(select)
    if compared is not None:
        return compared.seen_from(select)
    return _distinct_on(select) or (_regrouped(select) if regrouped else None)


def _ranked(expression: exp.Expr, select: exp.Select) -> Winners | None:
    if not isinstance(expression, exp.Window) or not isinstance(expression.this, _RANKS):
        return None
    order, groups = expression.args.get("order"), expression.args.get("partition_by")
    return _by(groups, order.expressions[0], select) if order is not None and groups else None


def _by(groups: Sequence[exp.Expr], ordered: exp.Expr, select: exp.Select) -> Winners:
    named = [name for each in groups if (name := _output_of(each, select)) is not None]
    return Winners(frozenset(named), _output_of(ordered.this, select), bool(ordered.args.get("desc")))


def _output_of(expression: exp.Expr, select: exp.Select) -> str | None:
    """The name of the select's output that is this expression, else that of the column that it is."""
    if isinstance(expression, exp.Literal) and expression.name.isdecimal():
        place = int(expression.name)
        return select.selects[place - 1].alias_or_name.lower() if place <= len(select.selects) else None
    wanted = _bare(expression)
    found = [each for each in select.selects if _bare(each) == wanted]
    return found[0].alias_or_name.lower() if found else wanted.name.lower() or None


def _bare(expression: exp.Expr) -> exp.Expr:
    while isinstance(expression, _SEEN_THROUGH):
        expression = expression.this
    return expression


def _distinct_on(select: exp.Select) -> Winners | None:
    """DISTINCT ON keeps the first row of each group in the statement's order."""
    distinct, order = select.args.get("distinct"), select.args.get("order")
    on = distinct.args.get("on") if distinct is not None else None
    if on is None or order is None or len(order.expressions) <= len(on.expressions):
        return None
    return _by(on.expressions, order.expressions[len(on.expressions)], select)


def _compared_with_extreme(select: exp.Select) -> Winners | None:
    """A comparison with the highest or lowest value of the same group, in a condition or a join."""
    where = select.args.get("where")
    for each in where.find_all(exp.EQ) if where is not None else ():
        inner = each.right.this if isinstance(each.right, exp.Subquery) else None
        condition = inner.args.get("where") if isinstance(inner, exp.Select) else None
        value = _extreme(inner)
        if value is not None and condition is not None and isinstance(each.left, exp.Column):
            groups = {pair.left.name.lower() for pair in condition.find_all(exp.EQ) if _is_of_one_name(pair)}
            if groups:
                return Winners(frozenset(groups), each.left.name.lower(), isinstance(value, exp.Max))
    queries = {each.alias: each.this for each in select.root().find_all(exp.CTE)}
    for join in select.args.get("joins") or ():
        inner = join.this.this if isinstance(join.this, exp.Subquery) else queries.get(join.this.name)
        value, on = _extreme(inner), join.args.get("on")
        if value is None or on is None or not isinstance(inner, exp.Select):
            continue
        extreme = next(each for each in inner.selects if _bare(each) is value).alias_or_name.lower()
        columns = [each for pair in on.find_all(exp.EQ) for each in (pair.left, pair.right)]
        own = [each.name.lower() for each in columns if each.text("table") == join.alias_or_name]
        other = [each.name.lower() for each in columns if each.text("table") != join.alias_or_name]
        pairs = dict(zip(own, other, strict=False))
        by = pairs.pop(extreme, None)
        if by is not None and pairs:
            return Winners(frozenset(pairs.values()), by, isinstance(value, exp.Max))
    return None


def _extreme(query: object) -> exp.Max | exp.Min | None:
    """The only highest or lowest value that a query selects."""
    selects = query.selects if isinstance(query, exp.Select) else []
    found = [each for each in map(_bare, selects) if isinstance(each, exp.Max | exp.Min)]
    return found[0] if len(found) == 1 else None


def _is_of_one_name(pair: exp.EQ) -> bool:
    """Return True for columns of one name in two tables."""
    left, right = pair.left, pair.right
    are_columns = isinstance(left, exp.Column) and isinstance(right, exp.Column)
    return (
        are_columns and left.name.lower() == right.name.lower() and left.text("table") != right.text("table")
    )


def _regrouped(select: exp.Select) -> Winners | None:
    """SQLite takes columns that are not grouped by from the row that holds the only extreme."""
    group, value = select.args.get("group"), _extreme(select)
    if group is None or value is None:
        return None
    groups = {_output_of(each, select) for each in group.expressions}
    shown = {each.alias_or_name.lower(): _bare(each) for each in select.selects}
    bare = [name for name, each in shown.items() if isinstance(each, exp.Column) and name not in groups]
    by = next(name for name, each in shown.items() if each is value)
    found = frozenset(each for each in groups if each in shown)
    return Winners(found, by, isinstance(value, exp.Max)) if bare and found else None
