"""Opens KAI's own store in Typesense. Only who has a Typesense imports its client."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from app.core.bus.port import BusUnavailable, Decisions
from app.core.secrets import CheckpointCipher, ClearCheckpoints
from app.core.settings import TypesenseSettings
from app.core.storage.port import Storage, StorageRefused, StorageUnavailable
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress, translated_errors, typesense_client
from app.core.tasks import end_tasks
from graph.checkpoints import Checkpointer
from graph.typesense_checkpoints import typesense_checkpointer

logger = logging.getLogger(__name__)

_SWEEP_SECONDS = 5.0

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
        if decisions is not None:
            await opened.enter_async_context(_sweeping(records))
        with translated_errors():
            checkpointer = await typesense_checkpointer(client, f"{settings.prefix}checkpoints0", cipher)
        yield records, checkpointer


@asynccontextmanager
async def _sweeping(records: TypesenseStorage) -> AsyncGenerator[None]:
    sweeping = asyncio.create_task(sweep_decisions(records), name="store: drop old decisions")
    try:
        yield
    finally:
        await end_tasks([sweeping])


async def sweep_decisions(records: TypesenseStorage) -> None:
    """Drop old decisions for ever."""
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        try:
            await records.sweep_decisions()
        except (StorageUnavailable, BusUnavailable) as error:
            logger.info("old decisions are not dropped: %s", error)
        except Exception:
            logger.exception("old decisions could not be dropped")


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
