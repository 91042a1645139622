"""`kai migrate`: migrate a store to this version, or copy everything from one store to the other."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.bootstrap import open_store
from app.bootstrap.store import migrate_all
from app.core.exclusive import exclusive_folder
from app.core.settings import StoreKind
from app.core.storage.copying import CURE, CopyDiffers, copy_collection
from app.core.storage.documents import all_documents
from app.core.storage.port import Query, Storage
from app.core.storage.probe import PROBES
from app.modules.database_connection.scan.vectors_kept import is_of_vectors
from app.modules.memory.vectors import is_of_memory_vectors
from app.terminal.console import command_settings, say
from graph.checkpoints import Checkpointer, translated_errors
from migrations.runner import MigrationStep
from typesense_checkpoint import ThreadDiffers, copy_thread

_NOT_COPIED = {"migrations", "leases", PROBES.name}
"""Collections that are not copied, because each store has its own."""


async def migrate_store(data_dir: Path | None = None) -> None:
    """Apply the steps that the configured store lacks."""
    settings = command_settings(data_dir)
    with exclusive_folder(settings.data_dir):
        async with open_store(settings) as (storage, checkpointer):
            with _progress() as progress:
                applied = await migrate_all(storage, checkpointer, lambda step: _bar(progress, step))
    say(f"The store is up to date; steps applied: {len(applied)}.")


async def copy_store(source: StoreKind, target: StoreKind, data_dir: Path | None = None) -> None:
    """Copy every record and every checkpoint. An interrupted copy continues where it stopped."""
    settings = command_settings(data_dir)
    with exclusive_folder(settings.data_dir):
        async with AsyncExitStack() as opened:
            stores = [
                await opened.enter_async_context(open_store(settings.model_copy(update={"store": store})))
                for store in (source, target)
            ]
            (records, checkpoints), (copied_records, copied_checkpoints) = stores
            for storage, checkpointer in stores:
                await migrate_all(storage, checkpointer)
            with _progress() as progress:
                for name in sorted(filter(_is_copied, records.collections())):
                    await _copy_records(records, copied_records, name, progress=progress)
                await _copy_threads(records, checkpoints, copied_checkpoints, progress=progress)
    say(f"Everything is in {target} now, counted and compared. Set KAI_STORE={target} to use it.")


async def _copy_records(source: Storage, target: Storage, name: str, *, progress: Progress) -> None:
    task = progress.add_task(name.replace("_", " "))
    await copy_collection(
        source, target, name, watch=lambda done, total: progress.update(task, completed=done, total=total)
    )
    progress.update(task, total=progress.tasks[task].completed)


async def _copy_threads(
    records: Storage, source: Checkpointer, target: Checkpointer, *, progress: Progress
) -> None:
    """Copy the checkpoint threads, one per session."""
    task = progress.add_task("checkpoints of sessions", total=await records.count("sessions", []))
    async for session in all_documents(records, "sessions", Query(limit=200)):
        try:
            with translated_errors(source), translated_errors(target):
                await copy_thread(source, target, str(session["id"]))
        except ThreadDiffers as error:
            raise CopyDiffers(f"{error} {CURE}") from error
        progress.advance(task)


def _is_copied(name: str) -> bool:
    """Vectors are not copied: those of tables are rebuilt when needed, those of memories as they change."""
    return name not in _NOT_COPIED and not is_of_vectors(name) and not is_of_memory_vectors(name)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )


def _bar(progress: Progress, step: MigrationStep) -> Callable[[int, int], Awaitable[None]]:
    task = progress.add_task(f"{step.number:04} {step.name}", total=None)

    async def show(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)

    return show
