"""What a checked statement names: the tables and columns that the database may read for it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from app.modules.database_connection.guard.check import written
from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.functions import names_of
from app.modules.database_connection.schema import Schema, Table
from app.modules.policies.limiting import Limiter

_WORD = re.compile(r"[\w$]+")
ROW_ID = "rowid"
"""Column of a table that may be read if the statement has one of its names."""
_ROW_IDS = frozenset({ROW_ID, "_rowid_", "oid"})


@dataclass(frozen=True)
class NamedTable:
    """A table, view, common table expression or table function. Names of columns are in lower case.

    `columns` is None if the statement may read every column that is not hidden, as it has a `*`.
    """

    name: str
    columns: Collection[str] | None = None
    hidden: Collection[str] = ()

    def has(self, column: str) -> bool:
        """True if the statement may read the column."""
        if column in self.hidden:
            return False
        return self.columns is None or column in self.columns


def named_tables(sql: str, schema: Schema) -> Mapping[str, NamedTable]:
    """Returns what a checked statement on SQLite names after FROM, JOIN and IN, by name in lower case."""
    statement = written(sql, schema.dialect)
    words = None if _expands(statement.nodes) else _words(statement.text, statement.nodes)
    common = CommonTables(schema.dialect)
    found: dict[str, NamedTable] = {}
    for node in statement.nodes:
        if isinstance(node, exp.CTE):
            found.setdefault(node.alias.lower(), NamedTable(node.alias, ()))
        if not isinstance(node, exp.Table):
            continue
        if isinstance(node.this, exp.Func):
            found |= {name: NamedTable(name) for name in names_of(node.this)}
        elif (shown := schema.names.find(node)) and (node.db or not common.are_named_by(node)):
            found[node.name.lower()] = _named(schema.by_name[shown], words)
            found |= _read_by_rules(shown, schema.limiter)
    return found


def _read_by_rules(shown: str, limiter: Limiter | None) -> Mapping[str, NamedTable]:
    """Returns the tables that are read for one with a rule: by its condition, and by the definition of a
    view. The rule itself holds the statement to its columns.
    """
    if limiter is None:
        return {}
    relation = limiter.catalog.by_shown[shown]
    if not limiter.is_governed(relation):
        return {}
    names = [limiter.catalog.by_shown[each].name.name for each in limiter.reads(relation)]
    return {name.lower(): NamedTable(name) for name in names}


def _named(table: Table, words: Collection[str] | None) -> NamedTable:
    """Returns a table of a statement that has these words; None if it reads columns without naming them.

    All columns are read of a table with hidden ones, as a query takes its place.
    """
    columns = None if table.hides else words
    if columns is not None and not _ROW_IDS.isdisjoint(columns):
        columns = {*columns, ROW_ID}
    return NamedTable(table.name, columns, {each.lower() for each in table.hides})


def _expands(nodes: Sequence[exp.Expr]) -> bool:
    """True if the statement reads columns without naming them: `*`, but not that of COUNT, and NATURAL."""
    return any(
        (isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count))
        or (isinstance(node, exp.Join) and node.method == "NATURAL")
        for node in nodes
    )


def _words(text: str, nodes: Sequence[exp.Expr]) -> set[str]:
    quoted = {node.name.lower() for node in nodes if isinstance(node, exp.Identifier) and node.quoted}
    return quoted | set(_WORD.findall(text.lower()))
