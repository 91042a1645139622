"""Binds the graph's ports for one run: to its session's database, its owner and its message."""

from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.llm.model import LanguageModel
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.database_connection.repository import Connection
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.service import DatabaseConnections
from app.modules.session.given_sql import GivenSql, OnlyOnce
from app.modules.session.model import Run, Session
from app.modules.session.rows import HEAD_ROWS, RowStore
from app.modules.session.summary import DigestSummarizer, ModelSummarizer
from app.modules.sql_generation.linking import schema_cards
from app.modules.sql_generation.writer import BuiltinWriter, ModelWriter
from graph import Ports
from graph.ports import Question
from graph.state import Column, Rows


@dataclass(frozen=True)
class Models:
    """A model per task, and how many tokens of schema the SQL model is shown."""

    sql: LanguageModel
    analysis: LanguageModel
    summary: LanguageModel
    context_tokens: int


class PortsOfRun:
    """Makes the ports of a run; without models the built-in parts do all the work."""

    def __init__(self, connections: DatabaseConnections, rows: RowStore, models: Models | None) -> None:
        self._connections = connections
        self._rows = rows
        self._models = models

    async def bind(self, session: Session, run: Run) -> Ports:
        """Raises `ConnectionNotFound` when the connection was deleted meanwhile."""
        connection = await self._connections.get(session.owner, session.db_connection_id)
        models, today = self._models, datetime.now(UTC).date()

        async def read_schema() -> Schema:
            return await self._connections.schema(connection)

        runner = _KeepingRunner(self._connections, connection, self._rows, run)
        builtin = BuiltinWriter(connection.dialect, read_schema, today)
        writer = ModelWriter(models.sql, builtin, today) if models else builtin
        given = None if run.sql is None else GivenSql(run.sql, connection.dialect)
        return Ports(
            recall=_SchemaRecall(self._connections, connection, models.context_tokens if models else 0),
            writer=given or writer,
            runner=OnlyOnce(runner) if given else runner,
            analyst=ModelAnalyst(models.analysis) if models else FiguresAnalyst(),
            summarizer=ModelSummarizer(models.summary) if models else DigestSummarizer(),
        )


@dataclass(frozen=True)
class _SchemaRecall:
    """Shows the part of the schema that matters; reads the schema if that was never done."""

    connections: DatabaseConnections
    connection: Connection
    budget_tokens: int

    async def recall(self, question: Question) -> str:
        schema = await self.connections.schema(self.connection)
        if self.budget_tokens == 0:
            return ""
        conversation = " ".join([question.text, *(each["query"] for each in question.exchanges)])
        return schema_cards(schema, conversation, self.budget_tokens)


@dataclass(frozen=True)
class _KeepingRunner:
    """Runs a statement and keeps all its rows under the run's message, before anything is said of them."""

    connections: DatabaseConnections
    connection: Connection
    rows: RowStore
    run_of: Run

    async def run(self, sql: str) -> Rows:
        result = await self.connections.run(self.connection, sql)
        run = self.run_of
        await self.rows.keep(run.owner, run.session_id, run.message_id, result.rows)
        return Rows(
            columns=[Column(name=column.name, type=column.type) for column in result.columns],
            rows=result.rows[:HEAD_ROWS],
            row_count=len(result.rows),
            truncated=result.truncated,
        )
