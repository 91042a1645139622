"""`kai eval --tasks`: ask the tasks of a set several times, with KAI and beside it, and score the answers."""

import asyncio
import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console

from app.bootstrap import Services, open_services_for_once
from app.core.errors import Invalid
from app.core.settings import Settings, read_settings
from app.evaluation.answering import RunCosts
from app.evaluation.results import appending
from app.evaluation.run import with_model
from kai_analyst_tasks.answers import ask_kai, ask_plain, fact_values, opened_task
from kai_analyst_tasks.planting.recipes import task_set
from kai_analyst_tasks.results import (
    OutcomeKey,
    TaskHeader,
    TaskOutcome,
    TaskSystem,
    append_task,
    read_task_results,
    resumed_tasks,
)
from kai_analyst_tasks.scoring import SeenAnswer, TaskScore, score
from kai_analyst_tasks.summary import print_task_summary
from kai_analyst_tasks.task_set import AgentTask, read_task_set, write_task_set

_ENDING = ".results.jsonl"


@dataclass(frozen=True, kw_only=True)
class TaskEvaluation:
    """The options of `kai eval --tasks`. `jobs` is the number of concurrent tasks of a system."""

    tasks: Path
    output: Path | None = None
    systems: Sequence[TaskSystem] = ("agent", "pipeline", "plain")
    runs: int = 3
    model: str | None = None
    tags: Sequence[str] = ()
    limit: int | None = None
    seed: int = 0
    jobs: int = 1
    fresh: bool = False


def make_tasks(seed: int, output: Path) -> None:
    """Write the task set of a seed. Raises `OSError`."""
    write_task_set(output, task_set(seed))


async def evaluate_tasks(wanted: TaskEvaluation) -> None:
    """Evaluate KAI with the settings of this process. Raises as `evaluate_tasks_with` does."""
    await evaluate_tasks_with(wanted, read_settings(), Console(highlight=False))


async def evaluate_tasks_with(
    wanted: TaskEvaluation, settings: Settings, console: Console
) -> list[TaskOutcome]:
    """Ask what the results file does not hold yet, print the figures, and return the outcomes.

    Raises `Problem` before the first task when the evaluation cannot start.
    """
    found = read_task_set(wanted.tasks)
    tasks = _selected(found.tasks, wanted)
    chosen = with_model(settings, wanted.model)
    if not chosen.llm.configured:
        raise Invalid("Tasks are for a language model: set OPENAI_API_KEY or KAI_LLM__BASE_URL.")
    output = wanted.output or Path(f"{wanted.tasks.stem}{_ENDING}")
    header = TaskHeader(task_set=found.name, set_digest=found.digest, model=chosen.llm.writer)
    known = resumed_tasks(output, header, fresh=wanted.fresh)
    keys = [
        (task, system, run)
        for system in wanted.systems
        for task in tasks
        for run in range(1, wanted.runs + 1)
    ]
    with appending(output) as file:
        for system in wanted.systems:
            rest = [
                (task, run)
                for task, its, run in keys
                if its == system and (task.id, its, run) not in known.outcomes
            ]
            if rest:
                await _ask(
                    rest, system, _settings_of(system, chosen), jobs=wanted.jobs, file=file, console=console
                )
    read = read_task_results(output).outcomes
    outcomes = [read[key] for task, system, run in keys if (key := (task.id, system, run)) in read]
    print_task_summary(console, outcomes)
    console.print(f"Results: {output}", markup=False, soft_wrap=True)
    return outcomes


def _selected(tasks: Sequence[AgentTask], wanted: TaskEvaluation) -> list[AgentTask]:
    """Returns the tasks with a tag, or of a family, of `tags`; `limit` of them, drawn by the seed."""
    chosen = [each for each in tasks if not wanted.tags or {each.family, *each.tags} & set(wanted.tags)]
    drawn = sorted(chosen, key=lambda each: hashlib.sha256(f"{wanted.seed}:{each.id}".encode()).digest())
    kept = {each.id for each in drawn[: wanted.limit]}
    if not kept:
        raise Invalid("No task matches; change --tag or --limit.")
    return [each for each in chosen if each.id in kept]


