"""A client that costs little: it takes the bytes of a stream as they come, and reads them later."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

LONGEST_SECONDS = 240

_FRAME = re.compile(rb"\bid: (\d+)\nevent: \w+\ndata: .*\n\n")
_FIRST_EVENT = b"\nevent: "
_FIRST_WORD = re.compile(rb'"type":"text","content":"[^\n]*","channel":"analysis"')
_DONE = b"\nevent: done\n"


@dataclass
class Wire(asyncio.Protocol):
    """One response; times are of `time.perf_counter`, 0 for what has not happened."""

    asked_at: float = 0
    began_at: float = 0
    first_event_at: float = 0
    first_word_at: float = 0
    done_at: float = 0
    received: bytearray = field(default_factory=bytearray)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False
    _transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        now, self.received = time.perf_counter(), self.received + data
        self.began_at = self.began_at or now
        if not self.first_event_at and _FIRST_EVENT in data:
            self.first_event_at = now
        if not self.first_word_at and _FIRST_WORD.search(data):
            self.first_word_at = now
        if _DONE in data:
            self.done_at = now
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self.news.set()

    def send(self, request: bytes) -> None:
        assert self._transport is not None
        self.asked_at = time.perf_counter()
        self._transport.write(request)

    def close(self) -> None:
        assert self._transport is not None
        self._transport.abort()

    @property
    def run_id(self) -> str:
        found = re.search(rb"x-run-id: (\S+)", self.received, re.IGNORECASE)
        assert found is not None, bytes(self.received[:500])
        return found[1].decode()

    @property
    def ids(self) -> list[int]:
        """Of the events that have come whole."""
        return [int(each[1]) for each in _FRAME.finditer(self.received)]

    async def accepted(self) -> bool:
        """False when the server is too busy and asks to come again; any other answer is a defect."""
        await self._until(lambda: self.began_at > 0)
        assert self.received.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")), bytes(self.received[:500])
        return self.received.startswith(b"HTTP/1.1 200")

    async def ended(self) -> "Wire":
        await self._until(lambda: self.first_event_at > 0)
        return self

    async def talking(self) -> "Wire":
        await self._until(lambda: self.first_word_at > 0)
        return self

    async def done(self) -> "Wire":
        await self._until(lambda: self.done_at > 0)
        self.close()
        assert b'"status":"complete"' in self.received, bytes(self.received[-500:])
        return self

    async def broken(self) -> None:
        """Returns once the server has ended the connection."""
        while not self.closed:
            self.news.clear()
            await self.news.wait()

    async def _until(self, met: Callable[[], bool]) -> None:
        async with asyncio.timeout(LONGEST_SECONDS):
            while not met():
                assert not self.received.startswith(b"HTTP/1.1 4"), bytes(self.received[:1_000])
                assert not self.closed, f"the stream ended early: {bytes(self.received[-500:])!r}"
                self.news.clear()
                await self.news.wait()


async def ask(address: str, session_id: str, question: str) -> Wire:
    body = json.dumps({"query": question}).encode()
    head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return await _request(address, "POST", f"/sessions/{session_id}/query/stream", head, body)


async def follow(address: str, session_id: str, run_id: str, after: int) -> Wire:
    head = f"Last-Event-ID: {after}\r\n" if after else ""
    return await _request(address, "GET", f"/sessions/{session_id}/runs/{run_id}/stream", head, b"")


async def _request(address: str, method: str, path: str, head: str, body: bytes) -> Wire:
    where = urlsplit(address)
    _, wire = await asyncio.get_running_loop().create_connection(Wire, where.hostname or "", where.port or 80)
    wire.send(f"{method} /api/v1{path} HTTP/1.1\r\nHost: {where.netloc}\r\n{head}\r\n".encode() + body)
    return wire
