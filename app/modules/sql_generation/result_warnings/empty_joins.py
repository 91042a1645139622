"""Joins that match no rows: a count of 0 or an empty list then says nothing about the question."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import Table
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.statements import (
    conditions_of,
    scanned_tables,
    scopes_of,
)
from app.modules.sql_generation.schema_index import SchemaIndex

_MOST_PROBES = 3


@dataclass(frozen=True)
class JoinProbe:
    """A statement that returns a row if a join matches any rows, and the warning if it returns none."""

    sql: str
    warning: ResultWarning


def find_empty_tables(scope: Scope, tables: Mapping[str, Table]) -> Iterator[ResultWarning]:
    """Yields a warning for each table of an empty result that had no rows when it was scanned."""
    for alias in scope.selected_sources:
        if alias in tables and tables[alias].row_count == 0:
            yield ResultWarning("empty table", (tables[alias].name,))


def join_probes(sql: str, index: SchemaIndex) -> list[JoinProbe]:
    """Returns a probe for each pair of tables that a statement joins by equal columns, at most three.

    There are none for outer joins and empty tables. Never raises.
    """
    try:
        with sqlglot_errors_only():
            scopes = scopes_of(sql, index.names)
            return list(islice((each for scope in scopes for each in _probes(scope, index)), _MOST_PROBES))
    except (SqlglotError, RecursionError):
        return []


def _probes(scope: Scope, index: SchemaIndex) -> Iterator[JoinProbe]:
    tables = scanned_tables(scope, index)
    joins: list[exp.Join] = scope.expression.args.get("joins") or []
    if any(join.side for join in joins):
        return
    known = scope.selected_sources.keys() & tables.keys()
    pairs: dict[tuple[str, str], list[exp.EQ]] = {}
    for condition in conditions_of(scope.expression):
        if isinstance(condition, exp.EQ):
            left = condition.this
            right = condition.expression
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                one, other = sorted((left.table, right.table))
                if one != other and {one, other} <= known:
                    pairs.setdefault((one, other), []).append(condition)
    for (one, other), equals in pairs.items():
        if tables[one].row_count != 0 and tables[other].row_count != 0:
            sources = [scope.selected_sources[each][0].copy() for each in (one, other)]
            probe = exp.select("1").from_(sources[0]).join(sources[1], on=exp.and_(*equals)).limit(1)
            by = " and ".join(each.sql(index.names.dialect) for each in equals)
            values = (tables[one].name, tables[other].name, by)
            warning = ResultWarning("empty join", values, worth_repair=True)
            yield JoinProbe(probe.sql(index.names.dialect), warning)
