"""Binds the graph's ports for one run: to its session's database, its owner and its message."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter

from app.core.llm.capabilities import InstructionForm
from app.core.llm.model import LanguageModel
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.analysis.figures import Span
from app.modules.analysis.figures.coverage import key_columns, read_span, span_statement
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.cells import bag_of
from app.modules.database_connection.repository import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from app.modules.run.observer import RunObserver
from app.modules.run.records import HEAD_ROWS, ResultRows, RowsGone, StoredResult
from app.modules.run.result_checking import RunResultChecker, asker_of
from app.modules.run.summary import DigestSummarizer, ModelSummarizer
from app.modules.session.model import Run, Session
from app.modules.sql_generation.candidates import Candidates, Tried
from app.modules.sql_generation.checking.correct import Corrected
from app.modules.sql_generation.clarified import ClarifiedWriter, resolved
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndexes
from app.modules.sql_generation.verified import VerifiedWriter
from app.modules.sql_generation.writer import BuiltinWriter, ModelWriter, ReadIndex
from graph import Ports
from graph.errors import DatabaseUnavailable, StatementFailed, TurnError
from graph.events import TextChunk
from graph.ports import Analysed, Analyst, Emit, Investigator, Question, SqlRunner, Written
from graph.state import NO_CONTEXT, Column, Context, Rows

logger = logging.getLogger(__name__)

_INDEXED_DATABASES = 16
_COVERAGE_SECONDS = 5.0

_GIVEN_EXPLANATION = "Your own statement, run as you wrote it."


class GivenStatementFailed(TurnError):
    """The guard or the database refused the user's own statement."""

    problem = "statement-failed"
    title = "The SQL did not run"
    status = 422


@dataclass(frozen=True)
class Models:
    """One model per task, with the settings of the SQL model: instructions, tokens of schema in a prompt,
    and statements per question.
    """

    sql: LanguageModel
    instruction: InstructionForm
    agent: LanguageModel
    analysis: LanguageModel
    summary: LanguageModel
    context_tokens: int
    candidates: int

    def prepare(self) -> None:
        """Begin to import what the first question needs, in a thread."""
        for model in (self.sql, self.analysis, self.summary):
            model.prepare()


class BindInvestigator(Protocol):
    """Binds an investigator to a turn."""

    async def __call__(
        self,
        session: Session,
        run: Run,
        main: Connection,
        *,
        schema_context_of: Callable[[Connection], SchemaContext],
    ) -> Investigator: ...


class PortFactory:
    """Makes the ports of a run. Without models the built-in writer and analyst are used."""

    def __init__(
        self,
        connections: DatabaseConnections,
        context: ContextStore,
        rows: ResultRows,
        *,
        models: Models | None,
        observer: RunObserver,
        metrics: CollectorRegistry,
        investigators: BindInvestigator | None = None,
    ) -> None:
        """`investigators`: None where investigations are off."""
        self._investigators = investigators
        self._connections = connections
        self._context = context
        self._indexes = SchemaIndexes(_INDEXED_DATABASES)
        self._rows = rows
        self._models = models
        self._observer = observer
        self._corrections = Counter(
            "kai_sql_corrections", "Corrections of models' statements", ["kind"], registry=metrics
        )

    async def bind(self, session: Session, run: Run) -> Ports:
        """Raises `ConnectionNotFound` if the connection was deleted."""
        connection = await self._connections.repository.get(session.owner, session.db_connection_id)
        models, today = self._models, datetime.now(UTC).date()

        schema_context = self._schema_context(connection)
        investigator = (
            await self._investigators(session, run, connection, schema_context_of=self._schema_context)
            if self._investigators and models
            else None
        )
        runner = _KeepingRunner(self._connections, connection, schema_context, rows=self._rows, run_of=run)
        checker = RunResultChecker(
            connections=self._connections, connection=connection, schema_context=schema_context, run_of=run
        )
        builtin = BuiltinWriter(connection.dialect, schema_context.index, today)
        writer = (
            ModelWriter(
                models.sql,
                builtin,
                _Correcting(schema_context, self._corrections),
                instruction=models.instruction,
                read_index=schema_context.index,
                today=today,
                max_statement_characters=self._connections.max_statement_characters,
                may_investigate=(
                    investigator is not None and models.instruction == "long" and models.agent.takes_tools
                ),
                candidates=Candidates(
                    count=models.candidates,
                    try_out=_TryOut(
                        self._connections, connection, schema_context, checker=checker, run_of=run
                    ).try_out,
                    dialect=connection.dialect,
                    run_id=run.id,
                ),
            )
            if models
            else builtin
        )
        given = None if run.sql is None else _GivenSql(run.sql, connection.dialect)
        recall = (
            _Recall(schema_context, models.context_tokens)
            if models and given is None
            else _NoRecall(schema_context.index)
        )
        figures = FiguresAnalyst(connection.dialect, _Background(self._connections, connection, run), today)
        analyst = ModelAnalyst(models.analysis, figures) if models else figures
        return Ports(
            recall=recall,
            writer=given or ClarifiedWriter(VerifiedWriter(writer, schema_context.verified_answer, recall)),
            runner=_OnlyOnce(runner) if given else runner,
            checker=checker,
            results=runner,
            analyst=_WarningAnalyst(analyst, checker, schema_context),
            summarizer=ModelSummarizer(models.summary) if models else DigestSummarizer(),
            observer=self._observer,
            investigator=investigator,
        )

    def _schema_context(self, connection: Connection) -> SchemaContext:
        return SchemaContext(self._connections, self._context, self._indexes, connection=connection)


