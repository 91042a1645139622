"""Stored sessions, runs and messages. Times are epoch milliseconds."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator
from typing_extensions import TypedDict

from app.core.auth.caller import Attribute
from app.modules.analysis.chart.stored import StoredChoice, read_chosen_chart
from graph.answer import Answer, DatabaseCost
from graph.described import Described
from graph.events import RunError, Step
from graph.state import Column, Cut

MAX_QUERY_CHARACTERS = 8_000
"""Of a question."""
MAX_WAITING = 10
"""Questions that may wait for one session."""
MOST_VERSIONS = 20
"""Later statements of an answer."""
MAX_METADATA_BYTES = 16 * 1024
"""Of a session or question, as JSON."""
MAX_CLIENT_ID_CHARACTERS = 100
"""Of the id that a client gives a question."""
HEAD_ROWS = 100
"""Rows that a run emits and its state holds. The others are read by reference."""
ONE_RUN = "one_run"
"""Key of a session that was made for one run. No pair of its metadata has it: those are hexadecimal."""
START = ""
"""In place of the id of a parent, for a question that follows no answer of its session."""

Row = list[JsonValue]
Mode = Literal["ask", "agent"]
ToolSource = Literal["builtin", "mcp", "extensions"]
ALL_SOURCES: tuple[ToolSource, ...] = ("builtin", "mcp", "extensions")
SessionStatus = Literal["idle", "processing", "awaiting_approval", "error", "closed"]
RunStatus = Literal["open", "complete", "failed", "cancelled", "awaiting_approval"]
Rating = Literal["up", "down"]
Outcome = Literal["complete", "failed", "cancelled", "awaiting_approval"]
"""`awaiting_approval`: calls of the turn wait for people, and another run goes on with it."""
ProtocolName = Literal["kai", "chat", "langgraph", "ag-ui", "openai", "mcp"]
"""How a question came in: by KAI's own routes, those of the scalable chat, or a protocol of others."""
AboutKind = Literal["table", "connection", "result", "failed_answer", "none"]
TitledBy = Literal["person", "question", "first_exchange", "conversation"]
"""Source of a title: a person, whose title is never replaced; the first question; or a model, after the
first exchange and once more after the conversation has grown."""


@dataclass(frozen=True, kw_only=True)
class DocumentationRequest:
    """What a session documents. `question` begins the documentation, and `go_on` accepts its estimate: asked
    in these words, both are done by tools, and no model decides what they mean.
    """

    question: str
    go_on: str
    tables: tuple[str, ...] = ()
    """Names of the tables; empty for all."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """A conversation about one database; `active_run_id` names the run that holds it.

    `db_connection_id` is None until a question names the database; then it never changes.

    `fence` grows with every attempt at a run: writes of earlier attempts are discarded.
    `turns` counts the turns that got a number, and `turn` is the number of the one that holds the session,
    or held it last: only a run that holds the session has a number, so no two have the same.
    """

    id: str
    owner: str
    db_connection_id: str | None
    title: str | None
    mode: Mode
    metadata: dict[str, JsonValue]
    created_at: int
    updated_at: int
    status: SessionStatus = "idle"
    active_run_id: str | None = None
    fence: int = 0
    titled_by: TitledBy | None = None
    """None while there is no title."""
    turn: int = 0
    turns: int = 0
    awaited: bool = False
    """True if another run may wait for the session, which the run that holds it then starts at its end."""
    edited_at: int = 0
    """Time of the latest change of a stored answer, which is no use of the session. 0 if there was none."""
    summary: str | None = None
    """Summary of the exchanges that the model no longer reads in full."""
    also: tuple[str, ...] = ()
    """Ids of further database connections, which investigations may read."""
    also_before: tuple[str, ...] = ()
    """Ids of those that were taken away: earlier answers may have their rows."""
    documentation: DocumentationRequest | None = None
    """None for a session that was not begun to document its database."""
    metadata_keys: tuple[str, ...] = ()
    """Keys by which it is found: of the pairs of its metadata, and `ONE_RUN`."""
    transcript: str | None = None
    """Digest of the questions that have held it, in their order. None before the first."""
    pinned_at: int | None = None
    """Time at which the owner has pinned it, above the other sessions. None for one that is not pinned."""
    made_by: str | None = None
    """Id of the request that has made it, if a client has chosen its id: to the store, two equal requests at
    one moment would be one.
    """
    thread_name: str | None = None
    """Name that a client has chosen for it, in the space of its owner: the id is derived from both."""
    expires_at: int | None = None
    """Time at which it is deleted. Until then only who has its id finds it: it is in no list and search, and
    has no title and memory. None for one that is kept.
    """
    version: int = 0
    """Number of edits. Questions are none."""

    @property
    def thread_id(self) -> str:
        """Id by which clients of protocols know it."""
        return self.thread_name or self.id

    @property
    def is_for_one_run(self) -> bool:
        """True for one that was made for one run, and is deleted after it."""
        return ONE_RUN in self.metadata_keys

    @property
    def is_hidden(self) -> bool:
        """True for one that is deleted soon. Only a reader of its run finds it."""
        return self.owner.startswith(_HIDDEN)

    @property
    def state_key(self) -> tuple[int, int]:
        """Differs between any two states of the session and its messages while no run holds it."""
        return self.updated_at, self.edited_at

    @property
    def further_ids(self) -> set[str]:
        """Ids of further database connections whose rows answers may have."""
        return {*self.also, *self.also_before}

    @property
    def connection_id(self) -> str:
        """The connection of a session that was asked a question. Raises `LookupError` before the first."""
        if self.db_connection_id is None:
            raise LookupError(f"session {self.id} has no database yet")
        return self.db_connection_id


_HIDDEN = "hidden\n"
"""Begins no name of an owner: those have no line breaks."""


def hidden_owner(owner: str) -> str:
    """Returns the owner of an owner's hidden sessions. Every list and look-up names an owner, so none has
    them.
    """
    return f"{_HIDDEN}{owner}"


def visible_owner(owner: str) -> str:
    """Returns the owner whose hidden sessions or messages have this owner; any other as it is."""
    return owner.removeprefix(_HIDDEN)


@dataclass(frozen=True, kw_only=True)
class About:
    """What a page shows. `id` is as the question's body has it; it may name nothing, or something foreign."""

    kind: AboutKind
    id: str | None = None


