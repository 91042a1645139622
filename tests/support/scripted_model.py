"""A real HTTP server that speaks the OpenAI chat protocol and says what a test has scripted.

It runs in a thread of its own, so that it serves tests, and KAI in other processes, alike. As a
program (`python -m tests.support.scripted_model --port 9000`) it serves benchmarks by hand.
"""

import argparse
import asyncio
import json
import re
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Ending = Literal["whole", "cut", "malformed"]

DEFAULT_SQL = "One row is wanted.\n```sql\nSELECT 1 AS one\n```"
DEFAULT_TEXT = "The answer stands in the rows."
WAIT_SECONDS = 10


@dataclass(frozen=True)
class Scripted:
    """One reply. `hold_after` tokens are sent, then it waits for `release`; 0 holds before the first."""

    text: str = ""
    status: int = 200
    retry_after: str | None = None
    delay_seconds: float = 0
    hold_after: int | None = None
    ending: Ending = "whole"
    usage: bool = True
    tool_call: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def text(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass
class ScriptedModel:
    """The script and what was asked; safe to use from any thread."""

    base_url: str = ""
    requests: list[Asked] = field(default_factory=list)
    disconnects: int = 0
    _rules: list[tuple[str, Scripted]] = field(default_factory=list)
    _queue: deque[Scripted] = field(default_factory=deque)
    _released: threading.Event = field(default_factory=threading.Event)

    def say(self, *replies: str | Scripted) -> None:
        """The next replies, in order, whatever is asked."""
        self._queue.extend(Scripted(reply) if isinstance(reply, str) else reply for reply in replies)

    def rule(self, words: str, reply: str | Scripted) -> None:
        """The reply to every request that holds these words; later rules go before earlier ones."""
        self._rules.insert(0, (words, Scripted(reply) if isinstance(reply, str) else reply))

    def forget(self) -> None:
        """Begin a script anew."""
        self._rules.clear()
        self._queue.clear()
        self.requests.clear()
        self._released.clear()

    def release(self) -> None:
        """Let replies on hold go on, now and from now on."""
        self._released.set()

    def wait_until(self, met: Callable[["ScriptedModel"], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not met(self):
            assert time.monotonic() < deadline, "the scripted model waited in vain"
            time.sleep(0.01)

    def reply_to(self, asked: Asked) -> Scripted:
        for words, reply in self._rules:
            if words in asked.text:
                return reply
        if self._queue:
            return self._queue.popleft()
        return Scripted(DEFAULT_SQL if "SQL writer" in asked.text else DEFAULT_TEXT)

    async def answer(self, request: Request) -> Response:
        asked = Asked(await request.json(), dict(request.headers))
        self.requests.append(asked)
        reply = self.reply_to(asked)
        if reply.status != 200:
            headers = {"Retry-After": reply.retry_after} if reply.retry_after else {}
            return JSONResponse({"error": {"message": "scripted"}}, reply.status, headers=headers)
        if not asked.body.get("stream"):
            message = {"role": "assistant", "content": reply.text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return JSONResponse(
                {"id": "1", "object": "chat.completion", "choices": [choice], "usage": _usage(reply)}
            )
        return StreamingResponse(self._stream(request, reply), media_type="text/event-stream")

    async def _stream(self, request: Request, reply: Scripted) -> AsyncGenerator[str]:
        try:
            if reply.tool_call:
                call = {"index": 0, "id": "call_1", "type": "function"}
                call["function"] = {"name": "run", "arguments": "{}"}
                yield _chunk({"tool_calls": [call]})
            tokens = re.findall(r"\s*\S+|\s+$", reply.text)
            for position, token in enumerate([*tokens, ""]):
                if position == reply.hold_after:
                    await self._hold(request)
                if reply.delay_seconds:
                    await asyncio.sleep(reply.delay_seconds)
                if token:
                    yield _chunk({"content": token})
            if reply.ending == "cut":
                raise ConnectionAbortedError
            if reply.ending == "malformed":
                yield "data: {not json\n\n"
            yield _chunk({}, finish="stop")
            if reply.usage:
                yield _data({"choices": [], "usage": _usage(reply)})
            yield "data: [DONE]\n\n"
        except asyncio.CancelledError:
            self.disconnects += 1
            raise

    async def _hold(self, request: Request) -> None:
        while not self._released.is_set():
            if await request.is_disconnected():
                raise asyncio.CancelledError
            await asyncio.sleep(0.01)


def _usage(reply: Scripted) -> dict[str, int]:
    written = len(reply.text.split())
    return {"prompt_tokens": 100, "completion_tokens": written, "total_tokens": 100 + written}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return _data({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(body: dict[str, Any]) -> str:
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **body}
    return f"data: {json.dumps(chunk)}\n\n"


def _server(model: ScriptedModel, port: int) -> uvicorn.Server:
    routes = [Route("/v1/chat/completions", model.answer, methods=["POST"])]
    config = uvicorn.Config(
        Starlette(routes=routes),
        host="127.0.0.1",
        port=port,
        log_level="critical",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A running server, stopped at exit."""
    model = ScriptedModel()
    server = _server(model, 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    model.wait_until(lambda _: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    model.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield model
    finally:
        model.release()
        server.should_exit = True
        thread.join(WAIT_SECONDS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9_000)
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--tokens", type=int, default=20, help="of each analysis")
    parser.add_argument("--sql", default="SELECT count(*) AS n FROM customers")
    given = parser.parse_args()
    served = ScriptedModel()
    delay = given.delay_ms / 1000
    served.rule("", Scripted("word " * given.tokens, delay_seconds=delay))
    served.rule("SQL writer", Scripted(f"```sql\n{given.sql}\n```", delay_seconds=delay))
    served.rule("## Question\nHOLD", Scripted("held", hold_after=0))
    _server(served, given.port).run()
