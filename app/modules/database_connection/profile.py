"""What a table's columns hold: bounded looks, each given a little time and left out when it takes more."""

import time
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, Executable, FromClause, column, func, select, table
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.limits import Limits
from app.modules.database_connection.results import type_of_values
from app.modules.database_connection.schema import Column, Table
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

_MOST_VALUES = 50
_LONGEST_VALUE = 100
_RANGED = ("integer", "number", "date", "datetime")


class Profiler:
    """Looks into tables over one connection until the scan's time is up; then all else stays unknown."""

    def __init__(self, connection: Connection, limits: Limits, stop: Stop) -> None:
        self._connection = connection
        self._limits = limits
        self._stop = stop
        self._ends = time.monotonic() + limits.scan_seconds

    def profiled(self, described: Table) -> Table:
        source = table(described.name, *(column(each.name) for each in described.columns))
        columns = [self._with_values(source, each) for each in described.columns]
        counted = self._rows(select(func.count()).select_from(source))
        return replace(
            described,
            columns=self._with_ranges(source, columns),
            row_count=int(str(counted[0][0])) if counted else None,
        )

    def _with_values(self, source: FromClause, described: Column) -> Column:
        if described.type != "text" or described.primary_key:
            return described
        held = source.c[described.name]
        looked = self._rows(select(held).where(held.is_not(None)).distinct().limit(_MOST_VALUES + 1))
        values = [row[0] for row in looked]
        kind = type_of_values(values)
        if values and kind in ("date", "datetime"):
            return replace(described, type=kind)
        few = len(values) <= _MOST_VALUES
        if few and all(isinstance(value, str) and len(value) <= _LONGEST_VALUE for value in values):
            return replace(described, values=tuple(sorted(str(value) for value in values)))
        return described

    def _with_ranges(self, source: FromClause, columns: Sequence[Column]) -> list[Column]:
        ranged = [each for each in columns if each.type in _RANGED]
        ends = [end(source.c[each.name]) for each in ranged for end in (func.min, func.max)]
        found = self._rows(select(*ends).select_from(source)) if ends else []
        if not found:
            return list(columns)
        texts = [None if value is None else str(value) for value in found[0]]
        bounds = {each.name: (texts[2 * at], texts[2 * at + 1]) for at, each in enumerate(ranged)}
        return [
            replace(each, minimum=bounds[each.name][0], maximum=bounds[each.name][1])
            if each.name in bounds
            else each
            for each in columns
        ]

    def _rows(self, statement: Executable) -> Sequence[Sequence[object]]:
        """The rows, or none when it takes too long. Raises `DatabaseUnavailable` when nobody waits."""
        if self._stop.abandoned:
            raise DatabaseUnavailable("The scan was broken off.")
        if time.monotonic() > self._ends:
            return []
        self._stop.after(self._limits.profile_statement_seconds)
        try:
            return [tuple(row) for row in self._connection.execute(statement)]
        except DBAPIError:
            return []
