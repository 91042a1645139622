"""A process with workers of schedules that end by SIGKILL at a chosen await of the store.

It imports everything once, then forks for each line of its input: a JSON object of `Order`. It answers with a
line: `killed`, or `done` if the run of the schedule has fewer awaits.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry

from app.core.auth.api_keys import ApiKeys
from app.core.secrets import SecretBox
from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.service import DatabaseConnections
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.running import Runs
from migrations.runner import migrate
from tests.support.dying_worker import Life, MortalStorage
from tests.support.records import no_records
from tests.support.webhooks import events_of


@dataclass(frozen=True)
class Order:
    """One look of a worker at a store, at a time of the test's clock."""

    store: str
    key: str
    at: int
    awaits: int
    """Awaits of the store that the worker survives. It ends before the next one."""


async def work(storage: Storage, key: str, at: int) -> None:
    """Run the schedules that are due."""
    boards = BoardRepository(storage)
    box = SecretBox(key.encode())
    connections = DatabaseConnections(storage, box, ConnectionLimits(), records=no_records())
    refreshing = Refreshing(boards, connections, CollectorRegistry())
    try:
        runs = Runs(
            ScheduleRepository(storage),
            boards,
            refreshing,
            events=events_of(storage),
            connections=connections.repository,
            keys=ApiKeys(storage),
            metrics=CollectorRegistry(),
            now=lambda: at,
        )
        for schedule in await runs.claim(10):
            await runs.run(schedule)
    finally:
        await connections.close()


async def _work_mortally(order: Order) -> None:
    async with open_sqlite(Path(order.store)) as store:
        await migrate(store)
        await work(MortalStorage(store, Life(order.awaits)), order.key, order.at)


def main() -> None:
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            asyncio.run(_work_mortally(Order(**json.loads(line))))
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write({0: "done\n", -signal.SIGKILL: "killed\n"}.get(code, "failed\n"))
        sys.stdout.flush()


class DyingSchedules:
    """Runs the process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def work(self, order: Order) -> bool:
        """Returns True if the worker was killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        async with asyncio.timeout(60):
            ended = (await self._process.stdout.readline()).decode().strip()
        assert ended in ("killed", "done"), ended
        return ended == "killed"


@asynccontextmanager
async def dying_schedules() -> AsyncGenerator[DyingSchedules]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from tests.support.dying_schedules import main; main()",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield DyingSchedules(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
