"""The throwaway Redis does what tests of losing it lean on."""

import socket
from pathlib import Path

import pytest

from tests.support import redis_server as program
from tests.support.redis_server import RedisServer, running_redis

pytestmark = pytest.mark.skipif(
    not program.installed(), reason="Redis is not installed: apt-get install redis-server"
)


def said(server: RedisServer, command: str) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{command}\r\n".encode())
        return connection.recv(1_000)


def test_what_a_killed_redis_has_written_to_its_file_is_there_again(tmp_path: Path) -> None:
    with running_redis(tmp_path, append_only=True) as server:
        said(server, "SET kept 1")
        server.kill()
        assert not server.answers()
        server.start()
        assert said(server, "GET kept") == b"$1\r\n1\r\n"
        server.stop()
        server.lose_data()
        server.start()
        assert said(server, "GET kept") == b"$-1\r\n"


def test_a_redis_without_a_file_begins_with_nothing(tmp_path: Path) -> None:
    with running_redis(tmp_path) as server:
        said(server, "SET kept 1")
        server.stop()
        server.start()
        assert said(server, "GET kept") == b"$-1\r\n"


def test_a_frozen_redis_takes_connections_and_answers_nothing(tmp_path: Path) -> None:
    with running_redis(tmp_path) as server, socket.create_connection(("127.0.0.1", server.port)) as held:
        server.freeze()
        held.settimeout(0.2)
        held.sendall(b"PING\r\n")
        with pytest.raises(TimeoutError):
            held.recv(10)
        server.thaw()
        held.settimeout(60)
        assert held.recv(10) == b"+PONG\r\n"


def test_the_redis_of_all_tests_answers_and_can_be_emptied(redis_server: RedisServer) -> None:
    said(redis_server, "SET kept 1")
    redis_server.empty()
    assert said(redis_server, "GET kept") == b"$-1\r\n"
