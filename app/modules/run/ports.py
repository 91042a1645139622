"""Binds the graph's ports for one run: to its session's database, its owner and its message."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from prometheus_client import CollectorRegistry, Counter

from app.core.llm.capabilities import AnalysisForm, InstructionForm
from app.core.llm.model import LanguageModel
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.analysis.chart_rules import ChartRule
from app.modules.analysis.figures import DataSpan
from app.modules.analysis.figures.coverage import key_columns, read_span, span_statement
from app.modules.context_store.model import Knowledge
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.cells import bag_of
from app.modules.database_connection.joining.plan import DIALECT as JOINED_DIALECT
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Purpose
from app.modules.memory.directive_news import DirectiveNews
from app.modules.memory.profile_text import ProfileSections
from app.modules.memory.recall import FactRecall, Reach
from app.modules.memory.scopes import Scope
from app.modules.prompts.sections import ALL_ALLOWED, ContextFilter, sections
from app.modules.records.errors import RowsGone
from app.modules.records.model import (
    HEAD_ROWS,
    Mode,
    Run,
    Session,
    StoredResult,
)
from app.modules.records.rows import RowStore
from app.modules.rules.choosing import choose_chart_rule, choose_rules, rules_section
from app.modules.rules.model import Rule, Situation
from app.modules.rules.service import Rules
from app.modules.run.notices import NoticingAnalyst
from app.modules.run.observer import RunObserver
from app.modules.run.page_context import PageContext
from app.modules.run.remembering import RunFacts, RunNews
from app.modules.run.result_checking import RunResultChecker
from app.modules.run.several_databases import (
    AnalystOfSeveral,
    RecallOfSeveral,
    RunDatabases,
    WriterForSeveral,
    asker_of,
    databases_of,
)
from app.modules.run.statement_approval import ApprovedRunner, RunStatementAsker, StatementApprovals
from app.modules.run.summary import DigestSummarizer, ModelSummarizer
from app.modules.sql_generation.candidates import Candidates, Tried
from app.modules.sql_generation.checking.correct import Corrected
from app.modules.sql_generation.context import tables_read
from app.modules.sql_generation.context_filter import FilteredWriter
from app.modules.sql_generation.linking.cards import CardDetail
from app.modules.sql_generation.option_reply import ClarifiedWriter, resolved
from app.modules.sql_generation.pretty_print import LayingOutWriter
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndexes
from app.modules.sql_generation.verified import VerifiedWriter
from app.modules.sql_generation.writer import BuiltinWriter, ModelWriter
from graph import Ports
from graph.errors import DatabaseUnavailable, StatementFailed, StatementNeedsApproval, TurnError
from graph.ports import (
    Analyst,
    ContextRecall,
    Emit,
    FactFinder,
    Investigator,
    Question,
    SqlWriter,
    StatementAsker,
    Summarizer,
    Written,
)
from graph.state import NO_CONTEXT, Column, Context, Rows

logger = logging.getLogger(__name__)

_INDEXED_DATABASES = 16
_COVERAGE_SECONDS = 5.0
_QUOTED_TITLE = "Said before in the client's own conversation (quoted, not asked)"
_GIVEN_EXPLANATION = "Your own statement, run as you wrote it."

Bound_co = TypeVar("Bound_co", bound=Investigator | None, covariant=True)


class GivenStatementFailed(TurnError):
    """The guard or the database refused the user's own statement."""

    problem = "statement-failed"
    title = "The SQL did not run"
    status = 422


@dataclass(frozen=True)
class Models:
    """One model per task, with the settings of the SQL model: instructions, tokens of schema in a prompt,
    and statements per question. With `analysis_form` builtin, no model chooses the statements of analyses.
    """

    sql: LanguageModel
    instruction: InstructionForm
    agent: LanguageModel
    analysis: LanguageModel
    analysis_form: AnalysisForm
    summary: LanguageModel
    context_tokens: int
    candidates: int

    def prepare(self) -> None:
        """Begin to import what the first question needs, in a thread."""
        for model in (self.sql, self.analysis, self.summary):
            model.prepare()


