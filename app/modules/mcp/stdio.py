"""An MCP server as a process of KAI's: an environment of its own, messages of a bounded length.

The SDK's own transport passes on some of KAI's variables, and reads a line of any length.
"""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from app.modules.mcp.config import StdioServer
from app.modules.mcp.reading import MessageLimit

_READ_BYTES = 65_536
_STOP_SECONDS = 2.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def stdio_transport(
    server: StdioServer, reading: MessageLimit
) -> AsyncGenerator[tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]]:
    """Runs the server's process within the block. Its standard error is discarded.

    Raises `OSError` if it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: value.get_secret_value() for name, value in server.env.items()},
        start_new_session=True,
    )
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
        async with incoming:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                async for line in _lines(process.stdout, reading):
                    await incoming.send(_message(line))
        reading.ended.set()

    async def write() -> None:
        assert process.stdin is not None  # noqa: S101
        async with outgoing:
            with suppress(OSError):
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()

    tasks = [
        asyncio.create_task(read(), name="MCP server: read"),
        asyncio.create_task(write(), name="MCP server: write"),
    ]
    try:
        yield received, to_send
    finally:
        with anyio.CancelScope(shield=True):
            received.close()
            to_send.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (incoming, received, to_send, outgoing):
                stream.close()
            await _stop(process, 0 if reading.exceeded else _STOP_SECONDS)


async def _lines(stdout: asyncio.StreamReader, reading: MessageLimit) -> AsyncGenerator[bytes]:
    """Yields whole lines. Ends, too, at a line that is too long: nothing more is read then."""
    rest = b""
    while chunk := await stdout.read(_READ_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if len(line) > reading.max_bytes:
                reading.refuse()
                return
            if line.strip():
                yield line
        if len(rest) > reading.max_bytes:
            reading.refuse()
            return


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _stop(process: asyncio.subprocess.Process, patience_seconds: float) -> None:
    """Close the server's stdin, give it a moment, then kill it with all that it has started."""
    assert process.stdin is not None  # noqa: S101
    assert process.stdout is not None  # noqa: S101
    process.stdin.close()
    # A process has not ended for asyncio before its output has been read.
    drained = asyncio.create_task(_drain(process.stdout), name="MCP server: discard its output")
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), patience_seconds)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        logger.warning("MCP server process %d holds its output open and is abandoned", process.pid)
    drained.cancel()
    await asyncio.gather(drained, return_exceptions=True)


async def _drain(stdout: asyncio.StreamReader) -> None:
    while await stdout.read(_READ_BYTES):
        """Discard it."""
