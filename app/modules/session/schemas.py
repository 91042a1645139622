"""Session bodies and answers on the wire; times are RFC 3339 in UTC."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.core.merge_patch import json_size
from app.core.settings import MAX_STATEMENT_CHARACTERS
from app.http.routes import Body, PageOf, ResponseBody, Text, Time, VersionedBody, not_null, storable
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.analysis.chart.words import ReadWords
from app.modules.analysis.drawn_result import ChosenChart
from app.modules.records.model import (
    MAX_METADATA_BYTES,
    MAX_QUERY_CHARACTERS,
    About,
    AboutKind,
    MessageFields,
    Mode,
    NewQuestion,
    Origin,
    SessionStatus,
    ToolSource,
)
from app.modules.records.steps import CallStatus, StepKind
from app.modules.rules.schemas import RuleName
from graph.answer import Answer
from graph.state import Column, Cut

MAX_CHART_WORDS = 500
"""Characters."""
MAX_CHART_CHOICE_BYTES = 68 * 1024
"""Room for a specification of 64 KiB and the other fields."""


def _small(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return _fitting(metadata, "metadata", MAX_METADATA_BYTES)


def _small_choice(choice: ChartChoice) -> ChartChoice:
    _fitting(choice.model_dump(), "chart choice", MAX_CHART_CHOICE_BYTES)
    return choice


def _fitting(value: dict[str, JsonValue], name: str, max_bytes: int) -> dict[str, JsonValue]:
    try:
        size = json_size(value)
    except UnicodeEncodeError as error:
        raise ValueError(f"the {name} contains half a surrogate pair") from error
    if size > max_bytes:
        raise ValueError(f"the {name} takes {size} bytes; {max_bytes} are allowed")
    return value


Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(storable)
]
Also = Annotated[list[Annotated[Text, Field(max_length=100)]], Field(max_length=3)]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_small)]
GivenChoice = Annotated[ChartChoice, AfterValidator(_small_choice)]
QuestionText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_CHARACTERS),
    AfterValidator(storable),
]


class NewSession(Body):
    """A session to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"db_connection_id": "019ab1c2-0000-7000-8000-000000000000", "title": "Q4 review"}]
        }
    )

    db_connection_id: Annotated[Text, Field(max_length=100)]
    """Id of the database connection."""
    title: Title | None = None
    """Title of the session. Left out: the first question titles it."""
    mode: Mode | None = None
    """`ask`: investigations call tools that read. `agent`: they may also propose calls that write, delete or
    leave KAI, each of which waits for an approval. Left out: `KAI_AGENT__DEFAULT_MODE`.
    """
    also_db_connection_ids: Also = Field(default_factory=list)
    """Ids of up to three further database connections, which investigations may read."""
    metadata: Metadata = Field(default_factory=dict)
    """Any JSON object of the client's, at most 16 KiB."""


class SessionChange(Body):
    """Changes of a session. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Revenue by region"}]})

    title: Title | None = None
    """The new title; no generated title replaces it. Null removes the title."""
    mode: Mode | None = None
    """The new mode. It counts from the next question on; calls that wait are refused in ask mode."""
    also_db_connection_ids: Also | None = None
    """The new list of further database connections."""
    metadata: Metadata | None = None
    """Merged into the metadata: keys that are left out stay, and null removes a key."""
    status: Literal["idle", "closed"] | None = None
    """`closed` closes the session, `idle` opens it again."""
    pinned: bool | None = None
    """`true` pins the session, `false` unpins it."""

    _given = field_validator("mode", "also_db_connection_ids", "metadata", "status", "pinned", mode="before")(
        not_null
    )

    def changes(self) -> dict[str, JsonValue]:
        """Returns the given fields, by the names of the session's."""
        given = self.model_dump(exclude_unset=True)
        if "also_db_connection_ids" in given:
            given["also"] = given.pop("also_db_connection_ids")
        return given


class AboutBody(Body):
    """What the page shows while a question is asked."""

    model_config = ConfigDict(from_attributes=True)

    kind: AboutKind
    """Kind of the thing. `none`: no thing, so an overview of databases and sessions."""
    id: Annotated[Text, Field(max_length=300)] | None = None
    """`table`: its name, or `db_connection_id/name`. `connection`: its id. `result`: the id of an answer or
    of a call. `failed_answer`: the id of the answer. An id that is unknown, or of another owner, is left out.
    """


