"""Computes the overviews that are due: after a scan, and once a day while they are read.

A worker claims one by moving `due_at` to the end of a lease; only one of several can. What changes the tables
meanwhile makes it due at once, so that the worker's result is discarded.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from pydantic import JsonValue, TypeAdapter

from app.core.auth.caller import acting_for
from app.core.clock import as_datetime, now_ms
from app.modules.database_connection.errors import ConnectionNotFound, PersonUnknown
from app.modules.database_connection.model import Connection
from app.modules.database_connection.roles import DatabaseRoleMissing
from app.modules.database_connection.schema import TableColumn
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.overview.choosing import OverviewMeasure, groupings, measures
from app.modules.overview.computing import Asked, Series, compute_groups, compute_months
from app.modules.overview.model import (
    PAGE_LANGUAGES,
    KeptOverview,
    Overview,
    PageLanguage,
    TableUse,
    WorthAsking,
)
from app.modules.overview.repository import OverviewRepository
from app.modules.records.repository import SessionRepository
from app.modules.sql_generation.builtin.plan import Beyond
from app.modules.sql_generation.builtin.writer import WrittenSql, write
from app.modules.sql_generation.context import tables_read
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.errors import DatabaseUnavailable, StatementFailed, StatementTimedOut
from graph.state import Rows

logger = logging.getLogger(__name__)

_LEASE_MS = 300_000
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_READ_WITHIN_MS = 7 * _DAY_MS
"""So long after its last reading an overview is computed again each day."""
_ALL_SECONDS = 120.0
"""Time limit for an overview."""
_AT_ONCE = 2
LOOK_SECONDS = 5.0
_MOST_FIGURES = 3
_MOST_QUESTIONS = 4
_MOST_GROUPED = 2
_MOST_TABLES = 8
_LATEST_ANSWERS = 200
_LATEST_SESSIONS = 100
_EMPTY: Mapping[str, JsonValue] = {"due_at": None, "by_language": None}
_BY_LANGUAGE = TypeAdapter(dict[PageLanguage, Overview])


@dataclass(frozen=True, kw_only=True)
class OverviewLimits:
    """Tables of more rows are left out, and each statement may take so many seconds."""

    table_rows: int
    statement_seconds: float


class OverviewRuns:
    """Claims and computes overviews. `now` returns epoch milliseconds."""

    def __init__(
        self,
        repository: OverviewRepository,
        connections: DatabaseConnections,
        sessions: SessionRepository,
        *,
        limits: OverviewLimits,
        asks_in_english: bool,
        now: Callable[[], int] = now_ms,
    ) -> None:
        """`asks_in_english`: the built-in writer will answer, which reads no other language."""
        self._repository = repository
        self._connections = connections
        self._sessions = sessions
        self._limits = limits
        self._asks_in_english = asks_in_english
        self._now = now

    async def run_due(self) -> None:
        """Compute some of those that are due. Raises `StorageUnavailable`."""
        claims = self._repository.claims
        for kept in await claims.due(self._now(), _AT_ONCE):
            leased = await claims.change(kept, {"due_at": self._now() + _LEASE_MS})
            if leased is not None:
                await claims.change(leased, await self._outcome(leased))

    async def _outcome(self, kept: KeptOverview) -> Mapping[str, JsonValue]:
        """Returns the changes. One whose reader may not see what it was computed for is emptied."""
        if self._now() - kept.read_at > _READ_WITHIN_MS:
            return {"due_at": None}
        try:
            connection = await self._connections.repository.get(kept.owner, kept.db_connection_id)
            roles = connection.roles
            if roles is not None and roles.role_of(kept.owner, kept.claim) != kept.role:
                return _EMPTY
            with acting_for(kept.owner, kept.attributes):
                if self._connections.rights_on(connection) != kept.rights:
                    return _EMPTY
                async with asyncio.timeout(_ALL_SECONDS):
                    computed = await self._compute(kept, connection)
        except (ConnectionNotFound, DatabaseRoleMissing, PersonUnknown):
            return _EMPTY
        except (DatabaseUnavailable, TimeoutError) as error:
            logger.info("the overview of connection %s is computed later: %s", kept.db_connection_id, error)
            return {"due_at": self._now() + _HOUR_MS, "missing": "failed"}
        now = self._now()
        by_language = _BY_LANGUAGE.dump_python(dict(computed), mode="json")
        return {"due_at": now + _DAY_MS, "computed_at": now, "missing": None, "by_language": by_language}

    async def _compute(self, kept: KeptOverview, connection: Connection) -> Mapping[PageLanguage, Overview]:
        index = SchemaIndex(await self._connections.scanned_schema(connection))
        uses, answers = await self._uses(kept, index)
        asker = Asker(owner=kept.owner, purpose="overview", claim=kept.claim)
        today = as_datetime(self._now()).date()
        asking = _Asking(self._connections, connection, asker, index=index, limits=self._limits, today=today)
        series: list[Series] = []
        for measure in measures(index.scanned.schema, uses):
            found = await asking.ask_by_month(measure) if len(series) < _MOST_FIGURES else None
            series += [] if found is None else [found]
        grouped = [await asking.ask_by_groups(each.measure) for each in series]
        questions = [*(each for some in grouped for each in some[:1]), *((each, None) for each in series)]
        questions += [each for some in grouped for each in some[1:]]
        days = [day for each in series for day in each.days if day < today]
        latest = max(days, default=None)

        def write_overview(language: PageLanguage) -> Overview:
            asked_in: PageLanguage = "en" if self._asks_in_english else language
            return Overview(
                figures=[each.figure(each.measure.asked(None, asked_in), latest) for each in series],
                questions=_worth_asking(questions, language, asked_in),
                latest_day=None if latest is None else latest.isoformat(),
                tables=_used_tables(index, uses),
                answers=answers,
                left_out=sorted(asking.left_out),
                is_of_role=connection.is_per_person,
            )

        return await asyncio.to_thread(lambda: {each: write_overview(each) for each in PAGE_LANGUAGES})

    async def _uses(self, kept: KeptOverview, index: SchemaIndex) -> tuple[Counter[str], int]:
        """The tables that the reader's latest answers read, and the number of these answers."""
        sessions = await self._sessions.latest_sessions(kept.owner, _LATEST_SESSIONS)
        ids = [each.id for each in sessions if each.db_connection_id == kept.db_connection_id]
        answers = await self._sessions.answers_of_sessions(kept.owner, ids, _LATEST_ANSWERS) if ids else []
        statements = [each.sql for each in answers if each.sql]
        uses = await asyncio.to_thread(
            lambda: Counter(table for sql in statements for table in tables_read(sql, index))
        )
        return uses, len(statements)


