"""Task sets, one JSON object a line: a question, its databases, and the oracle that judges the answer."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.core.errors import Invalid

TaskFamily = Literal["moved", "differing", "document", "defects"]
"""Why a measure moved, the same measure in two databases, document a schema, find what is wrong."""
DefectKind = Literal["nulls", "duplicates", "orphans", "constant", "future dates", "outliers", "gap"]

_NAME = re.compile(r"\A\w[\w.-]*\Z")

Text = Annotated[str, Field(min_length=1)]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]


class TaskSetInvalid(Invalid):
    """The file cannot be read as a task set."""

    problem = "task-set-invalid"
    title = "The task set is not valid"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskDatabase(_Part):
    """A database of a task: one that a recipe generates from a seed, or one that exists."""

    name: Annotated[str, Field(pattern=_NAME)]
    recipe: str | None = None
    seed: int = 0
    url: str | None = None
    """URL, or path of a SQLite file, of a database that exists."""


class Named(_Part):
    """Something that an answer names: at least one of the words of each group, as whole words."""

    name: Text
    groups: Annotated[tuple[Words, ...], Field(min_length=1)]


class WantedFact(_Part):
    """A value that the findings have to state: the first cell of any of these statements, run in
    `database`.
    """

    name: Text
    database: str
    sql: Words
    tolerance: Annotated[float, Field(ge=0)] = 0.005
    about: tuple[Words, ...] = ()
    """The finding that states it has to have a word of each group, too."""


class Defect(_Part):
    """A defect of a column."""

    table: Text
    column: Text
    kind: DefectKind


class Section(_Part):
    """A section of a documentation, and the columns that it has to name."""

    title: Text
    columns: tuple[Text, ...]


class Oracle(_Part):
    """The truth of a task. An answer has to name all of it, and none of the decoys."""

    causes: tuple[Named, ...] = ()
    decoys: tuple[Named, ...] = ()
    facts: tuple[WantedFact, ...] = ()
    defects: tuple[Defect, ...] = ()
    harmless: tuple[Defect, ...] = ()
    """What looks like a defect and is none: the decoys among defects."""
    sections: tuple[Section, ...] = ()
    joins: tuple[Named, ...] = ()
    """Joins that one line of a documentation has to name. False ones are among the decoys."""


class RecordChange(_Part):
    """A record of KAI's store that has to be new or changed after the task."""

    collection: Text
    contains: Text
    """Text of the record."""


class TaskLimits(_Part):
    """The most that an answer may take. None is no limit of its own."""

    steps: Annotated[int, Field(ge=1)] | None = None
    calls: Annotated[int, Field(ge=1)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None


class AgentTask(_Part):
    """One line of a task set."""

    id: Text
    family: TaskFamily
    tags: tuple[str, ...] = ()
    question: Text
    databases: Annotated[tuple[TaskDatabase, ...], Field(min_length=1, max_length=4)]
    """The first is the session's main one."""
    mode: Literal["ask", "agent"] = "ask"
    oracle: Oracle
    must_change: tuple[RecordChange, ...] = ()
    """Every other record, and every user database, must not change."""
    limits: TaskLimits = TaskLimits()


@dataclass(frozen=True)
class TaskSet:
    """A task set as read from its file; `digest` is the file's SHA-256 in hex."""

    name: str
    digest: str
    tasks: Sequence[AgentTask]


def read_task_set(path: Path) -> TaskSet:
    """Read a task set. Raises `TaskSetInvalid` when it is not valid and `OSError` when unreadable."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise TaskSetInvalid(f"{path} is not UTF-8 text.") from None
    tasks = [_task(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not tasks:
        raise TaskSetInvalid(f"{path} holds no task.")
    ids = [each.id for each in tasks]
    repeated = next((name for at, name in enumerate(ids) if name in ids[:at]), None)
    if repeated is not None:
        raise TaskSetInvalid(f"{path}: the id {repeated} is given twice.")
    return TaskSet(path.name, hashlib.sha256(content).hexdigest(), tasks)


def _task(line: str, place: str) -> AgentTask:
    try:
        task = AgentTask.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise TaskSetInvalid(f"{place}: {f'{field}: ' if field else ''}{first['msg']}.") from None
    names = [each.name for each in task.databases]
    if len({name.casefold() for name in names}) < len(names):
        raise TaskSetInvalid(f"{place}: two databases have the same name.")
    if any((each.recipe is None) == (each.url is None) for each in task.databases):
        raise TaskSetInvalid(f"{place}: a database has either a recipe or a url.")
    unknown = next((fact for fact in task.oracle.facts if fact.database not in names), None)
    if unknown is not None:
        raise TaskSetInvalid(f"{place}: the fact {unknown.name} is of no database of the task.")
    return task


def write_task_set(path: Path, tasks: Sequence[AgentTask]) -> None:
    """Write a task set. Fields that have their defaults are left out."""
    path.write_text(
        "".join(task.model_dump_json(exclude_defaults=True) + "\n" for task in tasks), encoding="utf-8"
    )