class BindInvestigator(Protocol[Bound_co]):
    """Binds an investigator to a turn."""

    async def __call__(
        self,
        session: Session,
        run: Run,
        main: Connection,
        *,
        schema_context_of: Callable[[Connection], SchemaContext],
    ) -> Bound_co: ...


class PortFactory:
    """Makes the ports of a run. Without models the built-in writer and analyst are used."""

    def __init__(
        self,
        connections: DatabaseConnections,
        context: ContextStore,
        rows: RowStore,
        *,
        models: Models | None,
        observer: RunObserver,
        metrics: CollectorRegistry,
        investigators: BindInvestigator[Investigator] | None = None,
        tasks: BindInvestigator[Investigator | None] | None = None,
        rules: Rules | None = None,
        page: PageContext | None = None,
        facts: FactRecall | None = None,
        news: DirectiveNews | None = None,
        profiles: ProfileSections | None = None,
        allowed: ContextFilter = ALL_ALLOWED,
        model_reduces_above: int | None = None,
        approvals: StatementApprovals | None = None,
    ) -> None:
        """`investigators`, `tasks`, `rules`, `facts`, `news`, `profiles` and `approvals`: None where they are
        off. `tasks` binds investigators whose steps are fixed; None for a question that a model has to read.

        `model_reduces_above`: the summary model reduces conversations of more messages than that; None if it
        reduces none.
        """
        self._approvals = approvals
        self._news = news
        self._facts = facts if allowed.allows("memory") else None
        self._tasks = tasks
        self._rules = rules
        self._page = page
        self._investigators = investigators
        self._connections = connections
        self._context = context
        self._allowed = allowed
        self._profiles = profiles if models is not None and allowed.allows("memory") else None
        has_values = allowed.allows("values")
        self._indexes = SchemaIndexes(_INDEXED_DATABASES, CardDetail(values=has_values, ranges=has_values))
        self._rows = rows
        self._models = models
        self._model_reduces_above = model_reduces_above
        self.observer = observer
        self._corrections = Counter(
            "kai_sql_corrections", "Corrections of models' statements", ["kind"], registry=metrics
        )

    async def bind(self, session: Session, run: Run, *, investigates: bool = True) -> Ports:
        """Raises `ConnectionNotFound` if the connection was deleted.

        `investigates`: the model may ask for an investigation, where they are on.
        """
        models = self._models
        is_prompted = models is not None and run.sql is None and run.attempt == 1
        reach, filled = self._begin_facts(session, run, is_prompted=is_prompted)
        profile = None if self._profiles is None else _OwnProfile(_begun_profile(self._profiles, session))
        # Together, and with the profile and the groups of facts, they are one request to a remote store.
        connection, knowledge, seen = await asyncio.gather(
            self._connections.repository.get(session.owner, session.connection_id),
            self._context.knowledge(session.connection_id) if is_prompted else _unread(),
            self._rules.seen_by(run.owner) if is_prompted and self._rules is not None else _unread(),
        )
        schema_context = self.schema_context(connection, knowledge)
        task, investigator = None, None
        if models and investigates:
            task, investigator = await self._investigators_of(session, run, connection)
        databases = await databases_of(
            session, run, connection, connections=self._connections, schema_context_of=self.schema_context
        )
        keeping, try_out = self._make_runners(run, connection, schema_context, databases=databases)
        checker, may_investigate = try_out.checker, investigator is not None
        writer = self._writer_of(
            run, schema_context, try_out=try_out, may_investigate=may_investigate, databases=databases
        )
        given = _given_writer(run, connection.dialect, has_task=task is not None)
        runner: _OnlyOnce | _KeepingRunner = _OnlyOnce(keeping) if given else keeping
        recall = self._recall_of(
            session, run, schema_context, connection=connection, is_given=given is not None, seen=seen
        )
        analyst = self._analyst_of(run, connection, schema_context, seen=seen)
        facts: FactFinder | None = None
        if self._facts is not None and reach is not None and given is None:
            facts = RunFacts(self._facts, schema_context, reach.narrow_to(connection), filled=filled)
        ports = Ports(
            recall=recall,
            facts=facts,
            news=None if self._news is None else RunNews(self._news, run),
            writer=LayingOutWriter(
                given or ClarifiedWriter(VerifiedWriter(writer, schema_context.verified_answer, recall))
            ),
            runner=runner,
            checker=checker,
            results=keeping,
            analyst=NoticingAnalyst(analyst, checker, schema_context),
            summarizer=self._summarizer_of(session),
            observer=self.observer,
            statements=self._statement_asker(run, connection, runner, databases=databases),
            investigator=task or investigator,
            profile=profile,
        )
        return ports if databases is None else self._extend(ports, databases, is_given=given is not None)

    def _make_runners(
        self,
        run: Run,
        connection: Connection,
        schema_context: SchemaContext,
        *,
        databases: RunDatabases | None,
    ) -> tuple["_KeepingRunner", "_TryOut"]:
        """Returns what runs the statement of the answer, and what tries statements out."""
        keeping = _KeepingRunner(
            self._connections, connection, schema_context, rows=self._rows, run_of=run, databases=databases
        )
        checker = RunResultChecker(
            connections=self._connections,
            connection=connection,
            schema_context=schema_context,
            run_of=run,
            databases=databases,
        )
        return keeping, _TryOut(keeping, checker)

    def _extend(self, ports: Ports, databases: RunDatabases, *, is_given: bool) -> Ports:
        """Returns the ports of a session of several databases. `is_given`: no model writes the statement."""
        # Of their joined rows no days are known, and no keys.
        joined = FiguresAnalyst(JOINED_DIALECT, _NoBackground(), datetime.now(UTC).date())
        is_shown = self._models is not None and not is_given and self._allowed.allows("schema")
        return replace(
            ports,
            recall=RecallOfSeveral(ports.recall, databases) if is_shown else ports.recall,
            writer=WriterForSeveral(ports.writer, databases),
            analyst=AnalystOfSeveral(ports.analyst, joined, databases),
        )

    def _begin_facts(
        self, session: Session, run: Run, *, is_prompted: bool
    ) -> tuple[Reach | None, "asyncio.Task[Collection[Scope]] | None"]:
        """Returns whose facts a turn may read, and the reading of their groups; None where none are read."""
        if self._facts is None or self._models is None or run.sql is not None:
            return None, None
        reach = self._facts.reach_of(run.owner, session.id, session.connection_id)
        if not is_prompted:
            return reach, None
        return reach, asyncio.create_task(self._facts.filled(reach), name=f"run {run.id}: groups of facts")

    def _statement_asker(
        self, run: Run, connection: Connection, runner: ApprovedRunner, *, databases: RunDatabases | None
    ) -> StatementAsker | None:
        if self._approvals is None:
            return None
        return RunStatementAsker(
            approvals=self._approvals,
            connection=connection,
            runner=runner,
            run_of=run,
            others=() if databases is None else databases.others,
        )

    async def _investigators_of(
        self, session: Session, run: Run, connection: Connection
    ) -> tuple[Investigator | None, Investigator | None]:
        """Returns the investigator of a task whose steps are fixed, or that of the model."""
        task = (
            None
            if self._tasks is None
            else await self._tasks(session, run, connection, schema_context_of=self.schema_context)
        )
        if task is not None or self._investigators is None:
            return task, None
        return None, await self._investigators(
            session, run, connection, schema_context_of=self.schema_context
        )

    def _writer_of(
        self,
        run: Run,
        schema_context: SchemaContext,
        *,
        try_out: "_TryOut",
        may_investigate: bool,
        databases: RunDatabases | None,
    ) -> SqlWriter:
        models, today, dialect = self._models, datetime.now(UTC).date(), try_out.runner.connection.dialect
        has_rows = None if models else try_out.has_rows
        builtin = BuiltinWriter(
            dialect,
            schema_context.index,
            today,
            read_terms=schema_context.terms,
            has_rows=has_rows,
        )
        writer: SqlWriter = (
            ModelWriter(
                models.sql,
                builtin,
                _Correcting(schema_context, self._corrections, databases),
                instruction=models.instruction,
                read_index=schema_context.index,
                today=today,
                max_statement_characters=self._connections.max_statement_characters,
                may_act=run.mode == "agent",
                may_investigate=may_investigate and models.instruction == "long" and models.agent.takes_tools,
                candidates=Candidates(
                    count=models.candidates,
                    try_out=try_out.try_out,
                    dialect=dialect,
                    run_id=run.id,
                ),
            )
            if models
            else builtin
        )
        if models and self._allowed != ALL_ALLOWED:
            return FilteredWriter(writer, self._allowed)
        return writer

    def _recall_of(
        self,
        session: Session,
        run: Run,
        schema_context: SchemaContext,
        *,
        connection: Connection,
        is_given: bool,
        seen: Sequence[Rule] | None,
    ) -> ContextRecall:
        """`is_given`: the statement is known, and no model reads what is recalled."""
        models = self._models
        recall: ContextRecall = (
            _Recall(schema_context, models.context_tokens)
            if models and not is_given
            else _NoRecall(schema_context, run.sql)
        )
        if models and self._rules is not None:
            recall = _RecallWithRules(
                recall,
                self._rules,
                schema_context,
                connection=connection,
                run_of=run,
                mode=run.mode,
                seen=seen,
            )
        if models and self._page is not None and run.about is not None:
            recall = _RecallWithPage(recall, self._page, run_of=run, session=session)
        if models and run.context and self._allowed.allows("history"):
            recall = _RecallWithQuotes(recall, run)
        return recall

    def _analyst_of(
        self, run: Run, connection: Connection, schema_context: SchemaContext, *, seen: Sequence[Rule] | None
    ) -> Analyst:
        models, today = self._models, datetime.now(UTC).date()
        figures = FiguresAnalyst(
            connection.dialect,
            DatabaseBackground(self._connections, connection, run),
            today,
            chart_rules=(
                _RunChartRules(self._rules, connection, schema_context, run_of=run, seen=seen)
                if self._rules is not None
                else None
            ),
        )
        may_read = self._allowed.allows("rows", "values")
        if models is not None and models.analysis_form == "choose" and may_read:
            return ModelAnalyst(models.analysis, figures)
        return figures

    def _summarizer_of(self, session: Session) -> Summarizer:
        """The summary model reduces a conversation that it may read and that is long enough for that.

        A turn is two messages: a question and its answer.
        """
        above = self._model_reduces_above
        may_read = self._allowed.allows("history", "rows", "values")
        if self._models and above is not None and may_read and 2 * session.turns > above:
            return ModelSummarizer(self._models.summary)
        return DigestSummarizer()

    def schema_context(self, connection: Connection, knowledge: Knowledge | None = None) -> SchemaContext:
        """Returns what is known of a database, for one run. `knowledge`: what was just read of it."""
        return SchemaContext(
            self._connections,
            self._context,
            self._indexes,
            connection=connection,
            knowledge=knowledge,
            allowed=self._allowed,
        )


