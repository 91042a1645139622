"""Clients that send too slowly, or requests whose length is ambiguous, by raw sockets."""

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.server import Server, running_server

GIVE_UP_SECONDS = 60
PATIENCE_SECONDS = 0.5
HEAD = b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    patience = str(PATIENCE_SECONDS)
    settings = {"KAI_TUNING__HTTP__HEAD_SECONDS": patience, "KAI_TUNING__HTTP__BODY_SECONDS": patience}
    with running_server(tmp_path_factory.mktemp("impatient"), settings) as server:
        yield server


def until_closed(server: Server, *sent: bytes) -> bytes:
    """What the server answers before it closes the connection, which it has to do by itself.

    On a busy machine the client itself may be too slow with what it sends: then it tries again.
    """
    address = urlsplit(server.address)
    while True:
        began = time.monotonic()
        with socket.create_connection((address.hostname, address.port), timeout=GIVE_UP_SECONDS) as client:
            try:
                for part in sent:
                    client.sendall(part)
                is_in_time = time.monotonic() - began < PATIENCE_SECONDS
                answered = b""
                while received := client.recv(65_536):
                    answered += received
            except ConnectionError:
                if time.monotonic() - began < PATIENCE_SECONDS:
                    raise
                continue
        if is_in_time:
            return answered


def statuses(answered: bytes) -> list[int]:
    return [int(line.split()[1]) for line in answered.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


@pytest.mark.parametrize(
    "begun",
    [b"G", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: a"],
    ids=["method", "request line", "headers"],
)
def test_a_head_that_does_not_arrive_is_answered_with_408_and_closed(impatient: Server, begun: bytes) -> None:
    answered = until_closed(impatient, begun)
    assert statuses(answered) == [408]
    assert b"urn:kai:request-timeout" in answered
    assert b"connection: close" in answered.lower()


def test_a_connection_without_a_request_is_closed(impatient: Server) -> None:
    assert until_closed(impatient) == b""


def test_a_second_request_that_begins_and_does_not_arrive_is_closed(impatient: Server) -> None:
    answered = until_closed(impatient, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /hea")
    assert statuses(answered)[0] == 200


@pytest.mark.parametrize(
    "begun",
    [
        b'Content-Length: 100\r\n\r\n{"a',
        b"Content-Length: 100\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n1",
    ],
    ids=["part", "nothing", "chunked"],
)
def test_a_body_that_does_not_arrive_is_answered_with_408_and_closed(impatient: Server, begun: bytes) -> None:
    answered = until_closed(impatient, HEAD + begun)
    assert statuses(answered) == [408]
    assert b"urn:kai:request-timeout" in answered


def test_a_body_that_no_route_reads_is_not_waited_for(impatient: Server) -> None:
    unread = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
    assert statuses(until_closed(impatient, unread)) == [200]
    declared_too_large = HEAD + b"Content-Length: 100000000\r\n\r\n{"
    assert statuses(until_closed(impatient, declared_too_large)) == [413]


@pytest.mark.parametrize("path", [b"/api/v1/sessions", b"/healthz", b"/"])
def test_two_lengths_are_refused_and_what_follows_is_not_read(impatient: Server, path: bytes) -> None:
    lengths = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answered = until_closed(
        impatient, b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + lengths + smuggled
    )
    assert statuses(answered) == [400]
    assert b"urn:kai:malformed" in answered


@pytest.mark.parametrize(
    "request_", [b"GARBAGE\r\n\r\n", b"GET / HTTP/1.1\r\nBad Header: 1\r\n\r\n"], ids=["line", "header"]
)
def test_what_is_no_http_is_answered_with_a_problem(impatient: Server, request_: bytes) -> None:
    answered = until_closed(impatient, request_)
    assert statuses(answered) == [400]
    assert b"application/problem+json" in answered


@pytest.mark.parametrize("hosts", [b"", b"Host: localhost\r\nHost: 127.0.0.1\r\n"], ids=["none", "two"])
def test_a_request_needs_exactly_one_host(impatient: Server, hosts: bytes) -> None:
    answered = until_closed(impatient, b"GET /healthz HTTP/1.1\r\n" + hosts + b"\r\n")
    assert statuses(answered) == [400]
    assert b"exactly one Host" in answered


def test_a_head_that_does_not_end_is_refused(impatient: Server) -> None:
    begun = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 65_000
    # One packet is too many, and nothing comes after it: a server that closes before it has read all resets.
    answered = until_closed(impatient, begun, b"a" * 1_000)
    assert statuses(answered) == [431]


def test_requests_in_one_piece_are_answered_before_a_slow_one_is_refused(impatient: Server) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answered = until_closed(impatient, request + request, b"G")
    assert answered.count(b"HTTP/1.1 200") == 2
    assert answered.count(b"HTTP/1.1 408") == 1


def test_a_client_in_time_keeps_its_connection(plain_server: Server) -> None:
    address = urlsplit(plain_server.address)
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=GIVE_UP_SECONDS) as client:
        for _ in range(3):
            client.sendall(request[:10])
            client.sendall(request[10:])
            answered = b""
            while not answered.endswith(b'{"status":"ok"}') and (received := client.recv(65_536)):
                answered += received
            assert answered.startswith(b"HTTP/1.1 200")
