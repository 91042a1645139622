"""Session bodies and answers on the wire; times are RFC 3339 in UTC."""

import json
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
)

from app.http.routes import Body, PageOf, Text, Time, not_null, storable
from app.modules.session.model import Mode, Outcome, SessionStatus
from graph.state import Claim, Column, Cut, Option, Route

MAX_QUERY_CHARACTERS = 8_000
MAX_METADATA_BYTES = 16 * 1024


def _small(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError as error:
        raise ValueError("the metadata holds half a surrogate pair") from error
    if size > MAX_METADATA_BYTES:
        raise ValueError(f"the metadata takes {size} bytes; {MAX_METADATA_BYTES} are allowed")
    return metadata


Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_small)]
Question = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_CHARACTERS),
    AfterValidator(storable),
]


class NewSession(Body):
    """A session on a database connection."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"db_connection_id": "019ab1c2-0000-7000-8000-000000000000", "title": "Q4 review"}]
        }
    )

    db_connection_id: Annotated[Text, Field(max_length=100)]
    title: Title | None = None
    mode: Mode = "ask"
    metadata: Metadata = Field(default_factory=dict)


class SessionChange(Body):
    """What is to change; `closed` ends the session, `idle` resumes it; a title of null is none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Revenue by region"}]})

    title: Title | None = None
    mode: Mode | None = None
    metadata: Metadata | None = None
    status: Literal["idle", "closed"] | None = None

    _given = field_validator("mode", "metadata", "status", mode="before")(not_null)


class SessionQuery(Body):
    """A question. `on_busy` says what becomes of it while another run holds the session.

    `sql` is run for the question in place of a written statement, through the same guard and limits.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "Top 5 products by revenue"}]})

    query: Question
    on_busy: Literal["reject", "enqueue", "interrupt"] = "reject"
    sql: Annotated[Text, Field(min_length=1, max_length=64 * 1024)] | None = None


class NewFeedback(Body):
    """What you think of an answer; the latest counts. Blank SQL corrects nothing."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rating": "up"}]})

    rating: Literal["up", "down"]
    comment: Annotated[Text, Field(max_length=4_000)] | None = None
    corrected_sql: Annotated[Text, Field(max_length=64 * 1024)] | None = None

    @field_validator("corrected_sql")
    @classmethod
    def _not_blank(cls, sql: str | None) -> str | None:
        return None if sql is None or not sql.strip() else sql


class _FromRecord(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SessionBody(_FromRecord):
    """A session; `active_run_id` names the run that is answering, if any."""

    id: str
    db_connection_id: str
    title: str | None
    mode: Mode
    status: SessionStatus
    metadata: dict[str, JsonValue]
    active_run_id: str | None
    created_at: Time
    updated_at: Time


class RunErrorBody(_FromRecord):
    """Why a run failed."""

    type: str
    title: str
    status: int
    detail: str
    retryable: bool


class MessageBody(_FromRecord):
    """A question (role human) or what was answered; the rows are fetched by message id.

    `tokens_used` is that of its run's `done`: a session has used the sum over its messages, and besides what
    its title and memory took.
    """

    id: str
    run_id: str
    role: Literal["human", "assistant"]
    query: str
    status: Outcome
    route: Route
    sql: str | None
    dialect: str
    explanation: str
    standalone_question: str
    corrections: Annotated[
        list[str],
        Field(
            description="What was corrected in the statement that the model wrote, a sentence each; empty "
            "when it stands as it was written.",
            examples=[["Joined `visit` for the column `total_spent`, which `museum` does not have."]],
        ),
    ]
    columns: list[Column]
    row_count: int | None
    truncated: bool
    cut_by: Cut | None
    results_summary: str | None
    analysis: str | None
    claims: Annotated[
        list[Claim],
        Field(
            description="Checked figures, names and comparisons of `analysis`; empty when there are none. "
            "`span` counts Unicode code points of `analysis`."
        ),
    ]
    chart: dict[str, JsonValue] | None
    suggestions: list[str]
    clarification: str | None
    options: Annotated[
        list[Option],
        Field(
            description="The readings that `clarification` offers; empty when there are none. The next "
            "question may be an option's `question`, its `label` or its number, counted from 1.",
            examples=[
                [
                    {"label": "order date", "question": "Orders per month of order date"},
                    {"label": "ship date", "question": "Orders per month of ship date"},
                ]
            ],
        ),
    ]
    error: RunErrorBody | None
    tokens_used: int
    elapsed_ms: int
    timestamp: Annotated[Time, Field(validation_alias="created_at")]


class SessionWithHistory(SessionBody):
    """A session and a page of its messages, newest last; the cursor leads to older ones.

    `summary` is the rolling summary of the exchanges that a model is no longer shown in full; null until
    there are such.
    """

    summary: str | None
    messages: PageOf[MessageBody]


class RowsPage(BaseModel):
    """A page of a result's rows; `truncated`: a limit cut the result itself, as `cut_by` says: rows are
    missing (rows, bytes), or the ends of long values (values)."""

    columns: list[Column]
    items: list[list[JsonValue]]
    row_count: int
    truncated: bool
    cut_by: Cut | None
    next_cursor: str | None


class FeedbackBody(_FromRecord):
    """The feedback as it is kept."""

    message_id: str
    rating: Literal["up", "down"]
    comment: str | None
    corrected_sql: str | None
    created_at: Time


class CheckpointBody(_FromRecord):
    """A point of the session's past; one with no `next_steps` ends a turn."""

    id: str
    created_at: datetime
    step: int
    next_steps: list[str]
    query: str | None
    message_id: str | None
