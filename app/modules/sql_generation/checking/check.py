"""Check of a statement's table and column names before it runs. Takes a millisecond or two.

Certain errors are corrected (a name's case and quotes, SQLite's text in double quotes). The rest are
reported as faults, which help to repair the statement. Statements that sqlglot cannot resolve are left to
the guard and the database.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.columns import check_columns
from app.modules.sql_generation.checking.findings import Correction, Fault, corrected, respelled
from app.modules.sql_generation.checking.grouping import missing_groups
from app.modules.sql_generation.checking.names import SchemaNames, nearest, same_but_for_case
from app.modules.sql_generation.checking.resolution import base_tables

_MOST_PASSES = 4
"""A corrected name may show the next one that was wrong by it."""
_MOST_REPORTED = 5


@dataclass(frozen=True)
class Checked:
    """The statement with its certain corrections applied, and the faults that remain."""

    sql: str
    faults: Sequence[Fault] = ()
    corrections: Sequence[Correction] = ()

    @property
    def report(self) -> str:
        """The faults as text, one a line; empty when there are none."""
        return "\n".join(dict.fromkeys(fault.report(self.sql) for fault in self.faults[:_MOST_REPORTED]))


def check(sql: str, schema: SchemaNames) -> Checked:
    """Check every table and column name. Never raises: a statement that cannot be parsed has no faults."""
    faults: list[Fault] = []
    made: list[Correction] = []
    for _ in range(_MOST_PASSES):
        found = _findings(sql, schema)
        faults = [each for each in found if isinstance(each, Fault)]
        corrections = [each for each in found if isinstance(each, Correction)]
        if not corrections:
            break
        sql = corrected(sql, corrections)
        made += corrections
    return Checked(sql, faults, made)


def missing(sql: str, schema: SchemaNames) -> list[Correction]:
    """Returns the corrections that complete GROUP BY, for a statement without faults. Never raises.

    None for SQLite, which runs the statement as it is: measured there, they are right too rarely.
    """
    if schema.dialect == "sqlite":
        return []
    try:
        with sqlglot_errors_only():
            statement = statement_of(sql, schema.dialect)
            if not isinstance(statement.tree, exp.Query):
                return []
            return list(missing_groups(sql, statement.scopes(schema), schema))
    except (SqlglotError, RecursionError):
        return []


def _findings(sql: str, schema: SchemaNames) -> list[Fault | Correction]:
    try:
        with sqlglot_errors_only():
            statement = statement_of(sql, schema.dialect)
            if not isinstance(statement.tree, exp.Query) or _has_pivot_statement(statement.tree):
                return []
            scopes = statement.scopes(schema)
            if found := list(_unknown_tables(scopes or traverse_scope(statement.folded), schema)):
                return found
            return list(check_columns(sql, scopes, schema))
    except (SqlglotError, RecursionError):
        return []


def _unknown_tables(scopes: Sequence[Scope], schema: SchemaNames) -> Iterator[Fault | Correction]:
    """Yields the unknown tables in the scopes of a statement with folded names.

    Of tables that are qualified with a schema's name only the spelling is corrected: the rest is left to the
    guard.
    """
    real = list(schema.tables.values())
    for table in base_tables(scopes):
        if table.name in schema.tables:
            continue
        if table.db:
            yield from _spelling(table, schema)
            continue
        place = table.this
        start = place.meta.get("start")
        meant = same_but_for_case(table.name, real)
        several = schema.table_names.meanings(table)
        if meant is not None and not several and isinstance(start, int):
            yield respelled(place, schema.written_table(meant))
        else:
            near = [schema.written_table(each) for each in several or nearest(table.name, real)]
            yield Fault(
                kind="unknown table",
                name=table.name,
                offset=start if isinstance(start, int) else None,
                nearest=near,
            )


def _spelling(table: exp.Table, schema: SchemaNames) -> Iterator[Correction]:
    """Yields the corrections of a name whose parts differ from those of one table only in case or quotes."""
    known = schema.table_names
    meant = [] if known.meanings(table) else known.read(".".join(part.name for part in table.parts))
    if len(meant) != 1:
        return
    name = known[meant[0]]
    for place, part in ((table.args.get("db"), name.schema), (table.this, name.name)):
        if part and isinstance(place, exp.Identifier) and "start" in place.meta and place.name != part:
            yield respelled(place, schema.written(part))


def _has_pivot_statement(tree: exp.Expr) -> bool:
    """True if DuckDB's PIVOT or UNPIVOT is used as a query: sqlglot builds no scope for it."""
    return any(pivot.arg_key != "pivots" for pivot in tree.find_all(exp.Pivot))
