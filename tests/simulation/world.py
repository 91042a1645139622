"""The world of one seed: its loop, its processes, and a network between them and the servers that fails."""

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, assert_never

from app.modules.records.model import Run
from tests.simulation.loop import CURRENT, Process, VirtualLoop

T = TypeVar("T")

Kind = Literal[
    "die before",
    "die after",
    "die at answer",
    "pause",
    "answer lost",
    "refused",
    "late",
    "twice",
    "slow",
    "store unreachable",
    "bus unreachable",
    "queue forgets",
    "overtaken",
    "worker stops",
]
"""Faults. `die` before the request leaves, after the server has done it, or as the answer comes. `late`: the
caller gives up, and the server does it all the same some seconds later. `twice`: the server does it again.
`overtaken`: the caller pauses before the request leaves, and the decisions are lost meanwhile."""

KINDS: tuple[Kind, ...] = (
    *("die before", "die after", "die at answer", "pause", "answer lost", "refused", "late", "twice"),
    *("slow", "store unreachable", "bus unreachable", "queue forgets", "overtaken"),
    "worker stops",
)

TIMEOUT_SECONDS = 2.0
LATE_SECONDS = 4.0
"""How long after its timeout a request may still be done."""

_NO_BREAK_SECONDS = 2.0
"""A store that answers for less than this between two outages has, to those that ask it twice a second
and wait for its answer, been unreachable all the time."""

STORE_PATIENCE_SECONDS = 15.0


class Unreachable(Exception):
    """The server was not reached, or its answer did not come."""


@dataclass
class Server:
    """A server: the store, one of the bus, or the office that a tool acts in. Until `down_until` it answers
    nothing.
    """

    name: Literal["store", "queue", "logs", "completed", "decisions", "office"]
    down_since: float = -1_000.0
    down_until: float = -1_000.0


