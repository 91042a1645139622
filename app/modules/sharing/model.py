"""Read-only links. Times are epoch milliseconds."""

from dataclasses import dataclass
from typing import Literal

LinkKind = Literal["answer", "session", "board"]

MOST_LINKS = 500
"""Links of an owner."""
DEFAULT_DAYS = 30
MAX_DAYS = 366


@dataclass(frozen=True, kw_only=True)
class Link:
    """Lets users read an answer, a session or a board if they may use its database."""

    id: str
    owner: str
    kind: LinkKind
    thing_id: str
    """Id of the answer, session or board."""
    session_id: str | None
    """Session of the answer, or the session itself. None for a board."""
    before_sequence: int | None
    """The link of a session shows messages before this one. None for others."""
    connection_ids: tuple[str, ...]
    """Connections of the session when the link was made; a reader may use all of them. Empty for a board."""
    created_at: int
    expires_at: int
    title: str | None = None
    """Title of the session or board, or question of the answer, when the link was made. None for a session
    without a title and question.
    """
