"""Ranks tables by meaning: vectors of their descriptions, computed in the background."""

import asyncio
import hashlib
import logging
from collections.abc import Sequence

from app.core.llm.calls import Charge
from app.core.llm.embedding import MOST_TEXTS, EmbeddingModel
from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.storage.port import Storage, StorageUnavailable
from app.modules.database_connection.scan.vectors_kept import VectorsKept
from app.modules.database_connection.schema import Table, TableColumn

logger = logging.getLogger(__name__)

_LONGEST = 6_000
"""Most characters of a text to embed. Embedding models read some 8,000 tokens, and not all of them refuse
or cut longer texts."""
_NEAREST = 10
_QUESTION_SECONDS = 1.0
_QUESTION_LENGTH = 4_000
"""Most characters of the conversation, taken from its end, because older text matters less."""


class TableVectors:
    """Vectors of the tables of all connections."""

    def __init__(self, storage: Storage, model: EmbeddingModel, charge: Charge) -> None:
        self._kept = VectorsKept(storage, model.name)
        self._model = model
        self._charge = charge
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._one_at_a_time = asyncio.Lock()
        self._warned = False

    def refresh(self, owner: str, connection_id: str, tables: Sequence[Table]) -> None:
        """Embed changed tables of a connection in the background.

        The owner of the connection is charged. A failure is logged, and repaired by the next call.
        """
        task = asyncio.create_task(
            self._refresh(owner, connection_id, tables), name=f"connection {connection_id}: embed tables"
        )
        self._tasks[task] = connection_id
        task.add_done_callback(self._tasks.pop)

    async def stop(self, connection_id: str) -> None:
        """Cancel the embedding of a connection's tables, and wait for its end."""
        await self._end([task for task, of in self._tasks.items() if of == connection_id])

    async def close(self) -> None:
        await self._end(list(self._tasks))

    async def nearest(self, connection_id: str, text: str) -> list[str]:
        """Returns the names of the ten tables nearest to the text, nearest first. Some may no longer exist.

        Returns an empty list, logged once, if the model or store fails or the model takes over a second.
        """
        try:
            async with asyncio.timeout(_QUESTION_SECONDS):
                (vector,) = await self._model.embed([text[-_QUESTION_LENGTH:]])
            found = await self._kept.nearest(connection_id, vector, _NEAREST)
        except (ModelUnavailable, ModelRejected, StorageUnavailable, TimeoutError) as error:
            if not self._warned:
                cause = f"{self._model.name} takes too long" if isinstance(error, TimeoutError) else error
                logger.warning("questions go without KAI_LLM__EMBEDDING_MODEL: %s", cause)
            self._warned = True
            return []
        self._warned = False
        return found

    async def _refresh(self, owner: str, connection_id: str, tables: Sequence[Table]) -> None:
        try:
            async with self._one_at_a_time, self._charge(owner):
                await self._embed_changed(connection_id, tables)
        except (ModelUnavailable, ModelRejected, StorageUnavailable) as error:
            logger.warning("connection %s: tables were not embedded: %s", connection_id, error)

    async def _embed_changed(self, connection_id: str, tables: Sequence[Table]) -> None:
        """Embed the changed tables. The ledger is stored after each request, so nothing is embedded twice."""
        texts = {table.name: _text(table) for table in tables}
        digests = {name: _digest(text) for name, text in texts.items()}
        ledger = await self._kept.ledger(connection_id)
        if gone := ledger.keys() - texts.keys():
            await self._kept.drop(connection_id, gone)
            ledger = {name: digest for name, digest in ledger.items() if name in texts}
            await self._kept.keep_ledger(connection_id, ledger)
        changed = [name for name in texts if ledger.get(name) != digests[name]]
        for start in range(0, len(changed), MOST_TEXTS):
            names = changed[start : start + MOST_TEXTS]
            vectors = await self._model.embed([texts[name] for name in names])
            await self._kept.keep(connection_id, dict(zip(names, vectors, strict=True)))
            ledger |= {name: digests[name] for name in names}
            await self._kept.keep_ledger(connection_id, ledger)

    async def _end(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _text(table: Table) -> str:
    """Returns the text of a table for an embedding model: names and descriptions, never values."""
    return "\n".join([_description(table), *map(_description, table.columns)])[:_LONGEST]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _description(named: Table | TableColumn) -> str:
    return f"{named.name}: {named.description}" if named.description else named.name
