"""Routes of the scalable chat: start a session, queue a question, follow its stream in a separate request."""

import asyncio
from typing import Annotated

from fastapi import Depends, Path, Request, status

from app.core.errors import Invalid, NotFound
from app.core.storage.listing import ListRequest
from app.http.callers import ASK, READ, Owner
from app.http.open_streams import STREAM
from app.http.parameters import LastEventId, PageParameters
from app.http.rate_limits import count_question
from app.http.router import Router
from app.modules.chat_api import record
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
from app.modules.memory.profile import Profiles
from app.modules.memory.service import ConversationMemories
from app.modules.records.model import NewQuestion, Origin
from app.modules.run.errors import NotKeptYet
from app.modules.run.sse import EventStream, event_stream, last_event_id
from app.modules.session.dependencies import CurrentSessions
from app.modules.session.router import EVENT_STREAM
from app.modules.session.service import SessionFilter

_ORIGIN = Origin(protocol="chat")

router = Router(tags=["chat"])


class UserUnknown(NotFound):
    """There is no such user, or it is not the one who asks."""

    sentence = "There is no user with this id."


class DatabaseNeeded(Invalid):
    """A session needs a database, and which one is not clear."""

    problem = "connection-needed"

    def __init__(self, *, has_some: bool) -> None:
        cure = (
            "You have several database connections: name one as dbConnectionId."
            if has_some
            else "You have no database connection yet: POST one to /api/v1/database-connections."
        )
        super().__init__(cure)


async def _memories(request: Request) -> ConversationMemories:
    service: ConversationMemories = request.app.state.services.memories
    return service


async def _user_profiles(request: Request) -> Profiles:
    service: Profiles = request.app.state.services.profiles
    return service


async def _connections(request: Request) -> DatabaseConnections:
    service: DatabaseConnections = request.app.state.services.database_connections
    return service


async def _user(
    owner: Owner, user_id: Annotated[str, Path(alias="userId", description="The caller's own id.")]
) -> str:
    return _caller(owner, user_id)


Memories = Annotated[ConversationMemories, Depends(_memories)]
UserProfiles = Annotated[Profiles, Depends(_user_profiles)]
Connections = Annotated[DatabaseConnections, Depends(_connections)]
User = Annotated[str, Depends(_user)]
"""The caller, named by their own id. Any other id is unknown (404)."""
SessionId = Annotated[str, Path(alias="sessionId", description="Id of the conversation.")]
ChatMessageId = Annotated[
    str, Path(alias="chatMessageId", description="Id of the question, as the client chose it; or its run id.")
]


@router.post(
    "/session/start", summary="Start a conversation", status_code=status.HTTP_201_CREATED, dependencies=[ASK]
)
async def start_session(
    body: SessionStart, owner: Owner, sessions: CurrentSessions, connections: Connections
) -> StartedSession:
    """Creates a session to chat in. Needs scope `ask`.

    `dbConnectionId` may be left out if the caller can use exactly one connection (else 422
    `connection-needed`). Every call creates another session. Answers 429 (`too-many-sessions`) when the
    owner's quota is reached.
    """
    _caller(owner, body.user_id)
    connection_id = body.db_connection_id or await _only_connection(owner, connections)
    session = await sessions.create(owner, connection_id, body.title, mode="ask", metadata={})
    return StartedSession.model_validate({**vars(session), "session_id": session.id, "user_id": owner})


@router.post(
    "/chat",
    summary="Queue a question",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK, Depends(count_question)],
)
async def queue_question(body: ChatQuestion, owner: Owner, sessions: CurrentSessions) -> QueuedMessage:
    """Stores the question and answers 202 at once; follow the answer at `streamUrl`. Needs scope `ask`.

    Questions of one session are answered one after another; at most ten wait (then 429 `queue-full`).
    Idempotent by `chatMessageId`: the same id and question return the first run, and another question under
    the same id answers 422 (`idempotency-key-reused`). Answers 503 if the question cannot be queued.
    Then nothing of it is stored. If the store becomes unavailable while it stores the question, `streamUrl`
    answers 404 until it is stored.
    """
    _caller(owner, body.user_id)
    try:
        _, run = await sessions.ask(
            owner,
            body.session_id,
            NewQuestion(
                body.question,
                multitask_strategy="enqueue",
                idempotency_key=body.chat_message_id,
                origin=_ORIGIN,
            ),
        )
        run_id = run.id
    except NotKeptYet as error:  # the stream's address is unknown until the question is stored
        run_id = error.run_id
    return QueuedMessage(
        session_id=body.session_id,
        chat_message_id=body.chat_message_id,
        run_id=run_id,
        stream_url=f"/api/stream/{body.session_id}/{body.chat_message_id}",
    )