@dataclass
class World:
    """`faults` are by number of the request that they strike, `write_faults` by number among those that write
    to the store or decide what is written, `effect_faults` among those that have an effect elsewhere,
    `end_faults` among those that write the end of a run.
    """

    seed: int
    loop: VirtualLoop
    faults: dict[int, Kind]
    write_faults: dict[int, Kind]
    effect_faults: dict[int, Kind] = field(default_factory=dict)
    end_faults: dict[int, Kind] = field(default_factory=dict)
    traced: bool = False
    requests: int = 0
    writes: int = 0
    effects: int = 0
    ends: int = 0
    struck: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    on_begin: Callable[[Run], None] = lambda _: None
    on_death: Callable[[Process], None] = lambda _: None
    on_stop: Callable[[Process], None] = lambda _: None
    on_queue_loss: Callable[[], None] = lambda: None
    on_decisions_loss: Callable[[], None] = lambda: None
    on_done: Callable[[str, str], None] = lambda _, __: None
    on_effect: Callable[[str], None] = lambda _: None
    """Called with the id of a call as its effect happens."""
    connections: dict[str, dict[asyncio.Future[Any], None]] = field(default_factory=dict)
    """Responses that clients wait for, by process, oldest first."""

    losses: int = 0
    """How often the decisions were lost."""
    fences: set[tuple[str, int]] = field(default_factory=set)
    """Sessions with the fences that callers were given."""

    def __post_init__(self) -> None:
        self.chance = random.Random(f"world {self.seed}")
        self.store = Server("store")
        self.queue = Server("queue")
        self.logs = Server("logs")
        self.completed = Server("completed")
        self.decisions = Server("decisions")
        self.office = Server("office")
        self.over = False
        self.held_at_done: list[str] = []
        """Runs that still held their session as a client saw their `done`."""
        self.long_outage = False
        """The store was unreachable for longer than a stream waits for it."""
        self.store_retries = self.chance.choice([0, 1])

    def note(self, what: str) -> None:
        """Write a line of the trace."""
        if self.traced:
            process = CURRENT.get()
            name = "world" if process is None else process.name
            self.trace.append(f"{self.loop.time():9.4f} {name:10} {what}")

    def violate(self, sentence: str) -> None:
        """Record that an invariant does not hold."""
        self.note(f"VIOLATION {sentence}")
        self.violations.append(sentence)

    def later(self, seconds: float, call: Callable[[], object]) -> None:
        """Call outside all processes."""
        self.loop.call_at(self.loop.time() + seconds, call, context=self.loop.outside)

    def kill(self, process: Process) -> None:
        """The process stops between two instructions; nothing of it runs any more."""
        if process.state != "dead":
            self.note(f"{process.name} DIES")
            process.state = "dead"
            self.loop.call_soon(self.on_death, process, context=self.loop.outside)

    def pause(self, process: Process, seconds: float) -> None:
        if process.state == "alive":
            self.note(f"{process.name} PAUSES for {seconds:.2f} s")
            process.state = "paused"
            self.later(seconds, lambda: self.loop.resume(process))

    async def request(
        self, server: Server, what: str, act: Callable[[], T], *, writes: bool = False, ends: bool = False
    ) -> T:
        """Have a server do something over the network. Raises `Unreachable`; nothing is known then.

        `ends`: it writes the end of a run.
        """
        if self.over:
            raise asyncio.CancelledError
        process = CURRENT.get()
        fault = self._next_fault(server, writes=writes, ends=ends)
        losses = self.losses if writes and server is self.store else None
        if process is None or fault is None:
            return await self._serve(server, what, act)
        self.struck.append(f"{fault}: {process.name} > {server.name} {what}")
        self.note(f"FAULT {fault} at {what}")
        match fault:
            case "die before":
                self.kill(process)
                return await asyncio.Future()
            case "die after":
                self._arrive(server, what, act)
                self.kill(process)
                return await asyncio.Future()
            case "die at answer":
                await self._serve(server, what, act)
                self.kill(process)
                return await asyncio.Future()
            case "pause":
                self.pause(process, self.chance.choice([0.3, 1.5, 4.0, 8.0]))
                return await self._serve(server, what, act)
            case "answer lost":
                self._arrive(server, what, act)
                await asyncio.sleep(TIMEOUT_SECONDS)
                raise Unreachable(f"the answer of the {server.name} is lost")
            case "refused":
                await asyncio.sleep(0.001)
                raise Unreachable(f"the {server.name} refuses")
            case "late":
                seconds = TIMEOUT_SECONDS + self.chance.random() * LATE_SECONDS
                self.later(seconds, lambda: self._do_late(server, what, act, losses))
                await asyncio.sleep(TIMEOUT_SECONDS)
                raise Unreachable(f"the {server.name} is late")
            case "twice":
                result = await self._serve(server, what, act)
                if writes and server is not self.office:  # who books twice is not KAI
                    self.later(self.chance.random() * 2, lambda: self._do_late(server, what, act, losses))
                return result
            case "slow":
                await asyncio.sleep(self.chance.random() * TIMEOUT_SECONDS)
                if losses not in (None, self.losses):
                    raise Unreachable(f"the {server.name} is unreachable")
                return await self._serve(server, what, act)
            case "store unreachable":
                seconds = self.chance.choice([0.7, 2.5, 6.0, 10.0, 25.0])
                if server is self.store and self.chance.random() < 0.5:
                    self._do(server, what, act)  # the last that it has done
                self._lose_store(seconds)
                return await self._serve(server, what, act)
            case "bus unreachable":
                until = self.loop.time() + self.chance.choice([0.7, 2.5, 6.0])
                for each in (self.queue, self.logs, self.completed, self.decisions):
                    each.down_until = until
                return await self._serve(server, what, act)
            case "queue forgets":
                self.on_queue_loss()
                return await self._serve(server, what, act)
            case "overtaken" if losses is not None:
                return await self._serve(server, what, act)
            case "overtaken":
                seconds = self.chance.choice([4.0, 8.0])
                self.later(seconds * self.chance.random(), self.on_decisions_loss)
                self.pause(process, seconds)
                await asyncio.sleep(0)
                return await self._serve(server, what, act)
            case "worker stops":
                self.later(0, lambda: self.on_stop(process))
                return await self._serve(server, what, act)
            case _:
                assert_never(fault)

    def _next_fault(self, server: Server, *, writes: bool, ends: bool) -> Kind | None:
        self.requests += 1
        fault = self.faults.pop(self.requests, None)
        if writes:
            self.writes += 1
            fault = self.write_faults.pop(self.writes, fault)
        if server is self.office:
            self.effects += 1
            fault = self.effect_faults.pop(self.effects, fault)
        if ends:
            self.ends += 1
            fault = self.end_faults.pop(self.ends, fault)
        return fault

    def _lose_store(self, seconds: float) -> None:
        now = self.loop.time()
        if now - self.store.down_until > _NO_BREAK_SECONDS:
            self.store.down_since = now
        self.store.down_until = max(self.store.down_until, now + seconds)
        outage = self.store.down_until - self.store.down_since
        self.long_outage = self.long_outage or outage > STORE_PATIENCE_SECONDS

    async def _serve(self, server: Server, what: str, act: Callable[[], T]) -> T:
        """The request arrives also if its sender dies meanwhile; the answer is the sender's own affair."""
        loop, chance, inside = self.loop, self.chance, copy_context()
        answer: asyncio.Future[T] = loop.create_future()
        there = chance.random() * 0.004 + (chance.random() * 0.3 if chance.random() < 0.02 else 0)
        back = chance.random() * 0.004

        def arrive() -> None:
            if server.down_until > loop.time():
                loop.call_at(loop.time() + back, fail, context=inside)
            else:
                result = act()
                inside.copy().run(self._note_done, server, what, result)
                loop.call_at(loop.time() + back, finish, result, context=inside)

        def finish(result: T) -> None:
            if not answer.done():
                answer.set_result(result)

        def fail() -> None:
            if not answer.done():
                answer.set_exception(Unreachable(f"the {server.name} is unreachable"))

        loop.call_at(loop.time() + there, arrive, context=loop.outside)
        return await answer

    def _arrive(self, server: Server, what: str, act: Callable[[], object]) -> None:
        self.later(self.chance.random() * 0.004, lambda: self._do(server, what, act))

    def _do_late(self, server: Server, what: str, act: Callable[[], T], losses: int | None) -> None:
        """A write to the store is not late beyond a loss of the decisions, after which nothing repairs it:
        `docs/typesense.md` names this limit.
        """
        if losses in (None, self.losses):
            self._do(server, what, act)

    def _do(self, server: Server, what: str, act: Callable[[], T]) -> T:
        result = act()
        self._note_done(server, what, result)
        return result

    def _note_done(self, server: Server, what: str, result: object) -> None:
        if self.traced:
            self.note(f"{server.name}: {what} -> {_short(result)}")


def _short(result: object) -> str:
    """A result in a line of the trace; documents by what decides in them."""
    if isinstance(result, list):
        return "[" + ", ".join(map(_short, result)) + "]"
    return described(result) if isinstance(result, dict) else str(result)[:120]


_REPORTED = (
    "status",
    "attempt",
    "handovers",
    "active_run_id",
    "fence",
    "turn",
    "sequence",
    "role",
    "question",
    "query",
)


def described(row: Mapping[str, object]) -> str:
    """A stored row in a few words."""
    document = json.loads(str(row.get("document0", "{}")))
    parts = [f"{name}={str(document[name])[-14:]}" for name in _REPORTED if document.get(name) is not None]
    base = f"{str(row['base'])[:4]}->" if "base" in row else ""
    return f"<{str(document.get('id', ''))[-4:]} {base}{str(row.get('revision0'))[:4]} {' '.join(parts)}>"
