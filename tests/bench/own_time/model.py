"""The model of these measurements, in a process of its own: replies of 24 chunks, without delay."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from app.core.servers import free_port
from tests.support.scripted_model import Scripted, ScriptedModel

CHUNKS = 24
SQL = "```sql\nSELECT count(*) AS n FROM customers\n```"


@contextmanager
def model_process() -> Iterator[dict[str, str]]:
    """Settings of KAI for a model that answers within the block."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", __name__, str(port)])
    try:
        yield {"KAI_LLM__BASE_URL": f"http://127.0.0.1:{port}/v1", "KAI_LLM__MODEL": "scripted"}
    finally:
        process.kill()
        process.wait()


def main(port: int) -> None:
    model = ScriptedModel()
    model.rule("", Scripted("word " * CHUNKS))
    model.rule("SQL writer", Scripted("one " * (CHUNKS - len(Scripted(SQL).tokens)) + SQL))
    asyncio.run(model.serve(port))


if __name__ == "__main__":
    main(int(sys.argv[1]))
