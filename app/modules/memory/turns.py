"""Turns: what a memory reads of an answered question."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class MemoryTurn:
    """A question and its answer in words, without rows or statement."""

    message_id: str
    """Id of the answer."""
    owner: str
    session_id: str
    connection_id: str
    question: str
    answer: str
    at: int
    """When it was answered (epoch ms)."""
    tainted: bool
    """It has read from a tool of others, so its answer may hold their words."""


class TurnReader(Protocol):
    """Reads the turns of any owner's session. Raises `StorageUnavailable`."""

    async def turn_of_run(self, session_id: str, run_id: str) -> MemoryTurn | None:
        """Returns None if the run or session does not exist, or the run has no answer in words."""

    async def turn(self, session_id: str, message_id: str) -> MemoryTurn | None:
        """Returns None if the answer does not exist, or is none in words."""