class QuotedMessage(TypedDict):
    """A message of the conversation in which a client's program asks, in the client's words. It is context of
    one question, and no turn of the session.
    """

    role: Literal["human", "ai"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Branch:
    """An earlier answer that a question follows, in place of the latest one."""

    checkpoint_id: str
    """Id of the checkpoint at which that turn has ended."""
    parent_message_id: str
    """Id of the answer. `START` for the beginning of the session."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a question comes from, as its client describes it."""

    protocol: ProtocolName = "kai"
    client_message_id: str | None = None
    """The client's own id of the question, at most `MAX_CLIENT_ID_CHARACTERS`."""
    metadata: dict[str, JsonValue] = field(default_factory=dict)
    """Any JSON object of the client's, at most 16 KiB."""
    branch: Branch | None = None
    """None for a question that follows the latest turn."""
    context: tuple[QuotedMessage, ...] = ()
    """What was said before the question in the client's own conversation, oldest first. It is bounded."""
    ignored: tuple[str, ...] = ()
    """Names of what the client has sent beside the question and KAI does not read."""


OWN_ROUTES = Origin()

MultitaskStrategy = Literal["reject", "enqueue", "interrupt"]
"""What a question does to the run that holds its session."""


@dataclass(frozen=True)
class NewQuestion:
    """A question as it is asked, with what goes for its run alone."""

    text: str
    _: KW_ONLY
    multitask_strategy: MultitaskStrategy = "reject"
    idempotency_key: str | None = None
    sql: str | None = None
    """The user's own statement, run instead of a generated one."""
    mode: Mode | None = None
    """None for the mode of the session."""
    tool_sources: Sequence[ToolSource] = ALL_SOURCES
    rules: Sequence[str] = ()
    about: About | None = None
    db_connection_id: str | None = None
    """The database of the session, which a session without one gets by this."""
    origin: Origin = OWN_ROUTES
    after: Sequence[str] | None = None
    """The questions of the session so far, if no other may come between. None if any may."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A question and its state. It is open until it is answered: it waits for its session, or holds it.

    `attempt` grows with each attempt; `handovers` counts those that ended because their worker was stopped,
    which are no failures.
    """

    id: str
    owner: str
    session_id: str
    message_id: str
    question: str
    created_at: int
    status: RunStatus = "open"
    attempt: int = 1
    handovers: int = 0
    cancel_requested: bool = False
    ended_at: int | None = None
    error: RunError | None = None
    tokens_used: int = 0
    cached_tokens: int | None = None
    """Of these, tokens that the model's provider read from its cache. None if it reports none."""
    cost: DatabaseCost = field(default_factory=DatabaseCost)
    """What its statements cost."""
    traceparent: str | None = None
    """Trace context of the request that asked the question."""
    idempotency_key: str | None = None
    sql: str | None = None
    """The user's own statement, run instead of a generated one."""
    rules: tuple[str, ...] = ()
    """Names of rules that the request has named."""
    about: About | None = None
    """What the page showed when the question was asked."""
    database_claim: str | None = None
    """Claim of the token that the question was asked with. It chooses the role in a database."""
    attributes: dict[str, Attribute] | None = None
    """Attributes that the question was asked with, for policies of databases. None for a question of before
    there were any."""
    turn: int | None = None
    """The number of its turn, if that is not the session's: it was cancelled before it held its session, or
    ended in an earlier turn."""
    question_turn: int | None = None
    """The number of the turn in which its question was stored. None if it had to wait for one."""
    resumes: str | None = None
    """The run that ended because calls waited for people. This one goes on with its turn."""
    is_withdrawn: bool = False
    """It ended the turn of `resumes` without an attempt, because its calls were withdrawn."""
    tokens_before: int = 0
    """Tokens of the turn before this run."""
    cost_before: DatabaseCost = field(default_factory=DatabaseCost)
    """What the statements of the turn before this run cost."""
    elapsed_before: int = 0
    """Milliseconds of the turn before this run, without the time that people took."""
    mode: Mode = "ask"
    has_own_mode: bool = False
    """The question has named its mode. Otherwise it is the session's, also if that changes."""
    tool_sources: tuple[ToolSource, ...] = ALL_SOURCES
    """Where tools may come from. A question can do without some."""
    question_id: str = ""
    """Id of the message with the question. Empty for a run that is never stored."""
    client_message_id: str | None = None
    """The id that the client gave the question."""
    protocol: ProtocolName = "kai"
    metadata: dict[str, JsonValue] = field(default_factory=dict)
    """The client's own JSON object, at most 16 KiB."""
    metadata_keys: tuple[str, ...] = ()
    """Keys of the pairs of its metadata, by which it is found."""
    branch: Branch | None = None
    """None for a question that follows the latest turn."""
    on_busy: MultitaskStrategy = "enqueue"
    """What it does to the run that holds its session when it is asked."""
    context: tuple[QuotedMessage, ...] = ()
    """What was said before the question in the client's own conversation, oldest first."""
    ignored: tuple[str, ...] = ()
    """Names of what the client has sent beside the question and KAI does not read."""
    expires_at: int | None = None
    """That of its session."""
    webhook_due_at: int | None = None
    """When its end is to be sent to webhooks. None once that is done, and if there are none."""

    @property
    def message_owner(self) -> str:
        """Owner of its question and answer, by whom they are listed and searched."""
        return self.owner if self.expires_at is None else hidden_owner(self.owner)

    @property
    def unclean_ends(self) -> int:
        """Number of earlier attempts that ended because their process died."""
        return max(0, self.attempt - 1 - self.handovers)

    @property
    def place(self) -> tuple[int, str]:
        """Sort key among the runs that wait for one session."""
        return self.created_at, self.message_id


class TakenStep(Described):
    """A step of an answer, as its `status` event announced it."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    step: Step
    """The step."""
    message: str
    """Description of the step, for users."""
    started_at: str = Field(json_schema_extra={"format": "date-time"})
    """Time at which the step began."""
    ms: int
    """Milliseconds until the next step began. 0 for the last one, which ends with the run."""
    statement: str | None = None
    """The statement to be repaired, in step `repairing_sql`. Null in every other step."""
    error: str | None = None
    """What went wrong in the step; in `repairing_sql` the error of the statement. Null if nothing did."""
    rows: int | None = None
    """Number of rows that the step has fetched. Null if it has fetched none."""
    tokens: int = 0
    """Tokens that models used in the step."""


class GivenFeedback(Described):
    """The latest rating of an answer."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    rating: Rating
    """The rating."""
    comment: str | None = None
    """Comment for the owner of the database. Null if there is none."""
    corrected_sql: str | None = None
    """Statement that would have been right. Null if there is none."""


class AnswerVersion(Described):
    """A later statement for the same question, and the shape of its rows."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    number: int
    """2 for the first of them: version 1 is the answer's own statement."""
    rows_id: str
    """Id by which its rows are stored."""
    created_at: str = Field(json_schema_extra={"format": "date-time"})
    """Time at which it was added."""
    sql: str
    """The statement, as a person has written it."""
    sql_pretty: str
    """The statement, laid out for reading."""
    columns: list[Column]
    """Columns of its result, in order."""
    row_count: int
    """Number of stored rows."""
    truncated: bool
    """A limit cut the result."""
    cut_by: Cut | None
    """The limit that cut the result: `rows` or `bytes` if rows are missing, `values` if long values are
    cut. Null otherwise.
    """


class MessageFields(Described):
    """Fields of messages in the store and on the wire, besides those of an answer."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    # The first field: `app.http.entity_tags` reads it at the beginning of the text.
    version: int = 0
    """Number of edits of how the answer is shown. `If-Match` with it, or with the `ETag`, changes that only
    if it is as it was read.
    """
    id: str
    """Id of the message."""
    run_id: str
    """Id of the run that answers the question."""
    role: Literal["human", "assistant"]
    """`human` for a question, `assistant` for its answer."""
    query: str
    """The question."""
    status: Outcome = "complete"
    """Outcome of the run."""
    error: RunError | None = None
    """Error of the run. Null if it did not fail."""
    tokens_used: int = 0
    """Tokens of the run, as in its `done` event. Title and memory of the session are not included."""
    elapsed_ms: int = 0
    """Milliseconds from the question to the end of its run."""
    client_message_id: str | None = None
    """The id that the client gave the question. Null for an answer, and if it gave none."""
    given_sql: str | None = None
    """The user's own statement, which ran in place of a generated one. Null if none was given."""
    timeline: list[TakenStep] = Field(default_factory=list)
    """Steps of the answer, in order, from the first one. Empty for a question."""
    feedback: GivenFeedback | None = None
    """The latest rating of the answer. Null without one."""
    chart_choice: StoredChoice = None
    """What a person has chosen of the answer's chart. Null for the chart as it was proposed."""
    chosen_chart: dict[str, JsonValue] | None = None
    """The chosen chart, as a Vega-Lite specification, in place of `chart`. Null without a choice, and if the
    rows do not allow it.
    """
    chart_refusal: str | None = None
    """Why the choice cannot be drawn, so that `chart` is shown. Null if it can."""
    versions: list[AnswerVersion] = Field(default_factory=list)
    """Later statements for the same question that a person has run, oldest first, at most 20. The answer
    itself stays as it was.
    """
    source_message_id: str | None = None
    """Id of the message that this one was copied from, in the part of a fork that it shares with its
    original. Null for all others.
    """

    @model_validator(mode="before")
    @classmethod
    def _read_earlier(cls, stored: object) -> object:
        """A document may be from before the computed chart became a part of the choice."""
        return read_chosen_chart(stored) if isinstance(stored, dict) else stored

    @property
    def lacks_chosen_chart(self) -> bool:
        """True for a choice that was stored before its picture was stored with it."""
        return self.chart_choice is not None and self.chosen_chart is None and self.chart_refusal is None


class Message(Answer, MessageFields):
    """A stored question (role human) or answer (role assistant).

    `sequence` orders the messages of a session: for a turn's question it is twice the turn's number, and
    one more for its answer. A question that waits has no turn yet and comes after all others.
    """

    owner: str
    session_id: str
    created_at: int
    sequence: int
    version_count: int = 0
    """Number of `versions`. One is added if the number is as it was read, so that none replaces another."""
    parent_message_id: str | None = None
    """Of a question that began a branch: id of the answer that it follows, or `START`. None for a question
    that follows the latest turn, and for an answer.
    """

    @property
    def shown_chart(self) -> dict[str, JsonValue] | None:
        """The chart that readers see: the chosen one, or else the proposed one."""
        return self.chosen_chart or self.chart


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """The owner's rating of an answer. One per message; the latest replaces earlier ones."""

    id: str
    owner: str
    session_id: str
    message_id: str
    rating: Rating
    comment: str | None
    corrected_sql: str | None
    created_at: int


class StoredResult(TypedDict):
    """The statement and the shape of stored rows, and whether a limit cut them."""

    sql: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None