class ToolSelection(Body):
    """Where the tools of an investigation may come from. It takes some away, and never adds any."""

    builtin: bool = True
    """Tools of KAI itself."""
    mcp: bool = True
    """Tools of MCP servers."""
    extensions: bool = True
    """Tools of extensions."""

    def sources(self) -> list[ToolSource]:
        given: dict[ToolSource, bool] = {
            "builtin": self.builtin,
            "mcp": self.mcp,
            "extensions": self.extensions,
        }
        return [source for source, on in given.items() if on]


class SessionQuery(Body):
    """A question to a session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "Top 5 products by revenue"}]})

    query: QuestionText
    """The question in plain language."""
    multitask_strategy: Literal["reject", "enqueue", "interrupt"] = "reject"
    """Reaction to another run of the session: `reject` (409), `enqueue` (wait for it) or `interrupt`
    (cancel it).
    """
    mode: Mode | None = None
    """Mode of this question. Left out: that of the session."""
    tools: ToolSelection | None = None
    """Where the tools of an investigation may come from. Left out: from everywhere."""
    sql: Annotated[Text, Field(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)] | None = None
    """Statement of the user to run in place of a generated one, under the same guard and limits."""
    db_connection_id: Annotated[Text, Field(max_length=100)] | None = None
    """Id of the database connection, for a session that has none yet. Left out: that of the session."""
    rules: Annotated[list[RuleName], Field(max_length=20)] = Field(default_factory=list)
    """Names of rules that apply to this question, also if they are manual."""
    about: AboutBody | None = None
    """What the page shows: the model reads about it. Null for nothing."""
    metadata: Metadata = Field(default_factory=dict)
    """Any JSON object of the client's, at most 16 KiB. The run keeps it."""

    def new_question(self, idempotency_key: str | None) -> NewQuestion:
        return NewQuestion(
            self.query,
            multitask_strategy=self.multitask_strategy,
            idempotency_key=idempotency_key,
            sql=self.sql,
            mode=self.mode,
            tool_sources=(self.tools or ToolSelection()).sources(),
            rules=self.rules,
            about=None if self.about is None else About(kind=self.about.kind, id=self.about.id),
            db_connection_id=self.db_connection_id,
            origin=Origin(metadata=self.metadata),
        )


class ConfirmationDecision(Body):
    """A decision about a call that waits."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decision": "approve", "call_hash": "0" * 64}]}
    )

    decision: Literal["approve", "edit", "deny"]
    """`approve` lets the call run once, `edit` too, with `arguments` in place of those shown. `deny` refuses
    it.
    """
    call_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """`call_hash` of the confirmation, so that the decision is about what was shown."""
    arguments: dict[str, JsonValue] | None = None
    """All arguments with which the call is to run. For `edit` alone, which needs them."""
    reason: Annotated[Text, Field(max_length=1_000)] | None = None
    """Reason, which the model reads if the call is denied."""

    @model_validator(mode="after")
    def _check_arguments(self) -> Self:
        if (self.decision == "edit") != (self.arguments is not None):
            raise ValueError(
                "`arguments` belong to the decision `edit`, and only to it: give both or neither"
            )
        return self


class DecisionBody(ResponseBody):
    """A decision about a call, as it is stored."""

    confirmation_id: str
    """Id of the confirmation."""
    status: Literal["approved", "denied"]
    """What was decided."""
    run_id: str | None
    """Id of the run that goes on with the turn. Null while other calls of the step wait."""


class ConfirmationBody(ResponseBody):
    """A call of a tool that waits for a person, or has waited."""

    confirmation_id: Annotated[str, Field(validation_alias="id")]
    """Id of the confirmation, which is that of the call."""
    message_id: str
    """Id of the answer that the call belongs to."""
    run_id: str
    """Id of the run that has proposed the call."""
    tool_name: Annotated[str, Field(validation_alias="tool")]
    """Name of the tool."""
    category: str
    """Category of the tool."""
    description: str
    """What the call will do, in words of KAI or of the tool's author."""
    arguments: dict[str, JsonValue]
    """Every argument, in full."""
    destination: str
    """Where the arguments go: a database, or the address of a server."""
    warnings: list[str]
    """What speaks for a second look, such as text in an argument that was read from a database."""
    call_hash: str
    """SHA-256 of exactly what is proposed."""
    status: CallStatus
    """State of the call: `waiting`, or what became of it."""
    expires_at: Time
    """Time after which the call can no longer be approved."""
    decided_at: Time | None
    """Time of the decision. Null while the call waits."""
    reason: str | None
    """Reason of the decision. Null if none was given."""
    edited_arguments: dict[str, JsonValue] | None
    """All arguments that were approved in place of `arguments`. Null if nothing was changed."""


