"""Processes of the `kai` command, and of others that need all of the application. They are forked from one
that has imported it, for an import takes seconds of processor time, and the tests start some two hundred."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from tests.support.kai_forks import Order

_ROOT = Path(__file__).parents[2]
_STATUS_BYTES = 32
_lock = threading.Lock()


class KaiProcess:
    """A running command. It ends with the tests, however they end."""

    def __init__(self, status: socket.socket) -> None:
        self.process_id = int(status.recv(_STATUS_BYTES))
        self._status = status
        self._exit_code: int | None = None

    def send_signal(self, which: signal.Signals) -> None:
        """Does nothing once the process has ended."""
        try:
            self.wait(0)
        except TimeoutError:
            with suppress(ProcessLookupError):  # it has ended, and its exit code is on its way
                os.kill(self.process_id, which)

    def wait(self, seconds: float) -> int:
        """Returns its exit code, negative for a signal. Raises `TimeoutError` if it has not ended in time."""
        if self._exit_code is None:
            self._status.settimeout(seconds)
            try:
                self._exit_code = int(self._status.recv(_STATUS_BYTES))
            except BlockingIOError as error:
                raise TimeoutError from error
            self._status.close()
        return self._exit_code


def start_kai(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    stdout: int,
    stderr: int,
    stdin: int | None = None,
    clock_ahead_seconds: int = 0,
    module: str = "app.cli",
) -> KaiProcess:
    """Start `kai`, or the `main` of another module, with these arguments in a folder, reading from and
    writing to these descriptors; without `stdin` there is no input.
    """
    order = Order(
        module=module,
        arguments=list(arguments),
        environment=dict(environment),
        folder=str(folder),
        clock_ahead_seconds=clock_ahead_seconds,
    )
    with _lock:
        orders = _orders()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs, Path(os.devnull).open() as nothing:
        streams = [nothing.fileno() if stdin is None else stdin, stdout, stderr, theirs.fileno()]
        socket.send_fds(orders, [json.dumps(asdict(order)).encode()], streams)
    return KaiProcess(ours)


@cache
def _orders() -> socket.socket:
    """The socket to the process that forks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        program = f"from tests.support.kai_forks import main; main({theirs.fileno()})"
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
