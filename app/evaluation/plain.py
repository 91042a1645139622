"""The baseline: the same model with a plain prompt of nothing but the schema and the question.

One call a question, no values, no hints, no check of names, no correction and no repair. The reply is read,
and its statement guarded and limited, exactly as KAI's own.
"""

import time

from sqlglot import exp

from app.core.errors import problem_type
from app.core.llm.calls import metered
from app.core.llm.model import LanguageModel, PromptMessage
from app.evaluation.answering import Answer
from app.evaluation.gold import EVALUATION
from app.modules.database_connection.repository import Connection
from app.modules.database_connection.schema import Schema, Table
from app.modules.database_connection.service import DatabaseConnections
from app.modules.model_errors import model_errors_translated
from app.modules.sql_generation.reply import read_reply
from graph.errors import TurnError
from graph.events import Failure


class PlainPrompt:
    """A conversation with the model; a follow-up is sent with the questions and statements before it."""

    def __init__(
        self, connections: DatabaseConnections, model: LanguageModel, connection: Connection
    ) -> None:
        self._connections = connections
        self._model = model
        self._connection = connection
        self._past: list[PromptMessage] = []

    async def ask(self, question: str, *, last: bool) -> Answer:
        """The answer to the next question; failures are in it, never raised."""
        answer = Answer()
        started = time.monotonic()
        with metered() as meter:
            try:
                await self._answer(question, answer)
            except TurnError as error:
                answer.failure = _failure(error)
        answer.used = meter
        answer.seconds = time.monotonic() - started
        return answer

    async def _answer(self, question: str, answer: Answer) -> None:
        schema = await self._connections.schema(self._connection)
        asked = PromptMessage("user", question)
        with model_errors_translated():
            reply = await self._model.reply([_instruction(schema), *self._past, asked], lambda _: None)
        written = read_reply(reply.text, schema.dialect)
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
    tables = "\n".join(_table_lines(table, schema.dialect) for table in schema.tables)
    return PromptMessage("system", f"Answer with one {schema.dialect} statement.\n\n{tables}")


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