async def _unread() -> None:
    """In place of a read."""


def _begun_profile(profiles: ProfileSections, session: Session) -> asyncio.Task[str]:
    reading = profiles.read(session.owner, session.id, is_first=session.turns == 1)
    return asyncio.create_task(reading, name=f"session {session.id}: profile")


@dataclass(frozen=True)
class _OwnProfile:
    """The section about the session's owner. It is read once an attempt, within a limit of its own."""

    reading: asyncio.Task[str]

    async def read(self) -> str:
        return await asyncio.shield(self.reading)


@dataclass(frozen=True)
class _GivenSql:
    """A writer that returns the given statement."""

    sql: str
    dialect: str

    async def write(self, question: Question, emit: Emit) -> Written:
        return Written(route="sql", text=self.sql, explanation=_GIVEN_EXPLANATION, author="user")


@dataclass(frozen=True)
class _FixedTask:
    """A writer that begins an investigation whose steps are known."""

    dialect: str

    async def write(self, question: Question, emit: Emit) -> Written:
        return Written(route="investigate", text=question.text)


def _given_writer(run: Run, dialect: str, *, has_task: bool) -> SqlWriter | None:
    """Returns the writer of a turn that needs none: of a given statement, or of a task with known steps."""
    if run.sql is not None:
        return _GivenSql(run.sql, dialect)
    return _FixedTask(dialect) if has_task else None


