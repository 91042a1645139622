"""What is remembered of a conversation, and what it is made of; times are epoch milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Exchange:
    """A question and what was answered in words; `tables` are those its statement reads.

    Rows are no part of it: of the data, a memory knows what the answer says and nothing else.
    """

    question: str
    answer: str
    tables: Sequence[str] = ()


@dataclass(frozen=True)
class SessionExchanges:
    """Exchanges of one session, by the id of their answer and in their order."""

    owner: str
    exchanges: dict[str, Exchange]


@dataclass(frozen=True)
class Summary:
    """A conversation in a paragraph, and what it is about in a few short themes."""

    text: str
    themes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Memory:
    """One a conversation, under the session's id; `covers` names the last message that is in it."""

    id: str
    owner: str
    session_id: str
    summary: str
    themes: list[str]
    covers: str
    updated_at: int
    vector_size: int = 0
    """0 where there is no vector of it."""