def _settings_of(system: TaskSystem, settings: Settings) -> Settings:
    """Only the long instructions, as text, offer investigations: the agent always has them."""
    if system == "agent":
        llm = settings.llm.model_copy(update={"instruction": "long", "reply_format": "text"})
        agent = settings.agent.model_copy(update={"enabled": True})
        return settings.model_copy(update={"llm": llm, "agent": agent})
    agent = settings.agent.model_copy(update={"enabled": False})
    return settings.model_copy(update={"agent": agent})


async def _ask(
    rest: Sequence[tuple[AgentTask, int]],
    system: TaskSystem,
    settings: Settings,
    *,
    jobs: int,
    file: TextIO,
    console: Console,
) -> None:
    """Ask one system, `jobs` tasks at a time. The first exception cancels the others and is raised."""
    async with open_services_for_once(settings) as services:
        capability = services.capabilities.investigations
        if system == "agent" and not capability.on:
            raise Invalid(f"There are no investigations to evaluate. {capability.reason or ''}".strip())
        costs = RunCosts()
        services.calls.listen(costs.add)
        with tempfile.TemporaryDirectory(prefix="kai-tasks-") as folder:
            asking = _Asking(
                services=services, system=system, costs=costs, folder=Path(folder), file=file, console=console
            )
            waiting = iter(enumerate(rest))
            workers = [
                asyncio.create_task(asking.work(waiting), name=f"evaluation {number}")
                for number in range(jobs)
            ]
            try:
                await asyncio.gather(*workers)
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)


@dataclass(kw_only=True)
class _Asking:
    """Asks one system, and writes each outcome as soon as it is known."""

    services: Services
    system: TaskSystem
    costs: RunCosts
    folder: Path
    file: TextIO
    console: Console

    async def work(self, waiting: Iterator[tuple[int, tuple[AgentTask, int]]]) -> None:
        for number, (task, run) in waiting:
            outcome = await self._outcome(task, run, self.folder / f"{self.system}-{number}")
            append_task(self.file, outcome)
            wrong = (*outcome.missed, *outcome.decoys, *outcome.ungrounded, *outcome.unsafe)
            said = "pass" if outcome.passed else f"fail: {outcome.failure or ', '.join(wrong)}"
            self.console.print(
                f"{self.system} {task.id} run {run}: {said}", style="dim", markup=False, soft_wrap=True
            )

    async def _outcome(self, task: AgentTask, run: int, folder: Path) -> TaskOutcome:
        async with opened_task(self.services, task, folder) as opened:
            values = await fact_values(self.services, opened)
            models = self.services.models
            if self.system == "plain" and models is not None:
                answer = await ask_plain(self.services, opened, models.sql)
            else:
                answer = await ask_kai(self.services, opened, self.costs)
        return outcome_of(task, score(task, answer, values), answer, key=(task.id, self.system, run))


def outcome_of(task: AgentTask, scored: TaskScore, answer: SeenAnswer, *, key: OutcomeKey) -> TaskOutcome:
    """Returns the outcome as it is stored."""
    _, system, run = key
    return TaskOutcome(
        task=task.id,
        system=system,
        run=run,
        family=task.family,
        tags=task.tags,
        passed=scored.passed,
        recall=scored.recall,
        precision=scored.precision,
        text_recall=scored.text_recall,
        missed=tuple(scored.missed),
        decoys=tuple(scored.decoys),
        ungrounded=tuple(scored.ungrounded),
        facts_missed=tuple(scored.facts_missed),
        unsafe=tuple(scored.unsafe),
        over_limit=tuple(scored.over_limit),
        failure=answer.failure,
        steps=answer.effort.steps,
        calls=answer.effort.calls,
        tokens=answer.effort.tokens,
        seconds=answer.effort.seconds,
        answer=answer.text,
        findings=tuple(each.text for each in answer.findings),
    )
