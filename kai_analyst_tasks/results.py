"""The results file of tasks: a header, then one JSON line for each answer, appended when it is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from pydantic import BaseModel, ConfigDict, ValidationError

from app.evaluation.results import ResultsInvalid
from kai_analyst_tasks.task_set import TaskFamily

TaskSystem = Literal["agent", "pipeline", "plain"]
"""KAI with investigations, KAI without them, and the model with one prompt that holds the schema."""

OutcomeKey = tuple[str, TaskSystem, int]
"""A task, a system, and the number of the run, from 1."""


class TaskHeader(BaseModel):
    """The first line of a results file: the task set and the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_set: str
    set_digest: str
    model: str


class TaskOutcome(BaseModel):
    """The score of one answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    system: TaskSystem
    run: int
    family: TaskFamily
    tags: tuple[str, ...]
    passed: bool
    recall: float
    precision: float
    text_recall: float
    missed: tuple[str, ...]
    decoys: tuple[str, ...]
    ungrounded: tuple[str, ...]
    facts_missed: tuple[str, ...]
    unsafe: tuple[str, ...]
    over_limit: tuple[str, ...]
    failure: str
    steps: int
    calls: int
    tokens: int
    seconds: float
    answer: str
    findings: tuple[str, ...]

    @property
    def key(self) -> OutcomeKey:
        return self.task, self.system, self.run


@dataclass(frozen=True)
class TaskResults:
    """A results file as read. A later outcome replaces an earlier one."""

    header: TaskHeader
    outcomes: Mapping[OutcomeKey, TaskOutcome]


def read_task_results(path: Path) -> TaskResults:
    """Read a results file. An unfinished last line is ignored.

    Raises `ResultsInvalid` when it is not a results file of tasks and `OSError` when it is unreadable.
    """
    *whole, _ = path.read_bytes().split(b"\n")
    try:
        header = TaskHeader.model_validate_json(whole[0] if whole else b"")
        outcomes = [TaskOutcome.model_validate_json(line) for line in whole[1:]]
    except ValidationError:
        raise ResultsInvalid(f"{path} is not a results file of kai eval --tasks.") from None
    return TaskResults(header, {each.key: each for each in outcomes})


def resumed_tasks(path: Path, header: TaskHeader, *, fresh: bool) -> TaskResults:
    """The results that the file already holds. With `fresh`, or without a file, start an empty one.

    Raises `ResultsInvalid` when the file is none of tasks, or, unless `fresh`, of another evaluation.
    """
    known = read_task_results(path) if path.exists() else None
    if known is None or fresh:
        path.write_text(header.model_dump_json() + "\n", encoding="utf-8")
        return TaskResults(header, {})
    if known.header != header:
        raise ResultsInvalid(
            f"{path} holds the results of {known.header.model} on {known.header.task_set} "
            f"({known.header.set_digest[:8]}). Name another file by --output, or start again with --fresh."
        )
    return known


def append_task(file: TextIO, outcome: TaskOutcome) -> None:
    """Write one outcome and flush it, so that it survives a crash of this process."""
    file.write(outcome.model_dump_json() + "\n")
    file.flush()
