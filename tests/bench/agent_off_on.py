"""Simple questions with investigations off and on, answered by replayed replies instead of a model.

    python -m tests.bench.agent_off_on questions.jsonl --db 'data/{db}.sqlite'

The reply to a question is its gold statement, or for every third question another one: what differs between
both runs is what KAI does.
"""

import argparse
import asyncio
import tempfile
from itertools import cycle
from pathlib import Path

from rich.console import Console

from app.core.settings import LlmSettings, Settings
from app.evaluation.loop import compare_agent_with
from app.evaluation.question_set import QuestionSelection, read_question_set
from app.evaluation.results import read_results
from app.evaluation.run import Evaluation
from tests.support.model_script import Asked, Scripted
from tests.support.scripted_model import scripted_model


class Replay:
    """The same question has the same reply, whatever else its prompt says."""

    def __init__(self, questions: Path) -> None:
        self._replies: dict[str, str] = {}
        wrong = cycle([False, False, True])
        for conversation in read_question_set(questions).conversations:
            for each in conversation:
                statement = "SELECT 1 AS other" if next(wrong) else each.gold_sql[0]
                self._replies.setdefault(each.question, f"```sql\n{statement}\n```")

    def __call__(self, asked: Asked) -> Scripted | None:
        if "SQL writer" not in asked.text:
            return None
        question = asked.messages[-1]["content"].rpartition("## Question\n")[2].split("\n\n")[0]
        return Scripted(self._replies[question])


async def measure(questions: Path, database: str) -> None:
    """Print both scores, and in how many outcomes anything but the time differs."""
    with tempfile.TemporaryDirectory() as folder, scripted_model() as model:
        model.policy = Replay(questions)
        settings = Settings(llm=LlmSettings(base_url=model.base_url, model="replayed", max_retries=0))
        output = Path(folder) / "set.results.jsonl"
        wanted = Evaluation(
            questions=questions,
            database=database,
            output=output,
            selection=QuestionSelection(),
            mode="exact",
            jobs=2,
            fresh=True,
        )
        comparison = await compare_agent_with(wanted, settings, Console(width=150, highlight=False))
        off, on = (
            {
                name: each.model_copy(update={"seconds": 0, "prompt_tokens": 0, "tokens": 0})
                for name, each in read_results(
                    output.with_name(f"set.agent-{form}.results.jsonl")
                ).outcomes.items()
            }
            for form in ("off", "on")
        )
        different = [name for name in off if off[name] != on[name]]
        print(
            f"{len(off)} questions: {comparison.first.accuracy} off, {comparison.second.accuracy} on; "
            f"{len(different)} outcomes differ {different[:5]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--db", required=True)
    given = parser.parse_args()
    asyncio.run(measure(given.questions, given.db))


if __name__ == "__main__":
    main()
