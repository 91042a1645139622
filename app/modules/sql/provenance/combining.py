"""Set operations: their branches, and what their columns are made of."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from app.modules.sql.provenance.clauses import other_parts
from app.modules.sql.provenance.model import TableColumnRef
from app.modules.sql.provenance.scopes import Given, Known


def branches_of(tree: exp.SetOperation) -> list[exp.Expr]:
    """Returns the queries that the same operation combines, in order."""
    later: list[exp.Expr] = []
    node: exp.Expr = tree
    while isinstance(node, exp.SetOperation) and (node is tree or _continues(node, tree)):
        later.append(node.expression)
        node = node.this
    return [node, *later[::-1]]


def _continues(node: exp.SetOperation, whole: exp.SetOperation) -> bool:
    modifiers = other_parts(node, {"this", "expression", "distinct", "by_name"})
    alike = type(node) is type(whole) and operation_of(node) == operation_of(whole)
    return alike and not modifiers and not isinstance(whole, exp.Except)


def operation_of(tree: exp.SetOperation) -> str:
    words = [type(tree).__name__.upper()]
    if not tree.args.get("distinct"):
        words.append("ALL")
    if tree.args.get("by_name"):
        words.append("BY NAME")
    return " ".join(words)


def combined_columns(tree: exp.SetOperation, branches: Sequence[Known]) -> list[Given] | None:
    """Returns the columns of a set operation. Those of EXCEPT and INTERSECT are the first branch's."""
    columns = [each.columns for each in branches]
    first = columns[0]
    if tree.args.get("by_name"):
        return _by_name([each for each in columns if each is not None]) if None not in columns else None
    if first is None:
        return None
    if not isinstance(tree, exp.Union):
        return list(first)
    given = [each for each in columns if each is not None and len(each) == len(first)]
    if len(given) < len(columns):
        return None
    return [
        Given(each.name, distinct_sources(branch[at].sources for branch in given))
        for at, each in enumerate(first)
    ]


def _by_name(columns: Sequence[Sequence[Given]]) -> list[Given]:
    found: dict[str, Given] = {}
    for each in (given for branch in columns for given in branch):
        known = found.setdefault(each.name.casefold(), each)
        found[each.name.casefold()] = Given(known.name, distinct_sources([known.sources, each.sources]))
    return list(found.values())


def renamed(known: Known, names: Sequence[str]) -> Known:
    """Returns a result whose first columns have the names that its alias gives them."""
    if known.columns is None or not names:
        return known
    kept = [each.name for each in known.columns][len(names) :]
    renamed = [Given(name, each.sources) for name, each in zip([*names, *kept], known.columns, strict=False)]
    return Known(known.query, renamed)


def distinct_sources(sources: Iterable[Sequence[TableColumnRef]]) -> tuple[TableColumnRef, ...]:
    return tuple(dict.fromkeys(each for some in sources for each in some))
