"""Facts, and memories of conversations and what they summarize. Times are epoch milliseconds."""

from dataclasses import dataclass, field
from typing import Literal

from app.modules.memory.scopes import GroupId, Scope
from graph import state

FactKind = state.FactKind
FactStatus = Literal["active", "superseded", "forgotten", "waiting"]
"""`waiting`: a person has not accepted it yet."""
FactOrigin = Literal["promotion", "directive", "tool", "feedback"]
Sentiment = Literal["positive", "neutral", "negative"]

MAX_FACT_CHARACTERS = 500
MAX_ABOUT = 8
TASK_UPDATE_DAYS = 28
"""So long a `task_update` is kept."""
TASK_UPDATE_MS = TASK_UPDATE_DAYS * 86_400_000


@dataclass(frozen=True)
class RememberedExchange:
    """A question, the text of its answer, and the statement between them, in its dialect.

    Rows are not included: of the data, a memory holds only what the answer's text says. The answer is empty
    where it may hold words of others.
    """

    question: str
    answer: str
    sql: str | None = None
    dialect: str = ""


@dataclass(frozen=True)
class SessionExchanges:
    """Exchanges of one session by the id of their answer, oldest first."""

    owner: str
    exchanges: dict[str, RememberedExchange]


@dataclass(frozen=True)
class Summary:
    """A conversation in a paragraph, with a few short themes.

    Only a model names persons, places and the user's sentiment.
    """

    text: str
    themes: list[str] = field(default_factory=list)
    persons: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    user_sentiment: Sentiment | None = None


@dataclass(frozen=True, kw_only=True)
class ConversationMemory:
    """The memory of one conversation, with the session's id. `covers` is the id of its last message."""

    id: str
    owner: str
    session_id: str
    summary: str
    themes: list[str]
    persons: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    user_sentiment: Sentiment | None = None
    covers: str
    updated_at: int
    vector_size: int = 0
    """Length of its vector; 0 if it has none."""
    vector_model: str = ""
    """Name of the embedding model of its vector; empty if it has none."""


@dataclass(frozen=True)
class FoundMemory:
    """A memory that a search found. `relevance` is from 0 to 1, which is the first place by any measure."""

    memory: ConversationMemory
    relevance: float


@dataclass(frozen=True)
class FactSource:
    """Where a fact comes from. `tainted`: its turn has read from a tool of others."""

    origin: FactOrigin
    at: int
    message_id: str | None = None
    session_id: str | None = None
    tainted: bool = False


@dataclass(frozen=True, kw_only=True)
class StoredFact:
    """A sentence to remember. It is never changed: another one supersedes it."""

    id: str
    owner: str
    """Of a shared fact, the person who has written it."""
    group: GroupId
    scope: Scope
    kind: FactKind
    text: str
    about: tuple[str, ...] = ()
    """Tables or columns (`table.column`) that it speaks of. Without one of them it is stale."""
    connection_id: str | None = None
    """The database of a workspace, session or shared fact."""
    source: FactSource
    status: FactStatus = "active"
    supersedes: str | None = None
    created_at: int
    updated_at: int
    used_at: int
    uses: int = 0
    vector_size: int = 0
    """Length of its vector; 0 if it has none."""
    vector_model: str = ""
    """Name of the embedding model of its vector; empty if it has none."""
    version: int = 0
    """Number of edits. Uses are none."""

    @property
    def expires_at(self) -> int | None:
        return self.created_at + TASK_UPDATE_MS if self.kind == "task_update" else None


@dataclass(frozen=True)
class FactGroup:
    """A group of facts, and what all of them have in common."""

    id: GroupId
    scope: Scope
    owner: str | None
    """None for the shared group of a connection."""

    def holds(self, fact: StoredFact) -> bool:
        return (fact.group, fact.scope) == (self.id, self.scope) and self.owner in (None, fact.owner)


@dataclass(frozen=True, kw_only=True)
class NewFact:
    """A sentence that is to be remembered. A session's fact names its session in the source."""

    owner: str
    scope: Scope
    kind: FactKind
    text: str
    source: FactSource
    about: tuple[str, ...] = ()
    connection_id: str | None = None
    status: Literal["active", "waiting"] = "active"
    supersedes: str | None = None
    fact_id: str | None = None
    """A UUID, where the same fact may be delivered again. Otherwise the fact gets an id of its own."""


@dataclass(frozen=True)
class Kept:
    """A fact in the store. `near` are those that it perhaps replaces; a person decides."""

    fact: StoredFact
    is_new: bool
    near: tuple[StoredFact, ...] = ()
