"""A TCP proxy that fails in the ways a network does."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class FaultProxy:
    """Stands in front of a local server. Faults hold for connections that are open, too."""

    target_port: int
    port: int = 0
    delay_seconds: float = 0
    refusing: bool = False
    swallowing: bool = False
    """A black hole: connections are taken, and nothing comes back."""
    unheard: bytes | None = None
    """A connection on which a request holds this is a black hole from then on: the request is lost."""
    unanswered: bytes | None = None
    """The same after the request: it is carried, and its answer is lost."""
    cut_after: int = 0
    """Every connection is cut by an RST after so many bytes from the server; 0 for never."""
    refusal: bytes = b""
    """The answer to the next connection's first request, which is not carried. It is given once."""
    connections: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reset_all(self) -> None:
        """Cut every open connection by an RST."""
        for writer in self.connections:
            _reset(writer)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            _reset(writer)
            return
        if self.refusal:
            await reader.read(65_536)
            refusal, self.refusal = self.refusal, b""
            writer.write(refusal)
            writer.close()
            return
        behind, ahead = await asyncio.open_connection("127.0.0.1", self.target_port)
        self.connections |= {writer, ahead}
        lost = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._carry(reader, ahead, lost, are_requests=True))
                both.create_task(self._carry(behind, writer, lost, are_requests=False))
        finally:
            self.connections -= {writer, ahead}

    async def _carry(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        lost: asyncio.Event,
        *,
        are_requests: bool,
    ) -> None:
        """Carry one direction of a connection. `lost` is set when it has become a black hole."""
        carried = 0
        with suppress(OSError):
            while data := await reader.read(65_536):
                if self.cut_after and not are_requests:
                    data = data[: max(0, self.cut_after - carried)]
                    carried += len(data)
                await asyncio.sleep(self.delay_seconds)
                if are_requests and self.unheard is not None and self.unheard in data:
                    lost.set()
                if self.refusing:
                    _reset(writer)
                elif not self.swallowing and not lost.is_set():
                    writer.write(data)
                    await writer.drain()
                if self.cut_after and carried >= self.cut_after:
                    break
                if are_requests and self.unanswered is not None and self.unanswered in data:
                    lost.set()
        with suppress(OSError):
            writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    opened = writer.get_extra_info("socket")
    if opened is not None:
        with suppress(OSError):  # closed meanwhile
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def fault_proxy(target_port: int) -> AsyncGenerator[FaultProxy]:
    proxy = FaultProxy(target_port)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        proxy.refusing = True
        proxy.reset_all()
        listening.close()
        while proxy.connections:  # noqa: ASYNC110  (they end by themselves now)
            await asyncio.sleep(0.01)