@dataclass(frozen=True)
class _GivenSql:
    """A writer that returns the given statement."""

    sql: str
    dialect: str

    async def write(self, question: Question, emit: Emit) -> Written:
        return Written(route="sql", text=self.sql, explanation=_GIVEN_EXPLANATION, author="user")


@dataclass(frozen=True)
class _OnlyOnce:
    """A runner whose failure ends the turn: only the user repairs a statement that they gave."""

    runner: SqlRunner

    async def run(self, sql: str) -> Rows:
        try:
            return await self.runner.run(sql)
        except StatementFailed as failure:
            raise GivenStatementFailed(failure.detail) from failure

    async def keep(self) -> None:
        await self.runner.keep()


@dataclass(frozen=True)
class _Correcting:
    """Corrects the statements of a model and counts the corrections."""

    schema_context: SchemaContext
    corrections: Counter

    async def __call__(self, sql: str) -> Corrected:
        corrected = await self.schema_context.corrected(sql)
        for each in corrected.corrections:
            self.corrections.labels(each.kind).inc()
        return corrected


@dataclass(frozen=True)
class _Recall:
    """Finds the context of a question. Scans the schema first if that was never done."""

    schema_context: SchemaContext
    budget_tokens: int

    async def recall(self, question: Question) -> Context:
        return await self.schema_context.context(resolved(question), self.budget_tokens)


@dataclass(frozen=True)
class _NoRecall:
    """An empty context, for a turn without a prompt. Still reads the schema, so that a failure shows in this
    step.
    """

    read_index: ReadIndex

    async def recall(self, question: Question) -> Context:
        await self.read_index()
        return NO_CONTEXT


@dataclass(frozen=True)
class _Background:
    """Queries the database for the days that its data cover. Unknown if it does not answer in time."""

    connections: DatabaseConnections
    connection: Connection
    run_of: Run

    async def span(self, sql: str) -> Span | None:
        asker = asker_of(self.run_of, "coverage")
        try:
            schema = await self.connections.schema(self.connection)
            statement = await self.connections.examine(sql, span_statement, sql, schema)
            if statement is None:
                return None
            async with asyncio.timeout(_COVERAGE_SECONDS):
                result = await self.connections.run(self.connection, statement, asker)
        except (TimeoutError, StatementFailed, DatabaseUnavailable) as error:
            logger.info("run %s: the coverage of its dates is unknown: %r", self.run_of.id, error)
            return None
        return read_span(result.rows)

    async def keys(self, sql: str) -> frozenset[str]:
        try:
            schema = await self.connections.schema(self.connection)
            return await self.connections.examine(sql, key_columns, sql, schema)
        except (StatementFailed, DatabaseUnavailable):
            return frozenset()


