"""Begins documentations: each is a session of its own, whose first question is answered by tools."""

from collections.abc import Sequence
from contextlib import suppress

from app.core.errors import Invalid, Problem
from app.modules.database_connection.service import DatabaseConnections
from app.modules.generating.documentation import MAX_TABLES
from app.modules.records.model import DocumentationRequest, NewQuestion, Run, Session
from app.modules.run.errors import NotKeptYet
from app.modules.session.service import SessionService

_GO_ON = "Go on with the documentation."
_NAMED = 5


class TablesUnknown(Invalid):
    """The database has no tables of these names."""

    problem = "tables-unknown"


class TooManyTables(Invalid):
    """A documentation of so many tables would take too long."""

    problem = "too-many-tables"


class Documentations:
    """Begins and continues documentations."""

    def __init__(self, sessions: SessionService, connections: DatabaseConnections) -> None:
        self._sessions = sessions
        self._connections = connections

    async def begin(
        self, owner: str, db_connection_id: str, tables: Sequence[str], *, accepted: bool
    ) -> tuple[Session, Run]:
        """Create a session and its run. With `accepted`, the estimate is not shown first.

        Raises `ConnectionNotFound`, `TablesUnknown`, `TooManyTables`, `DatabaseUnavailable`, or what refuses
        a session or a question: then no session is left.
        """
        connection = await self._connections.repository.get(owner, db_connection_id)
        known = [table.name for table in (await self._connections.schema(connection)).tables]
        _check(known, tables)
        request = DocumentationRequest(
            question=f"Document the database {connection.name}.", go_on=_GO_ON, tables=tuple(tables)
        )
        session = await self._sessions.create(
            owner,
            connection.id,
            f"Documentation of {connection.name}"[:200],
            mode="ask",
            metadata={},
            documentation=request,
        )
        question = request.go_on if accepted else request.question
        try:
            return await self._sessions.ask(owner, session.id, NewQuestion(question))
        except NotKeptYet:
            raise
        except Problem:
            with suppress(Problem):
                await self._sessions.delete(owner, session.id)
            raise


def _check(known: Sequence[str], named: Sequence[str]) -> None:
    """Raises `TablesUnknown` or `TooManyTables`."""
    folded = {name.casefold() for name in known}
    unknown = [name for name in named if name.casefold() not in folded]
    if unknown:
        raise TablesUnknown(
            f"The database has no table {', '.join(unknown[:_NAMED])}. Name tables as "
            "GET /database-connections/{id}/tables lists them."
        )
    if not known:
        raise TablesUnknown("The database has no tables that KAI can read.")
    count = len(named) or len(known)
    if count > MAX_TABLES:
        raise TooManyTables(
            f"{count:,} tables are too many for one documentation: name at most {MAX_TABLES} in `tables`."
        )
