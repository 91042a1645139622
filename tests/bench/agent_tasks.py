"""The tasks of `kai eval --tasks`, answered by a program instead of a model, or by replayed traces.

python -m tests.bench.agent_tasks --seed 9            # the reference policy, on unseen databases
python -m tests.bench.agent_tasks --seed 9 --traces   # one good and six spoiled answers a task
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console

from app.core.settings import LlmSettings, Settings
from kai_analyst_tasks.planting.recipes import task_set
from kai_analyst_tasks.run import TaskEvaluation, evaluate_tasks_with, make_tasks
from kai_analyst_tasks.summary import tally_tasks
from tests.support.agent_traces import TRACES, TraceName, replayed
from tests.support.reference_policy import ReferencePolicy
from tests.support.scripted_model import scripted_model


async def follow_policy(seed: int, tags: list[str], limit: int | None) -> None:
    """Print what the reference policy reaches."""
    with tempfile.TemporaryDirectory() as folder, scripted_model() as model:
        model.policy = ReferencePolicy()
        tasks = Path(folder) / "tasks.jsonl"
        make_tasks(seed, tasks)
        settings = Settings(llm=LlmSettings(base_url=model.base_url, model="reference", max_retries=0))
        wanted = TaskEvaluation(
            tasks=tasks,
            output=Path(folder) / "results.jsonl",
            systems=("agent",),
            runs=1,
            tags=tags,
            limit=limit,
        )
        outcomes = await evaluate_tasks_with(wanted, settings, Console(width=150, highlight=False))
        print(f"seed {seed}: {tally_tasks(outcomes).passed}")


async def replay_traces(seed: int, tags: list[str], limit: int | None) -> None:
    """Print what the scorer says of one good and six spoiled answers to each task."""
    with tempfile.TemporaryDirectory() as folder, scripted_model() as model:
        settings = Settings(llm=LlmSettings(base_url=model.base_url, model="replayed", max_retries=0))
        tasks = [each for each in task_set(seed) if not tags or {each.family, *each.tags} & set(tags)]
        passed: Counter[TraceName] = Counter()
        async for task, name, scored in replayed(tasks[:limit], model, settings, Path(folder)):
            passed[name] += scored.passed
            if scored.passed != (name == "good"):
                print(f"{task.id}, {name}: passed is {scored.passed}; {scored}")
        for name in TRACES:
            print(f"seed {seed}, {name}: {passed[name]} of {len(tasks[:limit])} pass")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tag", action="append", default=[], help="a family or a recipe")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--traces", action="store_true", help="replay one good and six spoiled answers")
    given = parser.parse_args()
    do = replay_traces if given.traces else follow_policy
    asyncio.run(do(given.seed, given.tag, given.limit))


if __name__ == "__main__":
    main()
