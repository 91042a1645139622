"""Comments on answers and boards. Times are epoch milliseconds."""

from dataclasses import dataclass
from typing import Literal

ThingKind = Literal["answer", "board"]

MOST_COMMENTS = 500
"""Comments on an answer or a board."""
MOST_CHARACTERS = 4_000
MOST_MENTIONS = 10
"""Names in a comment that are looked up."""


@dataclass(frozen=True, kw_only=True)
class CommentedThing:
    """An answer or a board that may be commented. `title` is its question or title."""

    kind: ThingKind
    thing_id: str
    owner: str
    session_id: str | None
    """Session of the answer. None for a board."""
    title: str


@dataclass(frozen=True, kw_only=True)
class Comment:
    """What a person has written about an answer or a board. `owner` is that of the thing."""

    id: str
    owner: str
    author: str
    kind: ThingKind
    thing_id: str
    session_id: str | None
    text: str
    mentions: tuple[str, ...]
    """People in the text who may see the thing."""
    created_at: int
    edited_at: int | None = None
    resolved_at: int | None = None
    resolved_by: str | None = None
    version: int = 0
    """Number of edits."""