@dataclass(frozen=True)
class _WarningAnalyst:
    """Adds the warnings about the result to the analysis, and the rules that its statement does not
    follow.
    """

    analyst: Analyst
    checker: RunResultChecker
    schema_context: SchemaContext

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        read = await self.analyst.analyse(question, sql, rows, emit=emit)
        warnings = await self.checker.find_warnings(question, sql, rows)
        notes = "\n\n**Worth checking:** " + " ".join(each.text for each in warnings) if warnings else ""
        if question.author == "builtin" and (
            unheeded := await self.schema_context.unheeded(question.text, sql)
        ):
            notes += f"\n\n**Not followed:** {unheeded}"
        if not notes:
            return read
        emit(TextChunk(content=notes, channel="analysis"))
        analysis = read.analysis.model_copy(update={"text": read.analysis.text + notes})
        return replace(read, analysis=analysis)


@dataclass(frozen=True)
class _TryOut:
    """Runs statements only to compare their results."""

    connections: DatabaseConnections
    connection: Connection
    schema_context: SchemaContext
    checker: RunResultChecker
    run_of: Run

    async def try_out(self, question: Question, sql: str) -> Tried | None:
        asker = asker_of(self.run_of, "candidate")
        try:
            fetched = await self.connections.run(
                self.connection, sql, asker, check_names=self.schema_context.check
            )
        except (StatementFailed, DatabaseUnavailable) as error:
            logger.info("run %s: a candidate failed: %s", self.run_of.id, error.detail)
            return None
        warnings = await self.checker.find_warnings(question, sql, _rows_of(fetched))
        return Tried(await asyncio.to_thread(bag_of, fetched), has_warnings=bool(warnings))


@dataclass
class _KeepingRunner:
    """Checks and runs a statement, and stores all its rows under the run's message before anything is
    emitted. Rows that an earlier attempt has stored are not fetched again.
    """

    connections: DatabaseConnections
    connection: Connection
    schema_context: SchemaContext
    rows: ResultRows
    run_of: Run
    in_hand: Rows | None = None
    """All rows that this attempt has stored."""
    _fetched: tuple[str, Rows] | None = None
    """The statement that ran last and all its rows, until they are stored."""

    async def run(self, sql: str) -> Rows:
        run = self.run_of
        self._fetched = None
        if run.attempt > 1 and (kept := await self.rows.kept(run.message_id, sql)) is not None:
            return kept
        asker = asker_of(run, "question")
        fetched = await self.connections.run(
            self.connection, sql, asker, check_names=self.schema_context.check
        )
        rows = _rows_of(fetched)
        self._fetched = (sql, rows)
        return Rows(**{**rows, "rows": fetched.rows[:HEAD_ROWS]})

    async def keep(self) -> None:
        """Does nothing for rows that an earlier attempt has stored."""
        if self._fetched is None:
            return
        sql, rows = self._fetched
        run = self.run_of
        result = StoredResult(
            sql=sql,
            columns=rows["columns"],
            row_count=rows["row_count"],
            truncated=rows["truncated"],
            cut_by=rows.get("cut_by"),
        )
        await self.rows.keep(run.owner, run.session_id, run.message_id, rows=rows["rows"], result=result)
        self.in_hand = rows

    async def read(self, message_id: str, head: Rows) -> Rows:
        """Returns all rows of a result: fetched by this attempt, or stored for the message."""
        if message_id == self.run_of.message_id and self.in_hand is not None:
            return self.in_hand
        if len(head["rows"]) == head["row_count"]:
            return head
        try:
            rows = [row async for some in self.rows.all(message_id, head["row_count"]) for row in some]
        except RowsGone:
            logger.warning("message %s: its rows are gone, its head is read instead", message_id)
            return head
        return Rows(**{**head, "rows": rows})


def _rows_of(fetched: ResultSet) -> Rows:
    return Rows(
        columns=[Column(name=column.name, type=column.type) for column in fetched.columns],
        rows=fetched.rows,
        row_count=len(fetched.rows),
        truncated=fetched.truncated,
        cut_by=fetched.cut_by,
    )
