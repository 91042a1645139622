"""A throwaway NATS server, or three of one cluster, and the ways in which they fail."""

import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from app.core.bus.nats_server import NatsServer
from app.core.servers import free_port


@dataclass(frozen=True)
class Membership:
    """A server's place in a cluster: its own port of it, and the ports and the password of all."""

    name: str
    password: str
    port: int
    ports: Sequence[int]


class FragileNats(NatsServer):
    """On one port for its whole life. It ends with the tests, however they end."""

    def __init__(self, folder: Path, extra: Sequence[str] = (), member: Membership | None = None) -> None:
        super().__init__(folder)
        self._extra = extra
        self._member = member
        if member is not None:
            self._password = member.password

    def configuration(self) -> list[str]:
        lines = [*super().configuration(), *self._extra]
        if self._member is not None:
            routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self._member.ports)
            place = f'name: kai, listen: "127.0.0.1:{self._member.port}", routes: [{routes}]'
            lines += [f'server_name: "{self._member.name}"', f"cluster {{ {place} }}"]
        return lines

    def freeze(self) -> None:
        """It keeps its connections and answers nothing, until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def lose_data(self) -> None:
        """For a start from nothing: what an ended server kept on disk is gone."""
        shutil.rmtree(self.folder / "data")

    def _signal(self, which: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(which)


@contextmanager
def running_nats(folder: Path, extra: Sequence[str] = ()) -> Iterator[FragileNats]:
    server = FragileNats(folder, extra)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@contextmanager
def running_nats_cluster(folder: Path) -> Iterator[list[FragileNats]]:
    """Three servers. Each URL is of one of them."""
    ports = [free_port() for _ in range(3)]
    password = token_hex(16)
    servers = [
        FragileNats(folder / f"nats{number}", member=Membership(f"n{number}", password, port, ports))
        for number, port in enumerate(ports)
    ]
    try:
        for server in servers:
            server.spawn()
        for server in servers:
            server.wait_until_ready()
        yield servers
    finally:
        for server in servers:
            server.kill()
