"""The two systems under evaluation: a KAI session, asked as a client asks, and a model with a plain prompt.

The plain prompt is the baseline. It holds only the schema and the question: one call a question, no sample
values, no hints, no check of names, no correction and no repair. Its reply is parsed, and its statement
guarded and limited, exactly as KAI's own.
"""

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import TypeAdapter
from sqlglot import exp

from app.bootstrap import Services
from app.core.auth.caller import LOCAL_OWNER
from app.core.errors import problem_type
from app.core.llm.calls import Meter, metered
from app.core.llm.model import LanguageModel, PromptMessage
from app.core.logs.ids import ids_bound
from app.evaluation.gold import EVALUATION
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultColumn, ResultSet
from app.modules.database_connection.schema import ColumnType, Schema, Table
from app.modules.database_connection.service import DatabaseConnections
from app.modules.language_models.errors import model_errors_translated
from app.modules.records.model import NewQuestion, Run
from app.modules.sql_generation.reply import read_reply
from app.terminal.console import event_of
from graph.errors import ModelCallFailed, ModelCallRejected, TurnError
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Failure,
    Memory,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    Status,
)

_TYPE: TypeAdapter[ColumnType] = TypeAdapter(ColumnType)
_MODEL_PROBLEMS = tuple(problem_type(each.problem) for each in (ModelCallFailed, ModelCallRejected))


@dataclass(kw_only=True)
class SystemAnswer:
    """The answer of one run, up to its rows. `sql` is the last statement written, even if it did not run.

    `from_rows` is true when the run answered in words from the rows of an earlier turn. `used` (calls and
    tokens) and `seconds` are measured until the rows, or until the answer when there are no rows.
    """

    sql: str | None = None
    result: ResultSet | None = None
    clarification: str | None = None
    reply: str | None = None
    failure: Failure | None = None
    corrections: tuple[str, ...] = ()
    repairs: int = 0
    used: Meter = field(default_factory=Meter)
    seconds: float = 0
    fetched: bool = False
    from_rows: bool = False
    investigated: bool = False
    remembered: tuple[str, ...] = ()
    """Ids of the facts in the prompt."""

    @property
    def model_failed(self) -> bool:
        """True when a model call failed, even if the built-in writer then answered instead."""
        return self.failure is not None and self.failure.type in _MODEL_PROBLEMS

    def take(self, event: SessionEvent) -> None:
        """Record one event of the run. Events after the rows do not change `reply` or `failure`.

        Statements and rows of an investigation's calls are not those of the answer.
        """
        match event:
            case SqlChunk(tool_call_id=str()) | ResultsChunk(tool_call_id=str()):
                pass  # of a call of an investigation, not of the answer
            case SqlChunk(tool_call_id=None):
                self.sql = event.content
                self.corrections = tuple(event.corrections)
            case ResultsChunk(tool_call_id=None):
                self.fetched = True
            case ClarificationChunk():
                self.clarification = event.content
            case AnalysisChunk() if not self.fetched:
                self.reply = event.content
            case Failure() if not self.fetched:
                self.failure = event
            case Memory(action="used"):
                self.remembered = tuple(each["id"] for each in event.facts)
            case Status(step="repairing_sql"):
                self.repairs += 1
            case Status(step="investigating"):
                self.investigated = True
            case Status(step="analyzing"):
                self.from_rows = not self.fetched
            case _:
                pass


class Respondent(Protocol):
    """Answers the questions of one conversation, in their order."""

    async def ask(self, question: str, *, last: bool) -> SystemAnswer:
        """Answer the next question; `last` is true when no other question follows."""
        ...


class RunCosts:
    """Model calls and tokens per run, by the run id that is bound to the log. A call counts when it ends."""

    def __init__(self) -> None:
        self._by_run: defaultdict[str, Meter] = defaultdict(Meter)

    def add(self, used: Meter) -> None:
        """Add a call to the run whose id is bound to the log."""
        self._by_run[ids_bound().get("run_id", "")].add(used)

    def so_far(self, run_id: str) -> Meter:
        return replace(self._by_run[run_id])


