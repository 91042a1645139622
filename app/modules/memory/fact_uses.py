"""Job that counts the uses of facts, after the answers that have used them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from app.modules.memory.facts import Facts

_MAX_MESSAGES = 40


class UseReader(Protocol):
    """Reads what answers of any owner's session have used. Raises `StorageUnavailable`."""

    async def read_uses(self, session_id: str, max_messages: int) -> Mapping[str, Sequence[int]]:
        """Returns the times of the latest answers by the ids of the facts that their model has read."""


class FactUseJob:
    def __init__(self, reader: UseReader, facts: Facts) -> None:
        self._reader = reader
        self._facts = facts

    async def work(self, session_id: str) -> None:
        """Count new uses. A repeated job counts nothing twice. Raises `StorageUnavailable`."""
        for fact_id, times in (await self._reader.read_uses(session_id, _MAX_MESSAGES)).items():
            await self._facts.note_uses(fact_id, times)
