"""Opens KAI's own store: records and checkpoints."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from app.core.bus.port import Decisions
from app.core.secrets import CheckpointCipher, ClearCheckpoints, load_or_create_keys, split_keys
from app.core.settings import Settings
from app.core.storage.documents import all_documents
from app.core.storage.port import Query, Storage
from app.core.storage.sqlite import open_sqlite
from graph.checkpoints import Checkpointer, sqlite_checkpointer, translated_errors
from migrations.backfill import Progress
from migrations.runner import MigrationStep, check_up_to_date, migrate, missing_steps, silent

_EARLY_BEFORE_STEP = 2
"""Every store that has this step by its present name has the present layout of checkpoints."""
_SESSIONS_AT_ONCE = 200


@asynccontextmanager
async def open_store(
    settings: Settings, decisions: Decisions | None = None
) -> AsyncGenerator[tuple[Storage, Checkpointer]]:
    """Records and checkpoints in the store that `KAI_STORE` names. The data folder must exist.

    Without `decisions` no session and no run may be changed, because other processes may have them. Raises
    `StorageUnavailable`.
    """
    cipher = (CheckpointCipher if settings.encrypt_checkpoints else ClearCheckpoints)(
        *encryption_keys(settings)
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


async def bring_up_to_date(settings: Settings, storage: Storage, checkpointer: Checkpointer) -> None:
    """Migrate the store, or with `KAI_MIGRATE_AT_START=false` only check that nothing is missing.

    Raises `StoreTooNew`, `StoreTooOld`, `StoreUnknown` or `StorageUnavailable`.
    """
    if settings.migrate_at_start:
        await migrate_all(storage, checkpointer)
    else:
        await check_up_to_date(storage)


async def migrate_all(
    storage: Storage, checkpointer: Checkpointer, watch: Callable[[MigrationStep], Progress] = silent
) -> list[int]:
    """Migrate records and checkpoints. Returns the numbers of the steps that this call applied.

    Raises `StoreTooNew`, `StoreUnknown` or `StorageUnavailable`.
    """
    is_early = any(step.number <= _EARLY_BEFORE_STEP for step in await missing_steps(storage))
    if is_early and "sessions" in storage.collections():
        with translated_errors(checkpointer):
            await checkpointer.aconvert_early(session_ids(storage))
    return await migrate(storage, watch=watch)


async def session_ids(storage: Storage) -> AsyncGenerator[str]:
    """Yields the ids of all sessions, which are those of the threads of checkpoints."""
    async for session in all_documents(storage, "sessions", Query(limit=_SESSIONS_AT_ONCE)):
        yield str(session["id"])


def sqlite_file(settings: Settings) -> Path:
    return settings.data_dir / "kai.db"


def encryption_keys(settings: Settings) -> list[bytes]:
    """The keys of `KAI_ENCRYPTION_KEY`, else those of the data folder, where one is created if there is none.

    The first one writes.
    """
    keys = settings.encryption_key
    return split_keys(keys.get_secret_value()) if keys else load_or_create_keys(key_file(settings))


def key_file(settings: Settings) -> Path:
    return settings.data_dir / "secret.key"
