"""Processes that work, report what they do, and are killed or frozen at it."""

import asyncio
import ctypes
import json
import os
import select
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

SECONDS = 120
_PIECE = 1 << 16
_FROZEN = "frozen"

Write = Callable[..., None]


@dataclass
class Report:
    """What a child has written before it ended."""

    exit_code: int = 0
    lines: list[list[str]] = field(default_factory=list)

    def first(self, kind: str) -> str | None:
        return next((line[1] for line in self.lines if line[0] == kind), None)

    def operations(self, when: str) -> list[str]:
        """Those before it was frozen."""
        end = self.lines.index([_FROZEN]) if [_FROZEN] in self.lines else len(self.lines)
        return [line[2] for line in self.lines[:end] if line[:2] == ["operation", when]]


class Child:
    """A process of this one's copy. It is ended after `SECONDS`."""

    def __init__(self, work: Callable[[Write], Awaitable[None]]) -> None:
        reading, writing = os.pipe()
        self._process_id = os.fork()
        if self._process_id == 0:
            os.close(reading)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            _work_and_exit(work, writing)
        os.close(writing)
        self._pipe = os.fdopen(reading, "rb", buffering=0)
        self._until = time.monotonic() + SECONDS
        self._lines: list[list[str]] = []
        self._unread = self._read()

    def wait_until_frozen(self) -> bool:
        """Returns False if it ends before."""
        if not any(line == [_FROZEN] for line in self._unread):
            return False
        os.waitpid(self._process_id, os.WUNTRACED)
        return True

    def first(self, kind: str) -> str | None:
        """Returns what it has reported first of a kind so far."""
        return Report(lines=self._lines).first(kind)

    def thaw(self) -> None:
        os.kill(self._process_id, signal.SIGCONT)

    def wait_for_operations(self, count: int) -> None:
        """Return when it has begun so many operations, or has ended."""
        begun = (line for line in self._unread if line[:2] == ["operation", "before"])
        for _ in range(count):
            if next(begun, None) is None:
                return

    def wait(self) -> Report:
        """Wait for its end."""
        for _ in self._unread:
            pass
        self._pipe.close()
        _, status = os.waitpid(self._process_id, 0)
        return Report(os.waitstatus_to_exitcode(status), self._lines)

    def _read(self) -> Iterator[list[str]]:
        received = b""
        while select.select([self._pipe], [], [], max(0, self._until - time.monotonic()))[0]:
            piece = self._pipe.read(_PIECE)
            if not piece:
                return
            *whole, received = (received + piece).split(b"\n")
            for line in whole:
                self._lines.append(json.loads(line))
                yield self._lines[-1]
        os.kill(self._process_id, signal.SIGTERM)
        self.thaw()


def forked(work: Callable[[Write], Awaitable[None]]) -> Report:
    """Do it in a process of its own."""
    return Child(work).wait()


def freeze_self(write: Write) -> None:
    """Stop this process, which is a child, until it is thawed."""
    write(_FROZEN)
    os.kill(os.getpid(), signal.SIGSTOP)


def _work_and_exit(work: Callable[[Write], Awaitable[None]], writing: int) -> None:
    def write(*what: str) -> None:
        os.write(writing, json.dumps(what).encode() + b"\n")

    async def all_of_it() -> None:
        await work(write)

    code = 1
    with suppress(BaseException):
        try:
            asyncio.run(all_of_it())
            code = 0
        except BaseException as error:
            write("error", repr(error))
            raise
    os._exit(code)