class KaiSession:
    """A session of KAI, asked as any client would."""

    def __init__(
        self, services: Services, session_id: str, costs: RunCosts, *, owner: str = LOCAL_OWNER
    ) -> None:
        self._services = services
        self._owner = owner
        self._session_id = session_id
        self._costs = costs

    async def ask(self, question: str, *, last: bool) -> SystemAnswer:
        """Answer the next question.

        After the last question the run is cancelled as soon as its rows are stored: the analysis is not
        scored, and a model takes as long for it as for the statement.
        """
        answer = SystemAnswer()
        started = time.monotonic()
        is_measured = False
        sessions = self._services.sessions
        session, run = await sessions.ask(self._owner, self._session_id, NewQuestion(question))
        async for entry in sessions.follower.events(run):
            event = event_of(entry.data)
            answer.take(event)
            if not is_measured and _is_after_answer(event, answer):
                is_measured = True
                answer.seconds = time.monotonic() - started
                answer.used = self._costs.so_far(run.id)
                if answer.fetched and last:
                    await sessions.submissions.cancel(session, run)
        if answer.fetched:
            answer.result = await self._all_rows(run)
        return answer

    async def _all_rows(self, run: Run) -> ResultSet:
        sessions = self._services.sessions
        message = await sessions.answers.with_rows(self._owner, run.session_id, run.message_id)
        rows = [row async for chunk in sessions.rows.all(message.id, message.row_count or 0) for row in chunk]
        columns = [
            ResultColumn(each["name"], _TYPE.validate_python(each["type"])) for each in message.columns
        ]
        return ResultSet(tuple(columns), rows, message.truncated)


def _is_after_answer(event: SessionEvent, answer: SystemAnswer) -> bool:
    """True once the rows are stored, or, for an answer without rows, once its text is complete."""
    if not isinstance(event, Status):
        return False
    return event.step in ("summarizing", "saving") or (event.step == "analyzing" and answer.fetched)


class PlainPrompt:
    """The baseline: a conversation with the model. A follow-up is sent with all earlier turns."""

    def __init__(
        self, connections: DatabaseConnections, model: LanguageModel, connection: Connection
    ) -> None:
        self._connections = connections
        self._model = model
        self._connection = connection
        self._past: list[PromptMessage] = []

    async def ask(self, question: str, *, last: bool) -> SystemAnswer:
        """Answer the next question. A `TurnError` is returned as `failure`, not raised."""
        answer = SystemAnswer()
        started = time.monotonic()
        with metered() as meter:
            try:
                await self._answer(question, answer)
            except TurnError as error:
                answer.failure = _failure(error)
        answer.used = meter
        answer.seconds = time.monotonic() - started
        return answer

    async def _answer(self, question: str, answer: SystemAnswer) -> None:
        schema = await self._connections.schema(self._connection)
        asked = PromptMessage("user", question)
        with model_errors_translated():
            reply = await self._model.reply([_instruction(schema), *self._past, asked], lambda _: None)
            written = await asyncio.to_thread(read_reply, reply.text, schema.dialect)
        answered = f"```sql\n{written.text}\n```" if written.route == "sql" else reply.text
        self._past += [asked, PromptMessage("assistant", answered)]
        match written.route:
            case "sql":
                answer.sql = written.text
                answer.result = await self._connections.run(self._connection, written.text, EVALUATION)
            case "clarify":
                answer.clarification = written.text
            case "chat" | "rows":
                answer.reply = reply.text


def _instruction(schema: Schema) -> PromptMessage:
    return PromptMessage("system", f"Answer with one {schema.dialect} statement.\n\n{schema_lines(schema)}")


def schema_lines(schema: Schema) -> str:
    """Returns the tables of a plain prompt: their columns and foreign keys, and no stored data."""
    return "\n".join(_table_lines(table, schema.dialect) for table in schema.tables)


def _table_lines(table: Table, dialect: str) -> str:
    """The table with its columns, then a line for each column that refers to another table."""

    def named(name: str) -> str:
        return exp.to_identifier(name).sql(dialect)  # quoted where the name needs it

    columns = ", ".join(named(column.name) for column in table.columns)
    references = [
        f"{named(table.name)}.{named(column)} = {named(key.referred_table)}.{named(referred)}"
        for key in table.foreign_keys
        for column, referred in zip(key.columns, key.referred_columns, strict=True)
    ]
    return "\n".join([f"{named(table.name)}({columns})", *references])


def _failure(error: TurnError) -> Failure:
    return Failure(
        type=problem_type(error.problem),
        title=error.title,
        status=error.status,
        detail=error.detail,
        retryable=error.retryable,
    )
