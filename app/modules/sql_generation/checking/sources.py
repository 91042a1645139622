"""The source that a column certainly belongs to: another one in scope, or a table one foreign key away."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import Table
from app.modules.sql_generation.checking.clauses import Clauses, first_table
from app.modules.sql_generation.checking.findings import Correction, Edit, quoted, replaced
from app.modules.sql_generation.checking.names import SchemaNames, same_but_for_case
from app.modules.sql_generation.checking.resolution import Names
from app.modules.sql_generation.foreign_keys import Hop


def source_of(sql: str, column: exp.Column, names: Names, *, schema: SchemaNames) -> Correction | None:
    """Returns the correction of a column whose source lacks it or is unknown; None if it is not certain."""
    return (
        _renamed(sql, column, names, schema=schema)
        or _along_key(column, names, schema)
        or _moved(sql, column, names, schema=schema)
        or _joined(sql, column, names, schema=schema)
    )


def same_in_all(sql: str, column: exp.Column, having: Sequence[str], *, names: Names) -> Correction | None:
    """Returns the correction of an ambiguous column that the joins make equal in all sources that have it.

    The column is then read from the first source whose rows no outer join fills with NULL.
    """
    reached = _reached(having[0], _equated(names.expression, column.name))
    optional = _optional(names.expression)
    whole = [each for each in having if optional is not None and each not in optional]
    if not set(having) <= reached or not whole:
        return None
    others = [quoted(each) for each in having if each != whole[0]]
    said = (
        f"Read {quoted(column.name)} from {quoted(whole[0])}: the join makes it the same in "
        f"{' and '.join(others)}."
    )
    start = column.this.meta["start"]
    return Correction("source", said, (Edit(start, start, f"{_written(sql, names, whole[0])}."),))


def _renamed(sql: str, column: exp.Column, names: Names, *, schema: SchemaNames) -> Correction | None:
    """Corrects a column that names its table although the table has an alias here."""
    if not column.table or names.columns_of(column.table) is not None:
        return None
    table = schema.tables.get(column.table)
    found = [alias for alias, each in _own_tables(names, schema).items() if each.name == table]
    if len(found) != 1 or same_but_for_case(column.name, schema.columns(column.table)) is None:
        return None
    written = _written(sql, names, found[0])
    said = f"Read {quoted(column.name)} from {quoted(found[0])}, as {quoted(column.table)} is called here."
    return Correction("source", said, (replaced(column.args["table"], written),))


def _along_key(column: exp.Column, names: Names, schema: SchemaNames) -> Correction | None:
    """Corrects a join's condition to the only single-column foreign key between the two tables."""
    equal = column.parent
    if not isinstance(equal, exp.EQ) or not isinstance(equal.find_ancestor(exp.Join, exp.Select), exp.Join):
        return None
    other = equal.expression if equal.this is column else equal.this
    tables = _own_tables(names, schema)
    if not isinstance(other, exp.Column) or other.table == column.table:
        return None
    if not _has_places(column) or not _has_places(other) or not {column.table, other.table} <= set(tables):
        return None
    hops = schema.foreign_keys.hops_between(tables[column.table].name, tables[other.table].name)
    pairs = [hop.pairs for hop in hops if len(hop.pairs) == 1]
    if len(pairs) != 1:
        return None
    [[(mine, its)]] = pairs
    edits = [replaced(column.this, schema.written(mine))]
    if other.name != schema.folded(its):
        edits.append(replaced(other.this, schema.written(its)))
    one = quoted(f"{tables[column.table].name}.{mine}")
    said = f"Joined along the foreign key between {one} and {quoted(f'{tables[other.table].name}.{its}')}."
    return Correction("source", said, tuple(edits))


def _has_places(column: exp.Column) -> bool:
    return all(
        each is not None and isinstance(each.meta.get("start"), int)
        for each in (column.this, column.args.get("table"))
    )


def _moved(sql: str, column: exp.Column, names: Names, *, schema: SchemaNames) -> Correction | None:
    """Corrects a column to the only other source in scope that has it.

    Does nothing if the source itself is unknown: then a table is missing.
    """
    if not column.table or names.columns_of(column.table) is None:
        return None
    sources = names.own_sources
    if not names.are_known:
        return None
    found = {
        alias: spelled[0] for alias in sources if len(spelled := names.in_any_case(alias, column.name)) == 1
    }
    if len(found) != 1:
        return None
    [(alias, meant)] = found.items()
    if _is_compared_with(column, alias):
        return None  # a join condition: reading both sides from one source would join nothing
    edits = [replaced(column.args["table"], _written(sql, names, alias))]
    if meant != column.this.name:
        edits.append(replaced(column.this, schema.written(meant)))
    lacking = quoted(_called(column.table, names, schema))
    source = quoted(_called(alias, names, schema))
    said = f"Read {quoted(meant)} from {source}: {lacking} has no such column."
    return Correction("source", said, tuple(edits), left=column.table)


