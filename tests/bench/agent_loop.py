"""Own time of a step of an investigation without the model, beside LangChain's `create_agent` on the same
script, and what a turn leaves in checkpoints.

`python -m tests.bench.agent_loop` (by hand; the peer needs `pip install langchain`). Both run over SQLite in
this process; the model answers from a process of its own, without delay. Times are processor time.
"""

import argparse
import asyncio
import json
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.servers import free_port
from app.core.settings import NO_QUOTAS, LlmSettings, Settings
from tests.bench.own_time.limits import build_database
from tests.support.model_script import Asked
from tests.support.scripted_model import Scripted, ScriptedModel

LONG = 12
SHORT = 2
CALLS = 2
SQL = "SELECT name, count(*) AS n FROM customers WHERE id % 12 <> {step} AND id % 7 <> {call} GROUP BY name"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--model-port", type=int)
    given = parser.parse_args()
    if given.model_port is not None:
        _serve_model(given.model_port)
        return
    with tempfile.TemporaryDirectory(prefix="kai-loop-") as temporary, _model_process() as base_url:
        asyncio.run(_measure(Path(temporary), base_url, given.rounds))


async def _measure(folder: Path, base_url: str, rounds: int) -> None:
    database = build_database(folder)
    llm = LlmSettings(
        base_url=base_url, api_key=SecretStr("none"), model="large", titles=False, memories=False
    )
    settings = Settings(data_dir=folder / "data", llm=llm, quotas=NO_QUOTAS)
    async with open_services(settings, "once") as services:
        connection = await services.database_connections.register(
            LOCAL_OWNER, database, "shop", description=""
        )
        kai = await _steps(lambda steps: _ask(services, connection.id, steps), rounds)
    print(f"KAI: {kai}")
    for name, size in _checkpoint_bytes(folder / "data" / "checkpoints.db").items():
        print(f"  {name}: {size / 1_000:,.0f} kB in checkpoints for each of its turns")
    if find_spec("langchain") is None:
        print("create_agent: not measured, langchain is not installed")
        return
    print(f"create_agent: {await _steps(lambda steps: _peer(folder, base_url, steps), rounds)}")


async def _steps(turn: Callable[[int], Awaitable[None]], rounds: int) -> str:
    """Returns the times of a step: what the steps of a long turn take beyond those of a short one."""
    took: list[float] = []
    for number in range(rounds + 1):
        times = []
        for steps in (SHORT, LONG):
            began = time.process_time()
            await turn(steps)
            times.append(time.process_time() - began)
        if number:
            took.append((times[1] - times[0]) * 1_000 / (LONG - SHORT))
    return (
        f"{statistics.median(took):.1f} ms a step of {CALLS} calls (from {min(took):.1f} to {max(took):.1f})"
    )


async def _ask(services: Services, connection_id: str, steps: int) -> None:
    session = await services.sessions.create(LOCAL_OWNER, connection_id, None, mode="ask", metadata={})
    asked = await services.sessions.ask(
        LOCAL_OWNER, session.id, _question(steps), on_busy="reject", idempotency_key=None
    )
    last = ""
    async for entry in services.sessions.follower.events(*asked):
        last = entry.data
    if json.loads(last).get("steps") != steps:
        raise RuntimeError(f"the turn did not take {steps} steps: {last}")


def _question(steps: int) -> str:
    return f"Look in {steps} steps"


def _checkpoint_bytes(path: Path) -> dict[str, float]:
    """Returns the bytes of a session's checkpoints, of one turn each, shortest turns first."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT sum(length(checkpoint) + length(metadata)) + coalesce((SELECT sum(length(value)) "
            "FROM writes WHERE writes.thread_id = checkpoints.thread_id), 0) AS size FROM checkpoints "
            "GROUP BY thread_id ORDER BY size"
        ).fetchall()
    sizes = [float(row[0]) for row in rows]
    half = len(sizes) // 2
    return {f"{SHORT} steps": statistics.mean(sizes[:half]), f"{LONG} steps": statistics.mean(sizes[half:])}


async def _peer(folder: Path, base_url: str, steps: int) -> None:
    from langchain.agents import create_agent  # type: ignore[import-not-found,unused-ignore]
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    @tool
    def run_sql(sql: str, purpose: str = "") -> str:
        """Run a statement."""
        with closing(sqlite3.connect(folder / "shop.db")) as connection:
            return json.dumps(connection.execute(sql).fetchall())

    model = ChatOpenAI(model="large", base_url=base_url, api_key=SecretStr("none"), streaming=True)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "peer.db")) as saver:
        agent = create_agent(model, [run_sql], checkpointer=saver)
        prompt = {"messages": [{"role": "user", "content": f"PEER {_question(steps)}"}]}
        config = {"configurable": {"thread_id": f"{time.monotonic_ns()}"}, "recursion_limit": 100}
        async for _ in agent.astream(prompt, config):
            pass


@contextmanager
def _model_process() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.agent_loop", "--model-port", str(port)])
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise RuntimeError("the model does not listen")


def _serve_model(port: int) -> None:
    model = ScriptedModel()
    for step in range(LONG):
        made = tuple(
            (
                "run_sql",
                json.dumps({"sql": SQL.format(step=step, call=call), "purpose": f"look {step}.{call}"}),
            )
            for call in range(CALLS)
        )
        model.rule(_is_at(step), Scripted("I look.", calls=made))
    for steps in (SHORT, LONG):
        model.rule(_ends(steps), Scripted("", calls=(("finish", json.dumps({"answer": "Done."})),)))
        model.rule(_ends(steps, "PEER"), "Done.")
    model.rule("SQL writer", "INVESTIGATE:\n1. look")
    asyncio.run(model.serve(port))


def _results(asked: Asked) -> int:
    return sum(message["role"] == "tool" for message in asked.messages)


def _is_at(step: int) -> Callable[[Asked], bool]:
    return lambda asked: _results(asked) == step * CALLS


def _ends(steps: int, mark: str = "") -> Callable[[Asked], bool]:
    asks = f"{mark} {_question(steps)}".strip()
    return lambda asked: asks in asked.text and _results(asked) == (steps - 1) * CALLS


if __name__ == "__main__":
    main()
