"""The two clients: `Kai` blocks, `AsyncKai` is awaited. They differ in their transport only."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterator, Mapping, Sequence
from typing import Self, TypeVar, Unpack

import httpx
from httpx_sse import EventSource

from kai_analyst_client.answers import Answer, add_event, answered
from kai_analyst_client.errors import Unreachable, unreachable
from kai_analyst_client.flows import Flow, Reply, Request
from kai_analyst_client.following import Following
from kai_analyst_client.routes import Options, Server, ask_in, document_in, follow_in
from kai_analyst_client.schema import Database, Event, Session

T = TypeVar("T")

_TIMEOUT = httpx.Timeout(60, connect=10)
"""KAI sends a comment every 10 seconds while a stream has no events."""


class Kai(Server["Kai"]):
    """A KAI server: that of `url`, of `KAI_URL`, or of this machine. Close it, or use it in a `with` block.

    What creates a record, and every question, has a key, so that it is sent again after a lost connection and
    happens once. With a `key` of your own, a repeat is safe in another process, too. What changes a record
    takes the `version` that was read, and raises `Changed` if it has another one by now.

    Every method raises `KaiError`, of the class of the problem's type.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None) -> None:
        self.address = _address(url)
        self._http = httpx.Client(base_url=self.address, headers=_login(api_key), timeout=_TIMEOUT)
        super().__init__(self)

    def ask(
        self,
        question: str,
        *,
        database: Database | str | None = None,
        session: Session | str | None = None,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> Answer:
        """Ask a question and wait for its answer. Raises the run's error if it has none."""
        return _gather(self.stream(question, database=database, session=session, key=key, **options))

    def stream(
        self,
        question: str,
        *,
        database: Database | str | None = None,
        session: Session | str | None = None,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> "EventStream":
        """Ask a question and read the events of its run. Without a session, a new one is created for the
        database (its id or name), which may be left out if there is only one.
        """
        return EventStream(self, ask_in(question, database, session, key=key, options=options))

    def follow(self, session: Session | str, run_id: str, *, after: int = 0) -> "EventStream":
        """Read the events of a run, from the first or those after an event's id."""
        return EventStream(self, follow_in(session, run_id, after))

    def wait(self, session: Session | str, run_id: str) -> Answer:
        """Wait for the answer of a run, such as the one that goes on after a decision."""
        return _gather(self.follow(session, run_id))

    def document_schema(
        self,
        database: Database | str | None = None,
        tables: Sequence[str] = (),
        *,
        accept_estimate: bool = False,
    ) -> Answer:
        """Document a database: `analysis` is the Markdown. For many tables it is an estimate first, unless
        that is accepted.
        """
        start = document_in(database, tables, accept_estimate=accept_estimate)
        return _gather(EventStream(self, start))

    def run(self, flow: Flow[T], /) -> T:
        try:
            request = next(flow)
            while True:
                try:
                    reply = self._reply(request)
                except Unreachable as error:
                    request = flow.throw(error)
                else:
                    request = flow.send(reply)
        except StopIteration as end:
            returned: T = end.value
            return returned

    def read(self, place: Following) -> Generator[Event]:
        """Yields the new events of one connection."""
        request = place.next_request()
        time.sleep(request.wait_seconds)
        try:
            with self._http.stream(
                request.method, request.path, json=request.body, headers=request.headers
            ) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                    place.refuse(request, _reply_of(response))
                    return
                place.begin(response.headers)
                for frame in EventSource(response).iter_sse():
                    event = place.take(frame)
                    if event is not None:
                        yield event
                    if place.ended:
                        return
        except httpx.TransportError as error:
            place.lose(error)
        else:
            place.lose(None)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reply(self, request: Request) -> Reply:
        time.sleep(request.wait_seconds)
        try:
            return _reply_of(self._http.send(_http_request(self._http, request)))
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise unreachable(f"{self._http.base_url}: {error}") from error


class AsyncKai(Server["AsyncKai"]):
    """As `Kai`, for asyncio: the methods return coroutines, and `stream` is read by `async for`."""

    def __init__(self, url: str | None = None, api_key: str | None = None) -> None:
        self.address = _address(url)
        self._http = httpx.AsyncClient(base_url=self.address, headers=_login(api_key), timeout=_TIMEOUT)
        super().__init__(self)

    async def ask(
        self,
        question: str,
        *,
        database: Database | str | None = None,
        session: Session | str | None = None,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> Answer:
        return await _gather_async(
            self.stream(question, database=database, session=session, key=key, **options)
        )

    def stream(
        self,
        question: str,
        *,
        database: Database | str | None = None,
        session: Session | str | None = None,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> "AsyncEventStream":
        return AsyncEventStream(self, ask_in(question, database, session, key=key, options=options))

    def follow(self, session: Session | str, run_id: str, *, after: int = 0) -> "AsyncEventStream":
        return AsyncEventStream(self, follow_in(session, run_id, after))

    async def wait(self, session: Session | str, run_id: str) -> Answer:
        return await _gather_async(self.follow(session, run_id))

    async def document_schema(
        self,
        database: Database | str | None = None,
        tables: Sequence[str] = (),
        *,
        accept_estimate: bool = False,
    ) -> Answer:
        start = document_in(database, tables, accept_estimate=accept_estimate)
        return await _gather_async(AsyncEventStream(self, start))

    async def run(self, flow: Flow[T], /) -> T:
        try:
            request = next(flow)
            while True:
                try:
                    reply = await self._reply(request)
                except Unreachable as error:
                    request = flow.throw(error)
                else:
                    request = flow.send(reply)
        except StopIteration as end:
            returned: T = end.value
            return returned

    async def read(self, place: Following) -> AsyncGenerator[Event]:
        """Yields the new events of one connection."""
        request = place.next_request()
        await asyncio.sleep(request.wait_seconds)
        try:
            async with self._http.stream(
                request.method, request.path, json=request.body, headers=request.headers
            ) as response:
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    place.refuse(request, _reply_of(response))
                    return
                place.begin(response.headers)
                async for frame in EventSource(response).aiter_sse():
                    event = place.take(frame)
                    if event is not None:
                        yield event
                    if place.ended:
                        return
        except httpx.TransportError as error:
            place.lose(error)
        else:
            place.lose(None)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _reply(self, request: Request) -> Reply:
        await asyncio.sleep(request.wait_seconds)
        try:
            return _reply_of(await self._http.send(_http_request(self._http, request)))
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise unreachable(f"{self._http.base_url}: {error}") from error


class EventStream:
    """Events of a run, each once and in order, over lost connections. Read it to its end, or close it."""

    def __init__(self, client: Kai, start: Flow[Following]) -> None:
        self.place: Following | None = None
        """Ids of session, run and latest event. None before the first event."""
        self._events = self._read(client, start)

    def _read(self, client: Kai, start: Flow[Following]) -> Generator[Event]:
        place = self.place = client.run(start)
        while not place.ended:
            yield from client.read(place)

    def __iter__(self) -> Iterator[Event]:
        return self._events

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Stop reading. The run goes on; `kai.sessions.cancel` stops it."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncEventStream:
    """As `EventStream`, for `async for`."""

    def __init__(self, client: AsyncKai, start: Flow[Following]) -> None:
        self.place: Following | None = None
        self._events = self._read(client, start)

    async def _read(self, client: AsyncKai, start: Flow[Following]) -> AsyncGenerator[Event]:
        place = self.place = await client.run(start)
        while not place.ended:
            connection = client.read(place)
            try:
                async for event in connection:
                    yield event
            finally:
                await connection.aclose()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    def __anext__(self) -> Coroutine[None, None, Event]:
        return self._events.__anext__()

    async def aclose(self) -> None:
        """Stop reading. The run goes on; `kai.sessions.cancel` stops it."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _gather(stream: EventStream) -> Answer:
    answer = Answer()
    with stream:
        for event in stream:
            answer = add_event(answer, event)
    return answered(answer)


async def _gather_async(stream: AsyncEventStream) -> Answer:
    answer = Answer()
    async with stream:
        async for event in stream:
            answer = add_event(answer, event)
    return answered(answer)


def _address(url: str | None) -> str:
    """Returns where the API is: at the given URL, that of the environment, or on this machine."""
    server = url or os.environ.get("KAI_URL") or "http://127.0.0.1:8000"
    return f"{server.rstrip('/')}/api/v1"


def _login(api_key: str | None) -> Mapping[str, str]:
    return {} if api_key is None else {"Authorization": f"Bearer {api_key}"}


def _http_request(http: httpx.Client | httpx.AsyncClient, request: Request) -> httpx.Request:
    return http.build_request(
        request.method,
        request.path,
        params=dict(request.query),
        json=request.body,
        content=request.content,
        headers=request.headers,
    )


def _reply_of(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.headers, response.content)
