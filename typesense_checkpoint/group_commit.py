"""Group commit: one request for all documents that are created at about the same time.

Each request costs Typesense one round of its replicated log, whatever its size. So the writes of a
superstep share a request with its checkpoint, and concurrent threads share requests with each other.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic

from typesense_checkpoint.collection import DocumentT, ImportResult, TypesenseCollection, check_refusals

_DELAY_SECONDS = 0.002
_MAX_DELAYS = 50


@dataclass(frozen=True)
class _Batch(Generic[DocumentT]):
    """The documents of one request. Setting `due` sends them."""

    documents: list[DocumentT]
    due: asyncio.Event
    sending: asyncio.Task[list[ImportResult]]

    async def created(self, added: slice) -> list[bool]:
        """Wait until the batch is durable; returns for each of these documents whether it was created."""
        results = await asyncio.shield(self.sending)
        return check_refusals(results[added])


class GroupCommit(Generic[DocumentT]):
    """Creates documents in shared requests; an existing document is left unchanged.

    Both methods return when the documents are durable, with whether each was created. They raise what
    `TypesenseCollection.write` raises. The cancellation of a caller cancels no write.
    """

    def __init__(self, collection: TypesenseCollection[DocumentT]) -> None:
        self._collection = collection
        self._open: _Batch[DocumentT] | None = None
        self._requests = 0
        """Requests under way."""

    async def create_now(self, documents: Sequence[DocumentT]) -> list[bool]:
        """Create documents in a request that is sent at once, with all documents that wait for one."""
        if not documents:
            return []
        batch, added = self._add(documents)
        batch.due.set()
        return await batch.created(added)

    async def create_soon(self, documents: Sequence[DocumentT]) -> list[bool]:
        """Create documents in the next request.

        It is sent within two milliseconds, or within a hundred while an earlier request is under way.
        """
        if not documents:
            return []
        batch, added = self._add(documents)
        return await batch.created(added)

    def _add(self, documents: Sequence[DocumentT]) -> tuple[_Batch[DocumentT], slice]:
        """Add documents to the open batch; returns it, and their places in it."""
        batch = self._open or self._start_batch()
        start = len(batch.documents)
        batch.documents.extend(documents)
        return batch, slice(start, start + len(documents))

    def _start_batch(self) -> _Batch[DocumentT]:
        documents: list[DocumentT] = []
        due = asyncio.Event()
        sending = asyncio.create_task(self._send(documents, due), name="checkpoints: send a batch")
        self._open = _Batch(documents, due, sending)
        return self._open

    async def _send(self, documents: Sequence[DocumentT], due: asyncio.Event) -> list[ImportResult]:
        for _ in range(_MAX_DELAYS):
            with suppress(TimeoutError):
                async with asyncio.timeout(_DELAY_SECONDS):
                    await due.wait()
            if due.is_set() or not self._requests:
                break
        self._open = None
        self._requests += 1
        try:
            return await self._collection.import_documents(documents, "create")
        finally:
            self._requests -= 1
