"""Statements of a turn over the several databases of its session."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.joining.labels import labels_of
from app.modules.database_connection.joining.plan import DIALECT
from app.modules.database_connection.joins import DatabaseJoins
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker, Purpose
from app.modules.prompts.sections import sections
from app.modules.records.model import Run, Session
from app.modules.sql.layout import laid_out
from app.modules.sql.table_names import TableName
from app.modules.sql_generation.linking.words import words_of
from app.modules.sql_generation.schema_context import SchemaContext
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.events import TextChunk
from graph.ports import Analysed, Analyst, ContextRecall, Emit, Question, SqlWriter, Written
from graph.state import Context, Rows

_TITLE = "Other databases of this session"
_HOW = (
    "A statement may join tables of several databases. Then write all of it in DuckDB's SQL, and name each "
    "table by its database: {example}. The tables of the main database need no name before them."
)
_MOST_TABLES = 6


def asker_of(run: Run, purpose: Purpose) -> Asker:
    """The owner of a run, as the asker of a statement for this purpose."""
    return Asker(
        owner=run.owner, purpose=purpose, session_id=run.session_id, run_id=run.id, claim=run.database_claim
    )


@dataclass(frozen=True)
class RunDatabases:
    """The databases of a session, its main one first, for one run."""

    joins: DatabaseJoins
    run_of: Run
    schema_context_of: Callable[[Connection], SchemaContext]
    notes: dict[str, Sequence[str]] = field(default_factory=dict)
    """What was fetched and joined for the statements that have run, and what is worth knowing of it."""
    _known: dict[str, bool] = field(default_factory=dict)
    """Whether statements name several databases."""

    async def are_named_by(self, sql: str) -> bool:
        """True for a statement over several databases, or over another one than the main one.

        Raises `DatabaseUnavailable`.
        """
        if sql not in self._known:
            self._known[sql] = await self.joins.names_databases(sql)
        return self._known[sql]

    @property
    def others(self) -> Sequence[Connection]:
        return [connection for _, connection in self.joins.databases[1:]]

    async def run(self, sql: str, purpose: Purpose, *, is_approved: bool) -> ResultSet:
        """Raises what running a statement raises."""
        found = await self.joins.run(sql, asker_of(self.run_of, purpose), is_approved=is_approved)
        if found is None:
            raise StatementFailed("The statement names no other database, though it seemed to.")
        policies = [f"Rows are limited by the rule {each}." for each in found.result.row_policies]
        self.notes[sql] = [*found.notes, *policies]
        return found.result

    async def section(self, question: str) -> str:
        """Returns the section of a prompt on the tables of the other databases that may fit a question."""
        cards: list[str] = []
        example = ""
        for label, connection in self.joins.databases[1:]:
            with suppress(DatabaseUnavailable):
                index = await self.schema_context_of(connection).index()
                ranked = index.words.ranked(words_of(question)) or [*index.tables]
                shown = ranked[:_MOST_TABLES]
                cards += [f"-- in {label}\n{index.cards[name]}" for name in shown]
                if shown and not example:
                    table = index.names.table_names.short(shown[0])
                    example = TableName(label, table.schema, table.name).sql(DIALECT)
        return sections([(_TITLE, "\n\n".join([_HOW.format(example=example), *cards]))]) if cards else ""


async def databases_of(
    session: Session,
    run: Run,
    main: Connection,
    *,
    connections: DatabaseConnections,
    schema_context_of: Callable[[Connection], SchemaContext],
) -> RunDatabases | None:
    """Returns None for a session of one database. Databases that were deleted, or are no longer shared, are
    left out.
    """
    found = [main]
    for each in session.also:
        with suppress(ConnectionNotFound):
            found.append(await connections.repository.get(run.owner, each))
    if len(found) == 1:
        return None
    labelled = list(zip(labels_of([each.name for each in found]), found, strict=True))
    return RunDatabases(DatabaseJoins(connections, labelled), run, schema_context_of)


@dataclass(frozen=True)
class RecallOfSeveral:
    """Adds the tables of the other databases to what was looked up for the question."""

    of_main: ContextRecall
    databases: RunDatabases

    async def recall(self, question: Question) -> Context:
        context = await self.of_main.recall(question)
        section = await self.databases.section(question.text)
        return Context(**{**context, "page": "\n\n".join(filter(None, [context["page"], section]))})


@dataclass(frozen=True)
class WriterForSeveral:
    """Wraps a writer. A statement over several databases is DuckDB's."""

    writer: SqlWriter
    databases: RunDatabases

    @property
    def dialect(self) -> str:
        return self.writer.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        written = await self.writer.write(question, emit)
        if written.route != "sql" or not await self.databases.are_named_by(written.text):
            return written
        pretty = laid_out(written.text, DIALECT)
        return written.model_copy(update={"dialect": DIALECT, "sql_pretty": pretty})


@dataclass(frozen=True)
class AnalystOfSeveral:
    """Ends the analysis of a statement over several databases with what was fetched from each."""

    analyst: Analyst
    joined: Analyst
    databases: RunDatabases

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        if not await self.databases.are_named_by(sql):
            return await self.analyst.analyse(question, sql, rows, emit=emit)
        read = await self.joined.analyse(question, sql, rows, emit=emit)
        said = "\n".join(f"- {each}" for each in self.databases.notes.get(sql, ()))
        if not said:
            return read
        from app.modules.analysis.facts.wording import wording_for  # noqa: PLC0415  (babel loads slowly)

        text = f"\n\n**{wording_for(question.text).say('joined')}**\n\n{said}"
        emit(TextChunk(content=text, channel="analysis"))
        analysis = read.analysis.model_copy(update={"text": read.analysis.text + text})
        return Analysed(analysis, read.results_summary, read.tokens_used)