def _is_compared_with(column: exp.Column, alias: str) -> bool:
    """True if the column is compared with a column of the source `alias`."""
    if not isinstance(column.parent, exp.Predicate):
        return False
    return any(
        each is not column and each.table == alias
        for each in column.parent.iter_expressions()
        if isinstance(each, exp.Column)
    )


@dataclass(frozen=True)
class _Neighbour:
    """A table one foreign key away from a source, and the wanted column in it."""

    alias: str
    hop: Hop
    column: str


def _joined(sql: str, column: exp.Column, names: Names, *, schema: SchemaNames) -> Correction | None:
    """Corrects a column by joining the only table that has it and is one foreign key away."""
    select = names.expression
    scope = names.scope
    if not isinstance(select, exp.Select) or not _can_be_joined(select):
        return None
    if not names.are_known:
        return None
    if any(same_but_for_case(column.name, known) for known in names.visible.values()):
        return None
    wanted = schema.tables.get(column.table) if names.columns_of(column.table) is None else None
    found = [
        each for each in _neighbours(column.name, names, schema) if wanted is None or each.hop.right == wanted
    ]
    if len(found) != 1 or (found[0].hop.fans_out and _depends_on_rows(scope, column)):
        return None
    return _join(sql, column, names, schema=schema, neighbour=found[0])


def _join(
    sql: str, column: exp.Column, names: Names, *, schema: SchemaNames, neighbour: _Neighbour
) -> Correction | None:
    scope = names.scope
    select = scope.expression
    table = neighbour.hop.right
    place = first_table(select) if isinstance(select, exp.Select) else None
    if place is None:
        return None
    clauses = Clauses(sql, schema.dialect, place)
    alias = _free_alias(column, names, schema, table=table)
    written = {each: _written(sql, names, each) for each in scope.selected_sources}
    source = written[neighbour.alias]
    called = schema.written(table) + ("" if alias == table else f" AS {schema.written(alias)}")
    own = schema.written(alias)
    on = " AND ".join(
        f"{source}.{schema.written(one)} = {own}.{schema.written(other)}"
        for one, other in neighbour.hop.pairs
    )
    end = clauses.end_of_from
    edits = [Edit(end, end, f" JOIN {called} ON {on}")]
    edits += [_of(each, own, neighbour.column, schema=schema) for each in _same(column, scope)]
    joined = {schema.folded(each) for each in schema.columns(schema.folded(table))}
    edits += [
        Edit(start, start, f"{written[each.table]}.")
        for each in scope.find_all(exp.Column)
        if each.name in joined and each.table in written
        for start in _bare_place(each)
    ]
    everything = ", ".join(f"{each}.*" for each in written.values())
    edits += [Edit(star.start, star.end + 1, everything) for star in clauses.stars()]
    return Correction("join", _said(neighbour, names, schema), tuple(edits))


def _said(neighbour: _Neighbour, names: Names, schema: SchemaNames) -> str:
    source = quoted(_called(neighbour.alias, names, schema))
    lacking = "no other table here has" if len(names.own_sources) > 1 else f"{source} does not have"
    said = f"Joined {quoted(neighbour.hop.right)} for the column {quoted(neighbour.column)}, which {lacking}."
    if neighbour.hop.fans_out:
        said += f" A row of {source} is repeated for each of its rows in {quoted(neighbour.hop.right)}."
    return said


def _neighbours(column: str, names: Names, schema: SchemaNames) -> Iterator[_Neighbour]:
    for alias, table in _own_tables(names, schema).items():
        for hop in schema.foreign_keys.hops(table.name):
            meant = same_but_for_case(column, schema.columns(schema.folded(hop.right)))
            if hop.right != table.name and meant is not None:
                yield _Neighbour(alias, hop, meant)


def _own_tables(names: Names, schema: SchemaNames) -> Mapping[str, Table]:
    """Returns the tables of the database that the scope reads, by alias."""
    found: dict[str, Table] = {}
    for alias in names.own_sources:
        source = names.scope.sources.get(alias)
        if isinstance(source, exp.Table) and (table := schema.table(source.name)) is not None:
            found[alias] = table
    return found


