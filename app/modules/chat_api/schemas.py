"""Bodies and answers of the chat routes: camelCase on the wire, times RFC 3339 in UTC."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, StringConstraints
from pydantic.alias_generators import to_camel

from app.http.routes import Body, ResponseBody, Text, Time
from app.modules.memory.model import Sentiment
from app.modules.records.model import Outcome
from app.modules.session.schemas import QuestionText, Title
from graph.state import FactCell

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
    """A conversation to start."""

    model_config = _examples(userId="local", dbConnectionId=SESSION_ID)

    user_id: UserId | None = None
    """The caller's own id, if given. Any other is unknown (404)."""
    db_connection_id: Annotated[Text, Field(max_length=100)] | None = None
    """Id of the database connection. May be left out by a caller who can use exactly one."""
    title: Title | None = None
    """Title of the conversation. Left out: KAI writes one."""


class ChatQuestion(Body):
    """A question. Sent again with the same `chatMessageId`, it is asked only once."""

    model_config = _examples(
        question="Top 5 products by revenue", sessionId=SESSION_ID, chatMessageId=_CHAT_MESSAGE_ID
    )

    question: QuestionText
    """The question in plain language."""
    session_id: Annotated[Text, Field(max_length=100)]
    """Id of the conversation."""
    chat_message_id: ChatMessageId
    """Id of the message, chosen by the client. It makes the request idempotent."""
    user_id: UserId | None = None
    """The caller's own id, if given. Any other is unknown (404)."""


class TitleChange(Body):
    """A new title of a conversation."""

    model_config = _examples(title="Revenue by region")

    title: Title
    """The new title. No generated title replaces it."""


class MemorySearch(Body):
    """A search in the memories of conversations."""

    model_config = _examples(query="What did we find out about returns?", limit=3)

    query: Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
    """Words, or a question in plain language."""
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    """The most conversations to return."""


class _Answer(ResponseBody):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class StartedSession(_Answer):
    """A new conversation."""

    session_id: str
    """Id of the conversation."""
    user_id: str
    """The caller's id."""
    db_connection_id: str
    """Id of the database connection."""
    title: str | None
    """Title of the conversation. Null until it has one."""
    created_at: Time
    """Time of creation."""


class QueuedMessage(_Answer):
    """A question that is stored and will be answered."""

    status: Literal["queued"] = "queued"
    """Always `queued`. The stream reports the progress."""
    session_id: str
    """Id of the conversation."""
    chat_message_id: str
    """Id of the message, as the client chose it."""
    run_id: str
    """Id of the run that answers the question."""
    stream_url: str
    """Path of the stream with the answer."""


class Conversation(_Answer):
    """A conversation in the list."""

    session_id: str
    """Id of the conversation."""
    user_id: str
    """The caller's id."""
    db_connection_id: str | None
    """Id of the database connection. Null until a question names one."""
    title: str | None
    """Title of the conversation. Null until it has one."""
    created_at: Time
    """Time of creation."""
    last_activity: Time
    """Time of the latest question, answer or change."""


class ConversationPage(_Answer):
    """A page of conversations."""

    user_id: str
    """The caller's id."""
    conversations: Sequence[Conversation]
    """Conversations of the page, last used first."""
    next_cursor: str | None
    """Cursor of the next page. Null on the last page."""


class ChatReference(_Answer):
    """The source of a statement of an analysis: what was computed from which cells."""

    key: str
    """Name of the fact, such as `highest_revenue_west`: unique among those of one result."""
    span: Sequence[int]
    """Start and end of the statement in Unicode code points of the text."""
    result_id: str | None
    """Id of the result of an investigation. Null for the result of the answer."""
    how: str
    """The computation, such as `sum of revenue over 12 rows`."""
    value: str | None
    """The exact value. Null if the statement rests on several."""
    cells: Sequence[FactCell]
    """The cells that it was computed from, the first 50 of them."""
    cell_count: int
    """Number of all these cells."""


class ChatFinding(_Answer):
    """A statement of an investigation, made from the result that it names."""

    text: str
    """The statement, in a sentence of the program."""
    reading: str | None
    """A sentence of the model on it, without figures and names of the data. Null without one."""
    references: Sequence[ChatReference]
    """The sources of the statement; `span` counts code points of `text`."""


class ChatMessage(_Answer):
    """A question or an answer, as text, with what its statements were computed from."""

    headline: str | None
    """The first statement in at most twelve words. Null if there is none."""
    references: Sequence[ChatReference]
    """Sources of the statements of the analysis, in the order of its text."""
    left_out: Sequence[str]
    """Why parts of the model's choice were left out, one sentence each. Empty if nothing was."""
    findings: Sequence[ChatFinding]
    """What an investigation found, each computed from the result that it names. Empty for other answers."""
    message_id: str
    """The question's chatMessageId (or its run id, if it was asked without one), then `_user` or
    `_assistant`.
    """
    role: Literal["user", "assistant"]
    """Author of the message."""
    content: str
    """Text of the question or of the answer. For an answer without text, the error of its run."""
    timestamp: Time
    """Time at which the message was stored."""
    status: Outcome
    """Outcome of the run."""
    sql: str | None
    """Statement behind the answer. Null if there is none."""


class ConversationWithMessages(Conversation):
    """A conversation with a page of its messages."""

    messages: Sequence[ChatMessage]
    """Messages of the page, newest last."""
    next_cursor: str | None
    """Cursor of the page of older messages. Null if there are none."""


class MemoryBody(_Answer):
    """The memory of a conversation."""

    session_id: str
    """Id of the conversation."""
    summary: str
    """Summary of the conversation, at most 120 words."""
    themes: Sequence[str]
    """Themes of the conversation, at most eight."""
    persons: Sequence[str]
    """Persons that the conversation mentions, at most eight. Empty without a language model."""
    places: Sequence[str]
    """Places that the conversation mentions, at most eight. Empty without a language model."""
    user_sentiment: Sentiment | None
    """The user's sentiment in the conversation. Null without a language model."""
    timestamp: Time
    """Time at which the memory was written."""


class UserProfile(_Answer):
    """What KAI knows of the user, in sentences. Empty lists without a profile."""

    output_preferences: Sequence[str]
    """How answers should look."""
    personal_preferences: Sequence[str]
    """How the user wants to be addressed, and in what tone."""
    assistant_preferences: Sequence[str]
    """What the assistant should be like."""
    knowledge: Sequence[str]
    """What the user knows well."""
    interests: Sequence[str]
    """What the user likes or wants to learn about."""
    dislikes: Sequence[str]
    """What the user does not want."""
    family_and_friends: Sequence[str]
    """People close to the user."""
    work_profile: Sequence[str]
    """The user's profession, team and tasks."""
    goals: Sequence[str]
    """What the user wants to reach."""


class MemoryPage(_Answer):
    """The profile and a page of memories."""

    user_id: str
    """The caller's id."""
    profile: UserProfile
    """The profile, the same on every page."""
    memories: Sequence[MemoryBody]
    """Memories of the page, last written first."""
    next_cursor: str | None
    """Cursor of the next page. Null on the last page."""


class FoundConversation(MemoryBody):
    """A conversation that a search found."""

    relevance: float
    """How well it fits, from 0 to 1: its places by words and by meaning, taken together."""


class FoundConversations(_Answer):
    """Conversations that match a search."""

    user_id: str
    """The caller's id."""
    conversations: Sequence[FoundConversation]
    """Memories of the conversations found, best match first."""