class NewFeedback(Body):
    """A rating of an answer. The latest replaces earlier ones."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rating": "up"}]})

    rating: Literal["up", "down"]
    """The rating."""
    comment: Annotated[Text, Field(max_length=4_000)] | None = None
    """Comment for the owner of the database."""
    corrected_sql: Annotated[Text, Field(max_length=64 * 1024)] | None = None
    """Statement that would have been right. Blank counts as none."""

    @field_validator("corrected_sql")
    @classmethod
    def _not_blank(cls, sql: str | None) -> str | None:
        return None if sql is None or not sql.strip() else sql


class SessionBody(VersionedBody):
    """A conversation about one database."""

    id: str
    """Id of the session."""
    db_connection_id: str | None
    """Id of the database connection. Null until a question names one."""
    title: str | None
    """Title of the session. Null until it has one."""
    mode: Mode
    """Mode of questions that name none: `ask` or `agent`."""
    also_db_connection_ids: Annotated[list[str], Field(validation_alias="also")]
    """Ids of further database connections, which investigations may read."""
    status: SessionStatus
    """State of the session. `awaiting_approval`: calls wait for a person. `error`: the latest run failed; the
    next question may be asked.
    """
    metadata: dict[str, JsonValue]
    """The client's own JSON object."""
    active_run_id: str | None
    """Id of the run that holds the session. Null if there is none."""
    waiting_confirmations: int = 0
    """Calls of tools that wait for an approval."""
    turns: int
    """Number of questions that were asked, without those that wait."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest question, answer or change. Pinning does not count."""
    pinned_at: Time | None
    """Time at which the session was pinned. Null for one that is not pinned."""


class SnippetPart(ResponseBody):
    """A piece of a text that was found."""

    text: str
    """The piece."""
    is_hit: bool
    """It is one of the words that were searched."""


class FoundQuestion(ResponseBody):
    """The question that fits the words of a search best."""

    message_id: str
    """Id of the answer to the question, or of the question if it has none yet."""
    snippet: list[SnippetPart]
    """The question around its first hit, in pieces. An ellipsis stands for what is left out."""


class ListedSession(SessionBody):
    """A session in a list."""

    found: FoundQuestion | None = None
    """The question that fits `q` best. Null without `q`, and if only the title has its words."""


class AskedQuestion(ResponseBody):
    """A question of a session."""

    message_id: Annotated[str, Field(validation_alias="id")]
    """Id of the message with the question."""
    run_id: str
    """Id of the run that was started for it."""
    query: str
    """The question."""
    asked_at: Annotated[Time, Field(validation_alias="created_at")]
    """Time of the question."""


class MessageBody(Answer, MessageFields):
    """A question, or its answer. The rows are fetched by the id of the message."""

    model_config = ConfigDict(from_attributes=True)

    timestamp: Annotated[Time, Field(validation_alias="created_at")]
    """Time of the question, or of the end of its run."""


class SessionWithHistory(SessionBody):
    """A session with a page of its messages."""

    summary: str | None
    """Summary of the exchanges that the model no longer reads in full. Null until there are any."""
    messages: PageOf[MessageBody]
    """A page of messages, newest last. Its cursor leads to older ones."""


class RowsPage(ResponseBody):
    """A page of the rows of an answer."""

    columns: list[Column]
    """Columns of the rows, in order."""
    items: list[list[JsonValue]]
    """Rows of the page; one list of values each, in the order of the columns."""
    row_count: int
    """Number of stored rows."""
    truncated: bool
    """A limit cut the result."""
    cut_by: Cut | None
    """The limit that cut the result: `rows` or `bytes` if rows are missing, `values` if long values are
    cut. Null otherwise.
    """
    next_cursor: str | None
    """Cursor of the next page. Null on the last page."""


