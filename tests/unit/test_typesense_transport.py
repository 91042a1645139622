"""The transport of requests to Typesense, against a server that answers as each test says."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from app.core.storage.typesense_client import DirectClient
from app.core.storage.typesense_transport import KeepAliveTransport

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"


@dataclass
class Answers:
    """A server. `answer` gives the parts of the response to the n-th request; None closes the connection."""

    answer: Callable[[int], Sequence[bytes] | None]
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line[15:])
                        for line in head.lower().split(b"\r\n")
                        if line.startswith(b"content-length")
                    ),
                    0,
                )
                self.requests.append(head + await reader.readexactly(length))
                self.asked.set()
                parts = self.answer(len(self.requests))
                if parts is None:
                    return
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed.set()
            writer.close()


@asynccontextmanager
async def answering(
    answer: Callable[[int], Sequence[bytes] | None], *, seconds: float = 60, connections: int = 100
) -> AsyncGenerator[tuple[Answers, DirectClient]]:
    answers = Answers(answer)
    server = await asyncio.start_server(answers.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    answers.port = port
    transport = KeepAliveTransport(connections)
    async with server, DirectClient(transport=transport, timeout=seconds) as client:
        yield answers, client


def url(answers: Answers, path: str = "/") -> str:
    return f"http://127.0.0.1:{answers.port}{path}"


async def test_requests_share_a_connection() -> None:
    async with answering(lambda _: [OK]) as (answers, client):
        for _ in range(3):
            response = await client.request(
                "POST", url(answers, "/a?b=c%20d"), content="body", headers={"k": "v"}
            )
            assert response.status_code == httpx.codes.OK
            assert response.json() == {}
    assert answers.connections == 1
    assert answers.requests[0].startswith(b"POST /a?b=c%20d HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nk: v\r\n" in answers.requests[0]
    assert answers.requests[0].endswith(b"\r\n\r\nbody")


async def test_requests_at_the_same_time_have_connections_of_their_own() -> None:
    async with answering(lambda _: [OK]) as (answers, client):
        await asyncio.gather(*(client.request("GET", url(answers)) for _ in range(4)))
        assert answers.connections == 4
        await client.request("GET", url(answers))
        assert answers.connections == 4


async def test_a_response_may_come_in_any_pieces() -> None:
    async with answering(lambda _: [bytes([each]) for each in CHUNKED]) as (answers, client):
        assert (await client.request("GET", url(answers))).text == "abcde"
        assert (await client.request("GET", url(answers))).text == "abcde"
    assert answers.connections == 1


async def test_a_connection_that_the_server_closes_after_its_response_is_not_used_again() -> None:
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    async with answering(lambda _: [closing]) as (answers, client):
        await client.request("GET", url(answers))
        await client.request("GET", url(answers))
    assert answers.connections == 2


async def test_an_idle_connection_that_the_server_has_closed_is_not_used_again() -> None:
    async with answering(lambda _: [OK]) as (answers, client):
        await client.request("GET", url(answers))
        transport = client._transport
        assert isinstance(transport, KeepAliveTransport)
        ((connection,),) = transport._idle.values()
        assert connection._transport is not None
        connection._transport.abort()
        assert (await client.request("GET", url(answers))).is_success
    assert answers.connections == 2


async def test_a_connection_closed_instead_of_a_response_is_an_error_that_is_retried() -> None:
    async with answering(lambda number: None if number == 1 else [OK]) as (answers, client):
        with pytest.raises(httpx.RemoteProtocolError):
            await client.request("GET", url(answers))
        assert (await client.request("GET", url(answers))).is_success


@pytest.mark.parametrize(
    "broken", [b"nothing of HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"]
)
async def test_a_response_that_is_not_http_is_an_error(broken: bytes) -> None:
    async with answering(lambda number: [broken] if number == 1 else [OK]) as (answers, client):
        with pytest.raises(httpx.RemoteProtocolError):
            await client.request("GET", url(answers))
        assert (await client.request("GET", url(answers))).is_success


async def test_a_server_that_does_not_answer_in_time_is_a_timeout_and_loses_its_connection() -> None:
    async with answering(lambda number: [] if number == 1 else [OK], seconds=0.5) as (answers, client):
        with pytest.raises(httpx.ReadTimeout):
            await client.request("GET", url(answers))
        async with asyncio.timeout(60):
            await answers.closed.wait()
        assert (await client.request("GET", url(answers))).is_success
    assert answers.connections == 2


async def test_a_cancelled_request_closes_its_connection_so_that_no_other_reads_its_response() -> None:
    async with answering(lambda number: [] if number == 1 else [OK]) as (answers, client):
        asking = asyncio.create_task(client.request("GET", url(answers)))
        async with asyncio.timeout(60):
            await answers.asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert (await client.request("GET", url(answers))).is_success
    assert answers.connections == 2


async def test_a_request_that_ends_after_the_client_was_closed_leaves_no_connection() -> None:
    answers = Answers(lambda _: [OK])
    asked, answered = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await answered.wait()
        await answers.serve(reader, writer)

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        answers.port = server.sockets[0].getsockname()[1]
        async with DirectClient(transport=KeepAliveTransport(), timeout=5) as client:
            reading = asyncio.create_task(client.request("GET", url(answers)))
            await asked.wait()
        answered.set()
        assert (await reading).status_code == 200
        async with asyncio.timeout(60):
            await answers.closed.wait()


async def test_a_closed_client_opens_no_connection() -> None:
    async with answering(lambda _: [OK]) as (answers, client):
        await client.aclose()
        with pytest.raises(httpx.TransportError, match="closed"):
            await client.request("GET", url(answers))
        assert not answers.connections


async def test_no_more_connections_are_open_than_allowed() -> None:
    async with answering(lambda _: [OK], connections=2) as (answers, client):
        await asyncio.gather(*(client.request("GET", url(answers)) for _ in range(10)))
    assert answers.connections <= 2


async def test_a_server_that_is_not_there_is_a_connect_error() -> None:
    async with answering(lambda _: [OK]) as (answers, _):
        pass
    async with DirectClient(transport=KeepAliveTransport(), timeout=5) as client:
        with pytest.raises(httpx.ConnectError):
            await client.request("GET", url(answers))


async def test_what_the_client_does_not_support_is_refused() -> None:
    async with DirectClient(transport=KeepAliveTransport()) as client:
        with pytest.raises(TypeError, match="cookies"):
            await client.request("GET", "http://127.0.0.1/", cookies={})
