"""One request for all that is written at about the same time.

Each write costs Typesense a round of its log, whatever its size, so what comes together goes together:
a superstep's writes with its checkpoint, and those of many threads with each other.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from typesense_checkpoint.collection import Document, TypesenseCollection, Written, check_refusals

_PATIENCE_SECONDS = 0.002
"""How long a write that nobody waits for may wait for company."""


@dataclass(frozen=True)
class _Batch:
    """What is written together, when it is due, and what became of it."""

    documents: list[Document]
    due: asyncio.Event
    written: asyncio.Task[list[Written]]


class GroupCommit:
    """Creates documents, leaving those that are there; the collection is written to by nothing else."""

    def __init__(self, collection: TypesenseCollection) -> None:
        self._collection = collection
        self._gathering: _Batch | None = None

    async def create(self, documents: Sequence[Document], *, urgent: bool) -> list[bool]:
        """Tells of each whether it was created, when all are durable. Raises as `write` does.

        An urgent write takes along those that are waiting. A cancelled caller cancels nobody's write.
        """
        if not documents:
            return []
        batch = self._gathering or self._gather()
        start = len(batch.documents)
        batch.documents.extend(documents)
        if urgent:
            batch.due.set()
        written = await asyncio.shield(batch.written)
        return check_refusals(written[start : start + len(documents)])

    def _gather(self) -> _Batch:
        documents: list[Document] = []
        due = asyncio.Event()
        written = asyncio.create_task(self._send(documents, due), name="checkpoints: send a batch")
        self._gathering = _Batch(documents, due, written)
        return self._gathering

    async def _send(self, documents: Sequence[Document], due: asyncio.Event) -> list[Written]:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await due.wait()
        self._gathering = None
        return await self._collection.send(documents, "create")
