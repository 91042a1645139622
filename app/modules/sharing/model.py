"""Read-only links. Times are epoch milliseconds."""

from dataclasses import dataclass, field
from typing import Literal

from app.modules.analysis.chart.stored import StoredChoice

LinkKind = Literal["answer", "session", "board"]

MOST_LINKS = 500
"""Links of an owner."""
DEFAULT_DAYS = 30
MAX_DAYS = 366


@dataclass(frozen=True, kw_only=True)
class SharedChart:
    """How the chart of an answer was drawn when its link was made."""

    choice: StoredChoice = None


@dataclass(frozen=True, kw_only=True)
class ShareLink:
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
    charts: dict[str, SharedChart] = field(default_factory=dict)
    """By the ids of answers whose chart was not as proposed when the link was made. Empty for a board, which
    a link shows as it is.
    """
    preview: bool = False
    """All who have the address may read its title, headline and picture without a sign-in."""
