"""Opens KAI's own store in Typesense. Only who has a Typesense imports its client."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from app.core.bus.port import Decisions
from app.core.secrets import CheckpointCipher, ClearCheckpoints
from app.core.settings import TypesenseSettings
from app.core.storage.port import Storage, StorageRefused
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress, translated_errors, typesense_client
from graph.checkpoints import Checkpointer
from graph.typesense_checkpoints import typesense_checkpointer

DECIDED = ("sessions", "runs", "messages")
"""Collections that only processes with a bus change: who holds a session, and how a run has ended."""


@asynccontextmanager
async def open_typesense(
    settings: TypesenseSettings, decisions: Decisions | None, cipher: CheckpointCipher | ClearCheckpoints
) -> AsyncGenerator[tuple[Storage, Checkpointer]]:
    """Records and checkpoints. Without `decisions` no session and no run may be changed.

    Raises `StorageUnavailable`.
    """
    async with AsyncExitStack() as opened:
        client = await opened.enter_async_context(typesense_client(typesense_address(settings)))
        records = TypesenseStorage(client, settings.prefix, decisions, decided=DECIDED)
        await records.open()
        with translated_errors():
            checkpointer = await typesense_checkpointer(client, f"{settings.prefix}checkpoints0", cipher)
        yield records, checkpointer


@asynccontextmanager
async def open_typesense_records(settings: TypesenseSettings) -> AsyncGenerator[Storage]:
    """Records without checkpoints. Raises `StorageUnavailable`."""
    async with typesense_client(typesense_address(settings)) as client:
        records = TypesenseStorage(client, settings.prefix)
        await records.open()
        yield records


def typesense_address(settings: TypesenseSettings) -> TypesenseAddress:
    if settings.api_key is None:
        raise StorageRefused("The store typesense needs its key: set KAI_TYPESENSE__API_KEY.")
    return TypesenseAddress(
        nodes=settings.nodes,
        api_key=settings.api_key,
        timeout_seconds=settings.timeout_seconds,
        max_retries=settings.max_retries,
    )