@dataclass(frozen=True)
class _OnlyOnce:
    """A runner whose failure ends the turn: only the user repairs a statement that they gave."""

    runner: "_KeepingRunner"

    async def kept(self, sql: str) -> Rows | None:
        return await self.runner.kept(sql)

    async def run(self, sql: str, *, is_approved: bool = False) -> Rows:
        try:
            return await self.runner.run(sql, is_approved=is_approved)
        except StatementNeedsApproval:
            raise
        except StatementFailed as failure:
            raise GivenStatementFailed(failure.detail) from failure

    async def keep(self) -> None:
        await self.runner.keep()


@dataclass(frozen=True)
class _Correcting:
    """Corrects the statements of a model and counts the corrections."""

    schema_context: SchemaContext
    corrections: Counter
    databases: RunDatabases | None

    async def __call__(self, sql: str) -> Corrected:
        if self.databases is not None and await self.databases.are_named_by(sql):
            return Corrected(sql)  # running it says what is wrong
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
    """An empty context, for a turn without a prompt for SQL. Still reads the schema, so that a failure shows
    in this step.
    """

    schema_context: SchemaContext
    given_sql: str | None

    async def recall(self, question: Question) -> Context:
        index = await self.schema_context.index()
        if self.given_sql is not None:
            self.schema_context.shown_tables = await asyncio.to_thread(tables_read, self.given_sql, index)
        return NO_CONTEXT


