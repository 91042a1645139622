"""Checkpointers side by side: `make bench-checkpointers` runs it, on servers that it starts.

The peers (LangGraph's savers, and the public one for Typesense) are measured where they are installed.
Figures are of this machine; compare them only with figures of the same run.
"""

import asyncio
import operator
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

import httpx
from cryptography.fernet import Fernet
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from app.core.secrets import ClearCheckpoints
from app.core.storage.typesense_server import TypesenseServer
from app.core.storage.typesense_transport import KeepAliveTransport
from graph import SessionGraph, Turn
from graph.checkpoints import Checkpointer, sqlite_checkpointer
from tests.fakes import fake_ports
from tests.support.postgres_server import postgres_server, programs
from tests.support.typesense import checkpointer_of

AT_TURNS = (1, 50, 500)
AROUND = 7
NODES = 6
THREADS = 1_000
LIMIT_SECONDS = 150

Saver = BaseCheckpointSaver[Any]
Call = Callable[..., Awaitable[Any]]


@dataclass
class Wire:
    """Requests sent and their bytes; `resident_kib` of the server, where there is one."""

    requests: int = 0
    sent: int = 0
    server: TypesenseServer | None = None

    def note(self, request: httpx.Request) -> None:
        self.requests += 1
        self.sent += len(request.content)

    def resident_mib(self) -> float:
        if self.server is None:
            return 0
        status = Path(f"/proc/{self.server.process_id}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1_024


class Counting(KeepAliveTransport):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self.wire = wire

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.wire.note(request)
        return await super().handle_async_request(request)


class CountingSync(httpx.HTTPTransport):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self.wire = wire

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.wire.note(request)
        return super().handle_request(request)


@asynccontextmanager
async def memory() -> AsyncGenerator[tuple[Saver, Wire]]:
    yield InMemorySaver(), Wire()


@asynccontextmanager
async def sqlite() -> AsyncGenerator[tuple[Saver, Wire]]:
    with temporary_folder() as folder:
        async with sqlite_checkpointer(
            folder / "checkpoints.db", ClearCheckpoints(Fernet.generate_key())
        ) as saver:
            yield saver, Wire()


@asynccontextmanager
async def postgres() -> AsyncGenerator[tuple[Saver, Wire]]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    folder = programs()
    if folder is None:
        raise ImportError("no PostgreSQL here")
    with postgres_server(folder) as server:
        async with AsyncPostgresSaver.from_conn_string(server.url("postgres")) as saver:
            await saver.setup()
            yield saver, Wire()


@asynccontextmanager
async def kai() -> AsyncGenerator[tuple[Saver, Wire]]:
    with typesense() as server:
        wire = Wire(server=server)
        async with checkpointer_of(server, Counting(wire)) as saver:
            yield saver, wire


@asynccontextmanager
async def peer() -> AsyncGenerator[tuple[Saver, Wire]]:
    from langgraph_checkpoint_typesense import AsyncTypesenseSaver
    from typesense import Client

    with typesense() as server:
        wire = Wire(server=server)
        with httpx.Client(transport=CountingSync(wire), timeout=10) as http:
            saver = AsyncTypesenseSaver(Client({"api_key": server.api_key, "nodes": [server.url]}, http))
            await saver.setup()
            yield saver, wire


SAVERS = {
    "in memory": memory,
    "SQLite": sqlite,
    "PostgreSQL": postgres,
    "Typesense (KAI)": kai,
    "Typesense (peer)": peer,
}


class Growing(TypedDict):
    messages: Annotated[list[str], operator.add]


def growing(saver: Saver) -> Callable[[str, int], Awaitable[None]]:
    """Six nodes and a list of messages that grows, as the peers' users have it."""
    shape = StateGraph(Growing)
    for number in range(NODES):
        shape.add_node(f"n{number}", lambda _, number=number: {"messages": [f"{number} " * 20]})
        shape.add_edge(START if number == 0 else f"n{number - 1}", f"n{number}")
    graph = shape.compile(checkpointer=saver)

    async def turn(thread: str, _: int) -> None:
        await graph.ainvoke(
            {"messages": ["question"]}, {"configurable": {"thread_id": thread}}, durability="sync"
        )

    return turn


def sessions(saver: Saver) -> Callable[[str, int], Awaitable[None]]:
    """KAI's own graph, whose state is bounded; its ports do nothing."""
    graph = SessionGraph(cast("Checkpointer", saver))  # a peer's saver cannot delete turns; none is deleted

    async def turn(thread: str, number: int) -> None:
        asked = Turn(
            session_id=thread,
            db_connection_id="d",
            run_id=f"r{number}",
            message_id=f"m{number}",
            question="How many?",
            metadata={},
            session_created_at="2026-01-01",
            asked_at="2026-01-01",
            fence=number,
        )
        async for _ in graph.ask(asked, fake_ports()):
            pass

    return turn


@dataclass
class Clock:
    """Milliseconds of the saver's single calls."""

    puts: list[float] = field(default_factory=list)
    gets: list[float] = field(default_factory=list)

    def watch(self, saver: Saver) -> None:
        for name, times in (("aput", self.puts), ("aget_tuple", self.gets)):
            setattr(saver, name, self._timed(getattr(saver, name), times))

    def _timed(
        self, call: Callable[..., Awaitable[Any]], times: list[float]
    ) -> Callable[..., Awaitable[Any]]:
        async def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            answer = await call(*arguments, **named)
            times.append((time.perf_counter() - start) * 1_000)
            return answer

        return timed


async def measure(name: str, graph_of: Callable[[Saver], Callable[[str, int], Awaitable[None]]]) -> None:
    async with SAVERS[name]() as (saver, wire):
        turn = graph_of(saver)
        for warming in range(5):
            await turn("another", warming)
        clock = Clock()
        clock.watch(saver)
        turns: list[Turned] = []
        started = time.perf_counter()
        while len(turns) < max(AT_TURNS) + AROUND and time.perf_counter() - started < LIMIT_SECONDS:
            turns.append(await timed_turn(turn, len(turns), wire))
        cells = [f"{cell(turns, at)}" for at in AT_TURNS]
        print(
            f"{name:<18} {' | '.join(cells)} | put {spread(clock.puts)}, get_tuple {spread(clock.gets)} ms",
            flush=True,
        )


@dataclass(frozen=True)
class Turned:
    """What one turn took: milliseconds, requests, bytes sent."""

    took: float
    requests: int
    sent: int


async def timed_turn(turn: Callable[[str, int], Awaitable[None]], number: int, wire: Wire) -> Turned:
    requests, sent, start = wire.requests, wire.sent, time.perf_counter()
    await turn("t", number)
    took = (time.perf_counter() - start) * 1_000
    return Turned(took, wire.requests - requests, wire.sent - sent)


def cell(turns: Sequence[Turned], at: int) -> str:
    """The median of some turns from that one on."""
    some = turns[at - 1 : at - 1 + AROUND]
    if len(some) < AROUND:
        return f"stopped at turn {len(turns)}"
    took = statistics.median(each.took for each in some)
    requests = statistics.median(each.requests for each in some)
    sent = statistics.median(each.sent for each in some) / 1_024
    return f"{took:6.1f} ms" + (f" {requests:.0f} requests {sent:.1f} kB" if requests else "")


async def memory_of_threads(name: str) -> None:
    async with SAVERS[name]() as (saver, wire):
        turn = growing(saver)
        await turn("first", 0)
        before = wire.resident_mib()
        for number in range(THREADS):
            await turn(f"thread {number}", 1)
        print(f"{name:<18} {wire.resident_mib() - before:.0f} MiB for {THREADS} threads of one turn")


def spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered):.1f} p99 {ordered[int(len(ordered) * 0.99)]:.1f}"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kai-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def typesense() -> Iterator[TypesenseServer]:
    with temporary_folder() as folder:
        server = TypesenseServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()


async def main() -> None:
    for title, graph_of in (("the growing graph", growing), ("KAI's own graph", sessions)):
        print(f"\n{title}, turns {AT_TURNS}")
        for name in SAVERS:
            try:
                await measure(name, graph_of)
            except ImportError as missing:
                print(f"{name:<18} not installed here ({missing})")
    print("\nmemory of the server")
    for name in ("Typesense (KAI)", "Typesense (peer)"):
        try:
            await memory_of_threads(name)
        except ImportError as missing:
            print(f"{name:<18} not installed here ({missing})")


if __name__ == "__main__":
    asyncio.run(main())
