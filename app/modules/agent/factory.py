"""Binds investigations to turns."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from app.modules.agent.investigation import Investigation
from app.modules.agent.sheets import TurnSheets
from app.modules.agent.turn import InvestigatedTurn, InvestigationSettings
from app.modules.agent.turn_records import TurnRecords
from app.modules.analysis.figures import DataSpan
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.joining.labels import labels_of
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.records.model import Mode, Run, Session
from app.modules.records.rows import RowStore
from app.modules.records.steps import InvestigationRecords
from app.modules.run.ports import DatabaseBackground
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.tools.context import SessionDatabases, ToolDatabase
from app.modules.tools.history import Answers, ConversationHistory
from app.modules.tools.results import TurnResults
from graph.errors import Replaced
from graph.ports import Investigator

FindSession = Callable[[str], Awaitable[Session | None]]
SchemaContextOf = Callable[[Connection], SchemaContext]


class InvestigatorFactory:
    """Makes the investigator of a turn."""

    def __init__(
        self,
        settings: InvestigationSettings,
        records: InvestigationRecords,
        rows: RowStore,
        *,
        connections: DatabaseConnections,
        knowledge: ContextStore,
        answers: Answers,
        memories: ConversationMemories,
        find_session: FindSession,
    ) -> None:
        self._settings = settings
        self._records = records
        self._rows = rows
        self._connections = connections
        self._knowledge = knowledge
        self._answers = answers
        self._find_session = find_session
        self._memories = memories

    async def bind(
        self, session: Session, run: Run, main: Connection, *, schema_context_of: SchemaContextOf
    ) -> Investigator:
        """Further databases of the session that were deleted, or are no longer shared, are left out."""
        connections = [main]
        for connection_id in session.also:
            with suppress(ConnectionNotFound):
                connections.append(await self._connections.repository.get(run.owner, connection_id))
        labels = labels_of([each.name for each in connections])
        databases = SessionDatabases(
            [
                ToolDatabase(
                    label=label,
                    connection=each,
                    schema_context=schema_context_of(each),
                    connections=self._connections,
                    run_of=run,
                )
                for label, each in zip(labels, connections, strict=True)
            ]
        )
        records = TurnRecords(self._records, run.message_id)
        results = TurnResults(
            self._rows,
            records.find_result,
            owner=run.owner,
            session_id=run.session_id,
            message_id=run.message_id,
        )
        history = ConversationHistory(
            owner=run.owner,
            session_id=run.session_id,
            message_id=run.message_id,
            answers=self._answers,
            memories=self._memories,
        )

        async def read_background(label: str, sql: str) -> tuple[DataSpan | None, frozenset[str]]:
            of = databases.named(label)
            background = DatabaseBackground(of.connections, of.connection, run)
            return await asyncio.gather(background.span(sql), background.keys(sql))

        return Investigation(
            InvestigatedTurn(
                settings=self._settings,
                records=records,
                results=results,
                sheets=TurnSheets(results, run.question, read_background),
                databases=databases,
                knowledge=self._knowledge,
                history=history,
                run=run,
                mode=run.mode,
                read_mode=partial(self._read_mode, run, session.fence),
            )
        )

    async def _read_mode(self, run: Run, fence: int) -> Mode:
        """Returns the mode that counts for a run now: its own, or that of its session.

        Raises `Replaced` if another attempt has raised the fence since this one has begun with it.
        """
        session = await self._find_session(run.session_id)
        if session is not None and session.fence > fence:
            raise Replaced
        if run.has_own_mode:
            return run.mode
        return "ask" if session is None else session.mode
