"""`kai prune`: delete sessions and checkpoints that are no longer used."""

from pathlib import Path

from app.bootstrap import open_store
from app.core.clock import now_ms
from app.core.exclusive import exclusive_folder
from app.core.storage.documents import all_documents
from app.core.storage.port import Condition, Equals, Query, Range
from app.terminal.console import check_store_exists, command_settings, say
from graph import SessionGraph
from migrations.runner import check_up_to_date

_DAY_MS = 86_400_000


async def prune(idle_days: int, data_dir: Path | None = None) -> None:
    """Delete all but the latest checkpoint of each session that has been idle for so long.

    Raises `Invalid` or `StoreTooOld`.
    """
    settings = command_settings(data_dir)
    check_store_exists(settings)
    pruned = 0
    with exclusive_folder(settings.data_dir):
        async with open_store(settings) as (storage, checkpointer):
            await check_up_to_date(storage)
            graph = SessionGraph(checkpointer)
            long_ago = now_ms() - idle_days * _DAY_MS
            unused: list[Condition] = [Range("updated_at", below=long_ago), Equals("active_run_id", None)]
            async for session in all_documents(storage, "sessions", Query(unused, limit=200)):
                await graph.prune(str(session["id"]))
                pruned += 1
    say(f"{pruned} sessions pruned.")