def _can_be_joined(select: exp.Select) -> bool:
    """True if every join has ON. A comma binds weaker than JOIN; USING and NATURAL merge columns."""
    joins: list[exp.Join] = select.args.get("joins") or []
    return all(
        not join.args.get("using") and join.method.upper() != "NATURAL" and bool(join.args.get("on"))
        for join in joins
    )


def _depends_on_rows(scope: Scope, column: exp.Column) -> bool:
    """True if repeated rows would change more than the length of a list.

    That is so where an aggregate reads anything but the joined column, and where rows are numbered or cut.
    """
    select = scope.expression
    if select.args.get("limit") or select.args.get("offset") or select.find(exp.Window):
        return True
    return any(
        not all(each.name == column.name for each in aggregate.find_all(exp.Column))
        or aggregate.find(exp.Column) is None
        for aggregate in scope.find_all(exp.AggFunc)
        if not isinstance(aggregate, exp.Min | exp.Max)
    )


def _same(column: exp.Column, scope: Scope) -> Iterator[exp.Column]:
    """Yields every occurrence of the column in the scope."""
    for each in scope.find_all(exp.Column):
        same = each.name == column.name and each.table == column.table
        if same and isinstance(each.this.meta.get("start"), int):
            yield each


def _of(column: exp.Column, alias: str, name: str, *, schema: SchemaNames) -> Edit:
    qualifier = column.args.get("table")
    start = column.this.meta["start"] if qualifier is None else qualifier.meta["start"]
    return Edit(start, column.this.meta["end"] + 1, f"{alias}.{schema.written(name)}")


def _bare_place(column: exp.Column) -> Iterator[int]:
    """Yields the offset of a column that was written without its source; nothing for others."""
    qualifier = column.args.get("table")
    start = column.this.meta.get("start")
    if isinstance(start, int) and (qualifier is None or not isinstance(qualifier.meta.get("start"), int)):
        yield start


def _free_alias(column: exp.Column, names: Names, schema: SchemaNames, *, table: str) -> str:
    """Returns an alias for a table to join: the unknown alias that the column names, or the table's name."""
    statement = names.expression.root()
    taken = {each.alias_or_name.casefold() for each in statement.find_all(exp.Table, exp.Subquery, exp.CTE)}
    if column.table and names.columns_of(column.table) is None and column.table not in schema.tables:
        return column.table
    alias = table
    number = 2
    while alias.casefold() in taken:
        alias = f"{table}_{number}"
        number += 1
    return alias


def _called(alias: str, names: Names, schema: SchemaNames) -> str:
    """Returns the table that an alias stands for; the alias itself if it stands for a query."""
    return schema.tables.get(names.base_table(alias) or "", alias)


def _written(sql: str, names: Names, alias: str) -> str:
    """Returns a source's alias or name as it is written in the statement."""
    node, _ = names.scope.selected_sources[alias]
    called = node.args.get("alias")
    for each in (called.this if isinstance(called, exp.TableAlias) else None, node.this):
        if isinstance(each, exp.Identifier) and isinstance(each.meta.get("start"), int):
            return sql[each.meta["start"] : each.meta["end"] + 1]
    return alias


def _equated(select: exp.Expr, name: str) -> list[set[str]]:
    """Returns the pairs of sources whose columns of this name are equal by joins and conditions."""
    conditions = [join.args.get("on") for join in select.args.get("joins") or []]
    where = select.args.get("where")
    conditions.append(where.this if isinstance(where, exp.Where) else None)
    parts = [
        part
        for each in conditions
        if isinstance(each, exp.Expr)
        for part in (each.flatten() if isinstance(each, exp.And) else [each])
    ]
    return [
        {part.this.table, part.expression.table}
        for part in (each.unnest() for each in parts)
        if isinstance(part, exp.EQ)
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Column)
        and part.this.name == part.expression.name == name
    ]


def _reached(first: str, pairs: Sequence[set[str]]) -> set[str]:
    """Returns the sources that are connected with `first` by pairs, directly or not."""
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for each in pair:
            beside[each] |= pair
    reached = {first}
    left = [first]
    while left:
        new = beside[left.pop()] - reached
        reached |= new
        left += new
    return reached


def _optional(select: exp.Expr) -> set[str] | None:
    """Returns the sources that a LEFT JOIN may fill with NULL; None if there are other outer joins."""
    joins: list[exp.Join] = select.args.get("joins") or []
    if any(join.side.upper() in {"RIGHT", "FULL"} for join in joins):
        return None
    return {join.this.alias_or_name for join in joins if join.side.upper() == "LEFT"}
