"""`Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07) on every POST of the API.

The first response to a key is kept, encrypted, for a day and repeated. A key belongs to its owner, their
attributes, and route. While the first request runs it holds a lease; after a crash the next one with the key
takes over, with the same ids. Routes that start a run are left out: they find the run of a key themselves.
"""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from uuid import UUID

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.clock import now_ms
from app.core.errors import Invalid, Problem
from app.core.ids import id_of
from app.core.kept_responses import LEASE_MS, KeptResponses, KeyedRequest, KeyOfAnother
from app.core.keyed_ids import KeyedIds, keyed_by
from app.core.secrets import SecretUnreadable
from app.core.storage.port import StorageUnavailable
from app.http.callers import caller_of, owner_of
from app.http.problems import http_problem, problem_answer, storage_unavailable
from app.http.routes import API_PREFIX

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
MOST_CHARACTERS = 255
_MOST_KEPT_BYTES = 1024 * 1024
_RENEWED_SECONDS = 2.0
_ROOT = str(UUID(int=35))
_LEFT_OUT = frozenset({b"content-length", b"date", b"server", b"ratelimit", b"ratelimit-policy"})
"""Headers that a repeated response has of its own."""


class KeyMalformed(Invalid):
    """The key is empty, too long, or has characters that no header may have."""

    problem = "idempotency-key-malformed"
    sentence = (
        f"An {HEADER} has 1 to {MOST_CHARACTERS} printable ASCII characters, and is sent once. "
        "A UUID serves well."
    )


class Idempotency:
    """ASGI middleware within the login. A request without a key costs nothing, one with a key two writes."""

    def __init__(self, app: ASGIApp, kept: KeptResponses) -> None:
        self._app = app
        self._kept = kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        keys = Headers(scope=scope).getlist(HEADER) if _is_post(scope) else []
        if not keys or finds_run(scope["app"], scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            await self._answer(scope, receive, send, key=_key(keys))
        except Problem as problem:
            await problem_answer(problem)(scope, receive, send)
        except HTTPException as error:  # of a body that is too large or too slow
            await http_problem(error)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, *, key: str) -> None:
        owner, path, now = owner_of(Request(scope)), scope["path"], now_ms()
        upload = _Upload(receive) if _is_upload(scope) else None
        messages = [] if upload else await _messages(receive)
        body = _file_form(scope) if upload else b"".join(each.get("body", b"") for each in messages)
        asked = hashlib.sha256(scope["query_string"] + b"\n" + body + _rights(scope)).hexdigest()
        request = KeyedRequest(
            id=id_of(_ROOT, json.dumps([owner, path, key])),
            owner=owner,
            request_hash=asked,
            created_at=now,
            leased_until=now + LEASE_MS,
        )
        try:
            held, is_try = await self._kept.begin(request)
        except StorageUnavailable as error:
            await (await storage_unavailable(Request(scope), error))(scope, receive, send)
            return
        if not is_try:
            if upload and held.file_hash and held.file_hash != await upload.read_hash():
                raise KeyOfAnother
            with suppress(SecretUnreadable):  # its encryption key is gone: the request is made again
                await _response(self._kept.read(held))(scope, receive, send)
                return
        ids = KeyedIds(held.id, held.created_at, is_repeat=held is not request)
        answer = _Recorded(send)
        renewing = asyncio.create_task(self._renew(held), name="renew a keyed request")
        try:
            with keyed_by(ids):
                await self._app(scope, upload.receive if upload else _replay(messages, receive), answer.send)
        finally:
            renewing.cancel()
            await self._settle(held, answer.response, upload, is_repeat=ids.is_repeat)
        await answer.finish()

    async def _settle(
        self,
        request: KeyedRequest,
        response: Response | None,
        upload: "_Upload | None",
        *,
        is_repeat: bool,
    ) -> None:
        """Before the client has the response, so that its next request finds it."""
        with suppress(StorageUnavailable):  # then the lease ends, and the ids are the same
            if response is None or response.status_code == 429 or response.status_code >= 500:
                await self._kept.release(request)
            elif upload and upload.hash is None and response.status_code >= 400:
                # Refused before all of the file was read, which may be another one the next time.
                await (self._kept.release if is_repeat else self._kept.drop)(request)
            else:
                await self._kept.keep(request, _text(response), file_hash=upload.hash if upload else None)

    async def _renew(self, request: KeyedRequest) -> None:
        while True:
            await asyncio.sleep(_RENEWED_SECONDS)
            with suppress(StorageUnavailable):
                await self._kept.renew(request)


