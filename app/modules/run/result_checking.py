"""Checks the results of one run: warnings of its statement and rows, and empty joins."""

import asyncio
import logging
from dataclasses import dataclass, field

from app.core.language import language_of
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.model import Run
from app.modules.run.several_databases import RunDatabases, asker_of
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.warnings import MOST_WARNINGS, is_empty
from app.modules.sql_generation.schema_context import SchemaContext
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.ports import Question
from graph.state import Rows

logger = logging.getLogger(__name__)

_PROBE_SECONDS = 3.0
"""Time limit for all probes of a result. An empty join of two large tables takes longest, and then
stays unknown."""


@dataclass(frozen=True, kw_only=True)
class RunResultChecker:
    """A join is probed when the result is empty and nothing else explains it, and where it may repeat rows;
    so is the place of a single row that others may share. Each probe runs once a run.
    """

    connections: DatabaseConnections
    connection: Connection
    schema_context: SchemaContext
    run_of: Run
    databases: RunDatabases | None = None
    """None for a session of one database. No single schema tells what is wrong with a statement over several.
    """
    _probed: dict[str, bool] = field(default_factory=dict)
    """Results of probes by their SQL: True if it returns a row."""

    async def find_reasons(self, question: Question, sql: str, rows: Rows) -> list[str]:
        warnings = await self.find_warnings(question, sql, rows)
        language = language_of(question.text)
        return [each.say(language) for each in warnings if each.worth_repair]

    async def find_warnings(self, question: Question, sql: str, rows: Rows) -> list[ResultWarning]:
        if self.databases is not None and await self.databases.are_named_by(sql):
            return []
        found = await self.schema_context.find_warnings(question, sql, rows)
        warnings = [each for each in found if await self._is_borne_out(each)]
        if is_empty(rows) and not any(each.worth_repair for each in warnings):
            warnings += await self._find_empty_joins(sql)
        return warnings[:MOST_WARNINGS]

    async def _is_borne_out(self, warning: ResultWarning) -> bool:
        """True if the data show that a warning holds; if they show nothing in time, True for a doubt."""
        if not warning.probe:
            return True
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                return await self._has_rows(warning.probe)
        except (TimeoutError, StatementFailed, DatabaseUnavailable) as error:
            logger.info("run %s: whether the data bear a warning out is unknown: %r", self.run_of.id, error)
            return warning.is_doubt

    async def _has_rows(self, probe: str) -> bool:
        if probe not in self._probed:
            result = await self.connections.run(self.connection, probe, asker_of(self.run_of, "join_probe"))
            self._probed[probe] = bool(result.rows)
        return self._probed[probe]

    async def _find_empty_joins(self, sql: str) -> list[ResultWarning]:
        """Returns None if the database does not answer in time."""
        empty: list[ResultWarning] = []
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                for probe in await self.schema_context.join_probes(sql):
                    empty += [] if await self._has_rows(probe.sql) else [probe.warning]
        except (TimeoutError, StatementFailed, DatabaseUnavailable) as error:
            logger.info("run %s: whether its joins are empty is unknown: %r", self.run_of.id, error)
        return empty
