"""The model of these measurements, in a process of its own: 200 tokens of a millisecond, or slow ones."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from app.core.servers import free_port
from tests.support.scripted_model import Scripted, ScriptedModel

QUESTION = "How many customers are there?"
SLOW_QUESTION = "How many customers are there, counted slowly?"

SLOW_TOKEN_SECONDS = 2.0
_SLOW_TOKENS = 200
"""More than anybody waits for: what is measured of them is over before."""


@contextmanager
def model_process() -> Iterator[tuple[dict[str, str], int]]:
    """Settings of KAI for a model that answers within the block, and its process id."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", __name__, str(port)])
    try:
        settings = {"KAI_LLM__BASE_URL": f"http://127.0.0.1:{port}/v1", "KAI_LLM__MODEL": "scripted"}
        yield settings, process.pid
    finally:
        process.kill()
        process.wait()


def main(port: int) -> None:
    model = ScriptedModel()
    model.rule("", Scripted("word " * 200, delay_seconds=0.001))
    model.rule(SLOW_QUESTION, Scripted("word " * _SLOW_TOKENS, delay_seconds=SLOW_TOKEN_SECONDS))
    model.rule("SQL writer", Scripted("```sql\nSELECT count(*) AS n FROM customers\n```"))
    asyncio.run(model.serve(port))


if __name__ == "__main__":
    main(int(sys.argv[1]))
