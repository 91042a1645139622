"""Faults of columns: unknown and ambiguous names."""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from app.modules.sql_generation.checking.findings import Correction, Fault, quoted, replaced, respelled
from app.modules.sql_generation.checking.names import SchemaNames, nearest, same_but_for_case
from app.modules.sql_generation.checking.resolution import ScopeNames, StatementNames
from app.modules.sql_generation.sentences import WarningPhrase

_MOST_PLACES = 3
_MOST_CHOICES = 10
_MOST_FAULTS = 10
"""So many are looked for. Fewer are reported, and each costs a search for the nearest names."""
_COMPARED = (exp.Predicate, exp.In, exp.Between, exp.Tuple, exp.Func, exp.DPipe)


def check_columns(sql: str, scopes: Iterable[Scope], schema: SchemaNames) -> Iterator[Fault | Correction]:
    """Yields the faults and corrections of columns in the scopes of a qualified statement.

    Uncertain cases are left to the database.
    """
    names_in = StatementNames(schema)
    faults = 0
    for scope in scopes:
        names = names_in.of(scope)
        if names.has_pivot:
            continue
        for column in scope.find_all(exp.Column):
            # A name without an offset was added when the statement was qualified.
            if not _is_placed(column.this) or column.name in schema.hidden:
                continue
            for found in _check(sql, column, names, schema=schema):
                yield found
                faults += isinstance(found, Fault)
            if faults >= _MOST_FAULTS:
                return


def _check(
    sql: str, column: exp.Column, names: ScopeNames, *, schema: SchemaNames
) -> Iterator[Fault | Correction]:
    if column.table:
        yield from _check_qualified(sql, column, names, schema=schema)
    elif not names.is_output(column):
        yield from _check_bare(sql, column, names, schema=schema)


def _check_qualified(
    sql: str, column: exp.Column, names: ScopeNames, *, schema: SchemaNames
) -> Iterator[Fault | Correction]:
    alias = column.table
    place = column.this
    known = names.columns_of(alias)
    if known is None:
        near = nearest(alias, [*names.visible])
        meant = _alias_correction(sql, column, names, schema=schema)
        yield Fault(
            kind="unknown alias",
            name=alias,
            offset=_offset(column.args["table"]),
            nearest=near,
            correction=meant,
        )
    elif isinstance(place, exp.Star):
        return  # a whole row, as in COUNT(i.*)
    elif known and "*" not in known and column.name not in known:
        same = names.in_any_case(alias, column.name)
        if len(same) == 1:
            if not schema.takes_any_case:
                yield respelled(place, schema.written(same[0]))
        else:
            spelled = [names.real(alias, each) for each in known]
            near = [f"{alias}.{schema.written(each)}" for each in nearest(column.name, spelled)]
            yield Fault(
                kind="unknown column",
                name=f"{alias}.{column.name}",
                offset=_offset(place),
                nearest=near or _elsewhere(column, schema),
            )


def _check_bare(
    sql: str, column: exp.Column, names: ScopeNames, *, schema: SchemaNames
) -> Iterator[Fault | Correction]:
    place = column.this
    if names.is_source(column.name) or not names.are_known:
        return  # a whole row, or a source whose columns are unknown
    having = names.own_sources_with(column.name)
    if len(having) > 1 and not _is_natural(names.expression):
        shown = having[:_MOST_CHOICES]
        choices = [f"{alias}.{schema.written(names.real(alias, column.name))}" for alias in shown]
        yield Fault(kind="ambiguous column", name=column.name, offset=_offset(place), nearest=choices)
    if names.are_found(column.name):
        return
    if schema.takes_any_case and any(
        same_but_for_case(column.name, known) for known in names.visible.values()
    ):
        return
    if schema.dialect == "sqlite" and _is_text(sql, column):
        yield _as_text(place, _quoted_text(sql, place))
        return
    yield _unknown(column, names, schema)


def _unknown(column: exp.Column, names: ScopeNames, schema: SchemaNames) -> Fault | Correction:
    place = column.this
    spelled = {names.real(alias, each): alias for alias, known in names.visible.items() for each in known}
    if (meant := same_but_for_case(column.name, spelled)) is not None:
        return respelled(place, schema.written(meant))
    near = [f"{spelled[each]}.{schema.written(each)}" for each in nearest(column.name, spelled)]
    return Fault(
        kind="unknown column",
        name=column.name,
        offset=_offset(place),
        nearest=_elsewhere(column, schema) or near,
    )


def _alias_correction(
    sql: str, column: exp.Column, names: ScopeNames, *, schema: SchemaNames
) -> Correction | None:
    """Returns the correction of a column that names its table although the table has one alias here."""
    table = column.table
    found = [alias for alias in names.own_sources if names.base_table(alias) == table]
    if len(found) != 1 or same_but_for_case(column.name, schema.columns(table)) is None:
        return None
    source, _ = names.scope.selected_sources[found[0]]
    alias = source.args["alias"].this
    if not _is_placed(alias):
        return None
    written = sql[alias.meta["start"] : alias.meta["end"] + 1]
    said = WarningPhrase("corrected alias", (quoted(column.name), quoted(found[0]), quoted(table)))
    return Correction("alias", said, (replaced(column.args["table"], written),))


def _elsewhere(column: exp.Column, schema: SchemaNames) -> list[str]:
    """Returns the columns of the same name in other tables of the schema."""
    places = schema.places_of(column.name)[:_MOST_PLACES]
    return [f"{schema.written(table)}.{schema.written(each)}" for table, each in places]


def _is_text(sql: str, column: exp.Column) -> bool:
    """True if an unknown name in double quotes is meant as text: it is compared with something.

    SQLite reads such a name as text everywhere.
    """
    start = _offset(column.this)
    return start is not None and sql[start] == '"' and isinstance(column.parent, _COMPARED)


def _quoted_text(sql: str, place: exp.Expr) -> str:
    """Returns a name as written in the text: the names of the qualified statement are folded."""
    return sql[place.meta["start"] + 1 : place.meta["end"]].replace('""', '"')


def _is_natural(expression: exp.Expr) -> bool:
    joins: list[exp.Join] = expression.args.get("joins") or []
    return any(join.method.upper() == "NATURAL" for join in joins)


def _as_text(place: exp.Expr, text: str) -> Correction:
    edit = replaced(place, exp.Literal.string(text).sql("sqlite"))
    return Correction("quotes", WarningPhrase("corrected quotes", (quoted(text),)), (edit,))


def _is_placed(place: exp.Expr) -> bool:
    return _offset(place) is not None


def _offset(place: exp.Expr) -> int | None:
    start = place.meta.get("start")
    return start if isinstance(start, int) else None
