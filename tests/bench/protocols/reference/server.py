"""`langgraph dev` of pinned versions, in an environment of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.core.servers import free_port

_HERE = Path(__file__).parent
_START_SECONDS = 90
RUNS_AT_ONCE = 20


@contextmanager
def reference_server(folder: Path, *, database: Path, model: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Install it, and serve the graphs within the block: its address, and the id of its process group.

    It runs as it is fastest: without reloading, without its watch for blocking calls, with few log lines.
    """
    environment = {
        **os.environ,
        "LOG_LEVEL": "WARNING",
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "REFERENCE_DATABASE": str(database),
        "REFERENCE_MODEL": model["KAI_LLM__BASE_URL"],
    }
    site = folder / "site"
    folder.mkdir()
    shutil.copytree(_HERE, site)
    _install(str(folder / "venv"), environment)
    port = free_port()
    command = [str(folder / "venv" / "bin" / "langgraph"), "dev", "--no-browser", "--no-reload"]
    command += ["--allow-blocking", "--n-jobs-per-worker", str(RUNS_AT_ONCE), "--port", str(port)]
    with (folder / "reference.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=site, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_until_ready(address, process, folder / "reference.log")
            yield address, process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def cpu_seconds(group: int) -> float:
    """Processor time that all processes of a group have used so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _install(venv: str, environment: dict[str, str]) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    requirements = str(_HERE / "requirements.txt")
    made = [uv, "venv", "--quiet", "--python", sys.executable, venv]
    subprocess.run(made, env=environment, check=True)
    filled = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", venv, "-r", requirements]
    subprocess.run(filled, env=environment, check=True)


def _wait_until_ready(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(f"{address}/ok").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    sys.exit(f"langgraph dev did not start:\n{log.read_text()[-2_000:]}")
