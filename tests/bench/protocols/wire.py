"""A client that costs little: one request, and the moments when bytes of its answer came."""

import asyncio
import json
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import JsonValue

LONGEST_SECONDS = 120


@dataclass(frozen=True)
class Answer:
    """A whole answer. Times are milliseconds from the request."""

    received: bytes
    first_frame: float
    whole: float

    @property
    def content(self) -> JsonValue:
        """The body as JSON."""
        found: JsonValue = json.loads(self.received.partition(b"\r\n\r\n")[2])
        return found

    @property
    def bytes_of_frames(self) -> int:
        """Bytes of the body, without what HTTP adds to send it in pieces."""
        body, size = self.received.partition(b"\r\n\r\n")[2], 0
        while body:
            length, _, rest = body.partition(b"\r\n")
            size += int(length, 16)
            body = rest[int(length, 16) + 2 :]
        return size


async def post(url: str, body: JsonValue) -> Answer:
    """Send a body and read the answer to its end, over a connection of its own."""
    where = urlsplit(url)
    sent = json.dumps(body).encode()
    head = f"POST {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    async with asyncio.timeout(LONGEST_SECONDS):
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        begun = time.perf_counter()
        writer.write(head.encode() + sent)
        received, first = bytearray(), 0.0
        while piece := await reader.read(65_536):
            received += piece
            if not first and b"\nevent: " in received:
                first = time.perf_counter()
        end = time.perf_counter()
        writer.close()
    assert received.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")), bytes(received[:1_000])
    return Answer(bytes(received), (first - begun) * 1_000, (end - begun) * 1_000)
