"""The systems under evaluation: KAI with and without investigations, and a model with one plain prompt."""

import asyncio
import hashlib
import json
import shutil
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import JsonValue
from sqlglot import exp, parse_one

from app.bootstrap import Services
from app.core.auth.caller import LOCAL_CALLER
from app.core.errors import Invalid
from app.core.llm.calls import metered
from app.core.llm.model import LanguageModel, PromptMessage
from app.core.storage.documents import all_documents
from app.core.storage.port import Document, Query
from app.evaluation.answering import RunCosts, schema_lines
from app.modules.database_connection.model import Connection
from app.modules.database_connection.statement_audit import Asker
from app.modules.language_models.errors import model_errors_translated
from app.modules.records.model import NewQuestion, Run, Session
from app.modules.records.steps import CallRecord
from app.modules.sql_generation.reply import read_reply
from app.terminal.console import database_url, event_of
from graph.errors import DatabaseUnavailable, StatementFailed, TurnError
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Done,
    Failure,
    FindingsChunk,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
)
from graph.state import Finding, Reference, Rows
from kai_analyst_tasks.planting.planted import write_sqlite
from kai_analyst_tasks.planting.recipes import planted
from kai_analyst_tasks.scoring import FactValue, MeasuredEffort, SeenAnswer, SeenFinding
from kai_analyst_tasks.task_set import AgentTask

_SHOWN_ROWS = 20
_PAGE = 250
_MOST_WAITING = 100
_FEW_CELLS = 8
"""A fact of more cells states its own value, and none of theirs."""
_OF_RUNS = frozenset(
    (
        *("sessions", "messages", "runs", "result_chunks", "agent_steps", "tool_calls", "usage", "scans"),
        *("column_texts", "database_connections", "model_choices"),
    )
)
"""Collections that every question writes to."""


class GoldStatementFailed(Invalid):
    """A gold statement of an oracle does not run: a defect of the task set."""

    problem = "gold-statement-failed"
    title = "A gold statement of the task set does not run"


@dataclass(frozen=True, kw_only=True)
class OpenedTask:
    """A task whose databases are registered, main one first, for an owner of its own."""

    task: AgentTask
    owner: str
    connections: Sequence[Connection]
    files: Mapping[str, Path]
    """Files of the generated databases by their names."""

    def connection(self, name: str) -> Connection:
        return next(each for each in self.connections if each.name == name)


@asynccontextmanager
async def opened_task(services: Services, task: AgentTask, folder: Path) -> AsyncGenerator[OpenedTask]:
    """Generates the databases in a folder and registers them. At the end both are gone.

    Raises `Problem` if a database cannot be generated or reached.
    """
    owner = f"evaluation of {folder.name}"
    files: dict[str, Path] = {}
    connections: list[Connection] = []
    await asyncio.to_thread(folder.mkdir)
    try:
        for each in task.databases:
            if each.recipe is not None:
                files[each.name] = folder / f"{each.name}.sqlite"
                tables = planted(each.recipe, each.seed).databases[each.name]
                await asyncio.to_thread(write_sqlite, files[each.name], tables)
            url = database_url(str(files.get(each.name, each.url)))
            connections.append(
                await services.database_connections.register(owner, url, each.name, description="")
            )
        for connection in connections:
            await services.database_connections.schema(connection)
        yield OpenedTask(task=task, owner=owner, connections=connections, files=files)
    finally:
        for connection in connections:
            await services.database_connections.delete(owner, connection.id)
        await asyncio.to_thread(shutil.rmtree, folder)


async def fact_values(services: Services, opened: OpenedTask) -> dict[str, list[FactValue]]:
    """Returns the values of each fact. Raises `GoldStatementFailed`."""
    asker = Asker(owner=opened.owner, purpose="evaluation")
    values: dict[str, list[FactValue]] = {}
    for fact in opened.task.oracle.facts:
        values[fact.name] = []
        for sql in fact.sql:
            try:
                found = await services.database_connections.run(opened.connection(fact.database), sql, asker)
            except (StatementFailed, DatabaseUnavailable) as error:
                raise GoldStatementFailed(f"{opened.task.id}, {fact.name}: {error.detail}") from None
            if not found.rows:
                raise GoldStatementFailed(f"{opened.task.id}, {fact.name}: the statement has no rows")
            values[fact.name].append(found.rows[0][0])
    return values


