"""CPU-bound work in a bounded number of threads, which callers can stop waiting for."""

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class WorkTimedOut(Exception):
    """The work did not end in time. `started` is False when no thread was free for it; `own` is True when
    the owner's other work took the owner's share of threads.
    """

    def __init__(self, *, started: bool, own: bool = False) -> None:
        super().__init__("the work did not end in time")
        self.started = started
        self.own = own


class BoundedThreads:
    """At most `limit` threads, of which one owner's work takes at most half. Later work waits for a free one,
    within its own time limit.

    Python cannot end a thread: one that no caller waits for any more keeps its place until its work ends,
    and is counted as abandoned.
    """

    def __init__(self, limit: int, timeout_seconds: float, name: str) -> None:
        self._executor = ThreadPoolExecutor(limit, thread_name_prefix=name)
        self._share = max(limit // 2, 1)
        self._shares: dict[str, _Share] = {}
        self._timeout_seconds = timeout_seconds
        self._abandoned = 0
        self._lock = threading.Lock()

    @property
    def abandoned(self) -> int:
        """Threads that are at work for no caller."""
        return self._abandoned

    async def run(self, owner: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The work's result. Raises `WorkTimedOut`."""
        context = copy_context()
        limit = asyncio.timeout(self._timeout_seconds)
        future: Future[T] | None = None
        try:
            async with limit:
                with self._share_of(owner) as share:
                    await share.take()
                    future = self._executor.submit(lambda: context.run(work, *args, **kwargs))
                    future.add_done_callback(share.release_from_thread)
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not limit.expired():
                raise
            if future is None:
                raise WorkTimedOut(started=False, own=True) from None
            raise WorkTimedOut(started=not self._withdraw(future)) from None
        except asyncio.CancelledError:
            if future is not None:
                self._withdraw(future)
            raise

    def close(self) -> None:
        """Work that waits is dropped; that under way ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def _share_of(self, owner: str) -> "Generator[_Share]":
        """The owner's places, which are forgotten once nothing waits for them or has one."""
        share = self._shares.setdefault(owner, _Share(self._share))
        share.waiting += 1
        try:
            yield share
        finally:
            share.waiting -= 1
            for idle in [name for name, each in self._shares.items() if each.is_idle]:
                del self._shares[idle]

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


class _Share:
    """The places of one owner. A place is taken until its work ends, also if no caller waits for it."""

    def __init__(self, places: int) -> None:
        self._places = asyncio.Semaphore(places)
        self.waiting = 0
        self._taken = 0
        self._loop = asyncio.get_running_loop()

    @property
    def is_idle(self) -> bool:
        return self.waiting == 0 and self._taken == 0

    async def take(self) -> None:
        await self._places.acquire()
        self._taken += 1

    def release_from_thread(self, _: object) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        self._taken -= 1
        self._places.release()