class _Recorded:
    """A response that is held back until it is kept. What is too large, or sent in pieces, is neither."""

    def __init__(self, send: Send) -> None:
        self.response: Response | None = None
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        body: bytes = message.get("body", b"")
        if start is None or message.get("more_body", False) or len(body) > _MOST_KEPT_BYTES:
            if start is not None:
                await self._send(start)
            await self._send(message)
            return
        self.response = Response(body, start["status"])
        self.response.raw_headers += start["headers"]
        self._held = (start, message)

    async def finish(self) -> None:
        if self.response is not None:
            for message in self._held:
                await self._send(message)


def _text(response: Response) -> str:
    headers = [
        [name.decode("latin-1"), value.decode("latin-1")]
        for name, value in response.raw_headers
        if name.lower() not in _LEFT_OUT
    ]
    return json.dumps([response.status_code, headers, base64.b64encode(bytes(response.body)).decode()])


def _response(text: str) -> Response:
    status, headers, body = json.loads(text)
    response = Response(base64.b64decode(body), status)
    response.raw_headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    response.headers[REPLAYED] = "true"
    return response


@lru_cache(maxsize=4)
def _run_paths(app: FastAPI) -> Sequence[re.Pattern[str]]:
    """Paths of the routes that have the key as a parameter of their own."""
    return [
        compile_path(str(context.path))[0]
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute) and takes_key(context.original_route)
    ]


def takes_key(route: APIRoute) -> bool:
    """True for a route that finds the run of a key itself."""
    return any(each.alias.lower() == HEADER.lower() for each in route.dependant.header_params)


def finds_run(app: FastAPI, path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern in _run_paths(app))


def _is_post(scope: Scope) -> bool:
    return bool(
        scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(f"{API_PREFIX}/")
    )


def _key(keys: Sequence[str]) -> str:
    """The key of a request, bare or in double quotes. Raises `KeyMalformed`."""
    key = keys[0].strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if len(keys) > 1 or not 1 <= len(key) <= MOST_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise KeyMalformed
    return key


class _Upload:
    """A file on its way, which stays in the network until its route reads it."""

    def __init__(self, receive: Receive) -> None:
        self.hash: str | None = None
        """Of the whole file. None until all of it was read."""
        self._receive = receive
        self._digest = hashlib.sha256()

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._digest.update(message.get("body", b""))
            if not message.get("more_body", False):
                self.hash = self._digest.hexdigest()
        return message

    async def read_hash(self) -> str | None:
        """Read the rest of the file. Returns its hash, and None if the client has left."""
        while self.hash is None and (await self.receive())["type"] == "http.request":
            pass
        return self.hash


def _rights(scope: Scope) -> bytes:
    """What a response may depend on besides its request: it is not repeated to an owner who has others."""
    caller = caller_of(Request(scope))
    if caller.database_claim is None and not caller.attributes:
        return b""
    return json.dumps([caller.database_claim, dict(caller.attributes)], sort_keys=True, default=list).encode()


def _is_upload(scope: Scope) -> bool:
    return "json" not in Headers(scope=scope).get("content-type", "json")


def _file_form(scope: Scope) -> bytes:
    """What stands for a file before it is read: its media type and length."""
    headers = Headers(scope=scope)
    return f"{headers.get('content-type')} {headers.get('content-length')}".encode()


async def _messages(receive: Receive) -> list[Message]:
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body", False):
        messages.append(await receive())
    return messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    async def replaying() -> Message:
        return messages.pop(0) if messages else await receive()

    return replaying
