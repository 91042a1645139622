"""A throwaway MariaDB server, where its programs are installed."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.servers import free_port

_START_SECONDS = 90


@dataclass(frozen=True)
class MariadbServer:
    port: int
    socket: Path

    def url(self, user: str = "analyst", database: str = "shop") -> str:
        return f"mysql://{user}:s3cret%2Fwith%40signs@127.0.0.1:{self.port}/{database}"

    def root_url(self, database: str) -> str:
        return f"mysql://root:@127.0.0.1:{self.port}/{database}"

    def run(self, script: str, database: str = "") -> str:
        """Run statements as the server's root, over its socket; what they answer, tabs between cells."""
        command = [_program("mariadb"), "--no-defaults", "-uroot", f"-S{self.socket}", "-N", database]
        done = subprocess.run(
            [each for each in command if each], input=script, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def installed() -> bool:
    return all(map(shutil.which, ("mariadbd", "mariadb-install-db", "mariadb")))


@contextmanager
def mariadb_server() -> Iterator[MariadbServer]:
    """Runs as `mysql` where the tests run as root, whom the server refuses."""
    folder = Path(tempfile.mkdtemp(prefix="kai-mariadb-"))
    user = ["--user=mysql"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "mysql")
    data = f"--datadir={folder / 'data'}"
    # The kernel's queues count against a limit that all servers of a user share.
    small = ["--innodb-use-native-aio=0", "--innodb-buffer-pool-size=32M"]
    install = ["mariadb-install-db", "--no-defaults", data, "--skip-test-db", *small, *user]
    server = MariadbServer(free_port(), folder / "socket")
    options = [
        *("--bind-address=127.0.0.1", f"--port={server.port}", f"--socket={server.socket}"),
        *(f"--pid-file={folder / 'pid'}", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0"),
        *(*small, f"--secure-file-priv={folder}"),
    ]
    try:
        root = ["--auth-root-authentication-method=normal"]
        with _alone():
            made = subprocess.run([*install, *root], timeout=120, capture_output=True, text=True)
        assert made.returncode == 0, f"{made.stdout}\n{made.stderr}"
        process = subprocess.Popen(
            [_program("mariadbd"), "--no-defaults", data, *user, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _await(server, process)
            yield server
        finally:
            process.kill()
            process.wait(60)
    finally:
        shutil.rmtree(folder)


@contextmanager
def _alone() -> Iterator[None]:
    """One installation at a time on this machine: several at once fail."""
    with (Path(tempfile.gettempdir()) / "kai-mariadb.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _await(server: MariadbServer, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _START_SECONDS
    while not server.socket.exists():
        assert process.poll() is None, "the server did not start"
        assert time.monotonic() < end, "the server did not start in time"
        time.sleep(0.05)


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None
    return found
