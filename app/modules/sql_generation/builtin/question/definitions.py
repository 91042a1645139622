"""Terms of the glossary whose SQL a question may ask for."""

from collections.abc import Iterator, Mapping
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.database_connection.schema import Schema
from app.modules.sql.parsing import parsed_one
from app.modules.sql_generation.builtin.plan import Definition, PlanColumn

_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.In, exp.Between)
_UNREADABLE = (exp.Query, exp.Window, exp.Placeholder, exp.Parameter)


def read_definitions(terms: Mapping[str, str], schema: Schema) -> Iterator[Definition]:
    """Yields the definitions that can be part of a statement. `terms` are their SQL by name.

    Left out are whole queries, windows, and columns that are unknown or in several tables alike.
    """
    for term, sql in terms.items():
        if (found := _definition(term, sql, schema)) is not None:
            yield found


def _definition(term: str, sql: str, schema: Schema) -> Definition | None:
    try:
        tree = parsed_one(f"SELECT {sql}", schema.dialect)
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Select) or set(_clauses(tree)) != {"expressions"} or len(tree.selects) != 1:
        return None
    formula = tree.selects[0].unalias()
    if formula.find(*_UNREADABLE) is not None:
        return None
    meant = _meant(formula, schema)
    if not meant:
        return None
    fields = {id(column): field for column, field in meant}
    aggregated = [column for column, _ in meant if column.find_ancestor(exp.AggFunc) is not None]
    if formula.find(exp.AggFunc) is not None and len(aggregated) < len(meant):
        return None
    named = formula.transform(
        lambda node: _quoted(fields[id(node)]) if id(node) in fields else node, copy=False
    )
    kind: Literal["measure", "value", "condition"] = "value"
    if aggregated:
        kind = "measure"
    elif _is_condition(formula, [field for _, field in meant]):
        kind = "condition"
    stated = named.sql(dialect=schema.dialect)
    return Definition(term, " ".join(sql.split()), kind, stated, tuple(dict.fromkeys(fields.values())))


def _clauses(select: exp.Select) -> Iterator[str]:
    yield from (name for name, given in select.args.items() if given)


def _meant(formula: exp.Expr, schema: Schema) -> list[tuple[exp.Column, PlanColumn]]:
    """Returns each column with the one that it means; nothing if one of them is unknown or not the only one.

    A column without a table is looked for in the tables that the formula names, then in those that have all
    such columns, then in all.
    """
    columns = list(formula.find_all(exp.Column))
    named = {column.table.casefold() for column in columns if column.table}
    bare = {column.name.casefold() for column in columns if not column.table}
    holding = {
        table.name.casefold()
        for table in schema.tables
        if bare <= {each.name.casefold() for each in table.columns}
    }
    found: list[tuple[exp.Column, PlanColumn]] = []
    for column in columns:
        places = [
            PlanColumn(table.name, each.name, each.type)
            for table in schema.tables
            for each in table.columns
            if each.name.casefold() == column.name.casefold()
            and column.table.casefold() in ("", table.name.casefold())
        ]
        near = [[each for each in places if each.table.casefold() in tables] for tables in (named, holding)]
        places = next(filter(None, near), places)
        if len(places) != 1:
            return []
        found.append((column, places[0]))
    return found


def _is_condition(formula: exp.Expr, fields: list[PlanColumn]) -> bool:
    inner = formula.unnest()
    if isinstance(inner, exp.Column):
        return fields[0].type == "boolean"
    return isinstance(inner, _CONDITIONS) and len({field.table for field in fields}) == 1


def _quoted(field: PlanColumn) -> exp.Expr:
    return exp.column(field.column, table=field.table, quoted=True)
