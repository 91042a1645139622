"""Entity tags and conditional requests (RFC 9110): of what GET answers, and of records that PATCH changes.

The tag of a record is its version; that of what GET answers has a digest of the text besides, for some of it
changes without an edit. `If-Match` reads the version alone.
"""

import json
import re
from collections.abc import Collection, Sequence
from hashlib import blake2b
from urllib.parse import quote

from fastapi import params
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import Malformed, Problem
from app.core.storage.edits import ChangedMeanwhile, RecordEdit, edited_by
from app.http.problems import problem_answer
from app.http.routes import API_PREFIX

_LOCATION = "kai.location"
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"\s*{_TAG}(?:\s*,\s*{_TAG})*\s*")
_EACH_TAG = re.compile(_TAG)
_TAG_OF_VERSION = re.compile(r'"(\d{1,15})(?:\.[0-9a-f]+)?"')
_VERSION = re.compile(rb'\{"version":(\d{1,15})[,}]')
"""The beginning of a `VersionedBody`."""
_DIGEST_BYTES = 9


class WeakTag(Problem):
    """`If-Match` compares strongly, so that a weak tag matches nothing."""

    problem = "weak-tag"
    title = "A weak tag matches nothing"
    status = 412
    sentence = (
        "If-Match has only weak tags (W/), which never match (RFC 9110, 13.1.1). Send the ETag of the record "
        'as it was answered, or its version in double quotes, such as "7".'
    )


class Located:
    """Dependency of a route that creates a record: `path` is where it is, below the prefix of the API, with
    names of path parameters and of fields of the answer in braces.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    async def __call__(self, request: Request) -> None:
        request.scope[_LOCATION] = (self.path, dict(request.path_params))


def located(path: str) -> params.Depends:
    """The `Location` of what a route creates."""
    return params.Depends(Located(path))


class EntityTags:
    """ASGI middleware for `ETag`, `If-Match`, `If-None-Match`, and `Location` of what is created."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(f"{API_PREFIX}/"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            edit = RecordEdit(_expected_versions(scope["method"], headers.getlist("if-match")))
            known = _tags("If-None-Match", headers.getlist("if-none-match")) or ()
        except Problem as problem:
            await problem_answer(problem)(scope, receive, send)
            return
        known = [each.removeprefix("W/") for each in known]  # this comparison is weak
        with edited_by(edit):
            await self._app(scope, receive, _Answer(scope, send, edit, known=known).send)


class _Answer:
    """A response in progress, whose head waits for the body."""

    def __init__(self, scope: Scope, send: Send, edit: RecordEdit, *, known: Sequence[str]) -> None:
        self._scope = scope
        self._send = send
        self._edit = edit
        self._known = known
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_record(message):
            self._start = message
            return
        start, self._start = self._start, None
        if start is None:
            await self._send(message)
        elif message.get("more_body", False):
            await self._send(start)
            await self._send(message)
        else:
            await self._finish(start, message)

    async def _finish(self, start: Message, message: Message) -> None:
        body: bytes = message["body"]
        found = _VERSION.match(body)
        version = None if found is None else int(found[1])
        method, headers = self._scope["method"], MutableHeaders(raw=start["headers"])
        if method == "GET":
            digest = blake2b(body, digest_size=_DIGEST_BYTES).hexdigest()
            tag = f'"{digest}"' if version is None else f'"{version}.{digest}"'
            headers["ETag"] = tag
            if tag in self._known or "*" in self._known:
                for each in ("Content-Length", "Content-Type"):
                    del headers[each]
                start, message = {**start, "status": 304}, {**message, "body": b""}
        elif version is not None and (method == "PATCH" or start["status"] == 201):
            try:
                if not self._edit.is_made:
                    self._edit.check(version)
            except ChangedMeanwhile as problem:
                await problem_answer(problem)(self._scope, _nothing, self._send)
                return
            headers["ETag"] = f'"{version}"'
        if start["status"] == 201 and _LOCATION in self._scope:
            path, parameters = self._scope[_LOCATION]
            headers["Location"] = _location(path, parameters, body=body)
        await self._send(start)
        await self._send(message)


def _is_record(start: Message) -> bool:
    """True for an answer in JSON that reports success."""
    media_type = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] in (200, 201) and media_type.startswith("application/json")


def _location(path: str, parameters: dict[str, object], *, body: bytes) -> str:
    return API_PREFIX + quote(path.format(**{**parameters, **json.loads(body)}))


def _expected_versions(method: str, values: Sequence[str]) -> Collection[int] | None:
    """The versions that `If-Match` names; None for any. Raises `Malformed` and `WeakTag`."""
    tags = _tags("If-Match", values)
    if tags is None or method in ("GET", "HEAD"):
        return None
    if method != "PATCH":
        raise Malformed(f"{method} takes no If-Match: only PATCH is conditional. Leave it out.")
    if "*" in tags:
        return None
    strong = [each for each in tags if not each.startswith("W/")]
    if not strong:
        raise WeakTag
    return {int(found[1]) for each in strong if (found := _TAG_OF_VERSION.fullmatch(each))}


def _tags(header: str, values: Sequence[str]) -> list[str] | None:
    """The tags of a header, or `*`. None without one. Raises `Malformed`."""
    if not values:
        return None
    value = ", ".join(values)
    if value.strip() == "*":
        return ["*"]
    if _TAGS.fullmatch(value) is None:
        raise Malformed(f'{header} takes tags in double quotes, separated by commas, such as "7", or *.')
    return _EACH_TAG.findall(value)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