@dataclass(frozen=True)
class _Asking:
    """Asks a database for one reader, within the limits."""

    connections: DatabaseConnections
    connection: Connection
    asker: Asker
    index: SchemaIndex = field(kw_only=True)
    limits: OverviewLimits = field(kw_only=True)
    today: date = field(kw_only=True)
    left_out: set[str] = field(default_factory=set)

    async def ask_by_month(self, measure: OverviewMeasure) -> Series | None:
        question = measure.asked(None)
        sql = await self._written(measure, question)
        by_day = await self._written(measure, f"{question.removesuffix('month')}day")
        rows = None if sql is None or by_day is None else await self._rows(measure, by_day)
        if sql is None or rows is None:
            return None
        known = {"sql": sql, "dialect": self.connection.dialect}
        return await asyncio.to_thread(compute_months, measure, question, rows, **known, today=self.today)

    async def ask_by_groups(self, measure: OverviewMeasure) -> list[tuple[Asked, TableColumn | None]]:
        """The measure by the first groups that can be asked for."""
        found: list[tuple[Asked, TableColumn | None]] = []
        for group in groupings(self.index.scanned.schema, measure):
            question = measure.asked(group)
            sql = await self._written(measure, question) if len(found) < _MOST_GROUPED else None
            rows = None if sql is None else await self._rows(measure, sql)
            if sql is not None and rows is not None:
                known = {"sql": sql, "dialect": self.connection.dialect}
                asked = await asyncio.to_thread(
                    compute_groups, measure, question, rows, **known, today=self.today
                )
                found.append((asked, group))
        return found

    async def _written(self, measure: OverviewMeasure, question: str) -> str | None:
        """Returns the statement of a question. None where it is not understood, or reads too much."""
        schema = self.index.scanned.schema
        try:
            answer = await asyncio.to_thread(write, question, schema, previous=None, today=self.today)
        except Beyond:
            return None
        if not isinstance(answer, WrittenSql) or not measure.is_that_of(answer.sql, schema):
            return None
        read = tables_read(answer.sql, self.index)
        too_large = {
            name for name in read if (self.index.tables[name].row_count or 0) > self.limits.table_rows
        }
        self.left_out.update(too_large)
        return None if too_large else answer.sql

    async def _rows(self, measure: OverviewMeasure, sql: str) -> Rows | None:
        """Returns None for a statement that fails or takes too long, or whose rows hold secrets."""
        limit = asyncio.timeout(self.limits.statement_seconds)
        try:
            async with limit:
                found = await self.connections.run(self.connection, sql, self.asker)
        except StatementTimedOut:
            self.left_out.add(measure.table.name)
        except TimeoutError:
            if not limit.expired():
                raise
            self.left_out.add(measure.table.name)
        except StatementFailed as error:
            logger.info("a statement of an overview failed: %s", error)
        else:
            return None if any(found.are_secret) else found.as_rows()
        return None


def _worth_asking(
    asked: Sequence[tuple[Asked, TableColumn | None]], language: PageLanguage, asked_in: PageLanguage
) -> list[WorthAsking]:
    found: list[WorthAsking] = []
    for each, group in asked:
        finding = each.finding(language) if len(found) < _MOST_QUESTIONS else None
        if finding is not None:
            question = each.measure.asked(group, asked_in)
            found.append(WorthAsking(question=question, finding=finding, sql=each.sql))
    return found


def _used_tables(index: SchemaIndex, uses: Mapping[str, int]) -> list[TableUse]:
    used = [
        TableUse(name=name, row_count=table.row_count, answers=uses.get(name, 0))
        for name, table in index.tables.items()
    ]
    return sorted(used, key=lambda each: (-each.answers, -(each.row_count or 0), each.name))[:_MOST_TABLES]
