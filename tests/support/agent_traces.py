"""Answers to tasks that are written from their oracles: a good one, and six that a scorer has to fail."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from pydantic import JsonValue
from sqlglot import exp, parse_one

from app.bootstrap import open_services_for_once
from app.core.settings import Settings
from app.evaluation.answering import RunCosts
from kai_analyst_tasks.answers import ask_kai, fact_values, opened_task
from kai_analyst_tasks.planting.planted import write_sqlite
from kai_analyst_tasks.planting.recipes import planted
from kai_analyst_tasks.scoring import TaskScore, score
from kai_analyst_tasks.task_set import AgentTask, Named, WantedFact
from tests.support.fact_keys import fact_keys
from tests.support.model_script import Asked, Scripted
from tests.support.reference_policy import DESCRIPTION, PLAN
from tests.support.scripted_model import ScriptedModel

TraceName = Literal[
    "good",
    "wrong cause",
    "figure off by one row",
    "part left out",
    "figure without result",
    "result of another statement",
    "stopped early",
]
TRACES: tuple[TraceName, ...] = get_args(TraceName)

Connections = Mapping[str, sqlite3.Connection]


@dataclass(frozen=True, kw_only=True)
class Said:
    """A finding, and the statement that it rests on. The claim is the name of its column."""

    claim: str
    value: str
    database: str
    sql: str
    result: str | None = None
    """The result that it names instead of that of its statement."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The replies of a model to one task."""

    text: str
    said: Sequence[Said]
    stores: Sequence[tuple[str, str]] = ()
    """Tables and the descriptions that are stored of them."""

    def __call__(self, asked: Asked) -> Scripted | None:
        if "You are the investigator" not in asked.text:
            return Scripted(PLAN) if "SQL writer" in asked.text else None
        if not any(message["role"] == "tool" for message in asked.messages):
            unrelated = ("run_sql", json.dumps({"sql": "SELECT 'unrelated' AS note"}))
            stored = (
                ("describe_table_as", json.dumps({"table": table, "text": text}))
                for table, text in self.stores
            )
            return Scripted(calls=(*(_call(each) for each in self.said), unrelated, *stored))
        findings: list[JsonValue] = [
            {"result": each.result or f"r1.{number}", "fact": fact_keys(_returned(asked, number))[0]}
            for number, each in enumerate(self.said, 1)
        ]
        return Scripted(calls=(("finish", json.dumps({"answer": self.text, "findings": findings})),))


def _call(said: Said) -> tuple[str, str]:
    statement = f'SELECT ({said.sql}) AS "{said.claim}"'
    return "run_sql", json.dumps({"sql": statement, "database": said.database, "purpose": said.claim})


def _returned(asked: Asked, number: int) -> str:
    """Returns what a call of the first step has returned."""
    texts: list[str] = [
        message["content"] for message in asked.messages if message.get("tool_call_id") == f"call_1_{number}"
    ]
    return texts[0]


def trace_of(task: AgentTask, name: TraceName, databases: Connections) -> Trace:
    """Returns the trace of a task, spoiled as its name says."""
    stores = [(found[1], found[2]) for found in DESCRIPTION.finditer(task.question)]
    return replace(_spoiled(task, name, databases), stores=stores)


def _spoiled(task: AgentTask, name: TraceName, databases: Connections) -> Trace:
    said = list(_findings(task, databases))
    match name:
        case "good":
            return _trace(task, said)
        case "wrong cause":
            return _wrong(task, said)
        case "figure off by one row":
            return _trace(task, list(_off_by_one(said, databases)))
        case "part left out":
            return _left_out(task, said)
        case "figure without result":
            return _trace(task, [*said[:-1], replace(said[-1], result="r9.9")])
        case "result of another statement":
            return _trace(task, [replace(said[0], result=f"r1.{len(said) + 1}"), *said[1:]])
        case "stopped early":
            return Trace(text="There is more to look at.", said=said[:1])


def _findings(task: AgentTask, databases: Connections) -> Iterator[Said]:
    oracle = task.oracle
    for at, fact in enumerate(oracle.facts):
        claim = fact.name
        statement = fact.sql[0]
        if oracle.defects:
            defect = oracle.defects[at]
            claim = f"{defect.kind} of {defect.table}.{defect.column}"
        elif oracle.causes and fact is oracle.facts[-1]:
            (cause,) = oracle.causes
            statement, claim = _shown(fact, cause, databases)
        value = _value(statement, databases[fact.database])
        yield Said(claim=claim, value=str(value), database=fact.database, sql=statement)


def _shown(fact: WantedFact, cause: Named, databases: Connections) -> tuple[str, str]:
    """Returns the statement that shows a cause, and the claim. A day in it is that of the result."""
    first = [group[0] for group in cause.groups]
    for statement in fact.sql:
        value = _value(statement, databases[fact.database])
        if isinstance(value, str) and any(value in group for group in cause.groups):
            words = [value if value in group else group[0] for group in cause.groups]
            return statement, " ".join(words)
    return fact.sql[0], " ".join(first)


