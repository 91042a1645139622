"""Time from an approval to the first event of the run that goes on, and what sessions that wait hold.

python -m tests.bench.approvals [--sessions 10000] [--approvals 40] [--store sqlite|typesense]     (by hand)

All is one process over an embedded store, or one Typesense; the model answers from another process. Those
that are approved have been asked. The other sessions are copies of the first one's records in the store,
without checkpoints. Tasks, threads, descriptors and memory are counted before the copies are made and when
all wait.
"""

import argparse
import asyncio
import ctypes
import gc
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_CALLER, LOCAL_OWNER
from app.core.ids import new_id
from app.core.settings import Settings
from app.core.storage.port import Document, Equals, Query, Storage
from app.modules.records.model import NewQuestion
from app.modules.records.steps import call_id_of, step_id
from app.modules.run.worker import SWEEP_SECONDS
from tests.bench.killed_turns import QUESTION, running_model, settings_on
from tests.support import booking_tool

AT_ONCE = 8
COPIED = ("sessions", "runs", "messages", "agent_steps", "tool_calls")
AT_ONCE_COPIED = 200


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
    parser.add_argument("--sessions", type=int, default=10_000)
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

        waiting = await asyncio.gather(*(wait() for _ in range(max(approvals, 1))))
        await _idle(len(waiting))
        began = time.monotonic()
        await _copy(services.storage, waiting[0], sessions - len(waiting))
        print(f"copied in {time.monotonic() - began:.0f} s")
        counts = [await services.storage.count(name, []) for name in COPIED]
        print(dict(zip(COPIED, counts, strict=True)))
        await _idle(sessions)
        took = [await _approved_ms(services, session_id) for session_id in waiting[:approvals]]
        print(
            f"approval to first event: median {statistics.median(took):.1f} ms, "
            f"from {min(took):.1f} to {max(took):.1f} ({len(took)} approvals)"
        )


async def _idle(sessions: int) -> None:
    """Print what the process holds, and what it spends in a time in which every sweep runs twice."""
    print(f"held with {sessions} sessions that wait: {Held.now()}")
    used = time.process_time()
    await asyncio.sleep(2 * SWEEP_SECONDS)
    print(f"processor time of {2 * SWEEP_SECONDS:g} s of waiting: {time.process_time() - used:.2f} s")


async def _copy(storage: Storage, session_id: str, copies: int) -> None:
    """Store the records of a session that waits again, each time with ids of their own."""
    own = [Equals("session_id", session_id)]
    session = await storage.get("sessions", session_id)
    found = {name: (await storage.query(name, Query(own))).items for name in COPIED[1:]}
    found["sessions"] = [] if session is None else [session]
    kept = {name: json.dumps(documents) for name, documents in found.items()}
    steps, (call,) = found["agent_steps"], found["tool_calls"]
    made: dict[str, list[Document]] = {name: [] for name in COPIED}
    for number in range(1, copies + 1):
        ids = {str(each["id"]): new_id() for name in COPIED[:3] for each in found[name]}
        message_id = ids[str(call["message_id"])]
        ids |= {str(each["id"]): step_id(message_id, int(str(each["step"]))) for each in steps}
        ids[str(call["id"])] = call_id_of(message_id, 1, 0)
        for name, text in kept.items():
            made[name] += json.loads(_renamed(text, ids))
        if number % AT_ONCE_COPIED == 0 or number == copies:
            for name, documents in made.items():
                await storage.put(name, documents)
                documents.clear()


def _renamed(text: str, ids: Mapping[str, str]) -> str:
    for old, new in ids.items():
        text = text.replace(old, new)
    return text


async def _waiting(services: Services, connection_id: str) -> str:
    """Returns the id of a session in which a call waits."""
    session = await services.sessions.create(LOCAL_OWNER, connection_id, None, mode="agent", metadata={})
    asked = await services.sessions.ask(LOCAL_OWNER, session.id, NewQuestion(QUESTION))
    async for _ in services.sessions.follower.events(asked[1]):
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
    events = services.sessions.follower.events(following[1])
    await anext(events)
    took = (time.perf_counter() - began) * 1_000
    async for _ in events:
        pass
    return took


if __name__ == "__main__":
    main()
