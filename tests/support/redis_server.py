"""A throwaway Redis server, where Debian's program is installed; it ends with the tests, however they end."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.core.servers import end_with_starter, free_port

_START_SECONDS = 90


@dataclass
class RedisServer:
    """On one port for its whole life; what it keeps is in its folder.

    With `append_only` every write is on disk before it is answered, so that it survives `kill`; without,
    nothing survives an end of any kind.
    """

    folder: Path
    append_only: bool = False
    port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Returns when it answers. Started again, it has what it kept on disk."""
        self._process = subprocess.Popen(
            ["redis-server", *self._options()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=end_with_starter,  # noqa: PLW1509
        )
        end = time.monotonic() + _START_SECONDS
        while not self.answers():
            assert self._process.poll() is None, f"Redis did not start: {self._said()}"
            assert time.monotonic() < end, f"Redis did not start in time: {self._said()}"
            time.sleep(0.01)

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """It keeps its connections and answers nothing, until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def empty(self) -> None:
        """Forget everything, as a new server would."""
        assert self._asked("FLUSHALL") == b"+OK\r\n"

    def lose_data(self) -> None:
        """For a start from nothing: what an ended server kept on disk is gone."""
        shutil.rmtree(self.folder / "appendonlydir", ignore_errors=True)

    def answers(self) -> bool:
        try:
            return self._asked("PING") == b"+PONG\r\n"
        except OSError:
            return False

    def _asked(self, command: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(f"{command}\r\n".encode())
            return connection.recv(1_000)

    def _options(self) -> list[str]:
        keeping = ["--appendonly", "yes", "--appendfsync", "always"] if self.append_only else []
        place = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        return [*place, "--save", "", "--logfile", str(self.folder / "log"), *keeping]

    def _said(self) -> str:
        log = self.folder / "log"
        return log.read_text() if log.exists() else "it wrote no log"

    def _signal(self, which: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(which)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.send_signal(signal.SIGCONT)  # a frozen one ends, too
            self._process.wait(_START_SECONDS)
            self._process = None


def installed() -> bool:
    return shutil.which("redis-server") is not None


@contextmanager
def running_redis(folder: Path, *, append_only: bool = False) -> Iterator[RedisServer]:
    """The folder exists already."""
    server = RedisServer(folder, append_only)
    try:
        server.start()
        yield server
    finally:
        server.kill()
