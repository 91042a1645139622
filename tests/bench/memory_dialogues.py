"""The dialogues of `kai eval --memory` with a scripted writer that obeys whatever facts its prompt holds.

python -m tests.bench.memory_dialogues DATA [NUMBER]

DATA is a folder of SQLite databases. It measures recall and scopes alone: a language model may overlook a
fact that its prompt holds.
"""

import asyncio
import sys
from pathlib import Path

from pydantic import SecretStr
from rich.console import Console

from app.core.settings import LlmSettings, Settings
from kai_analyst_tasks.dialogues.dialogue_set import read_dialogues
from kai_analyst_tasks.dialogues.run import MemoryEvaluation, evaluate_memory_with
from tests.bench.checkpointers import temporary_folder
from tests.support.obeying_writer import ObeyingWriter
from tests.support.scripted_model import scripted_model

DIALOGUES = Path(__file__).parents[2] / "examples" / "memory_dialogues.jsonl"


async def main(folder: str, limit: int | None) -> None:
    with scripted_model() as model, temporary_folder() as own:
        model.policy = ObeyingWriter(read_dialogues(DIALOGUES))
        llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted", max_retries=0)
        wanted = MemoryEvaluation(
            dialogues=DIALOGUES,
            database=f"{folder}/{{db}}.sqlite",
            output=Path("memory_dialogues.results.jsonl"),
            limit=limit,
        )
        settings = Settings(data_dir=own / "data", llm=llm)
        await evaluate_memory_with(wanted, settings, Console(highlight=False))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
