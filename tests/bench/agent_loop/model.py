"""The model of these measurements, in a process of its own: it answers without delay, and no turn has a
statement of another.
"""

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.core.servers import free_port
from tests.support.scripted_model import Asked, Scripted, ScriptedModel

CALLS = 2
"""Calls of a step."""
PEER = "PEER"
"""Begins the questions of the peer, which ends with a text: it has no tool that ends a turn."""
_SQL = (
    "SELECT name, count(*) AS n FROM customers WHERE id % 12 <> {step} AND id % 7 <> {call} AND id <> {turn} "
    "GROUP BY name"
)
_ASKED = re.compile(r"Look in (\d+) steps, turn (\d+)")


def question(steps: int, turn: int) -> str:
    return f"Look in {steps} steps, turn {turn}"


@contextmanager
def model_process() -> Iterator[str]:
    """Runs the model within the block. Returns its URL."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", __name__, str(port)])
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


def _reply(asked: Asked) -> Scripted:
    if "SQL writer" in asked.text:
        return Scripted("INVESTIGATE:\n1. look")
    steps, turn = map(int, _ASKED.findall(asked.text)[-1])
    step = sum(message["role"] == "tool" for message in asked.messages) // CALLS
    if step < steps - 1:
        return Scripted("I look.", calls=tuple(_call(step, call, turn) for call in range(CALLS)))
    if PEER in asked.text:
        return Scripted("Done.")
    return Scripted("", calls=(("finish", json.dumps({"answer": "Done."})),))


def _call(step: int, call: int, turn: int) -> tuple[str, str]:
    sql = _SQL.format(step=step, call=call, turn=turn)
    return "run_sql", json.dumps({"sql": sql, "purpose": f"look {step}.{call}"})


def main(port: int) -> None:
    model = ScriptedModel()
    model.policy = _reply
    asyncio.run(model.serve(port))


if __name__ == "__main__":
    main(int(sys.argv[1]))
