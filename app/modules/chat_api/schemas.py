"""Bodies and answers of the chat routes: camelCase on the wire, times RFC 3339 in UTC."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints
from pydantic.alias_generators import to_camel

from app.http.routes import Body, Text, Time
from app.modules.session.model import Outcome
from app.modules.session.schemas import Question, Title

SESSION_ID = "019ab1c2-0000-7000-8000-000000000000"
_CHAT_MESSAGE_ID = "019ab1c3-0000-7000-8000-000000000000"

ChatMessageId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~:-]{1,128}$")]
"""Chosen by the client; it stands in paths as it is."""
UserId = Annotated[Text, Field(max_length=255)]


def _examples(**example: JsonValue) -> ConfigDict:
    return ConfigDict(
        alias_generator=to_camel, validate_by_name=False, json_schema_extra={"examples": [example]}
    )


class SessionStart(Body):
    """Who may leave himself out, and the database connection, if he has exactly one."""

    model_config = _examples(userId="local", dbConnectionId=SESSION_ID)

    user_id: UserId | None = None
    db_connection_id: Annotated[Text, Field(max_length=100)] | None = None
    title: Title | None = None


class ChatQuestion(Body):
    """A question; the same `chatMessageId` asks it once, however often it is sent."""

    model_config = _examples(
        question="Top 5 products by revenue", sessionId=SESSION_ID, chatMessageId=_CHAT_MESSAGE_ID
    )

    question: Question
    session_id: Annotated[Text, Field(max_length=100)]
    chat_message_id: ChatMessageId
    user_id: UserId | None = None


class TitleChange(Body):
    """The title to give; nothing replaces it but another of yours."""

    model_config = _examples(title="Revenue by region")

    title: Title


class MemorySearch(Body):
    """Words, or a question in your own words."""

    model_config = _examples(query="What did we find out about returns?", limit=3)

    query: Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class _Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class StartedSession(_Answer):
    """A session to ask in."""

    session_id: str
    user_id: str
    db_connection_id: str
    title: str | None
    created_at: Time


class QueuedMessage(_Answer):
    """The question is kept and will be answered; its stream tells how."""

    status: Literal["queued"] = "queued"
    session_id: str
    chat_message_id: str
    run_id: str
    stream_url: str


class Conversation(_Answer):
    """A conversation in the list."""

    session_id: str
    user_id: str
    db_connection_id: str
    title: str | None
    created_at: Time
    last_activity: Time


class ConversationPage(_Answer):
    """A page of conversations, used last first; `nextCursor` asks for the next and is null at the end."""

    user_id: str
    conversations: Sequence[Conversation]
    next_cursor: str | None


class ChatMessage(_Answer):
    """What was said. `messageId` is the question's chatMessageId (or its run's id), then _ and the role."""

    message_id: str
    role: Literal["user", "assistant"]
    content: str
    timestamp: Time
    status: Outcome
    sql: str | None


class ConversationWithMessages(Conversation):
    """A conversation with a page of its messages, newest last; the cursor leads to older ones."""

    messages: Sequence[ChatMessage]
    next_cursor: str | None


class MemoryBody(_Answer):
    """What is remembered of a conversation."""

    session_id: str
    summary: str
    themes: Sequence[str]
    timestamp: Time


class MemoryPage(_Answer):
    """A page of memories, written last first."""

    user_id: str
    memories: Sequence[MemoryBody]
    next_cursor: str | None


class FoundConversations(_Answer):
    """Past conversations, the best match first."""

    user_id: str
    conversations: Sequence[MemoryBody]
