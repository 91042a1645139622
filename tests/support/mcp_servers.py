"""Scripted MCP servers for tests, over stdio and over HTTP."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from app.core.servers import free_port

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class ScriptedMcp:
    """What a scripted server says, and the calls that have reached it."""

    folder: Path

    @property
    def script(self) -> Path:
        return self.folder / "script.json"

    @property
    def arguments(self) -> list[str]:
        """Its command line, without the program."""
        return [
            "-m",
            "tests.support.scripted_mcp",
            "--script",
            str(self.script),
            "--calls",
            str(self.folder / "calls"),
        ]

    def says(self, **script: JsonValue) -> None:
        """Change what it says, also while it runs."""
        whole = self.script.with_suffix(".new")
        whole.write_text(json.dumps(script))
        whole.replace(self.script)

    def calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def over_stdio(self) -> dict[str, JsonValue]:
        """Its entry in the configuration."""
        env: dict[str, JsonValue] = {"PYTHONPATH": str(ROOT), "GIVEN": "by the file"}
        args: list[JsonValue] = [*self.arguments]
        return {"transport": "stdio", "command": sys.executable, "args": args, "env": env}

    @contextmanager
    def over_http(self, port: int | None = None) -> Iterator[str]:
        """Runs it within the block. Yields its URL."""
        port = port or free_port()
        process = subprocess.Popen(
            [sys.executable, *self.arguments, "--port", str(port)], cwd=ROOT, start_new_session=True
        )
        try:
            wait_for_port(port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()
            process.wait()


def scripted_mcp(folder: Path) -> ScriptedMcp:
    folder.mkdir(exist_ok=True)
    server = ScriptedMcp(folder)
    server.says()
    return server


def wait_for_port(port: int, seconds: float = 60) -> None:
    """Raises `TimeoutError` if nothing listens in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")
