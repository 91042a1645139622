"""An event loop over virtual time, whose callbacks belong to simulated processes."""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any, Literal, TypeVar, TypeVarTuple

T = TypeVar("T")
Args = TypeVarTuple("Args")


class Process:
    """A process that can die or pause between any two of its callbacks.

    `skew_seconds` is the error of its wall clock. Memory of a dead process stays until the end of the
    simulation, so that none of its `finally` blocks runs: a killed process cleans nothing up.
    """

    def __init__(self, name: str, skew_seconds: float = 0.0) -> None:
        self.name = name
        self.skew_seconds = skew_seconds
        self.state: Literal["alive", "paused", "dead"] = "alive"
        self.waiting: deque[Callback] = deque()
        """Callbacks that became ready while it was paused or dead. A dead process's wait for the end."""
        self.tasks: list[asyncio.Task[Any]] = []


CURRENT: ContextVar[Process | None] = ContextVar("simulated process", default=None)


class NothingHappens(Exception):
    """No callback is ready or scheduled."""


class Callback(asyncio.TimerHandle):
    """A handle without what debugging needs. A seed makes thousands."""

    __slots__ = ()

    def __init__(self, call: Callable[..., object], args: tuple[Any, ...], context: Context | None) -> None:
        self._callback = call
        self._args = args
        self._context = copy_context() if context is None else context
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True


class VirtualLoop(asyncio.BaseEventLoop):
    """Time passes only when nothing is ready; then it jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._stopping: bool
        self._next: deque[Callback] = deque()
        self._timers: list[tuple[float, int, Callback]] = []
        """With a number each, so that those of one time keep their order."""
        self._timers_made = 0
        self.errors: list[dict[str, Any]] = []
        self.outside: Context = copy_context()
        """The context of servers and of the world, which no death stops."""
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> Callback:
        made = Callback(callback, args, context)
        self._next.append(made)
        return made

    def call_at(
        self, when: float, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> Callback:
        made = Callback(callback, args, context)
        self._timers_made += 1
        heapq.heappush(self._timers, (when, self._timers_made, made))
        return made

    def call_later(
        self, delay: float, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> Callback:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_soon_threadsafe(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> Callback:
        """There is one thread. Generators without a reader are closed by this."""
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(
        self, executor: object, func: Callable[[*Args], T], *args: *Args
    ) -> "asyncio.Future[T]":
        """Call it at once: what another thread does takes no time."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future

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
            self.revive(process)

    def revive(self, process: Process) -> None:
        process.state = "alive"
        self._next.extend(process.waiting)
        process.waiting.clear()

    def _run_once(self) -> None:
        ready = self._next
        while not self._stopping:
            if not ready:
                self._pass_time()
            callback = ready.popleft()
            if callback._cancelled:
                continue
            context = callback._context
            process = context.get(CURRENT)
            if process is None or process.state == "alive":
                try:
                    context.run(callback._callback, *callback._args)
                except Exception as error:  # noqa: BLE001
                    self.errors.append({"exception": error})
            else:
                process.waiting.append(callback)

    def _pass_time(self) -> None:
        """Jump to the next timer."""
        timers = self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        if not timers:
            raise NothingHappens
        self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            self._next.append(heapq.heappop(timers)[2])
