"""CPU-bound work in a bounded number of threads, which callers can stop waiting for."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class WorkTimedOut(Exception):
    """The work did not end in time. `started` is False when no thread was free for it."""

    def __init__(self, *, started: bool) -> None:
        super().__init__("the work did not end in time")
        self.started = started


class BoundedThreads:
    """At most `limit` threads. Later work waits for a free one, within its own time limit.

    Python cannot end a thread: one that no caller waits for any more keeps its place until its work ends,
    and is counted as abandoned.
    """

    def __init__(self, limit: int, timeout_seconds: float, name: str) -> None:
        self._executor = ThreadPoolExecutor(limit, thread_name_prefix=name)
        self._timeout_seconds = timeout_seconds
        self._abandoned = 0
        self._lock = threading.Lock()

    @property
    def abandoned(self) -> int:
        """Threads that are at work for no caller."""
        return self._abandoned

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The work's result. Raises `WorkTimedOut`."""
        context = copy_context()
        future = self._executor.submit(lambda: context.run(work, *args, **kwargs))
        limit = asyncio.timeout(self._timeout_seconds)
        try:
            async with limit:
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if limit.expired():
                raise WorkTimedOut(started=not self._withdraw(future)) from None
            raise
        except asyncio.CancelledError:
            self._withdraw(future)
            raise

    def close(self) -> None:
        """Work that waits is dropped; that under way ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _withdraw(self, future: "Future[T]") -> bool:
        """Cancel the work. Returns False if it has started already."""
        if future.cancel():
            return True
        with self._lock:
            self._abandoned += 1
        future.add_done_callback(self._ended)  # at once if it has ended meanwhile
        return False

    def _ended(self, _: object) -> None:
        with self._lock:
            self._abandoned -= 1
