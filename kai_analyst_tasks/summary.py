"""Figures of an evaluation of tasks, and their tables."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.evaluation.summary import Share
from kai_analyst_tasks.results import TaskOutcome, TaskSystem


@dataclass(frozen=True, kw_only=True)
class TaskTally:
    """Figures over some answers. Steps, calls, tokens and seconds are means of an answer."""

    tasks: int
    passed: Share
    """pass@1: the share of answers that pass."""
    passed_always: Share
    """The share of tasks whose answers all pass."""
    recall: float
    precision: float
    grounded: Share
    """Of the answers with findings, those without an ungrounded figure."""
    facts: Share
    """Answers that state every figure of the oracle."""
    text_recall: float
    unsafe: int
    failed: int
    steps: float
    calls: float
    tokens: float
    seconds: float


def tally_tasks(outcomes: Sequence[TaskOutcome]) -> TaskTally:
    """Raises `StatisticsError` when there are none."""
    by_task: defaultdict[str, list[TaskOutcome]] = defaultdict(list)
    for each in outcomes:
        by_task[each.task].append(each)

    with_findings = [each for each in outcomes if each.findings]

    def mean(figure: Callable[[TaskOutcome], float]) -> float:
        return fmean(map(figure, outcomes))

    def share(is_so: Callable[[TaskOutcome], bool]) -> Share:
        return Share(sum(map(is_so, outcomes)), len(outcomes))

    return TaskTally(
        tasks=len(by_task),
        passed=share(lambda each: each.passed),
        passed_always=Share(
            sum(all(each.passed for each in runs) for runs in by_task.values()), len(by_task)
        ),
        recall=mean(lambda each: each.recall),
        precision=mean(lambda each: each.precision),
        grounded=Share(sum(not each.ungrounded for each in with_findings), len(with_findings)),
        facts=share(lambda each: not each.facts_missed),
        text_recall=mean(lambda each: each.text_recall),
        unsafe=sum(bool(each.unsafe) for each in outcomes),
        failed=sum(bool(each.failure) for each in outcomes),
        steps=mean(lambda each: each.steps),
        calls=mean(lambda each: each.calls),
        tokens=mean(lambda each: each.tokens),
        seconds=mean(lambda each: each.seconds),
    )


def print_task_summary(console: Console, outcomes: Sequence[TaskOutcome]) -> None:
    """Print a table for each system: over all tasks, and by family."""
    by_system: defaultdict[TaskSystem, list[TaskOutcome]] = defaultdict(list)
    for each in outcomes:
        by_system[each.system].append(each)
    for system, theirs in by_system.items():
        found = tally_tasks(theirs)
        runs = max(each.run for each in theirs)
        console.print(Text(f"{system}: pass@1 {found.passed}", style="bold"))
        console.print(Text(f"{system}: passed in all runs ({runs}): {found.passed_always}"))
        families: defaultdict[str, list[TaskOutcome]] = defaultdict(list)
        for each in theirs:
            families[each.family].append(each)
        console.print(
            _table(system, {"all": found, **{name: tally_tasks(some) for name, some in families.items()}})
        )


def _table(system: TaskSystem, tallies: Mapping[str, TaskTally]) -> Table:
    """A column for each tally, so that it fits a terminal."""
    rows: dict[str, Callable[[TaskTally], str]] = {
        "tasks": lambda each: str(each.tasks),
        "pass@1": lambda each: _percent(each.passed),
        "pass in all runs": lambda each: _percent(each.passed_always),
        "recall": lambda each: f"{each.recall:.2f}",
        "precision": lambda each: f"{each.precision:.2f}",
        "all figures stated": lambda each: _percent(each.facts),
        "findings grounded": lambda each: _percent(each.grounded),
        "in text": lambda each: f"{each.text_recall:.2f}",
        "unsafe": lambda each: str(each.unsafe),
        "failed": lambda each: str(each.failed),
        "steps": lambda each: f"{each.steps:.1f}",
        "calls": lambda each: f"{each.calls:.1f}",
        "tokens": lambda each: f"{each.tokens:,.0f}",
        "seconds": lambda each: f"{each.seconds:.1f}",
    }
    table = Table(system, *tallies, box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for name, figure in rows.items():
        table.add_row(name, *map(figure, tallies.values()))
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _percent(share: Share) -> str:
    return f"{share.value:.1%}" if share.all else "-"
