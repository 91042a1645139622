"""A strict stand-in of Graphiti's REST service, with the defects of the real one as modes.

It answers as `graph_service` over graphiti-core 0.31 does, down to what its worker dies of.
"""

import asyncio
import json
import re
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

from pydantic import JsonValue

_LEGAL_GROUP = re.compile(r"[A-Za-z0-9_-]+")
_ROLE_TYPES = {"user", "assistant", "system"}


@dataclass(frozen=True)
class Kept:
    """An episode: a message that the worker has processed."""

    uuid: str
    name: str
    content: str
    timestamp: str


@dataclass
class FakeGraphiti:
    """Episodes become visible when the worker has processed them: at once, after so many looks, or never."""

    url: str = ""
    looks_before_visible: int = 0
    """Reads of episodes before accepted messages are processed."""
    is_dead: bool = False
    """The worker has stopped. The service goes on answering 202 and healthy."""
    loses: Callable[[str], bool] = lambda _: False
    """Names of messages that the worker drops, as if one of its model calls failed."""
    delete_lies: bool = False
    finds_no_episode: bool = False
    """Episodes are answered 404 when they are to be deleted, as with FalkorDB, and stay."""
    failures: int = 0
    """So many requests are answered 500. Each also resets the request after it."""
    resets_after_accepting: int = 0
    """So many messages are accepted, and their answers are lost."""
    stops_answering: bool = False
    """Requests wait for `answer` to be set."""
    bulky: bool = False
    """Answers are longer than 300 KB."""
    search_answer: bytes | None = None
    """What every search is answered with, whatever it asks for."""
    is_older: bool = False
    """Facts lack the fields that older releases do not have."""
    authorization: str | None = None
    """What a proxy before the service wants."""
    episodes: defaultdict[str, list[Kept]] = field(default_factory=lambda: defaultdict(list))
    accepted: list[tuple[str, dict[str, JsonValue]]] = field(default_factory=list)
    """Every accepted message with its group."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    answer: asyncio.Event = field(default_factory=asyncio.Event)
    _queue: deque[tuple[str, dict[str, JsonValue]]] = field(default_factory=deque)
    _looks: int = 0
    _resets: int = 0

    def names(self, group: str) -> list[str]:
        return [each.name for each in self.episodes[group]]

    def accepted_names(self) -> list[str]:
        return [str(message["name"]) for _, message in self.accepted]

    def restart(self) -> None:
        """The worker works again. What waited in its memory is gone."""
        self._queue.clear()
        self.is_dead = False

    def process(self) -> None:
        """Let the worker do all that waits."""
        while self._queue and not self.is_dead:
            group, message = self._queue.popleft()
            if _LEGAL_GROUP.fullmatch(group) is None or message.get("uuid") is not None:
                self.is_dead = True
            elif not self.loses(str(message["name"])):
                self.episodes[group].append(
                    Kept(
                        str(uuid4()),
                        str(message["name"]),
                        f"{message['role'] or ''}({message['role_type']}): {message['content']}",
                        str(message["timestamp"]),
                    )
                )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection, which the client or a mode ends."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while (head := await reader.readuntil(b"\r\n\r\n")).strip():
                method, target, headers = _read_head(head)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                if not await self._answer(writer, method, target, headers=headers, body=body):
                    break
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(
        self,
        writer: asyncio.StreamWriter,
        method: str,
        target: str,
        *,
        headers: dict[str, str],
        body: bytes,
    ) -> bool:
        """Returns False if the connection ends without, or after, the answer."""
        self.requests.append((method, target))
        if self.stops_answering:
            await self.answer.wait()
        if self._resets:
            self._resets -= 1
            return False
        if self.failures:
            self.failures -= 1
            self._resets += 1
            return await _write(writer, 500, {"detail": "Internal Server Error"})
        if self.authorization is not None and headers.get("authorization") != self.authorization:
            return await _write(writer, 401, {"detail": "no"})
        status, answer = self._route(method, target, body)
        if self.resets_after_accepting and (method, target) == ("POST", "/messages"):
            self.resets_after_accepting -= 1
            return False
        if self.search_answer is not None and target == "/search":
            return await _write_bytes(writer, 200, self.search_answer)
        if self.bulky and isinstance(answer, list | dict):
            answer = {"facts": [], "padding": "x" * 300_000}
        return await _write(writer, status, answer)

    def _route(self, method: str, target: str, body: bytes) -> tuple[int, JsonValue]:
        path = unquote(urlsplit(target).path)
        kind, _, name = path.removeprefix("/").partition("/")
        match method, kind:
            case "GET", "healthcheck":
                return 200, {"status": "healthy"}
            case "POST", "messages":
                return self._add(json.loads(body))
            case "POST", "search":
                return self._search(json.loads(body))
            case "GET", "episodes":
                return self._latest(name, parse_qs(urlsplit(target).query))
            case "DELETE", "group":
                if not self.delete_lies:
                    self.episodes[name].clear()
                return 200, {"message": "Group deleted", "success": True}
            case "DELETE", "episode":
                return self._delete_episode(name)
            case _:
                return 404, {"detail": "Not Found"}

    def _add(self, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        group, messages = body.get("group_id"), body.get("messages")
        if not isinstance(group, str) or not isinstance(messages, list):
            return 422, {"detail": "group_id and messages are required"}
        for each in messages:
            if not isinstance(each, dict) or "role" not in each or not isinstance(each.get("content"), str):
                return 422, {"detail": "role is required"}
            if each.get("role_type") not in _ROLE_TYPES:
                return 422, {"detail": "role_type is user, assistant or system"}
            self.accepted.append((group, each))
            self._queue.append((group, each))
        if not self.looks_before_visible:
            self.process()
        return 202, {"message": "Messages added to processing queue", "success": True}

    def _search(self, body: dict[str, JsonValue]) -> tuple[int, JsonValue]:
        groups, query, most = body.get("group_ids"), body.get("query"), body.get("max_facts", 10)
        if not isinstance(query, str) or not isinstance(most, int):
            return 422, {"detail": "query is required"}
        searched = groups or list(self.episodes)  # without groups: all that there is
        words = set(query.lower().split())
        found: list[JsonValue] = [
            self._fact(each)
            for group in (searched if isinstance(searched, list) else [])
            for each in self.episodes[str(group)]
            if words & set(re.findall(r"\w+", each.content.lower()))
        ]
        return 200, {"facts": found[:most]}

    def _fact(self, episode: Kept) -> JsonValue:
        fact: dict[str, JsonValue] = {"uuid": str(uuid4()), "name": "SAYS", "fact": episode.content}
        if self.is_older:
            return fact
        return {
            **fact,
            "valid_at": None,
            "invalid_at": None,
            "created_at": episode.timestamp,
            "expired_at": None,
            "source_node_uuid": str(uuid4()),
            "target_node_uuid": str(uuid4()),
            "episodes": [episode.uuid],
        }

    def _latest(self, group: str, query: dict[str, list[str]]) -> tuple[int, JsonValue]:
        if "last_n" not in query:
            return 422, {"detail": "last_n is required"}
        self._looks += 1
        if self._looks > self.looks_before_visible:
            self._looks = 0
            self.process()
        latest = sorted(self.episodes[group], key=lambda each: each.timestamp)[-int(query["last_n"][0]) :]
        return 200, [
            {"uuid": each.uuid, "name": each.name, "group_id": group, "content": each.content}
            for each in latest
        ]

    def _delete_episode(self, uuid: str) -> tuple[int, JsonValue]:
        for episodes in self.episodes.values():
            for each in episodes:
                if each.uuid == uuid and not self.finds_no_episode:
                    episodes.remove(each)
                    return 200, {"message": "Episode deleted", "success": True}
        return 404, {"detail": "node not found"}


@asynccontextmanager
async def running_graphiti() -> AsyncGenerator[FakeGraphiti]:
    """A service on a free port of this machine, in the loop of the test."""
    fake = FakeGraphiti()
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            connections.add(task)
            task.add_done_callback(connections.discard)
        await fake.serve(reader, writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        fake.stops_answering = False
        fake.answer.set()
        if connections:
            await asyncio.wait(connections, timeout=5)
        await server.wait_closed()


def _read_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    named = (line.partition(":") for line in lines if line)
    return method, target, {name.strip().lower(): value.strip() for name, _, value in named}


async def _write(writer: asyncio.StreamWriter, status: int, answer: JsonValue) -> bool:
    return await _write_bytes(writer, status, json.dumps(answer).encode())


async def _write_bytes(writer: asyncio.StreamWriter, status: int, body: bytes) -> bool:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True