async def ask_kai(services: Services, opened: OpenedTask, costs: RunCosts) -> SeenAnswer:
    """Ask KAI as a client asks, and look at what the answer rests on and what it has changed."""
    before = await _records(services, opened.owner)
    digests = _digests(opened)
    sessions = services.sessions
    main, *also = opened.connections
    session = await sessions.create(
        opened.owner,
        main.id,
        None,
        mode=opened.task.mode,
        metadata={},
        also=[each.id for each in also],
    )
    started = time.monotonic()
    _, run = await sessions.ask(opened.owner, session.id, NewQuestion(opened.task.question))
    runs = [run]
    heard = _Heard()
    await heard.follow(services, session, run)
    while heard.status == "awaiting_approval":
        run = await _decide(services, opened, session)
        runs.append(run)
        await heard.follow(services, session, run)
    seconds = time.monotonic() - started
    after = await _records(services, opened.owner)
    return SeenAnswer(
        text="\n".join([*heard.texts, *heard.rows]),
        findings=[await _seen(services, session, run, found=each) for each in heard.findings],
        unapproved=await _unapproved(services, session, run) if heard.steps else [],
        changes=_changes(before, after),
        databases_changed=[name for name, digest in _digests(opened).items() if digest != digests[name]],
        effort=MeasuredEffort(
            steps=heard.steps,
            calls=heard.calls,
            tokens=sum(costs.so_far(each.id).tokens for each in runs),
            seconds=round(seconds, 3),
        ),
        failure=heard.failure,
    )


@dataclass
class _Heard:
    """What the runs of a turn have said."""

    texts: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    failure: str = ""
    status: str = ""
    steps: int = 0
    calls: int = 0

    async def follow(self, services: Services, session: Session, run: Run) -> None:
        """Take in the events of a run, up to its end."""
        async for entry in services.sessions.follower.events(run):
            self._take(event_of(entry.data))

    def _take(self, event: SessionEvent) -> None:
        match event:
            case AnalysisChunk(content=text) | ClarificationChunk(content=text):
                self.texts.append(text)
            case SqlChunk(content=text, tool_call_id=None):
                self.rows.append(text)
            case ResultsChunk(content=shown, tool_call_id=None):
                self.rows += _lines(shown)
            case FindingsChunk(content=found):
                self.findings = found
            case Failure(detail=detail):
                self.failure = detail
            case Done(status=status, steps=steps, tool_calls=calls):
                self.status = status
                self.steps = steps
                self.calls = calls
            case _:
                pass


async def _decide(services: Services, opened: OpenedTask, session: Session) -> Run:
    """Decide as the task's owner would: approve what has to change, and deny all else.

    Returns the run that goes on.
    """
    caller = replace(LOCAL_CALLER, owner=opened.owner)
    waiting, _ = await services.confirmations.page(
        opened.owner, session.id, "waiting", limit=_MOST_WAITING, cursor=None
    )
    following = None
    for call in waiting:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        is_wanted = any(each.contains in arguments for each in opened.task.must_change)
        decided = await services.confirmations.decide(
            caller,
            session.id,
            call.id,
            verdict="approve" if is_wanted else "deny",
            call_hash=call.call_hash,
            reason=None if is_wanted else "The task does not ask for this.",
        )
        following = decided.run_id or following
    if following is None:
        raise RuntimeError(f"{opened.task.id}: no run goes on after the decisions")
    _, found = await services.sessions.run(opened.owner, session.id, following)
    return found


async def _seen(services: Services, session: Session, run: Run, *, found: Finding) -> SeenFinding:
    """Returns a finding with its cells, read again from the store."""
    steps = await services.sessions.answers.steps(session.owner, session.id, run.message_id)
    calls = {call.id: call for _, calls in steps for call in calls}
    said = [found["text"], found["reading"] or ""]
    values: list[JsonValue] = []
    tables: set[str] = set()
    ungrounded: list[str] = []
    for reference in found["references"]:
        call = calls.get(reference["result_id"] or "")
        cited = None if call is None else await _cited(services, reference, call)
        if call is None or cited is None:
            ungrounded.append(reference["key"])
        else:
            values += cited[0]
            said += cited[1]
            tables |= _tables(call)
    return SeenFinding(text=" ".join(said), values=values, tables=sorted(tables), ungrounded=ungrounded)


async def _cited(
    services: Services, reference: Reference, call: CallRecord
) -> tuple[list[JsonValue], list[str]] | None:
    """Returns the values that a reference states, and the columns and labels of its cells.

    Returns None if one of its cells is not stored.
    """
    if call.result is None:
        return None
    rows = [
        row async for part in services.sessions.rows.all(call.id, call.result["row_count"]) for row in part
    ]
    columns = [each["name"] for each in call.result["columns"]]
    cells = reference["cells"]
    if any(each["row"] >= len(rows) or each["column"] not in columns for each in cells):
        return None
    values: list[JsonValue] = [] if reference["value"] is None else [_as_number(reference["value"])]
    words = [each["column"] for each in cells]
    if reference["cell_count"] <= _FEW_CELLS:
        values += [rows[each["row"]][columns.index(each["column"])] for each in cells]
        words += [str(cell) for at in {each["row"] for each in cells} for cell in rows[at]]
    return values, words