@dataclass(frozen=True)
class _RecallWithPage:
    """Adds what the page shows to what was looked up for the question."""

    without_page: ContextRecall
    page: PageContext
    run_of: Run
    session: Session

    async def recall(self, question: Question) -> Context:
        context = await self.without_page.recall(question)
        if self.run_of.about is None:
            return context
        section = await self.page.section(self.run_of.owner, self.session, self.run_of.about)
        return Context(**{**context, "page": section})


@dataclass(frozen=True)
class _RecallWithQuotes:
    """Adds what was said in the client's own conversation, behind what the page shows. Each message is one
    line, so that none can pass for another.
    """

    without_quotes: ContextRecall
    run_of: Run

    async def recall(self, question: Question) -> Context:
        context = await self.without_quotes.recall(question)
        said = {"human": "user", "ai": "assistant"}
        lines = [f"{said[each['role']]}: {' '.join(each['text'].split())}" for each in self.run_of.context]
        quoted = sections([(_QUOTED_TITLE, "\n".join(lines))])
        page = "\n\n".join(filter(None, [context["page"], quoted]))
        return Context(**{**context, "page": page})


@dataclass(frozen=True)
class _RecallWithRules:
    """Adds the rules of the turn to its context."""

    without_rules: ContextRecall
    rules: Rules
    schema_context: SchemaContext
    connection: Connection
    run_of: Run
    mode: Mode
    seen: Sequence[Rule] | None
    """The user's rules, if they were just read."""

    async def recall(self, question: Question) -> Context:
        run = self.run_of
        index = await self.schema_context.index()
        # Once the schema is at hand, rules and context are one request to a remote store.
        rules, context = await asyncio.gather(
            self.rules.of_connection(run.owner, self.connection, self.seen),
            self.without_rules.recall(question),
        )
        if not rules:
            return context
        situation = Situation(
            connection_id=self.connection.id,
            connection_name=self.connection.name,
            mode=self.mode,
            question=run.question,
            named=run.rules,
            tables=list(index.tables),
            shown=self.schema_context.shown_tables,
        )
        chosen = choose_rules(rules, situation)
        return Context(**{**context, "rules": rules_section(chosen), "rules_left_out": list(chosen.left_out)})


@dataclass(frozen=True)
class _RunChartRules:
    """The user's rules about charts."""

    rules: Rules
    connection: Connection
    schema_context: SchemaContext
    run_of: Run
    seen: Sequence[Rule] | None
    """The user's rules, if they were just read."""

    async def find(self, sql: str, columns: Sequence[Column]) -> ChartRule | None:
        run = self.run_of
        rules = await self.rules.of_connection(run.owner, self.connection, self.seen)
        if not any(rule.chart for rule in rules):
            return None
        tables = await asyncio.to_thread(tables_read, sql, await self.schema_context.index())
        situation = Situation(
            connection_id=self.connection.id,
            connection_name=self.connection.name,
            mode=run.mode,
            question=run.question,
            named=run.rules,
            tables=tables,
            shown=tables,
        )
        rule = choose_chart_rule(rules, situation, columns=[each["name"] for each in columns])
        return None if rule is None or rule.chart is None else ChartRule(rule.name, rule.chart)


