"""Opens KAI's own store: records and checkpoints."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from app.core.secrets import CheckpointCipher, ClearCheckpoints, load_or_create_key
from app.core.settings import Settings
from app.core.storage.port import Storage, StorageRefused
from app.core.storage.sqlite import open_sqlite
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress, translated_errors, typesense_client
from graph.checkpoints import Checkpointer, sqlite_checkpointer, typesense_checkpointer


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncGenerator[tuple[Storage, Checkpointer]]:
    """Records and checkpoints in the store that `KAI_STORE` names. The data folder must exist.

    Raises `StorageUnavailable`.
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
            records = TypesenseStorage(client, settings.typesense.prefix)
            await records.open()
            with translated_errors():
                name = f"{settings.typesense.prefix}checkpoints0"
                checkpointer = await typesense_checkpointer(client, name, cipher)
            yield records, checkpointer


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
