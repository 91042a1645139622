"""Parts of a SELECT's tree, read one by one."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from app.modules.sql.provenance.model import JoinKind, NullRule, WindowCall

_SIDES: dict[str, JoinKind] = {"LEFT": "left", "RIGHT": "right", "FULL": "full"}
_KINDS: dict[str, JoinKind] = {"SEMI": "semi", "ANTI": "anti"}
_METHODS: dict[str, JoinKind] = {"ASOF": "asof", "POSITIONAL": "positional"}
_PLAIN_KINDS = {"", "INNER", "OUTER", "CROSS", "STRAIGHT_JOIN", "STRAIGHT"}


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Returns the conditions that AND connects, in order."""
    if condition is None:
        return []
    whole = condition.unnest()
    parts = whole.flatten() if isinstance(whole, exp.And) else [whole]
    return [part.unnest() for part in parts]


def own_nodes(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the nodes of an expression; of the queries inside of it only their roots."""
    yield from expression.walk(prune=lambda node: isinstance(node, exp.Query))


def join_kind(join: exp.Join, *, has_condition: bool) -> JoinKind:
    side = join.side.upper()
    kind = join.kind.upper()
    method = join.method.upper()
    if method not in ("", "NATURAL"):
        return _METHODS.get(method, "unknown") if not side else "unknown"
    if side:
        return _SIDES.get(side, "unknown") if kind in ("", "OUTER") else _KINDS.get(kind, "unknown")
    if kind in _KINDS:
        return _KINDS[kind]
    if kind not in _PLAIN_KINDS:
        return "unknown"
    return "inner" if has_condition else "cross"


def has_aggregate(expression: exp.Expr) -> bool:
    """True if an aggregate computes the value, not over a window."""
    return any(isinstance(node, exp.AggFunc) and not _is_windowed(node) for node in own_nodes(expression))


def has_window(expression: exp.Expr) -> bool:
    return any(isinstance(node, exp.Window) for node in own_nodes(expression))


def _is_windowed(aggregate: exp.Expr) -> bool:
    """True for the function of a window, as `SUM(x)` in `SUM(x) OVER (...)`, also with a FILTER."""
    node: exp.Expr = aggregate
    while isinstance(node.parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        node = node.parent
    return isinstance(node.parent, exp.Window) and node.arg_key == "this"


def null_rules(expression: exp.Expr, dialect: str, *, is_filter: bool = False) -> Iterator[NullRule]:
    """Yields what an expression does with nulls. `is_filter`: it is a whole filter."""
    for node in own_nodes(expression):
        match node:
            case exp.Coalesce():
                yield NullRule(kind="replaced", sql=node.sql(dialect))
            case exp.Nullif():
                yield NullRule(kind="made", sql=node.sql(dialect))
            case exp.Count(this=this) if not isinstance(this, exp.Star | exp.Literal | exp.Query):
                yield NullRule(kind="skipped", sql=node.sql(dialect))
            case exp.Avg():
                yield NullRule(kind="skipped", sql=node.sql(dialect))
            case exp.Is(expression=exp.Null()):
                within_not = isinstance(node.parent, exp.Not)
                top = node.parent if within_not else node
                if not is_filter or top is not expression:
                    yield NullRule(kind="tested", sql=node.sql(dialect))
                elif within_not != bool(node.args.get("negate")):  # PostgreSQL's IS NOT NULL is no NOT
                    yield NullRule(kind="removed", sql=node.this.sql(dialect))
                else:
                    yield NullRule(kind="required", sql=node.this.sql(dialect))


def window_calls(expression: exp.Expr, named: Sequence[exp.Window], dialect: str) -> Iterator[WindowCall]:
    """Yields the functions over windows. `named` are the windows of the clause WINDOW."""
    by_name = {window.name.casefold(): window for window in named}
    for node in own_nodes(expression):
        if not isinstance(node, exp.Window):
            continue
        alias = node.args.get("alias")
        base = by_name.get(alias.name.casefold()) if isinstance(alias, exp.Expr) else None
        parts = [each for each in (node, base) if each is not None]
        frames = [frame for each in parts if isinstance(frame := each.args.get("spec"), exp.Expr)]
        yield WindowCall(
            function=node.this.sql(dialect),
            partition_by=[
                each.sql(dialect) for part in parts for each in part.args.get("partition_by") or ()
            ],
            order_by=[key.sql(dialect) for part in parts for key in _order_of(part)],
            frame=frames[0].sql(dialect) if frames else None,
        )


def _order_of(window: exp.Expr) -> list[exp.Expr]:
    order = window.args.get("order")
    return list(order.expressions) if isinstance(order, exp.Order) else []


def limit_of(query: exp.Expr, dialect: str) -> tuple[str | None, str | None]:
    """Returns the limit, and what it has besides a number, both as SQL."""
    limit = query.args.get("limit")
    if isinstance(limit, exp.Fetch):
        options = limit.args.get("limit_options")
        special = isinstance(options, exp.Expr) and (
            options.args.get("percent") or options.args.get("with_ties")
        )
        count = limit.args.get("count")
        if special or not isinstance(count, exp.Expr):
            return None, limit.sql(dialect).strip()
        return count.sql(dialect), None
    if isinstance(limit, exp.Limit):
        if limit.expressions or limit.args.get("limit_options"):
            return None, limit.sql(dialect).strip()
        return limit.expression.sql(dialect), None
    return None, None


def other_parts(node: exp.Expr, known: set[str]) -> list[object]:
    """Returns the parts of a node that are none of the known ones."""
    parts: list[object] = []
    for key, value in node.args.items():
        if key not in known and value:
            parts.extend(value if isinstance(value, list) else [value])
    return parts


def others_of(node: exp.Expr, known: set[str], dialect: str) -> list[str]:
    """Returns these parts as SQL."""
    return [
        each.sql(dialect).strip() if isinstance(each, exp.Expr) else str(each)
        for each in other_parts(node, known)
    ]


def ordered(query: exp.Expr) -> list[exp.Ordered]:
    """Returns the keys of ORDER BY."""
    order = query.args.get("order")
    keys = order.expressions if isinstance(order, exp.Order) else []
    return [key for key in keys if isinstance(key, exp.Ordered)]


def offset_of(query: exp.Expr, dialect: str) -> str | None:
    """Returns OFFSET as SQL."""
    offset = query.args.get("offset")
    return offset.expression.sql(dialect) if isinstance(offset, exp.Offset) else None