class ToolCallBody(ResponseBody):
    """A call of a tool."""

    id: str
    """Id of the call, and of the rows that it has fetched."""
    name: Annotated[str, Field(validation_alias="tool")]
    """Name of the tool. `unknown_tool` for one that does not exist."""
    category: str
    """Category of the tool. Empty for a tool that does not exist."""
    arguments: dict[str, JsonValue]
    """Arguments of the call. Empty if those of the model could not be read."""
    edited_arguments: dict[str, JsonValue] | None
    """All arguments that a person has approved in place of `arguments`. Null if nothing was changed."""
    status: CallStatus
    """State of the call."""
    requires_approval: bool
    """A person has to approve the call before it runs. `GET .../confirmations` shows the card."""
    content: Annotated[str, Field(validation_alias="text")]
    """The text that the model has read."""
    is_error: bool
    """The text says what went wrong."""
    columns: list[Column]
    """Columns of the rows that the call has fetched. Empty if there are none."""
    row_count: int | None
    """Number of those rows. Null if there are none."""
    elapsed_ms: int
    """Milliseconds that the call took."""


class StepBody(ResponseBody):
    """A step of an investigation."""

    step: int
    """Number of the step, from 1."""
    kind: StepKind
    """What the step did: `calls` of tools, the `answer`, a `question` to the user, or a `fault`: a reply of
    the model that could not be used.
    """
    text: str
    """What the model wrote."""
    fault: str
    """What was wrong with the reply. Empty if nothing was."""
    tool_calls: list[ToolCallBody]
    """Calls of the step, in the model's order."""
    tokens_used: int
    """Tokens of the step."""
    created_at: Time
    """Time at which the model's reply was stored."""


class Investigated(ResponseBody):
    """The steps of an answer's investigation."""

    items: list[StepBody]
    """The steps, in order. Empty for an answer without an investigation."""


class NewVersion(Body):
    """Another statement for the question of an answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sql": "SELECT country, count(*) FROM customers GROUP BY country"}]}
    )

    sql: Annotated[Text, Field(min_length=1, max_length=MAX_STATEMENT_CHARACTERS)]
    """A single statement that reads, in the dialect of the answer."""


class MessageChange(Body):
    """Changes of how an answer is shown. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"chart_choice": {"mark": "line"}}]})

    chart_choice: GivenChoice | None = None
    """What a person has chosen of the chart, in place of the choice before. Null goes back to the proposed
    chart.
    """


class ChartWords(Body):
    """What a reader wants of a chart, in words."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"words": "as a share, only the five largest"}]}
    )

    words: Annotated[Text, Field(min_length=1, max_length=MAX_CHART_WORDS)]
    """The words, in English or German; with a model in any language. `reset` goes back to the chart as it was
    proposed.
    """


class WordedChart(ResponseBody):
    """The choice that words make of a chart. It is not stored."""

    choice: ChartChoice | None
    """The choice before with what the words change of it. Null for the chart as it was proposed."""
    chart: dict[str, JsonValue] | None
    """A Vega-Lite specification of the choice, made from all rows. Null if the rows do not allow it."""
    refusal: str | None
    """Why the choice cannot be drawn. Null if it can."""
    not_understood: list[str]
    """Parts of the words that were not understood and changed nothing."""

    @classmethod
    def of(cls, read: ReadWords, drawn: ChosenChart) -> "WordedChart":
        return cls(
            choice=read.choice,
            chart=drawn.chart,
            refusal=drawn.refusal,
            not_understood=list(read.not_understood),
        )


class FeedbackBody(ResponseBody):
    """A stored rating of an answer."""

    message_id: str
    """Id of the rated answer."""
    rating: Literal["up", "down"]
    """The rating."""
    comment: str | None
    """Comment for the owner of the database. Null if there is none."""
    corrected_sql: str | None
    """Statement that would have been right. Null if there is none."""
    created_at: Time
    """Time of the rating."""


class CheckpointBody(ResponseBody):
    """A state of the session that a fork can start from."""

    id: str
    """Id of the checkpoint."""
    created_at: datetime
    """Time of creation."""
    step: int
    """Number of the step in the session."""
    next_steps: list[str]
    """Steps that would follow. Empty at the end of a turn."""
    query: str | None
    """The question of the turn. Null before the first."""
    message_id: str | None
    """Id of the answer that the turn writes. Null before the first turn."""
