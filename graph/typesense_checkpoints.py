"""The checkpointer of Typesense. Only who has a Typesense imports its client."""

from collections.abc import AsyncIterator, Callable
from functools import partial

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from typesense import AsyncClient
from typesense.exceptions import TypesenseClientError

from graph.checkpoints import Checkpointer, ReadCheckpoint, checked, serializer, translated_damage
from typesense_checkpoint import CheckpointIncomplete, CheckpointRecord, TypesenseCheckpointer
from typesense_checkpoint.collection import TypesenseCollection
from typesense_checkpoint.early import EarlyThreads
from typesense_checkpoint.records import TypedBytes, changed, hash_thread


class _Typesense(Checkpointer, TypesenseCheckpointer):
    """The Typesense checkpointer, with clear errors for damage."""

    unavailable = (TypesenseClientError, httpx.HTTPError, CheckpointIncomplete)

    def __init__(self, client: AsyncClient, collection: str, serde: SerializerProtocol) -> None:
        super().__init__(client, collection=collection, serde=serde)
        self._early = EarlyThreads(self, TypesenseCollection(client, collection))

    async def afind_latest(self, config: RunnableConfig) -> ReadCheckpoint | None:
        with translated_damage():
            record = await self.afind_record(config)
        return None if record is None else partial(self._read, record)

    async def _read(self, record: CheckpointRecord) -> CheckpointTuple:
        with translated_damage():
            return checked(await self.aread_record(record))

    async def aencrypt_again(self, thread_id: str, encrypt: Callable[[bytes], bytes]) -> None:
        def change(typed: TypedBytes) -> TypedBytes:
            encoding, value = typed
            return (encoding, encrypt(value)) if encoding.endswith("+fernet") else typed

        of_thread = f"thread:={hash_thread(thread_id)}"
        documents = [changed(each, change) for each in await self._collection.export(of_thread)]
        await self._collection.write(documents, "update")

    async def aconvert_early(self, thread_ids: AsyncIterator[str]) -> None:
        await self._early.prepare()
        with translated_damage():
            async for thread_id in thread_ids:
                await self._early.convert(thread_id)

    async def aprune_turns(self, thread_id: str, *, keep_turns: int, ended_run_id: str | None) -> None:
        await self.aprune_runs(thread_id, keep_runs=keep_turns, ended_run_id=ended_run_id)


async def typesense_checkpointer(
    client: AsyncClient, collection: str, cipher: CipherProtocol
) -> Checkpointer:
    """Open the checkpointer of a Typesense collection, which is created if missing.

    Raises `TypesenseClientError` or `httpx.HTTPError`.
    """
    saver = _Typesense(client, collection, serializer(cipher))
    await saver.setup()
    return saver
