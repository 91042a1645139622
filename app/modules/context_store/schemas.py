"""The context store on the wire. In a change, what is left out stays as it is."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from app.http.routes import Body, Text, Time, not_null, storable
from app.modules.context_store.model import ExampleStatus

ConnectionId = Annotated[Text, Field(max_length=100)]
_Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(storable)]
Name = Annotated[_Filled, Field(max_length=200)]
Words = Annotated[_Filled, Field(max_length=2_000)]
Fragment = Annotated[_Filled, Field(max_length=4_000)]
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
    question: Words
    sql: Sql
    status: ExampleStatus = "verified"


class ExampleChange(Body):
    """A review (`status`), or other words."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "verified"}]})

    question: Words | None = None
    sql: Sql | None = None
    status: ExampleStatus | None = None

    _given = field_validator("question", "sql", "status", mode="before")(not_null)


class NewTerm(Body):
    """A word of the business, and the SQL expression for it where there is one."""

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
    term: Name
    meaning: Words
    sql: Fragment | None = None


class TermChange(Body):
    """Other words; an `sql` of null is none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sql": None}]})

    term: Name | None = None
    meaning: Words | None = None
    sql: Fragment | None = None

    _given = field_validator("term", "meaning", mode="before")(not_null)


class NewInstruction(Body):
    """A rule for reading the data; `scope` names the table it is about, null the whole database."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"db_connection_id": _ID, "text": "Leave out test customers.", "scope": "customers"}]
        }
    )

    db_connection_id: ConnectionId
    text: Words
    scope: Name | None = None


class InstructionChange(Body):
    """Other words; a `scope` of null is the whole database."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"scope": None}]})

    text: Words | None = None
    scope: Name | None = None

    _given = field_validator("text", mode="before")(not_null)


class _Entry(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: str
    db_connection_id: str
    created_at: Time
    updated_at: Time


class ExampleBody(_Entry):
    """An example; only a verified one is used. `message_id` names the answer that it was proposed from."""

    question: str
    sql: str
    status: ExampleStatus
    message_id: str | None


class TermBody(_Entry):
    term: str
    meaning: str
    sql: str | None


class InstructionBody(_Entry):
    text: str
    scope: str | None
