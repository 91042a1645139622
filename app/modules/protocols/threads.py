"""Conversations by a client's own ids, and the database they are about."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from uuid import NAMESPACE_OID, UUID

from pydantic import JsonValue

from app.core.errors import NotFound, Problem
from app.core.ids import id_of, id_within_owner
from app.http.routes import storable
from app.modules.database_connection.lookup import (
    ONLY_DATABASE,
    DatabaseUnknown,
    all_connections,
    find_connection,
)
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import Mode, MultitaskStrategy, NewQuestion, Run, Session
from app.modules.run.errors import NotKeptYet
from app.modules.session.errors import SessionExists
from app.modules.session.service import SessionService

AGENT = "@agent"
"""Ends the name of an assistant whose questions are investigated in agent mode."""
MAX_NAME_CHARACTERS = 255
"""Of a conversation, as its client names it."""


class AgentModeOff(NotFound):
    """Agent mode is off, or no model is configured that could investigate."""

    sentence = "There is no agent mode here: {reason} Ask without it."


class NotStoredYet(Problem):
    """The store is unavailable, so it is not known yet whether the question is stored. Clients that know no
    202 get this instead of it, and should not ask again.
    """

    problem = "not-kept-yet"
    title = "The question is being stored"
    status = 503
    headers: Mapping[str, str] = {"X-Should-Retry": "false"}
    cure = "Follow the run in `run_id` instead of asking again."

    def __init__(self, unknown: NotKeptYet) -> None:
        super().__init__(unknown.detail, **unknown.members)


@dataclass(frozen=True)
class Assistant:
    """A database, and the mode in which it is asked. None for that of the session."""

    connection: Connection
    mode: Mode | None = None


class Threads:
    """Conversations of a caller, as protocols name them."""

    def __init__(
        self, sessions: SessionService, connections: DatabaseConnections, *, no_agent_mode: str | None
    ) -> None:
        """`no_agent_mode`: why there is no agent mode; None if there is one."""
        self._sessions = sessions
        self._connections = connections
        self._no_agent_mode = no_agent_mode

    @property
    def has_agent_mode(self) -> bool:
        return self._no_agent_mode is None

    def databases(self, owner: str) -> AsyncGenerator[Connection]:
        """All databases that the owner may use."""
        return all_connections(self._connections, owner)

    async def assistants(self, owner: str) -> list[Assistant]:
        """Returns all databases that the owner may use, each once more in agent mode where there is one."""
        known = [Assistant(each) async for each in self.databases(owner)]
        in_agent_mode = [Assistant(each.connection, "agent") for each in known] if self.has_agent_mode else []
        return [*known, *in_agent_mode]

    async def database(self, owner: str, name: str | None) -> Connection:
        """Returns a database as `find_connection` does. Raises what it raises."""
        return await find_connection(self._connections, owner, name)

    def check_mode(self, mode: Mode | None) -> None:
        """Raises `AgentModeOff` if there is no such mode."""
        if mode == "agent" and self._no_agent_mode is not None:
            raise AgentModeOff(reason=self._no_agent_mode)

    async def assistant(self, owner: str, name: str | None) -> Assistant:
        """Returns a database by its id or name, and the mode that the name asks for: `shop@agent`, or the id
        that `agent_id` has made. A database of the whole name comes first.

        Raises `DatabaseUnknown`, `DatabaseUnclear`, and `AgentModeOff`.
        """
        wanted = (name or ONLY_DATABASE).strip()
        try:
            return Assistant(await self.database(owner, wanted))
        except DatabaseUnknown:
            found: Connection | None = None
            if wanted.casefold().endswith(AGENT):
                found = await self.database(owner, wanted[: -len(AGENT)] or ONLY_DATABASE)
            elif as_uuid(wanted) is not None:
                known = [each async for each in self.databases(owner)]
                found = next((each for each in known if agent_id(each.id) == wanted.lower()), None)
            if found is None:
                raise
        self.check_mode("agent")
        return Assistant(found, "agent")

    async def named(
        self, owner: str, client_id: str, metadata: dict[str, JsonValue], *, is_shown: bool = True
    ) -> Session:
        """Returns the conversation that a client names by any text: a session of the caller with this id, or
        the one that stands for the text. It is made with this metadata and without a database if it is new;
        if it is shown, other protocols know it by this name, too.

        Raises `TooManySessions`, or `SessionExists` if it was deleted lately.
        """
        for session_id in (as_uuid(client_id), session_id_of(owner, client_id)):
            if session_id is not None:
                with suppress(SessionUnknown):
                    return await self._sessions.get(owner, session_id)
        thread_name = client_id if is_shown else None
        return await self.make(owner, session_id_of(owner, client_id), metadata, thread_name=thread_name)

    async def make(
        self,
        owner: str,
        session_id: str,
        metadata: dict[str, JsonValue],
        *,
        database: str | None = None,
        thread_name: str | None = None,
    ) -> Session:
        """Returns the caller's session of this id, made if it is new; of several requests at once, one makes
        it. `database` is the id of its connection; without it, the first question names one.

        Raises `TooManySessions`, `ConnectionNotFound`, or `SessionExists` if the id is another owner's or was
        deleted lately.
        """
        try:
            return await self._sessions.create(
                owner,
                database,
                None,
                mode=None,
                metadata=metadata,
                session_id=session_id,
                thread_name=thread_name,
            )
        except SessionExists as taken:
            try:
                return await self._sessions.get(owner, session_id)
            except SessionUnknown:
                raise taken from None


def strategy_of(session: Session) -> MultitaskStrategy:
    """While calls wait for an approval, which may take long, no question can be queued."""
    return "reject" if session.status == "awaiting_approval" else "enqueue"


async def ask(sessions: SessionService, session: Session, question: NewQuestion) -> tuple[Session, Run]:
    """Start or queue a run. Raises `NotStoredYet`."""
    try:
        return await sessions.ask(session.owner, session.id, question)
    except NotKeptYet as error:
        raise NotStoredYet(error) from error


def session_id_of(owner: str, client_id: str) -> str:
    """Returns the id of the session that stands for a conversation which a client names by any text.

    The same text of two owners names two sessions.
    """
    return id_within_owner(owner, f"conversation {client_id}")


def check_thread_id(text: str) -> str:
    """Returns a client's name of a thread. Raises `ValueError` for text that names none."""
    if not 0 < len(text) <= MAX_NAME_CHARACTERS or "/" in text:
        raise ValueError(
            f"a thread id has 1 to {MAX_NAME_CHARACTERS} characters and no slash: it is a part of paths"
        )
    return storable(text)


def agent_id(connection_id: str) -> str:
    """Returns the id of the assistant that asks a database in agent mode: many clients take UUIDs only."""
    return id_of(str(NAMESPACE_OID), f"agent {connection_id}")


def as_uuid(client_id: str) -> str | None:
    """Returns an id in the usual form of UUIDs. Returns None for other text."""
    try:
        found = str(UUID(client_id))
    except ValueError:
        return None
    return found if found == client_id.lower() else None
