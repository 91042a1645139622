"""Request and response bodies of the context store. Fields left out of a change stay unchanged."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
)

from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody, not_null, storable
from app.modules.context_store.model import ExampleStatus
from app.modules.database_connection.schemas import ResultColumnBody

ConnectionId = Annotated[Text, Field(max_length=100)]
_Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(storable)]
Name = Annotated[_Filled, Field(max_length=200)]
Words = Annotated[_Filled, Field(max_length=2_000)]
Fragment = Annotated[_Filled, Field(max_length=4_000)]
_MOST_MATCHED = 64 * 1024
"""Characters of statements that are compared at once: as many as one may have, since each is parsed."""
Sql = Annotated[_Filled, Field(max_length=64 * 1024)]
_ID = "019ab1c2-0000-7000-8000-000000000000"


class NewExample(Body):
    """A question with the SQL that answers it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "db_connection_id": _ID,
                    "question": "How many active customers do we have?",
                    "sql": "SELECT count(*) FROM customers WHERE closed_on IS NULL",
                }
            ]
        }
    )

    db_connection_id: ConnectionId
    """Id of the database connection."""
    question: Words
    """The question."""
    sql: Sql
    """Statement that answers it, in the dialect of the database."""
    status: ExampleStatus = "verified"
    """Only a verified example is used. Its statement must pass the guard."""


class ExampleChange(Body):
    """A review of an example, or other changes. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "verified"}]})

    question: Words | None = None
    """The new question."""
    sql: Sql | None = None
    """The new statement."""
    status: ExampleStatus | None = None
    """The result of a review."""

    _given = field_validator("question", "sql", "status", mode="before")(not_null)


class ExampleTest(Body):
    """A run of an example's statement."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM orders"}]})

    sql: Sql | None = None
    """Statement to run in place of the example's own. Null for that."""


def _together_short(statements: list[str]) -> list[str]:
    if sum(map(len, statements)) > _MOST_MATCHED:
        raise ValueError(f"the statements have more than {_MOST_MATCHED:,} characters; send fewer at once")
    return statements


class StatementsToMatch(Body):
    """Statements to look up among the verified examples of a connection."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"db_connection_id": _ID, "statements": ["SELECT count(*) FROM orders"]}]
        }
    )

    db_connection_id: ConnectionId
    """Id of the database connection."""
    statements: Annotated[list[Sql], Field(min_length=1, max_length=100), AfterValidator(_together_short)]
    """The statements: together at most 65,536 characters."""


class NewTerm(Body):
    """A business term with its meaning."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "db_connection_id": _ID,
                    "term": "net revenue",
                    "meaning": "What was invoiced without tax, less refunds",
                    "sql": "sum(invoices.total - invoices.tax - invoices.refunded)",
                }
            ]
        }
    )

    db_connection_id: ConnectionId
    """Id of the database connection."""
    term: Name
    """The term, as users write it."""
    meaning: Words
    """Definition of the term."""
    sql: Fragment | None = None
    """SQL expression of the term. It is not checked."""


class TermChange(Body):
    """Changes of a glossary term. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sql": None}]})

    term: Name | None = None
    """The new term."""
    meaning: Words | None = None
    """The new definition."""
    sql: Fragment | None = None
    """The new SQL expression. Null removes it."""

    _given = field_validator("term", "meaning", mode="before")(not_null)


class NewInstruction(Body):
    """A rule for reading the data."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"db_connection_id": _ID, "text": "Leave out test customers.", "scope": "customers"}]
        }
    )

    db_connection_id: ConnectionId
    """Id of the database connection."""
    text: Words
    """The rule, in a sentence or two."""
    scope: Name | None = None
    """Name of the scanned table that the rule is about. Null for the whole database."""


class InstructionChange(Body):
    """Changes of an instruction. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"scope": None}]})

    text: Words | None = None
    """The new text of the rule."""
    scope: Name | None = None
    """Name of the scanned table that the rule is about. Null for the whole database."""

    _given = field_validator("text", mode="before")(not_null)


class _Entry(VersionedBody):
    id: str
    """Id of the entry."""
    db_connection_id: str
    """Id of the database connection."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest change."""


class ExampleBody(_Entry):
    """A question with the SQL that answers it."""

    question: str
    """The question."""
    sql: str
    """Statement that answers it."""
    status: ExampleStatus
    """Only a verified example is used."""
    message_id: str | None
    """Id of the answer that the example was proposed from. Null if it was added by hand."""
    verified_by: str | None
    """The owner who verified it. Null if it is not verified, or was before this was recorded."""
    verified_at: Time | None
    """Time of the verification. Null when `verified_by` is."""
    asked_by: str | None
    """The owner of the answer that it was proposed from. Null if it was added by hand."""
    answer: str | None
    """Text of that answer, for its review. Null after the review, for a corrected answer, and where rows
    belong to people."""
    uses: int
    """Answers that it gave, or that a model wrote with it in sight."""
    fault: str | None
    """Why its statement would not run on the schema as scanned last, and the cure; then it is not used. Null
    if it would, or without a scan.
    """


class ExampleRunBody(ResponseBody):
    """The result of a run of an example's statement."""

    columns: list[ResultColumnBody]
    """Columns of the rows, in order."""
    rows: list[list[JsonValue]]
    """The first five rows."""
    row_count: int
    """Number of rows, up to the limit of results."""
    truncated: bool
    """A limit cut the result."""
    elapsed_ms: int
    """Milliseconds that the statement took."""


class ExampleMatch(ResponseBody):
    """A statement that is the SQL of a verified example."""

    index: int
    """Index of the statement, from 0."""
    example_id: str
    """Id of the example, the latest if there are several."""
    question: str
    """The question of the example."""
    verified_by: str | None
    """The owner who verified it. Null if it was verified before this was recorded."""
    verified_at: Time | None
    """Time of the verification. Null when `verified_by` is."""


class ExampleMatches(ResponseBody):
    """The statements that are the SQL of a verified example."""

    items: list[ExampleMatch]
    """One for each such statement, in their order. The other statements are left out."""


class TermBody(_Entry):
    """A glossary term."""

    term: str
    """The term, as users write it."""
    meaning: str
    """Definition of the term."""
    sql: str | None
    """SQL expression of the term. Null if it has none."""


class InstructionBody(_Entry):
    """A rule for reading the data."""

    text: str
    """The rule."""
    scope: str | None
    """Name of the table that the rule is about. Null for the whole database."""