def _as_number(text: str) -> JsonValue:
    try:
        return float(text)
    except ValueError:
        return text


def _tables(call: CallRecord) -> set[str]:
    """Returns the names of the tables that a call has read."""
    named = call.arguments.get("table")
    found = {named} if isinstance(named, str) else set()
    if call.result is not None and call.result["sql"]:
        read = parse_one(call.result["sql"], dialect=call.result["dialect"])
        found |= {each.name for each in read.find_all(exp.Table)}
    return found


async def _unapproved(services: Services, session: Session, run: Run) -> list[str]:
    """Returns the tools that have run, do more than read, and were approved by no person."""
    steps = await services.sessions.answers.steps(session.owner, session.id, run.message_id)
    return [
        call.tool
        for _, calls in steps
        for call in calls
        if call.category != "read" and call.begun_at is not None and call.decided_by is None
    ]


def _lines(shown: Rows) -> list[str]:
    return [" ".join(map(str, row)) for row in shown["rows"][:_SHOWN_ROWS]]


# What was changed


async def _records(services: Services, owner: str) -> dict[tuple[str, str], str]:
    """Returns the records of the owner as text, by collection and id, without those that every run writes."""
    found: dict[tuple[str, str], str] = {}
    for collection in services.storage.collections():
        if collection in _OF_RUNS:
            continue
        async for each in all_documents(services.storage, collection, Query(limit=_PAGE)):
            if each.get("owner") == owner:
                found[collection, str(each["id"])] = _text(collection, each)
    return found


def _text(collection: str, document: Document) -> str:
    """A table's record also has what scans find, which changes by itself: only its descriptions count."""
    shown: JsonValue = _descriptions(document) if collection == "tables" else dict(document)
    return json.dumps(shown, sort_keys=True, ensure_ascii=False)


def _descriptions(value: JsonValue) -> list[JsonValue]:
    match value:
        case dict():
            own = [each for name, each in value.items() if name == "description"]
            return [*own, *(text for each in value.values() for text in _descriptions(each))]
        case list():
            return [text for each in value for text in _descriptions(each)]
        case _:
            return []


def _changes(
    before: Mapping[tuple[str, str], str], after: Mapping[tuple[str, str], str]
) -> list[tuple[str, str]]:
    """Returns what is new or other, and what is gone: the collection and the record."""
    new = [(key[0], text) for key, text in after.items() if before.get(key) != text]
    return [*new, *((key[0], text) for key, text in before.items() if key not in after)]


def _digests(opened: OpenedTask) -> dict[str, str]:
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in opened.files.items()}


# One plain prompt


async def ask_plain(services: Services, opened: OpenedTask, model: LanguageModel) -> SeenAnswer:
    """Ask the model with one prompt that holds the schemas of all databases and the question.

    It may answer in words, or by one statement of the main database, whose rows count as its words. It has
    no findings.
    """
    started = time.monotonic()
    texts: list[str] = []
    failure = ""
    with metered() as used:
        try:
            texts = await _plain_reply(services, opened, model)
        except TurnError as error:
            failure = error.detail
    return SeenAnswer(
        text="\n".join(texts),
        findings=[],
        effort=MeasuredEffort(tokens=used.tokens, seconds=round(time.monotonic() - started, 3)),
        failure=failure,
    )


async def _plain_reply(services: Services, opened: OpenedTask, model: LanguageModel) -> list[str]:
    """Raises `TurnError`."""
    schemas = [await services.database_connections.schema(each) for each in opened.connections]
    parts = [
        f"Database {connection.name}:\n{schema_lines(schema)}"
        for connection, schema in zip(opened.connections, schemas, strict=True)
    ]
    main = opened.connections[0]
    rules = f"Answer the question in words, or by one {main.dialect} statement of {main.name}."
    messages = [
        PromptMessage("system", "\n\n".join([rules, *parts])),
        PromptMessage("user", opened.task.question),
    ]
    with model_errors_translated():
        reply = await model.reply(messages, lambda _: None)
        written = await asyncio.to_thread(read_reply, reply.text, main.dialect)
    if written.route != "sql":
        return [reply.text]
    asker = Asker(owner=opened.owner, purpose="evaluation")
    found = await services.database_connections.run(main, written.text, asker)
    return [reply.text, *(" ".join(map(str, row)) for row in found.rows[:_SHOWN_ROWS])]
