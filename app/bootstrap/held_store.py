"""Holds a Typesense prefix for one process: without a bus, two would take each other's runs.

The embedded store needs none of it: the lock of its data folder does the same.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import TypeAlias
from uuid import UUID

from pydantic import JsonValue

from app.core.clock import now_ms, rfc3339
from app.core.ids import new_id
from app.core.storage.lease import Lease
from app.core.storage.port import Storage, StorageHeld
from app.core.tasks import Loops

LEASE_MS = 15_000
_RENEWED_EVERY_SECONDS = 5
_LOOK_AGAIN_SECONDS = 0.5
_LEASE_ID = str(UUID(int=2))

Waiting: TypeAlias = Callable[[Callable[[], Awaitable[StorageHeld]]], AbstractAsyncContextManager[None]]
"""Does something while another process holds the store; the call in it says which."""

logger = logging.getLogger(__name__)


@asynccontextmanager
async def held_store(storage: Storage, data_dir: Path, waiting: Waiting | None) -> AsyncGenerator[None]:
    """Hold the store for the block. While another process holds it, wait if there is a `waiting`.

    The data folder is locked: a former holder of the same folder has ended, so its lease is taken over at
    once. A process that finds its lease taken, because it did not run for long, ends at once: the other goes
    on with its runs.

    Raises `StorageHeld` without a `waiting`, and `StorageUnavailable`.
    """
    about: Mapping[str, JsonValue] = {"host": gethostname(), "process": os.getpid(), "since": now_ms()}
    holder = f"{gethostname()} {_folder_id(data_dir / 'holder')}"
    lease = Lease(storage, _LEASE_ID, holder, for_ms=LEASE_MS, about=about)
    if not await lease.take():
        if waiting is None:
            raise await _held(lease)
        async with waiting(partial(_held, lease)):
            await _wait_for(lease)
    async with AsyncExitStack() as until_released:
        until_released.push_async_callback(lease.release)
        loops = await until_released.enter_async_context(Loops("store"))
        loops.every(_RENEWED_EVERY_SECONDS, "renew its lease", partial(_renew, lease))
        yield


async def _wait_for(lease: Lease) -> None:
    while True:
        if await lease.take():
            return
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)


async def _renew(lease: Lease) -> None:
    """End the process if another one has the lease."""
    if not await lease.renew():
        held = await _held(lease)
        logger.error("%s It took over while this process did not run. This process ends.", held)
        os._exit(1)  # nothing may be written any more, not even on the way out


async def _held(lease: Lease) -> StorageHeld:
    about = await lease.about()
    since = about.get("since")
    began = f", since {rfc3339(since)}" if isinstance(since, int) else ""
    return StorageHeld(
        f"Another KAI uses this store: process {about.get('process')} on {about.get('host')}{began}. Without "
        "KAI_NATS__URL one process does."
    )


def _folder_id(path: Path) -> str:
    """Returns the id of a data folder, which is created on first use. The folder is locked."""
    if not path.exists():
        path.write_text(new_id())
    return path.read_text()