@dataclass(frozen=True)
class DatabaseBackground:
    """Queries the database for the days that its data cover. Unknown if it does not answer in time."""

    connections: DatabaseConnections
    connection: Connection
    run_of: Run

    async def span(self, sql: str) -> DataSpan | None:
        asker = asker_of(self.run_of, "coverage")
        try:
            schema = await self.connections.schema(self.connection)
            statement = await self.connections.examine(sql, span_statement, sql, schema)
            if statement is None:
                return None
            async with asyncio.timeout(_COVERAGE_SECONDS):
                result = await self.connections.run(self.connection, statement.sql, asker)
        except (TimeoutError, StatementFailed, DatabaseUnavailable) as error:
            logger.info("run %s: the coverage of its dates is unknown: %r", self.run_of.id, error)
            return None
        return read_span(result.rows, narrowed=statement.narrowed)

    async def keys(self, sql: str) -> frozenset[str]:
        try:
            schema = await self.connections.schema(self.connection)
            return await self.connections.examine(sql, key_columns, sql, schema)
        except (StatementFailed, DatabaseUnavailable):
            return frozenset()


class _NoBackground:
    """Knows nothing of the data behind a statement."""

    async def span(self, sql: str) -> DataSpan | None:
        return None

    async def keys(self, sql: str) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True)
class _TryOut:
    """Runs statements whose rows are not shown."""

    runner: "_KeepingRunner"
    checker: RunResultChecker

    async def try_out(self, question: Question, sql: str) -> Tried | None:
        fetched = await self._fetch(sql, "candidate")
        if fetched is None:
            return None
        warnings = await self.checker.find_warnings(question, sql, fetched.as_rows())
        return Tried(await asyncio.to_thread(bag_of, fetched), has_warnings=bool(warnings))

    async def has_rows(self, sql: str) -> bool:
        """True if a statement runs and gives rows."""
        fetched = await self._fetch(sql, "offer")
        return fetched is not None and bool(fetched.rows)

    async def _fetch(self, sql: str, purpose: Purpose) -> ResultSet | None:
        try:
            return await self.runner.fetch(sql, purpose)
        except (StatementFailed, DatabaseUnavailable) as error:
            run_id = self.runner.run_of.id
            logger.info("run %s: a statement of purpose %s failed: %s", run_id, purpose, error.detail)
            return None


@dataclass
class _KeepingRunner:
    """Checks and runs a statement, and stores all its rows under the run's message before anything is
    emitted. Rows that an earlier attempt has stored are not fetched again.
    """

    connections: DatabaseConnections
    connection: Connection
    schema_context: SchemaContext
    rows: RowStore
    run_of: Run
    databases: RunDatabases | None = None
    """None for a session of one database."""
    in_hand: Rows | None = None
    """All rows that this attempt has stored."""
    _fetched: tuple[str, Rows] | None = None
    """The statement that ran last and all its rows, until they are stored."""

    async def kept(self, sql: str) -> Rows | None:
        run = self.run_of
        return None if run.attempt == 1 else await self.rows.kept(run.message_id, sql)

    async def run(self, sql: str, *, is_approved: bool = False) -> Rows:
        self._fetched = None
        fetched = await self.fetch(sql, "question", is_approved=is_approved)
        rows = fetched.as_rows()
        self._fetched = (sql, rows)
        return Rows(**{**rows, "rows": fetched.rows[:HEAD_ROWS]})

    async def fetch(self, sql: str, purpose: Purpose, *, is_approved: bool = False) -> ResultSet:
        """Check and run a statement, and store nothing. Raises what running a statement raises."""
        if self.databases is not None and await self.databases.are_named_by(sql):
            return await self.databases.run(sql, purpose, is_approved=is_approved)
        asker = asker_of(self.run_of, purpose)
        return await self.connections.run(
            self.connection, sql, asker, check_names=self.schema_context.check, is_approved=is_approved
        )

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
