"""A process with workers of the graph memory that end by SIGKILL at a chosen await.

It imports everything once, then forks for each line of its input: a JSON object of `Order`. It answers with a
line: `killed`, or `done` if the worker's step has fewer awaits.
"""

import asyncio
import json
import os
import pickle
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from tests.support.fake_graphiti import FakeGraphiti
from tests.support.graph_memory import GraphMemory, Sources, graph_memory


@dataclass(frozen=True)
class Order:
    """One step of a worker over a store, at a time of the test's clock."""

    store: str
    url: str
    """Of the stand-in of Graphiti."""
    sources: str
    """A file with the pickled `Sources`."""
    at: int
    awaits: int
    """Awaits of the store and the service that the worker survives. It ends before the next one, and so after
    what the one before has brought about.
    """


class Life:
    def __init__(self, awaits: int) -> None:
        self._left = awaits

    def spend(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


class MortalStorage(MeasuredStorage):
    def __init__(self, store: Storage, life: Life) -> None:
        super().__init__(store, CollectorRegistry())
        self._life = life

    @contextmanager
    def _timed(self, operation: str) -> Generator[None]:
        self._life.spend()
        with super()._timed(operation):
            yield


async def work(order: Order, sources: Sources) -> None:
    life = Life(order.awaits)
    async with open_sqlite(Path(order.store)) as store:
        storage = MortalStorage(store, life)
        async with graph_memory(storage, FakeGraphiti(url=order.url)) as memory:
            memory.time.ms = order.at
            vars(memory.sources).update(vars(sources))
            send = memory.client._send

            async def send_mortally(*args: Any, **named: Any) -> object:
                life.spend()
                return await send(*args, **named)

            vars(memory.client)["_send"] = send_mortally
            await memory.worker.step()


def main() -> None:
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            order = Order(**json.loads(line))
            sources: Sources = pickle.loads(Path(order.sources).read_bytes())  # noqa: S301
            asyncio.run(work(order, sources))
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write({0: "done\n", -signal.SIGKILL: "killed\n"}.get(code, "failed\n"))
        sys.stdout.flush()


class DyingWorker:
    """Runs the process."""

    def __init__(self, process: asyncio.subprocess.Process, memory: GraphMemory, store: Path) -> None:
        self._process = process
        self._memory = memory
        self._store = store

    async def step(self, awaits: int) -> bool:
        """Do one step of a worker. Returns True if it was killed."""
        memory, sources = self._memory, self._store.with_suffix(".sources")
        sources.write_bytes(pickle.dumps(memory.sources))
        order = Order(str(self._store), memory.fake.url, str(sources), memory.time.ms, awaits)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        async with asyncio.timeout(60):
            ended = (await self._process.stdout.readline()).decode().strip()
        assert ended in ("killed", "done"), ended
        return ended == "killed"


@asynccontextmanager
async def dying_worker(memory: GraphMemory, store: Path) -> AsyncGenerator[DyingWorker]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.dying_worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield DyingWorker(process, memory, store)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


if __name__ == "__main__":
    main()
