"""Memories of conversations, and the exchanges that they summarize. Times are epoch milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Exchange:
    """A question and the text of its answer. `tables` are the tables that its statement reads.

    Rows are not included: of the data, a memory holds only what the answer's text says.
    """

    question: str
    answer: str
    tables: Sequence[str] = ()


@dataclass(frozen=True)
class SessionExchanges:
    """Exchanges of one session by the id of their answer, oldest first."""

    owner: str
    exchanges: dict[str, Exchange]


@dataclass(frozen=True)
class Summary:
    """A conversation in a paragraph, with a few short themes."""

    text: str
    themes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The memory of one conversation, with the session's id. `covers` is the id of its last message."""

    id: str
    owner: str
    session_id: str
    summary: str
    themes: list[str]
    covers: str
    updated_at: int
    vector_size: int = 0
    """Length of its vector; 0 if it has none."""
