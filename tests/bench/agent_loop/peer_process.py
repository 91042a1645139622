"""The peer, of pinned versions, in an environment and a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry

_PEER = Path(__file__).parent / "peer"


@contextmanager
def peer_process(folder: Path, *, database: Path, model_url: str) -> Iterator[Callable[[int, int], float]]:
    """Installs it, and runs it within the block: the function takes a turn and returns its seconds of
    processor time.
    """
    _install(folder / "venv")
    tools = folder / "tools.json"
    tools.write_text(json.dumps(_tools()))
    log = (folder / "peer.log").open("wb")
    process = subprocess.Popen(
        [
            *(str(folder / "venv" / "bin" / "python"), str(_PEER / "agent.py"), str(database), model_url),
            *(str(tools), str(folder / "checkpoints.db")),
        ],
        env={**os.environ, "LANGSMITH_TRACING": "false"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    written, read = process.stdin, process.stdout
    assert written is not None
    assert read is not None

    def take(steps: int, turn: int) -> float:
        print(steps, turn, file=written, flush=True)
        line = read.readline()
        if not line:
            sys.exit(f"create_agent failed:\n{(folder / 'peer.log').read_text()[-2_000:]}")
        return float(line)

    try:
        yield take
    finally:
        process.kill()
        process.communicate()
        log.close()


def _tools() -> list[dict[str, object]]:
    """Returns what KAI offers in ask mode."""
    offered = ToolRegistry(BUILTIN, ToolPolicy()).offered("ask").values()
    return [{**vars(tool.offer), "category": tool.category} for tool in offered]


def _install(venv: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(venv)], check=True)
    filled = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(venv)]
    pinned = ["--require-hashes", "-r", str(_PEER / "requirements.txt")]
    subprocess.run([*filled, *pinned], check=True)
