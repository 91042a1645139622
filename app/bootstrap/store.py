"""Opens KAI's own store: records and checkpoints."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from app.core.bus.port import BusUnavailable, Decisions
from app.core.secrets import CheckpointCipher, ClearCheckpoints, load_or_create_key
from app.core.settings import Settings
from app.core.storage.port import Storage, StorageRefused, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress, translated_errors, typesense_client
from app.core.tasks import end_tasks
from graph.checkpoints import Checkpointer, sqlite_checkpointer, typesense_checkpointer

logger = logging.getLogger(__name__)

_SWEEP_SECONDS = 5.0

DECIDED = ("sessions", "runs", "messages")
"""Collections that only processes with a bus change: who holds a session, and how a run has ended."""


@asynccontextmanager
async def open_store(
    settings: Settings, decisions: Decisions | None = None
) -> AsyncGenerator[tuple[Storage, Checkpointer]]:
    """Records and checkpoints in the store that `KAI_STORE` names. The data folder must exist.

    Without `decisions` no session and no run may be changed, because other processes may have them. Raises
    `StorageUnavailable`.
    """
    cipher = (CheckpointCipher if settings.encrypt_checkpoints else ClearCheckpoints)(
        encryption_key(settings)
    )
    async with AsyncExitStack() as opened:
        if settings.store == "sqlite":
            storage = await opened.enter_async_context(open_sqlite(sqlite_file(settings)))
            path = settings.data_dir / "checkpoints.db"
            yield storage, await opened.enter_async_context(sqlite_checkpointer(path, cipher))
        else:
            client = await opened.enter_async_context(typesense_client(typesense_address(settings)))
            records = TypesenseStorage(client, settings.typesense.prefix, decisions, decided=DECIDED)
            await records.open()
            if decisions is not None:
                await opened.enter_async_context(_sweeping(records))
            with translated_errors():
                name = f"{settings.typesense.prefix}checkpoints0"
                checkpointer = await typesense_checkpointer(client, name, cipher)
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
async def open_records(settings: Settings) -> AsyncGenerator[Storage]:
    """Records without checkpoints. Raises `StorageUnavailable`."""
    if settings.store == "sqlite":
        async with open_sqlite(sqlite_file(settings)) as storage:
            yield storage
        return
    async with typesense_client(typesense_address(settings)) as client:
        records = TypesenseStorage(client, settings.typesense.prefix)
        await records.open()
        yield records


def sqlite_file(settings: Settings) -> Path:
    return settings.data_dir / "kai.db"


def typesense_address(settings: Settings) -> TypesenseAddress:
    typesense = settings.typesense
    if typesense.api_key is None:
        raise StorageRefused("The store typesense needs its key: set KAI_TYPESENSE__API_KEY.")
    return TypesenseAddress(
        nodes=typesense.nodes,
        api_key=typesense.api_key,
        timeout_seconds=typesense.timeout_seconds,
        max_retries=typesense.max_retries,
    )


def encryption_key(settings: Settings) -> bytes:
    """The key of `KAI_ENCRYPTION_KEY`, else that of the data folder, which is created if there is none."""
    key = settings.encryption_key
    return key.get_secret_value().encode() if key else load_or_create_key(settings.data_dir / "secret.key")
