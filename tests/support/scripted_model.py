"""A real HTTP server that speaks the OpenAI chat protocol and says what a test has scripted.

It runs in a thread of its own, so that it serves tests, and KAI in other processes, alike. As a
program (`python -m tests.support.scripted_model --port 9000`) it serves benchmarks by hand.
"""

import argparse
import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeVar, cast

from pydantic import JsonValue

from tests.support import chat_protocol
from tests.support.model_script import EMPTY_CHOICES, TOOL_CALL, Asked, Scripted

__all__ = ["EMPTY_CHOICES", "TOOL_CALL", "Asked", "Scripted", "ScriptedModel", "scripted_model"]

DEFAULT_SQL = "One row is wanted.\n```sql\nSELECT 1 AS one\n```"
DEFAULT_TEXT = "The answer stands in the rows."
DEFAULT_CHOICE = '{"facts": ["f1"], "reading": ""}'
CHOOSER = "You choose what an analyst reads"
"""Of the prompt by which the statements of an analysis are chosen."""
AFTERWARDS = ("You name conversations", "so that it can be found again")
"""Of the prompts by which titles and memories are written, behind the back of who has asked."""
PROFILE = "You keep the profile of a user"
"""Of the prompt by which a profile is learned, which is asked for there, too."""
WAIT_SECONDS = 60
_MOST_KEPT = 10_000

Kept = TypeVar("Kept")


