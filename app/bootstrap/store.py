"""Opens KAI's own store: records and checkpoints."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from app.core.bus.port import Decisions
from app.core.secrets import CheckpointCipher, ClearCheckpoints, load_or_create_key
from app.core.settings import Settings
from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from graph.checkpoints import Checkpointer, sqlite_checkpointer


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
    if settings.store == "sqlite":
        path = settings.data_dir / "checkpoints.db"
        async with (
            open_sqlite(sqlite_file(settings)) as storage,
            sqlite_checkpointer(path, cipher) as checkpointer,
        ):
            yield storage, checkpointer
        return
    from app.bootstrap.typesense import open_typesense  # noqa: PLC0415 - only for those who have one

    async with open_typesense(settings.typesense, decisions, cipher) as opened:
        yield opened


@asynccontextmanager
async def open_records(settings: Settings) -> AsyncGenerator[Storage]:
    """Records without checkpoints. Raises `StorageUnavailable`."""
    if settings.store == "sqlite":
        async with open_sqlite(sqlite_file(settings)) as storage:
            yield storage
        return
    from app.bootstrap.typesense import open_typesense_records  # noqa: PLC0415 - only for those who have one

    async with open_typesense_records(settings.typesense) as records:
        yield records


def sqlite_file(settings: Settings) -> Path:
    return settings.data_dir / "kai.db"


def encryption_key(settings: Settings) -> bytes:
    """The key of `KAI_ENCRYPTION_KEY`, else that of the data folder, which is created if there is none."""
    key = settings.encryption_key
    return key.get_secret_value().encode() if key else load_or_create_key(settings.data_dir / "secret.key")
