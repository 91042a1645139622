"""Time from an approval to the first event of the run that goes on, and what sessions that wait hold.

python -m tests.bench.approvals [--sessions 200] [--approvals 40] [--store sqlite|typesense]     (by hand)

All is one process over an embedded store, or one Typesense; the model answers from another process. Tasks,
threads, descriptors and memory are counted before the first session waits and when all of them do.
"""

import argparse
import asyncio
import ctypes
import gc
import os
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_CALLER, LOCAL_OWNER
from app.core.settings import Settings
from app.modules.run.worker import SWEEP_SECONDS
from tests.bench.killed_turns import QUESTION, running_model, settings_on
from tests.support import booking_tool

AT_ONCE = 8


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    tasks: int
    threads: int
    descriptors: int
    megabytes: float
    """Resident memory, after what is free was given back."""

    @classmethod
    def now(cls) -> "Held":
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        used = pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
        return cls(len(asyncio.all_tasks()), threading.active_count(), descriptors, round(used, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "typesense"], default="sqlite")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--approvals", type=int, default=40)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kai-approvals-") as temporary, ExitStack() as opened:
        folder = Path(temporary)
        settings = settings_on(folder, opened.enter_context(running_model()), given.store, opened)
        booking_tool.install(folder / "site")
        sys.path.insert(0, str(folder / "site"))
        os.environ[booking_tool.VARIABLE] = str(folder / "bookings")
        with closing(sqlite3.connect(folder / "shop.db")) as shop:
            shop.executescript("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
        asyncio.run(_measure(settings, f"sqlite:///{folder}/shop.db", given.sessions, given.approvals))


async def _measure(settings: Settings, database: str, sessions: int, approvals: int) -> None:
    async with open_services(settings, "once") as services:
        connection = await services.database_connections.register(
            LOCAL_OWNER, database, "shop", description=""
        )
        room = asyncio.Semaphore(AT_ONCE)

        async def wait() -> str:
            async with room:
                return await _waiting(services, connection.id)

        waiting = [await wait() for _ in range(AT_ONCE)]
        before = Held.now()
        waiting += await asyncio.gather(*(wait() for _ in range(sessions - AT_ONCE)))
        print(f"held with {AT_ONCE} sessions that wait: {before}")
        print(f"held with {len(waiting)} sessions that wait: {Held.now()}")
        used = time.process_time()
        await asyncio.sleep(SWEEP_SECONDS)
        print(f"processor time of {SWEEP_SECONDS:g} s of waiting: {time.process_time() - used:.2f} s")
        took = [await _approved_ms(services, session_id) for session_id in waiting[:approvals]]
        print(
            f"approval to first event: median {statistics.median(took):.1f} ms, "
            f"from {min(took):.1f} to {max(took):.1f} ({len(took)} approvals)"
        )


async def _waiting(services: Services, connection_id: str) -> str:
    """Returns the id of a session in which a call waits."""
    session = await services.sessions.create(LOCAL_OWNER, connection_id, None, mode="agent", metadata={})
    asked = await services.sessions.ask(
        LOCAL_OWNER, session.id, QUESTION, on_busy="reject", idempotency_key=None
    )
    async for _ in services.sessions.follower.events(*asked):
        pass
    return session.id


async def _approved_ms(services: Services, session_id: str) -> float:
    (card,), _ = await services.confirmations.page(LOCAL_OWNER, session_id, "waiting", limit=1, cursor=None)
    began = time.perf_counter()
    decided = await services.confirmations.decide(
        LOCAL_CALLER,
        session_id,
        card.id,
        verdict="approve",
        call_hash=card.call_hash,
        reason=None,
    )
    if decided.run_id is None:
        raise RuntimeError("no run goes on")
    following = await services.sessions.run(LOCAL_OWNER, session_id, decided.run_id)
    events = services.sessions.follower.events(*following)
    await anext(events)
    took = (time.perf_counter() - began) * 1_000
    async for _ in events:
        pass
    return took


if __name__ == "__main__":
    main()