class ScriptedModel:
    """The script and what was asked; used from any thread, by `with` or `async with`."""

    def __init__(self) -> None:
        self.base_url = ""
        # Lists: a test may read them while others are added, which a deque does not allow.
        self.requests: list[Asked] = []
        self.embedded: list[str] = []
        """The texts that were embedded, in their order."""
        self.embedding = Scripted()
        """Its delay, status and text (a whole body) are those of every answer with embeddings."""
        self.afterwards: list[Asked] = []
        """Requests for titles and memories; nothing is said to them but what `rule_after` has scripted."""
        self.listed: list[JsonValue] | None = [{"id": "scripted", "object": "model"}]
        """What it lists as its models. None if it has no list."""
        self.connections = 0
        """Connections accepted so far."""
        self.policy: Callable[[Asked], Scripted | None] | None = None
        """A program that picks the reply to a request, before all rules; None where it has none."""
        self._rules: list[tuple[Callable[[Asked], bool], Scripted]] = []
        self._rules_after: list[tuple[str, Scripted]] = []
        self._queue: deque[Scripted] = deque()
        self._holding = True
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(0)), daemon=True)

    def say(self, *replies: str | Scripted) -> None:
        """The next replies, in order, whatever is asked."""
        self._queue.extend(map(_scripted, replies))

    def rule(self, when: str | Callable[[Asked], bool], reply: str | Scripted) -> None:
        """The reply to every request that holds these words, or of which this is true.

        Rules go before `say`, and later rules before earlier ones.
        """
        met = when if callable(when) else lambda asked: when in asked.text
        self._rules.insert(0, (met, _scripted(reply)))

    def rule_after(self, when: str, reply: str | Scripted) -> None:
        """The reply to every request for a title or a memory that holds these words, later rules first."""
        self._rules_after.insert(0, (when, _scripted(reply)))

    def forget(self) -> None:
        """Start a new script, for another test."""
        self._rules.clear()
        self._rules_after.clear()
        self.policy = None
        self._queue.clear()
        self.requests.clear()
        self.afterwards.clear()
        self.embedded.clear()
        self.embedding = Scripted()
        self._holding = True

    def release(self) -> None:
        """Let all replies go on, those that are yet to be asked for too."""
        self._holding = False
        for asked in (*self.requests, *self.afterwards):
            self._loop.call_soon_threadsafe(asked.released.set)

    @property
    def on_hold(self) -> int:
        """How many replies wait for their release."""
        return sum(asked.on_hold for asked in self.requests)

    @property
    def disconnects(self) -> int:
        """How many clients left before their reply was whole."""
        return sum(asked.disconnected for asked in self.requests)

    def wait_until(self, met: Callable[[], bool]) -> None:
        """Wait for something about the requests, at most a minute."""
        with self._changed:
            assert self._changed.wait_for(met, WAIT_SECONDS), "the scripted model waited in vain"

    async def until(self, met: Callable[[], bool]) -> None:
        """`wait_until` for a test whose event loop has to go on meanwhile."""
        await asyncio.to_thread(self.wait_until, met)

    def __enter__(self) -> Self:
        self._thread.start()
        self.wait_until(lambda: bool(self.base_url))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(WAIT_SECONDS)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    async def serve(self, port: int) -> None:
        """Serve until the end of the `with` block, or for ever without one."""
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._serve_connection, "127.0.0.1", port, backlog=1_000)
        async with server:
            with self._changed:
                self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
                self._changed.notify_all()
            await self._stopped.wait()

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await chat_protocol.read_request(reader)) is not None:
                match request.method, request.path:
                    case "POST", "/v1/chat/completions":
                        asked = Asked(json.loads(request.body), request.headers)
                        await self._answer(asked, reader, writer)
                    case "POST", "/v1/embeddings":
                        writer.write(await self._embed(json.loads(request.body)))
                    case "GET", "/v1/models":
                        writer.write(chat_protocol.models(self.listed))
                    case _:
                        writer.write(chat_protocol.json_response({"detail": "Not Found"}, 404))
                await writer.drain()
        except ConnectionError:
            pass  # the client, or the script, has cut the connection
        finally:
            writer.transport.abort()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with self._changed:
            after = any(each in asked.text for each in (*AFTERWARDS, PROFILE))
            _keep(self.afterwards if after else self.requests, [asked])
            reply = self._reply_after(asked) if after else self._reply_to(asked)
            self._changed.notify_all()
        if reply.status != 200:
            writer.write(chat_protocol.refusal(reply, asked.headers.get("authorization", "")))
        elif not asked.body.get("stream"):
            writer.write(chat_protocol.completion(reply))
        elif reply.recorded:
            await _replay(reply, writer)
        else:
            try:
                await self._stream(reply, asked, reader, writer)
            except ConnectionError:
                self._note(asked, disconnected=True)
                raise
            _end_stream(reply, writer)

    async def _embed(self, asked: dict[str, JsonValue]) -> bytes:
        texts, reply = cast("list[str]", asked["input"]), self.embedding
        with self._changed:
            _keep(self.embedded, texts)
            self._changed.notify_all()
        if reply.delay_seconds:
            await asyncio.sleep(reply.delay_seconds)
        if reply.status != 200:
            return chat_protocol.refusal(reply, "")
        if reply.text:
            return chat_protocol.json_response(json.loads(reply.text))
        return chat_protocol.embeddings(str(asked["model"]), texts)

    def _reply_to(self, asked: Asked) -> Scripted:
        if self.policy is not None and (picked := self.policy(asked)) is not None:
            return picked
        for met, reply in self._rules:
            if met(asked):
                return reply
        if self._queue:
            return self._queue.popleft()
        if CHOOSER in asked.text:
            return Scripted(DEFAULT_CHOICE)
        return Scripted(DEFAULT_SQL if "SQL writer" in asked.text else DEFAULT_TEXT)

    def _reply_after(self, asked: Asked) -> Scripted:
        rules = (reply for when, reply in self._rules_after if when in asked.text)
        return next(rules, Scripted(status=503))

    async def _stream(
        self, reply: Scripted, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(chat_protocol.STREAM_HEAD)
        for data in reply.events_before:
            writer.write(chat_protocol.event(data))
        for position, token in enumerate([*reply.tokens, ""]):
            if position == reply.hold_after and self._holding:
                await self._hold(asked, reader)
            if reply.delay_seconds:
                await asyncio.sleep(reply.delay_seconds)
                await writer.drain()
            if reader.at_eof():
                raise ConnectionResetError
            if token:
                writer.write(chat_protocol.token_event(token, reply.tool, is_first=position == 0))
        writer.write(chat_protocol.call_events(reply.calls))
        await writer.drain()

    async def _hold(self, asked: Asked, reader: asyncio.StreamReader) -> None:
        self._note(asked, on_hold=True)
        released, left = asyncio.create_task(asked.released.wait()), asyncio.create_task(reader.read(1))
        await asyncio.wait({released, left}, return_when=asyncio.FIRST_COMPLETED)
        released.cancel()
        left.cancel()
        await asyncio.gather(released, left, return_exceptions=True)
        self._note(asked, on_hold=False)
        if not left.cancelled():
            raise ConnectionResetError

    def _note(self, asked: Asked, *, on_hold: bool = False, disconnected: bool = False) -> None:
        with self._changed:
            asked.on_hold, asked.disconnected = on_hold, disconnected
            self._changed.notify_all()


def _keep(kept: list[Kept], more: Sequence[Kept]) -> None:
    """Add what has come. Benchmarks ask for ever, so the oldest are forgotten."""
    kept += more
    del kept[:-_MOST_KEPT]


def scripted_model() -> ScriptedModel:
    """For `with scripted_model() as model:` and `async with` alike; stopped at the end."""
    return ScriptedModel()


def _scripted(reply: str | Scripted) -> Scripted:
    return Scripted(reply) if isinstance(reply, str) else reply


async def _replay(reply: Scripted, writer: asyncio.StreamWriter) -> None:
    writer.write(chat_protocol.STREAM_HEAD)
    for start in range(0, len(reply.recorded), reply.piece_bytes):
        writer.write(chat_protocol.http_chunk(reply.recorded[start : start + reply.piece_bytes]))
        await writer.drain()
        await asyncio.sleep(0)
    writer.write(chat_protocol.STREAM_END)


def _end_stream(reply: Scripted, writer: asyncio.StreamWriter) -> None:
    match reply.ending:
        case "cut":
            raise ConnectionAbortedError
        case "malformed":
            writer.write(chat_protocol.event("{not json"))
        case "whole":
            is_plain = not reply.calls or reply.finish_reason != "stop"
            writer.write(chat_protocol.finish_event(reply.finish_reason if is_plain else "tool_calls"))
            if reply.usage:
                writer.write(chat_protocol.usage_event(reply))
            writer.write(chat_protocol.event("[DONE]"))
        case "unfinished":
            pass
    writer.write(chat_protocol.STREAM_END)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9_000)
    parser.add_argument("--delay-ms", type=float, default=0, help="before each token")
    parser.add_argument("--text", default=DEFAULT_CHOICE, help="of each analysis")
    parser.add_argument("--sql", default="SELECT count(*) AS n FROM customers")
    given = parser.parse_args()
    model, delay = ScriptedModel(), given.delay_ms / 1_000
    model.rule("", Scripted(given.text, delay_seconds=delay))
    for writer in ("SQL writer", "query that answers the question"):  # the long and the short instructions
        model.rule(writer, Scripted(f"```sql\n{given.sql}\n```", delay_seconds=delay))
    model.rule("## Question\nHOLD", Scripted("held", hold_after=0))
    with suppress(KeyboardInterrupt):
        asyncio.run(model.serve(given.port))


if __name__ == "__main__":
    main()