def _value(statement: str, database: sqlite3.Connection) -> JsonValue:
    (value,) = database.execute(statement).fetchone()
    found: JsonValue = value
    return found


def _trace(task: AgentTask, said: Sequence[Said]) -> Trace:
    return Trace(text=_text(task, said), said=said)


def _text(
    task: AgentTask, said: Sequence[Said], *, left_out: str = "", joins: Sequence[str] | None = None
) -> str:
    """Returns the answer: the documentation that a task asks for, or the claims."""
    if not task.oracle.sections:
        return "\n".join(f"- {each.claim}: {each.value}" for each in said)
    lines = ["# The schema"]
    for section in task.oracle.sections:
        if section.title != left_out:
            lines += ["", f"## {section.title}", *(f"- `{column}`" for column in section.columns)]
    true = [" = ".join(group[0] for group in each.groups) for each in task.oracle.joins]
    return "\n".join([*lines, "", "# Joins", *(true if joins is None else joins)])


def _wrong(task: AgentTask, said: Sequence[Said]) -> Trace:
    oracle = task.oracle
    if oracle.sections:
        decoy = " = ".join(group[0] for group in oracle.decoys[0].groups)
        true = [" = ".join(group[0] for group in each.groups) for each in oracle.joins[1:]]
        return Trace(text=_text(task, said, joins=[decoy, *true]), said=said)
    if oracle.defects:
        harmless = oracle.harmless[0]
        wrong = f"{harmless.kind} of {harmless.table}.{harmless.column}"
        return _trace(task, [replace(said[0], claim=wrong), *said[1:]])
    wrong = " ".join(group[0] for group in oracle.decoys[-1].groups)
    return _trace(task, [*said[:-1], replace(said[-1], claim=wrong)])


def _left_out(task: AgentTask, said: Sequence[Said]) -> Trace:
    """One database, or of a single one the first table, defect or month, is left out."""
    if task.oracle.sections:
        return Trace(text=_text(task, said, left_out=task.oracle.sections[0].title), said=said[1:])
    gone = task.databases[-1].name if len(task.databases) > 1 else None
    kept = [each for each in said if each.database != gone] if gone else said[1:]
    return _trace(task, kept)


def _off_by_one(said: Sequence[Said], databases: Connections) -> Iterator[Said]:
    """The first finding whose figure depends on single rows is read without one of them."""
    is_spoiled = False
    for each in said:
        database = databases[each.database]
        spoiled = None if is_spoiled else _without_a_row(each.sql, database)
        if spoiled is None:
            yield each
        else:
            is_spoiled = True
            yield replace(each, sql=spoiled, value=str(_value(spoiled, database)))
    assert is_spoiled


def _without_a_row(statement: str, database: sqlite3.Connection) -> str | None:
    """Returns the statement without a row that changes its value."""
    table = parse_one(statement, dialect="sqlite").find(exp.Table)
    if table is None:
        return None
    true = _value(statement, database)
    for (row_id,) in database.execute(f"SELECT id FROM {table.name}"):
        spoiled = _excluding(statement, table.name, row_id)
        if _value(spoiled, database) != true:
            return spoiled
    return None


def _excluding(statement: str, table: str, row_id: int) -> str:
    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table) and node.name == table and not node.args.get("alias"):
            return parse_one(f"(SELECT * FROM {table} AS whole WHERE id <> {row_id}) AS {table}")
        return node

    return parse_one(statement, dialect="sqlite").transform(replaced).sql(dialect="sqlite")


async def replayed(
    tasks: Sequence[AgentTask], model: ScriptedModel, settings: Settings, folder: Path
) -> AsyncGenerator[tuple[AgentTask, TraceName, TaskScore]]:
    """Yields the scores of all traces of the tasks, each through the whole engine."""
    async with open_services_for_once(settings) as services:
        costs = RunCosts()
        services.calls.listen(costs.add)
        for number, task in enumerate(tasks):
            with ExitStack() as opened_files:
                databases = _opened(task, folder / f"gold-{number}", opened_files)
                async with opened_task(services, task, folder / f"task-{number}") as opened:
                    values = await fact_values(services, opened)
                    for name in TRACES:
                        model.policy = trace_of(task, name, databases)
                        answer = await ask_kai(services, opened, costs)
                        yield task, name, score(task, answer, values)


def _opened(task: AgentTask, folder: Path, stack: ExitStack) -> dict[str, sqlite3.Connection]:
    folder.mkdir()
    found: dict[str, sqlite3.Connection] = {}
    for each in task.databases:
        path = folder / f"{each.name}.sqlite"
        write_sqlite(path, planted(each.recipe or "", each.seed).databases[each.name])
        found[each.name] = stack.enter_context(closing(sqlite3.connect(path)))
    return found
