"""Columns that are selected beside an aggregate and missing in GROUP BY."""

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, walk_in_scope

from app.modules.sql_generation.checking.clauses import Clauses, first_table
from app.modules.sql_generation.checking.findings import Correction, Edit, quoted
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.sentences import WarningPhrase, joined

_LONGEST_SAID = 60
_OPEN = (exp.Window, exp.Anonymous, exp.Columns)
"""Parts of a SELECT list that leave open which columns it reads or what they mean."""
_NOT_ONE_VALUE = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
_MOST_STEPS = 20
"""The most steps from one equal column to the next."""


def missing_groups(sql: str, scopes: Iterable[Scope], schema: SchemaNames) -> Iterator[Correction]:
    """Yields a correction for each incomplete SELECT of a qualified statement without faults."""
    for scope in scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or (place := first_table(select)) is None:
            continue
        if not (missing := _missing(select, scope, schema)):
            continue
        texts = list(dict.fromkeys(_text(sql, each, schema) for each in missing))
        clauses = Clauses(sql, schema.dialect, place)
        if select.args.get("group"):
            edit = Edit(clauses.end_of_groups, clauses.end_of_groups, ", " + ", ".join(texts))
        else:
            edit = Edit(clauses.end_of_conditions, clauses.end_of_conditions, " GROUP BY " + ", ".join(texts))
        names = [quoted(each[:_LONGEST_SAID]) for each in texts]
        said = WarningPhrase(f"corrected group{'s' if len(texts) > 1 else ''}", (joined(names),))
        yield Correction("group", said, (edit,))


def _missing(select: exp.Select, scope: Scope, schema: SchemaNames) -> list[exp.Expr]:
    """Returns the expressions that GROUP BY lacks; none if the database accepts the statement as it is."""
    group = select.args.get("group")
    if not _is_plain(select) or not _has_aggregates(select):
        return []
    grouped = [each.unnest() for each in group.expressions] if isinstance(group, exp.Group) else []
    fixed = _determined(scope, grouped, schema)
    covered = frozenset(grouped)
    return [each for item in select.selects for each in _bare(item.unalias(), scope, covered, fixed=fixed)]


def _is_plain(select: exp.Select) -> bool:
    """True if GROUP BY is a list of values, or missing, and the SELECT list has no windows, `*`, pattern of
    columns, or unknown functions.
    """
    if select.is_star or not _is_plain_list(select.args.get("group")):
        return False
    inner = [node for item in select.selects for node in walk_in_scope(item)]
    return not any(
        isinstance(node, _OPEN)
        or (isinstance(node, exp.Column) and not isinstance(node.this.meta.get("start"), int))
        for node in inner
    )


def _is_plain_list(group: exp.Expr | None) -> bool:
    """True if each row belongs to exactly one group, and another expression would only divide the groups.

    `ROLLUP (a)` is an expression of GROUP BY, `WITH ROLLUP` and `ALL` are marks beside its expressions; of
    `DISTINCT` the mark is false.
    """
    if group is None:
        return True
    marks = [mark for key, mark in group.args.items() if key != "expressions"]
    if any(mark is not None and mark != [] for mark in marks):
        return False
    return not any(isinstance(each, _NOT_ONE_VALUE) for each in group.expressions)


def _has_aggregates(select: exp.Select) -> bool:
    parts = [*select.selects, select.args.get("having"), select.args.get("order")]
    return any(
        _is_aggregate(node) and isinstance(node, exp.AggFunc)
        for part in parts
        if isinstance(part, exp.Expr)
        for node in walk_in_scope(part)
    )


def _is_aggregate(node: exp.Expr) -> bool:
    """True for an aggregate, FILTER or WITHIN GROUP. MIN and MAX of several values are no aggregates."""
    if isinstance(node, exp.Min | exp.Max):
        return not node.expressions
    return isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup)


def _bare(
    node: exp.Expr, scope: Scope, grouped: Collection[exp.Expr], *, fixed: set[str]
) -> Iterator[exp.Expr]:
    """Yields the parts of a selected expression that are neither grouped nor determined by the groups."""
    if _is_covered(node, scope, grouped, fixed=fixed):
        return
    if not any(_is_aggregate(each) for each in walk_in_scope(node)):
        yield node
        return
    for each in walk_in_scope(node, prune=_is_aggregate):
        if isinstance(each, exp.Column) and not _is_covered(each, scope, grouped, fixed=fixed):
            yield each


def _is_covered(node: exp.Expr, scope: Scope, grouped: Collection[exp.Expr], *, fixed: set[str]) -> bool:
    if node in grouped:
        return True
    if isinstance(node, exp.Column):
        return node.table in fixed or node.table not in scope.selected_sources
    if _is_aggregate(node) or isinstance(node, exp.Query):
        return True
    return all(_is_covered(each, scope, grouped, fixed=fixed) for each in node.iter_expressions())


def _determined(scope: Scope, grouped: list[exp.Expr], schema: SchemaNames) -> set[str]:
    """Returns the sources whose primary key is grouped, which determines all of their columns.

    DuckDB does not infer this; MySQL also infers it through equal columns.
    """
    if schema.dialect == "duckdb":
        return set()
    known = {(each.table, each.name) for each in grouped if isinstance(each, exp.Column)}
    equal = list(_equal(scope)) if schema.dialect == "mysql" else []
    fixed: set[str] = set()
    keys = {alias: _key(source, schema) for alias, (_, source) in scope.selected_sources.items()}
    for _ in range(_MOST_STEPS):
        found = len(known) + len(fixed)
        for one, other in equal:
            if one in known or one[0] in fixed:
                known.add(other)
            if other in known or other[0] in fixed:
                known.add(one)
        for alias, key in keys.items():
            if key and all((alias, each) in known for each in key):
                fixed.add(alias)
        if len(known) + len(fixed) == found:
            break
    return fixed


def _key(source: exp.Expr | Scope, schema: SchemaNames) -> set[str]:
    table = schema.table(source.name) if isinstance(source, exp.Table) else None
    if table is None:
        return set()
    return {schema.folded(each.name) for each in table.columns if each.primary_key}


def _equal(scope: Scope) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for equal in scope.find_all(exp.EQ):
        one = equal.this
        other = equal.expression
        if isinstance(one, exp.Column) and isinstance(other, exp.Column):
            yield (one.table, one.name), (other.table, other.name)


def _text(sql: str, node: exp.Expr, schema: SchemaNames) -> str:
    """Returns a column as it was written, and any other expression as sqlglot writes it."""
    if not isinstance(node, exp.Column):
        return node.sql(schema.dialect)
    qualifier = node.args.get("table")
    start = node.this.meta["start"]
    if qualifier is not None and isinstance(qualifier.meta.get("start"), int):
        start = qualifier.meta["start"]
    return sql[start : node.this.meta["end"] + 1]
