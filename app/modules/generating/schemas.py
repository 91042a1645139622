"""Bodies of what is generated, on the wire."""

from typing import Annotated

from pydantic import ConfigDict, Field

from app.http.routes import Body, ResponseBody, Text
from app.modules.session.schemas import QuestionText
from graph.state import Option, Rows


class SqlRequest(Body):
    """A question to write SQL for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "db_connection_id": "019ab1c2-0000-7000-8000-000000000000",
                    "query": "Top 5 products by revenue",
                    "run": True,
                }
            ]
        }
    )

    db_connection_id: Annotated[Text, Field(max_length=100)]
    """Id of the database connection."""
    query: QuestionText
    """The question in plain language. It has to stand alone."""
    run: bool = False
    """Run the statement too, and return its first rows."""


class GeneratedSqlBody(ResponseBody):
    """SQL for a question, or a question back."""

    sql: str | None
    """The statement. Null if the question cannot be answered by one: then `explanation` says why."""
    dialect: str
    """SQL dialect of the statement. Empty without one."""
    explanation: str
    """How the question was understood; without a statement the question back, or the reply."""
    warnings: list[str]
    """What speaks against the statement: why it is not valid, or what is worth checking. Empty if nothing
    does.
    """
    corrections: list[str]
    """Why the model wrote the statement again, if it did, and corrections of it, a sentence each."""
    valid: bool
    """The statement passed the guard and the check of its names; with `run`, the database has run it."""
    options: list[Option]
    """The readings that a question back offers. Empty if it offers none."""
    rows: Rows | None
    """The first 100 rows, and the number of all. Null without `run`, or if the statement is not valid."""
    tokens_used: int
    """Tokens of the model calls."""


class DocumentationOrder(Body):
    """A database to document."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "db_connection_id": "019ab1c2-0000-7000-8000-000000000000",
                    "tables": ["customers", "orders"],
                }
            ]
        }
    )

    db_connection_id: Annotated[Text, Field(max_length=100)]
    """Id of the database connection."""
    tables: Annotated[list[Annotated[Text, Field(min_length=1, max_length=300)]], Field(max_length=200)] = (
        Field(default_factory=list)
    )
    """Names of the tables to document. Empty or left out: all."""
    accept_estimate: bool = False
    """Begin also if there are more than 20 tables, or if it would take a third of what is left of the day's
    tokens. Else the run shows the estimate and asks.
    """


class StartedDocumentation(ResponseBody):
    """A documentation that was begun."""

    session_id: str
    """Id of its session, which holds the document once the run has ended."""
    run_id: str
    """Id of the run."""
    message_id: str
    """Id of the answer: its `analysis` is the document, in Markdown."""
    stream: str
    """Path of the run's events."""
