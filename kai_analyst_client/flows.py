"""What the blocking and the asynchronous client share: requests written once, as flows.

A flow is a generator: it yields requests, is sent their replies, and returns a value. It does no I/O. Each
client runs flows with its own transport (`client.py`).
"""

from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, overload
from urllib.parse import quote
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, JsonValue

from kai_analyst_client.errors import KEY_IN_USE, KaiError, Unreachable, error_of_reply


class Model(BaseModel):
    """Base of what KAI answers. Fields that a newer KAI adds are ignored."""

    model_config = ConfigDict(frozen=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Without secrets of webhooks, which logs must not show."""
        return (
            (name, value)
            for name, value in super().__repr_args__()
            if name not in ("secret", "webhook_secret")
        )


T = TypeVar("T")
P = ParamSpec("P")
M = TypeVar("M", bound=Model)

IDEMPOTENCY_KEY = "Idempotency-Key"
RETRIES = 3
MAX_WAIT_SECONDS = 60.0
"""The longest `Retry-After` that is waited for. A longer one is an error at once."""
_PAGE = 100


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: JsonValue = None
    """Sent as JSON, unless there is `content`."""
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_seconds: float = 0
    """Pause before it is sent."""

    @property
    def may_repeat(self) -> bool:
        """True if the request has no second effect if it is sent twice."""
        return self.method in ("GET", "PUT", "DELETE") or IDEMPOTENCY_KEY in self.headers


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes


Flow: TypeAlias = Generator[Request, Reply, T]
Items: TypeAlias = list[T]
"""A list, in classes with a method of that name."""


class Blocking(Protocol):
    """Client that returns values."""

    def run(self, flow: Flow[T], /) -> T: ...


class Awaiting(Protocol):
    """Client that returns coroutines."""

    def run(self, flow: Flow[T], /) -> Coroutine[None, None, T]: ...


C_co = TypeVar("C_co", bound="Blocking | Awaiting", covariant=True)


class Group(Generic[C_co]):
    """Routes that belong together, such as `kai.sessions`."""

    def __init__(self, client: C_co) -> None:
        self.client = client


G = TypeVar("G")


class Endpoint(Generic[P, T]):
    """A method written as a flow: it blocks in `Kai`, and is awaited in `AsyncKai`."""

    def __init__(self, flow: Callable[..., Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, group: Group[Blocking], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, group: Group[Awaiting], owner: type) -> Callable[P, Coroutine[None, None, T]]: ...
    def __get__(
        self, group: Group[Blocking | Awaiting], owner: type
    ) -> Callable[P, T | Coroutine[None, None, T]]:
        def send_all(*args: P.args, **kwargs: P.kwargs) -> T | Coroutine[None, None, T]:
            return group.client.run(self.flow(group, *args, **kwargs))

        return send_all


def endpoint(flow: Callable[Concatenate[G, P], Flow[T]]) -> Endpoint[P, T]:
    return Endpoint(flow)


def send(request: Request) -> Flow[Reply]:
    """Send a request, again after a `Retry-After` or, if it may be repeated, a lost connection.

    Raises `KaiError`.
    """
    tries = 1
    while True:
        try:
            reply = yield request
        except Unreachable:
            if tries > RETRIES or not request.may_repeat:
                raise
            pause = 0.5 * tries
        else:
            if reply.status < 400:
                return reply
            pause = pause_of(error_of_reply(reply.status, reply.headers, reply.content), request, tries)
        tries += 1
        request = replace(request, wait_seconds=pause)


def pause_of(error: KaiError, request: Request, tries: int) -> float:
    """Returns the seconds after which a refused request is sent again. Raises the error if it is not."""
    passes = error.status == 429 or (error.status == 503 and request.may_repeat) or error.type == KEY_IN_USE
    if tries > RETRIES or not passes or error.retry_after is None or error.retry_after > MAX_WAIT_SECONDS:
        raise error
    return error.retry_after


def fetch(request: Request, model: type[M]) -> Flow[M]:
    reply = yield from send(request)
    return model.model_validate_json(reply.content)


def get(path: str, model: type[M]) -> Flow[M]:
    return (yield from fetch(Request("GET", path), model))


def post(path: str, body: Mapping[str, JsonValue], model: type[M]) -> Flow[M]:
    return (yield from fetch(Request("POST", path, body=dict(body)), model))


def create(path: str, body: Mapping[str, JsonValue], model: type[M], *, key: str | None = None) -> Flow[M]:
    """As `post`, for what creates a record: it is sent again after a lost connection, and creates one."""
    return (yield from fetch(Request("POST", path, body=dict(body), headers=key_header(key)), model))


def key_header(key: str | None) -> dict[str, str]:
    """The key of a request that may be repeated: the caller's own, or a new one."""
    return {IDEMPOTENCY_KEY: str(uuid4()) if key is None else key}


def patch(path: str, body: Mapping[str, JsonValue], model: type[M], *, version: int | None = None) -> Flow[M]:
    """Change a record. With a version, only if it still has this one: else `Changed`."""
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return (yield from fetch(Request("PATCH", path, body=dict(body), headers=headers), model))


def delete(path: str) -> Flow[None]:
    yield from send(Request("DELETE", path))


class _Page(BaseModel):
    items: list[JsonValue]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Order and filters of a list of records. Times are RFC 3339, and themselves left out."""

    sort: str | None = None
    """`created_at` or `updated_at`, of runs `created_at` or `ended_at`; `-` before it is descending."""
    created_after: str | None = None
    created_before: str | None = None
    updated_after: str | None = None
    updated_before: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Pairs that sessions and runs have in their metadata, at most eight."""

    def query(self) -> dict[str, str | None]:
        times = {name: value for name, value in vars(self).items() if name != "metadata"}
        return {**times, **{f"metadata[{name}]": value for name, value in self.metadata.items()}}


def pages(
    path: str, model: type[M], limit: int | None, *, listing: Listing | None = None, **query: str | None
) -> Flow[Items[M]]:
    """Returns the items of a list, of as many pages as it takes. A `limit` of None is all of them."""
    query |= {} if listing is None else listing.query()
    items: list[M] = []
    cursor: str | None = None
    while limit is None or len(items) < limit:
        size = _PAGE if limit is None else min(_PAGE, limit - len(items))
        wanted = {name: value for name, value in {**query, "cursor": cursor}.items() if value is not None}
        reply = yield from send(Request("GET", path, {"limit": size, **wanted}))
        page = _Page.model_validate_json(reply.content)
        items += (model.model_validate(each) for each in page.items)
        if (cursor := page.next_cursor) is None:
            break
    return items


class Keep:
    """Type of `KEEP`."""


KEEP = Keep()
"""Value of an argument that changes nothing. None is a value of some fields."""


def given(**fields: JsonValue) -> dict[str, JsonValue]:
    """Returns the body of a request without the fields that are None."""
    return {name: value for name, value in fields.items() if value is not None}


def changes(**fields: JsonValue | Keep) -> dict[str, JsonValue]:
    """Returns the body of a change without the fields to keep."""
    return {name: value for name, value in fields.items() if not isinstance(value, Keep)}


def segment(text: str) -> str:
    """Returns a text as one segment of a path."""
    return quote(text, safe="")
