"""Messages for Graphiti: what of a turn or a fact goes out, cut and redacted."""

import re
from dataclasses import dataclass
from html import escape
from typing import Protocol

from app.core.clock import rfc3339
from app.core.redaction.text import redacted
from app.modules.memory.graphiti.client import GraphMessage
from app.modules.memory.graphiti.groups import GraphGroup
from app.modules.memory.model import StoredFact
from app.modules.memory.turns import MemoryTurn

SOURCE = "kai"
_PATH_OR_URL = re.compile(r"[/\\]|://|\.(?:db|sqlite3?|duckdb|csv|parquet)\b", re.IGNORECASE)
_MAX_NAME = 100


class FactReader(Protocol):
    async def find(self, fact_id: str) -> StoredFact | None:
        """A fact of any owner. Raises `StorageUnavailable`."""


@dataclass(frozen=True)
class MessageWording:
    """How much of a text goes out, and whether connections are named."""

    max_characters: int = 4_000
    connection_names: bool = False

    def source(self, connection_name: str) -> str:
        """Never a path, an address or a row."""
        named = self.connection_names and not _PATH_OR_URL.search(connection_name)
        return f"{SOURCE}: {redacted(connection_name)[:_MAX_NAME]}" if named else SOURCE

    def cut(self, text: str) -> str:
        return redacted(text)[: self.max_characters]


def turn_messages(turn: MemoryTurn, name: str, source: str, *, wording: MessageWording) -> list[GraphMessage]:
    """The question, then the answer. Of a tainted turn only the question, which its owner has written."""
    at = rfc3339(turn.at)
    question = GraphMessage(
        name=f"{name}.user",
        role_type="user",
        content=wording.cut(turn.question),
        timestamp=at,
        source_description=source,
    )
    if turn.tainted:
        return [question]
    answer = GraphMessage(
        name=f"{name}.assistant",
        role_type="assistant",
        content=wording.cut(turn.answer),
        timestamp=at,
        source_description=source,
    )
    return [question, answer]


def fact_message(fact: StoredFact, name: str, source: str, *, wording: MessageWording) -> GraphMessage:
    return GraphMessage(
        name=name,
        role_type="user",
        content=_episode(fact.kind, wording.cut(fact.text)),
        timestamp=rfc3339(fact.created_at),
        source_description=source,
    )


def ownership_message(group: GraphGroup, now: int) -> GraphMessage:
    """Whose group it is: sent once, before all else."""
    owned = {
        "session": "this session",
        "workspace": "this workspace, which is one database",
        "user": "these memories",
        "shared": "this workspace",
    }
    text = f"{redacted(group.owner)} is the user and owns {owned[group.scope]} (scope: {group.scope})."
    return GraphMessage(
        name=f"kai.ownership.{group.group}",
        role_type="system",
        content=_episode("ownership_context", text),
        timestamp=rfc3339(now),
    )


def _episode(kind: str, text: str) -> str:
    return f'<graphiti_episode kind="{kind}">{escape(text)}</graphiti_episode>'
