"""What the counts of a statement count, where it is not all rows of the table that they are named by."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from app.core.words import plural
from app.modules.analysis.words import title

_NAMELESS = frozenset({"", "count", "count star", "n", "c", "cnt", "ct", "num"})


@dataclass(frozen=True)
class CountedThings:
    """The plural of the counted things, None as the column is named; those `having` or `lacking` others."""

    things: str | None = None
    having: Sequence[str] = ()
    lacking: Sequence[str] = ()


@dataclass(frozen=True)
class _Tables:
    """The tables of a select by alias, all in lower case: `children` has those whose rows refer to a table,
    `linked` all that are joined with it, `optional` are those of outer joins.
    """

    names: Mapping[str, str]
    children: Mapping[str, set[str]] = field(default_factory=dict)
    linked: Mapping[str, set[str]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    def reachable(self, start: str, without: str) -> set[str]:
        """The tables joined with one, directly or by others, but not by way of the one left out."""
        found, ahead = {start}, [start]
        while ahead:
            new = self.linked.get(ahead.pop(), set()) - found - {without}
            found |= new
            ahead += new
        return found

    def finest(self, start: str) -> str | None:
        """The only table at the end of the references to one; None if there are several."""
        at, seen = start, {start}
        while children := self.children.get(at, set()) - seen:
            if len(children) > 1:
                return None
            at = next(iter(children))
            seen.add(at)
        return at


def counted_things(select: exp.Select) -> Mapping[int, CountedThings]:
    """By the positions of outputs. Counts of all rows of the table that they are named by are left out."""
    tables = _tables_of(select)
    if tables is None:
        return {}
    found: dict[int, CountedThings] = {}
    for at, each in enumerate(select.selects):
        if isinstance(each.unalias(), exp.Count) and (things := _counted(select, each, tables)) is not None:
            found[at] = things
    return found


def misnamed_counts(
    names: Sequence[str], counts: Collection[int], *, table: str, keys: Collection[str]
) -> Mapping[int, CountedThings]:
    """The things of `COUNT(*)` over one table that are called by what its rows only refer to.

    `counts` are the positions of these among the `names` of the outputs, `keys` the columns that identify or
    refer to rows: orders that have a `customer_id` are no customers.
    """
    rows = _things(table)
    referred = {_things(" ".join(title(key).split()[:-1])) for key in keys if title(key).endswith(" id")}
    called = {at: _things(title(names[at]).removeprefix("number of ")) for at in counts}
    return {at: CountedThings(rows) for at, noun in called.items() if noun in referred - {rows}}


def pivoted_things(select: exp.Select, table: str | None) -> Mapping[int, CountedThings]:
    """The things of columns that are called by one value of another column: with
    `SUM(CASE WHEN priority = 'low' THEN 1 END) AS low` over tickets, the low tickets.

    There are none unless two columns are for values of the same one. `table` is the only one read.
    """
    found = {at: part for at, each in enumerate(select.selects) if (part := _part(each)) is not None}
    named: dict[int, CountedThings] = {}
    for at, (column, value, summed) in found.items():
        noun = title(summed) if summed else _things(table) if table else ""
        called = title(select.selects[at].alias)
        is_pivot = sum(other == column for other, *_ in found.values()) > 1
        if noun and is_pivot and called == title(value):
            named[at] = CountedThings(f"{called} {noun}")
    return named


def _part(output: exp.Expr) -> tuple[str, str, str] | None:
    """The column and the value of the rows that a count or a sum is of, and the summed column, if any."""
    whole = output.unalias()
    function = whole.this if isinstance(whole, exp.Filter) else whole
    if not isinstance(function, exp.Sum | exp.Count | exp.CountIf):
        return None
    condition, value = function.this, None
    if isinstance(whole, exp.Filter):
        condition, value = whole.expression.this, function.this
    elif isinstance(condition, exp.Case | exp.If):
        branches = condition.args.get("ifs") or [condition]
        other = condition.args.get("default") or condition.args.get("false")
        if len(branches) > 1 or not _is_left_out(function, other):
            return None
        branch = branches[0]
        condition, value = branch.this, branch.args.get("true")
    elif isinstance(function, exp.Count):
        return None  # it counts the rows for which the condition is false, too
    if (
        isinstance(value, exp.Distinct)
        or not isinstance(condition, exp.EQ)
        or not isinstance(condition.left, exp.Column)
    ):
        return None
    if not isinstance(condition.right, exp.Literal):
        return None
    summed = value.name if isinstance(value, exp.Column) and isinstance(function, exp.Sum) else ""
    if not summed and isinstance(function, exp.Sum) and value is not None and value.name != "1":
        return None
    return condition.left.name, condition.right.name, summed


def _is_left_out(function: exp.Expr, value: exp.Expr | None) -> bool:
    """Return True if rows with this value change nothing: a count counts a zero, a sum does not."""
    if value is None or isinstance(value, exp.Null):
        return True
    return not isinstance(function, exp.Count) and isinstance(value, exp.Literal) and value.this == "0"


def _counted(select: exp.Select, output: exp.Expr, tables: _Tables) -> CountedThings | None:
    count = output.unalias()
    noun = title(output.alias_or_name).removeprefix("number of ")
    if isinstance(count.this, exp.Star) and noun in _NAMELESS:
        ends = {tables.finest(each) for each in tables.names} if len(tables.names) > 1 else set()
        finest = ends.pop() if len(ends) == 1 else None
        return None if finest is None else CountedThings(_things(tables.names[finest]))
    base = next((alias for alias, name in tables.names.items() if _things(name) == noun), None)
    if base is None:
        return None
    is_distinct = isinstance(count.this, exp.Distinct)
    if not is_distinct and tables.children.get(base):
        finest = tables.finest(base)
        return None if finest is None else CountedThings(_things(tables.names[finest]))
    having = [
        child
        for child in sorted(tables.children.get(base, set()) - tables.optional)
        if is_distinct and _labels(select) <= tables.reachable(base, child)
    ]
    conditions = [*_conditions(select, base)]
    with_rows = [tables.names[each] for each in having] + [name for name, is_in in conditions if is_in]
    kept = [_things(each) for each in with_rows if not _is_part(each, tables.names[base])]
    lacking = [_things(name) for name, is_in in conditions if not is_in]
    return CountedThings(None, kept, lacking) if kept or lacking else None


def _is_part(child: str, table: str) -> bool:
    """Return True for tables such as the order lines of orders: all orders have some."""
    first = title(child).split()[: len(title(table).split())]
    return _things(" ".join(first)) == _things(table)


def _things(table: str) -> str:
    words = title(table)
    return words if words.endswith("s") else plural(words)


def _tables_of(select: exp.Select) -> _Tables | None:
    """None if the select reads from anything but tables."""
    read = select.args.get("from_")
    joins: Sequence[exp.Join] = select.args.get("joins") or []
    sources = [] if read is None else [read.this, *(each.this for each in joins)]
    if not sources or not all(isinstance(each, exp.Table) for each in sources):
        return None
    names = {each.alias_or_name.lower(): each.name for each in sources}
    children: dict[str, set[str]] = {}
    linked: dict[str, set[str]] = {}
    for join in joins:
        on = join.args.get("on")
        for equal in on.find_all(exp.EQ) if on is not None else ():
            if not isinstance(equal.left, exp.Column) or not isinstance(equal.right, exp.Column):
                continue
            left, right = equal.left.table.lower(), equal.right.table.lower()
            if left == right or not {left, right} <= names.keys():
                continue
            linked.setdefault(left, set()).add(right)
            linked.setdefault(right, set()).add(left)
            keys = [_is_key(names[left], equal.left.name), _is_key(names[right], equal.right.name)]
            if keys == [True, False]:
                children.setdefault(left, set()).add(right)
            elif keys == [False, True]:
                children.setdefault(right, set()).add(left)
    optional = frozenset(each.this.alias_or_name.lower() for each in joins if each.side)
    return _Tables(names, children, linked, optional)


def _is_key(table: str, column: str) -> bool:
    """Return True for a column called `id`, or by its own table, such as `track_id` of tracks."""
    words = title(column).split()
    own = title(table)
    return words[-1:] == ["id"] and (len(words) == 1 or plural(" ".join(words[:-1])) in (own, plural(own)))


def _labels(select: exp.Select) -> set[str]:
    """The tables of the outputs that are no aggregates; one without a name if a column has no table."""
    outputs = [each for each in select.selects if each.find(exp.AggFunc) is None]
    return {column.table.lower() for each in outputs for column in each.find_all(exp.Column)}


def _conditions(select: exp.Select, base: str) -> Iterator[tuple[str, bool]]:
    """The tables in which a condition of the statement seeks rows for those of a table: with, or without."""
    where = select.args.get("where")
    if where is None:
        return
    for condition in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        is_in = not isinstance(condition, exp.Not)
        inner = condition if is_in else condition.this.unnest()
        query = inner.args.get("query") if isinstance(inner, exp.In) else inner
        if not isinstance(inner, exp.Exists | exp.In) or not isinstance(query, exp.Exists | exp.Subquery):
            continue
        read = query.this.args.get("from_")
        is_of_base = isinstance(inner, exp.Exists) or inner.this.text("table").lower() in ("", base)
        if is_of_base and read is not None and isinstance(read.this, exp.Table):
            yield read.this.name, is_in