@router.get(
    "/stream/{sessionId}/{chatMessageId}",
    summary="Stream an answer",
    responses=EVENT_STREAM,
    response_class=EventStream,
    dependencies=[READ, STREAM],
)
async def follow_answer(
    session_id: SessionId,
    chat_message_id: ChatMessageId,
    owner: Owner,
    sessions: CurrentSessions,
    last_event: LastEventId = None,
) -> EventStream:
    """Streams the events of a question's run, from its start or after `Last-Event-ID`, until `done`. Needs
    scope `read`.

    `chatMessageId` may also be a run id. Any server of the installation can serve the stream. Answers 404
    for an unknown session or message, and 400 if `Last-Event-ID` is not a number.
    """
    after = last_event_id(last_event)
    _, run = await sessions.run_of(owner, session_id, chat_message_id)
    return event_stream(run.id, sessions.follower.follow(run), after)


@router.get("/history/users/{userId}/conversations", summary="List conversations", dependencies=[READ])
async def list_conversations(user: User, page: PageParameters, sessions: CurrentSessions) -> ConversationPage:
    """Lists the caller's conversations, last used first. Needs scope `read`.

    Send `nextCursor` as `cursor` for the next page; it is null on the last one. `userId` must be the
    caller's own (else 404).
    """
    found = await sessions.page(
        user, SessionFilter(), ListRequest(order_by="updated_at", limit=page.limit, cursor=page.cursor)
    )
    conversations = [record.conversation(session) for session in found.items]
    return ConversationPage(user_id=user, conversations=conversations, next_cursor=found.next_cursor)


@router.get(
    "/history/conversations/{sessionId}", summary="Get a conversation with its messages", dependencies=[READ]
)
async def read_conversation(
    session_id: SessionId, page: PageParameters, owner: Owner, sessions: CurrentSessions
) -> ConversationWithMessages:
    """Returns the conversation and a page of its messages, newest last. Needs scope `read`.

    `nextCursor` leads to the page of older messages. A conversation of another user is unknown (404).
    """
    session = await sessions.get(owner, session_id)
    messages, next_cursor = await sessions.messages(session, page.limit, page.cursor)
    names = await sessions.names_of_runs(session, messages)
    said = [record.chat_message(message, names) for message in messages]
    return record.conversation_with(session, said, next_cursor)


@router.put("/history/conversations/{sessionId}/title", summary="Rename a conversation", dependencies=[ASK])
async def rename_conversation(
    session_id: SessionId, body: TitleChange, owner: Owner, sessions: CurrentSessions
) -> Conversation:
    """Sets the title of a conversation; no generated title replaces it later. Needs scope `ask`. Answers
    the conversation, or 404 if the caller has none with this id.
    """
    return record.conversation(await sessions.change(owner, session_id, {"title": body.title}))


@router.get(
    "/memory/users/{userId}/memories",
    summary="Get the profile and the memories of conversations",
    dependencies=[READ],
)
async def list_memories(
    user: User, page: PageParameters, memories: Memories, profiles: UserProfiles
) -> MemoryPage:
    """Returns the caller's profile, and lists the summaries of their conversations, last written first. Needs
    scope `read`.

    Send `nextCursor` as `cursor` for the next page; it is null on the last one. A memory is written in the
    background after an answer. `userId` must be the caller's own (else 404).
    """
    (found, next_cursor), profile = await asyncio.gather(
        memories.latest(user, page.limit, page.cursor), profiles.find(user)
    )
    return MemoryPage(
        user_id=user,
        profile=record.user_profile(profile),
        memories=[*map(record.memory, found)],
        next_cursor=next_cursor,
    )


@router.delete(
    "/memory/users/{userId}/memories",
    summary="Delete the profile and all memories of a user",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def delete_memories(user: User, memories: Memories, profiles: UserProfiles) -> None:
    """Deletes the memories of all the caller's conversations, and the caller's profile with their consent;
    the conversations stay. Needs scope `ask`.

    A conversation that continues gets a new memory. Can be repeated. `userId` must be the caller's own
    (else 404).
    """
    await memories.forget_all(user)
    await profiles.forget_all(user)


@router.post(
    "/memory/users/{userId}/conversations/search", summary="Search past conversations", dependencies=[READ]
)
async def search_conversations(user: User, body: MemorySearch, memories: Memories) -> FoundConversations:
    """Finds the caller's conversations whose memories match the query, best match first. Needs scope
    `read`.

    Searches by words, and also by meaning if the server has an embedding model. `userId` must be the
    caller's own (else 404).
    """
    found = await memories.search(user, body.query, body.limit)
    return FoundConversations(user_id=user, conversations=[*map(record.found_conversation, found)])


def _caller(owner: str, user_id: str | None) -> str:
    """Raises `UserUnknown` if the id is not the caller's own."""
    if user_id not in (None, owner):
        raise UserUnknown
    return owner


async def _only_connection(owner: str, connections: DatabaseConnections) -> str:
    """Raises `DatabaseNeeded` when there is none, or more than one."""
    known = await connections.oldest(owner, 2)
    if len(known) != 1:
        raise DatabaseNeeded(has_some=bool(known))
    return known[0].id
