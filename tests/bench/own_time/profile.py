"""Processor time of turns by layer: `make profile` runs it. The profiler itself slows Python code down."""

import asyncio
import os
import pstats
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import DEVNULL, PIPE

from tests.bench.own_time import limits
from tests.bench.own_time.model import model_process
from tests.bench.scaling.wire import ask
from tests.support.server import NO_QUOTAS, Server, client_of

TURNS = 60
LAYERS = {
    "KAI's own code": ("/app/", "/graph/", "/typesense_checkpoint/", "/migrations/"),
    "reading the model's replies": (
        "/app/core/llm/",
        "/aiohttp/",
        "/yarl/",
        "/langchain_openai/",
        "/openai/",
    ),
    "the store: SQLAlchemy, SQLite": ("/sqlalchemy/", "/sqlite3/", "sqlite3."),
    "LangGraph and LangChain": ("/langgraph/", "/langchain_core/", "/langsmith/", "/ormsgpack/"),
    "parsing and checking SQL": ("/sqlglot/",),
    "the HTTP server": ("/uvicorn/", "/starlette/", "/fastapi/", "/sse_starlette/", "/anyio/", "httptools"),
    "pydantic and JSON": ("/pydantic/", "pydantic_core", "/json/", "_json"),
    "metrics and traces": ("/prometheus_client/", "/opentelemetry/"),
    "the event loop": ("/asyncio/", "uvloop", "select.", "/selectors.py", "_asyncio"),
}
"""A path belongs to the layer with the longest part of it; names of built-in functions count as paths."""

_WAITS = ("run_forever", "run_until_complete", "epoll", "select.poll", "acquire")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="kai-profile-") as temporary, model_process() as model:
        folder = Path(temporary)
        shop = limits.build_database(folder)
        once = _profiled(folder / "one", shop, model, 1)
        many = _profiled(folder / "many", shop, model, 1 + TURNS)
    seconds = {layer: max(0.0, many[layer] - once[layer]) for layer in many}
    whole = sum(seconds.values())
    print("| layer | ms a turn, profiled | share |\n|---|---|---|")
    for layer, used in sorted(seconds.items(), key=lambda each: -each[1]):
        print(f"| {layer} | {used * 1_000 / TURNS:.2f} | {100 * used / whole:.0f} % |")


def _profiled(folder: Path, shop: str, model: dict[str, str], turns: int) -> dict[str, float]:
    """Returns the seconds of a server's event loop by layer, from its start to its end."""
    folder.mkdir()
    result = folder / "profile"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    settings = {**clean, **NO_QUOTAS, **model, "KAI_DATA_DIR": str(folder / "data"), "KAI_PORT": "0"}
    kai = str(Path(sys.executable).with_name("kai"))
    command = [sys.executable, "-m", "cProfile", "-o", str(result), kai, "serve"]
    with subprocess.Popen(command, env=settings, stdout=PIPE, stderr=DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        asyncio.run(_ask(Server(folder, address=address), shop, turns))
        process.terminate()
    return _by_layer(pstats.Stats(str(result)))


async def _ask(server: Server, shop: str, turns: int) -> None:
    async with client_of(server) as client:
        session = await client.open_session(await client.connect(shop))
    for _ in range(turns):
        await (await ask(server.address, session, "How many customers are there?")).done()


def _by_layer(stats: pstats.Stats) -> dict[str, float]:
    seconds = dict.fromkeys([*LAYERS, "the rest"], 0.0)
    for (file, _, name), (_, _, own, *_) in stats.stats.items():  # type: ignore[attr-defined]
        # Waiting for events is no work; the profiler counts it by the clock.
        if not any(waits in name for waits in _WAITS):
            seconds[_layer_of(file if file != "~" else name)] += own
    return seconds


def _layer_of(path: str) -> str:
    found = [(len(part), layer) for layer, parts in LAYERS.items() for part in parts if part in path]
    return max(found)[1] if found else "the rest"


if __name__ == "__main__":
    main()
