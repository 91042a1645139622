"""A throwaway PostgreSQL server, where its programs are installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.servers import free_port


@dataclass(frozen=True)
class PostgresServer:
    port: int
    user: str = "analyst"
    password: str = "s3cret/with@signs"

    def url(self, database: str = "shop") -> str:
        return f"postgresql://{self.user}:s3cret%2Fwith%40signs@127.0.0.1:{self.port}/{database}"


def programs() -> Path | None:
    """Where the server's programs are."""
    beside = shutil.which("initdb")
    if beside is not None:
        return Path(beside).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return installed[-1] if installed else None


@contextmanager
def postgres_server(bin_folder: Path) -> Iterator[PostgresServer]:
    """Runs as `postgres` where the tests run as root, whom the server refuses."""
    server = PostgresServer(free_port())
    folder = Path(tempfile.mkdtemp(prefix="kai-postgres-"))
    secret = folder / "password"
    secret.write_text(server.password)
    as_user: list[str] = []
    if os.geteuid() == 0:
        as_user = ["runuser", "-u", "postgres", "--"]
        for path in (folder, secret):
            shutil.chown(path, "postgres")
    data, control = str(folder / "data"), [*as_user, str(bin_folder / "pg_ctl"), "-D", str(folder / "data")]
    options = f"-p {server.port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    try:
        initdb = [str(bin_folder / "initdb"), "-D", data, "-U", server.user, "-A", "scram-sha-256"]
        _run([*as_user, *initdb, f"--pwfile={secret}", "-E", "UTF8", "--no-sync"], folder)
        _run([*control, "-w", "-o", options, "-l", str(folder / "log"), "start"], folder)
        try:
            yield server
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)
    finally:
        shutil.rmtree(folder)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, check=True, cwd=folder, timeout=120, stdout=subprocess.DEVNULL)
