"""The routes of a scalable chat: a session is started, a question queued, its stream followed apart."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request, status

from app.http.callers import ASK, READ, Owner
from app.http.problems import PROBLEM_RESPONSES
from app.http.rate_limits import count_question
from app.http.routes import PageQuery
from app.modules.chat_api import record
from app.modules.chat_api.errors import ConnectionNeeded, UserUnknown
from app.modules.chat_api.schemas import (
    ChatQuestion,
    Conversation,
    ConversationPage,
    ConversationWithMessages,
    FoundConversations,
    MemoryPage,
    MemorySearch,
    QueuedMessage,
    SessionStart,
    StartedSession,
    TitleChange,
)
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.run.sse import EventStream, event_stream, last_event_id
from app.modules.session.router import EVENT_STREAM
from app.modules.session.service import SessionFilter, SessionService

router = APIRouter(tags=["chat"], responses=PROBLEM_RESPONSES)


def _sessions(request: Request) -> SessionService:
    service: SessionService = request.app.state.services.sessions
    return service


def _memories(request: Request) -> ConversationMemories:
    service: ConversationMemories = request.app.state.services.memories
    return service


def _connections(request: Request) -> DatabaseConnections:
    service: DatabaseConnections = request.app.state.services.database_connections
    return service


def _user(owner: Owner, user_id: Annotated[str, Path(alias="userId")]) -> str:
    return _caller(owner, user_id)


Sessions = Annotated[SessionService, Depends(_sessions)]
Memories = Annotated[ConversationMemories, Depends(_memories)]
Connections = Annotated[DatabaseConnections, Depends(_connections)]
User = Annotated[str, Depends(_user)]
"""The caller, by his own id; another's is unknown."""
SessionId = Annotated[str, Path(alias="sessionId")]
Page = Annotated[PageQuery, Query()]


@router.post("/session/start", status_code=status.HTTP_201_CREATED, dependencies=[ASK])
async def start_session(
    body: SessionStart, owner: Owner, sessions: Sessions, connections: Connections
) -> StartedSession:
    """Start a conversation about a database."""
    _caller(owner, body.user_id)
    connection_id = body.db_connection_id or await _only_connection(owner, connections)
    session = await sessions.create(owner, connection_id, body.title, "ask", {})
    return StartedSession.model_validate({**vars(session), "session_id": session.id, "user_id": owner})


@router.post("/chat", status_code=status.HTTP_202_ACCEPTED, dependencies=[ASK, Depends(count_question)])
async def queue_question(body: ChatQuestion, owner: Owner, sessions: Sessions) -> QueuedMessage:
    """Queue a question; of one session they are answered one after the other."""
    _caller(owner, body.user_id)
    session, run = await sessions.ask(
        owner, body.session_id, body.question, "enqueue", idempotency_key=body.chat_message_id
    )
    return QueuedMessage(
        session_id=session.id,
        chat_message_id=body.chat_message_id,
        run_id=run.id,
        stream_url=f"/api/stream/{session.id}/{body.chat_message_id}",
    )


@router.get(
    "/stream/{sessionId}/{chatMessageId}",
    responses=EVENT_STREAM,
    response_class=EventStream,
    dependencies=[READ],
)
async def follow_answer(
    session_id: SessionId,
    chat_message_id: Annotated[str, Path(alias="chatMessageId")],
    owner: Owner,
    sessions: Sessions,
    last_event: Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)] = None,
) -> EventStream:
    """The answer as it comes, from its start or after the event a client has seen last."""
    after = last_event_id(last_event)
    session, run = await sessions.run_of(owner, session_id, chat_message_id)
    return event_stream(run.id, sessions.follow(session, run), after)


@router.get("/history/users/{userId}/conversations", dependencies=[READ])
async def list_conversations(user: User, page: Page, sessions: Sessions) -> ConversationPage:
    """Used last come first."""
    found, next_cursor = await sessions.latest(user, SessionFilter(), page.limit, page.cursor)
    conversations = [record.conversation(session) for session in found]
    return ConversationPage(user_id=user, conversations=conversations, next_cursor=next_cursor)


@router.get("/history/conversations/{sessionId}", dependencies=[READ])
async def read_conversation(
    session_id: SessionId, page: Page, owner: Owner, sessions: Sessions
) -> ConversationWithMessages:
    session = await sessions.get(owner, session_id)
    messages, next_cursor = await sessions.messages(session, page.limit, page.cursor)
    names = await sessions.names_of_runs(session, {message.run_id for message in messages})
    said = [record.chat_message(message, names) for message in messages]
    return record.conversation_with(session, said, next_cursor)


@router.put("/history/conversations/{sessionId}/title", dependencies=[ASK])
async def rename_conversation(
    session_id: SessionId, body: TitleChange, owner: Owner, sessions: Sessions
) -> Conversation:
    return record.conversation(await sessions.change(owner, session_id, {"title": body.title}))


@router.get("/memory/users/{userId}/memories", dependencies=[READ])
async def list_memories(user: User, page: Page, memories: Memories) -> MemoryPage:
    """What is remembered of your conversations, written last first."""
    found, next_cursor = await memories.latest(user, page.limit, page.cursor)
    return MemoryPage(user_id=user, memories=[*map(record.memory, found)], next_cursor=next_cursor)


@router.delete("/memory/users/{userId}/memories", status_code=status.HTTP_204_NO_CONTENT, dependencies=[ASK])
async def delete_memories(user: User, memories: Memories) -> None:
    """Forget all conversations; one that goes on is remembered anew."""
    await memories.forget_all(user)


@router.post("/memory/users/{userId}/conversations/search", dependencies=[READ])
async def search_conversations(user: User, body: MemorySearch, memories: Memories) -> FoundConversations:
    """Past conversations by words, and by meaning where an embedding model is configured."""
    found = await memories.search(user, body.query, body.limit)
    return FoundConversations(user_id=user, conversations=[*map(record.memory, found)])


def _caller(owner: str, user_id: str | None) -> str:
    """Raises `UserUnknown` when somebody names another than himself."""
    if user_id not in (None, owner):
        raise UserUnknown
    return owner


async def _only_connection(owner: str, connections: DatabaseConnections) -> str:
    """Raises `ConnectionNeeded` when there is none, or more than one."""
    known, _ = await connections.page(owner, limit=2, cursor=None)
    if len(known) != 1:
        raise ConnectionNeeded(has_some=bool(known))
    return known[0].id
