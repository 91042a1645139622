"""An event loop over virtual time, whose callbacks belong to simulated processes."""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from operator import attrgetter
from typing import Any, Literal, TypeVar, cast

T = TypeVar("T")


class Process:
    """A process that can die or pause between any two of its callbacks.

    `skew_seconds` is the error of its wall clock. Memory of a dead process stays until the end of the
    simulation, so that none of its `finally` blocks runs: a killed process cleans nothing up.
    """

    def __init__(self, name: str, skew_seconds: float = 0.0) -> None:
        self.name = name
        self.skew_seconds = skew_seconds
        self.state: Literal["alive", "paused", "dead"] = "alive"
        self.waiting: deque[asyncio.Handle] = deque()
        """Callbacks that became ready while it was paused or dead. A dead process's wait for the end."""
        self.tasks: list[asyncio.Task[Any]] = []


_context_of: Callable[[asyncio.Handle], Context] = attrgetter("_context")

CURRENT: ContextVar[Process | None] = ContextVar("simulated process", default=None)


class NothingHappens(Exception):
    """No callback is ready or scheduled."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Time passes only when nothing is ready; then it jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._clock_resolution = 1e-9
        self._ready: deque[asyncio.Handle]
        self._scheduled: list[asyncio.TimerHandle]
        self.errors: list[dict[str, Any]] = []
        self.outside: Context = copy_context()
        """The context of servers and of the world, which no death stops."""
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    def time(self) -> float:
        return self._now

    def spawn(self, process: Process, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start a task that dies and pauses with the process."""
        context = self.outside.copy()
        context.run(CURRENT.set, process)
        task = self.create_task(work, name=f"{process.name}: {name}", context=context)
        process.tasks.append(task)
        return task

    def resume(self, process: Process) -> None:
        """Let a paused process go on."""
        if process.state == "paused":
            process.state = "alive"
            self._ready.extend(process.waiting)
            process.waiting.clear()

    def _run_once(self) -> None:
        scheduled, ready = self._scheduled, self._ready
        while scheduled and scheduled[0]._cancelled:
            heapq.heappop(scheduled)
        if not ready:
            if not scheduled:
                raise NothingHappens
            self._now = max(self._now, scheduled[0].when())
        while scheduled and scheduled[0].when() <= self._now:
            ready.append(heapq.heappop(scheduled))
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            process = cast("Process | None", _context_of(handle).get(CURRENT))
            if process is None or process.state == "alive":
                handle._run()
            else:
                process.waiting.append(handle)

    def _process_events(self, _: object) -> None:
        """There is no input but the simulated."""

    def _write_to_self(self) -> None:
        """There are no threads."""
