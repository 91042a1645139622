"""Servers that KAI starts for itself, to try it and for tests: on the loopback address, ended with KAI."""

import ctypes
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

from app.core.errors import CannotRun

_START_SECONDS = 60.0
_POLL_SECONDS = 0.02
_PORTS = range(20_000, 32_768)


class ServerNotStarted(CannotRun):
    """The server ended, or did not answer in time; its log has the cause."""


class OwnServer(ABC):
    """A server that keeps its data and its log in a folder. Started again, it continues with that data."""

    name: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers. It ends with the thread that started it.

        Raises `CannotRun` if it is not installed, `ServerNotStarted` if it does not answer in 60 seconds.
        """
        self.spawn()
        self.wait_until_ready()

    def spawn(self) -> None:
        """Start the server without waiting. Raises `CannotRun` if it is not installed."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = self.command()
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C ends the starting process, which still writes to the server
                preexec_fn=end_with_starter,  # noqa: PLW1509
            )

    def wait_until_ready(self) -> None:
        """Raises `ServerNotStarted`."""
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise ServerNotStarted(f"{self.name} did not start; see {self.folder / 'log'}.")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Terminate the server and wait for its end; kill it after 10 seconds."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Kill the server, as in a crash, and wait for its end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Write the configuration; return program and arguments. Raises `CannotRun` if not installed."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether the server is ready for clients."""


def write_private(path: Path, text: str) -> None:
    """Write a file that only the user can read: it holds a secret."""
    path.touch(mode=0o600)
    path.write_text(text)


def free_port() -> int:
    """A port of the loopback address that nothing listens on.

    It is none of those that systems give to connections, so nothing else gets it before it is bound.
    """
    for port in SystemRandom().sample(_PORTS, len(_PORTS)):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise CannotRun("no port from 20000 to 32767 is free: end some of what listens there")


def end_with_starter() -> None:
    """Run in a child before its program: it ends with the thread that has started it. Linux alone can."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
