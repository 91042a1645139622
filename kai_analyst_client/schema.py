"""Answers and events of KAI, written by `make client`. Its OpenAPI description tells what fields mean."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from kai_analyst_client.flows import Model


class Action(Model):
    """Something that users may do next, by one click."""

    label: str = ""
    action: Literal["open_result", "open_table", "ask", "rerun"] | str = ""
    payload: dict[str, str] = Field(default_factory=dict)


class ActionChunk(Model):
    """What an investigation proposes to do next."""

    event: Literal["chunk"]
    type: Literal["action"]
    content: list[Action] = Field(default_factory=list)


class AgentModel(Model):
    """The model of investigations."""

    name: str = ""
    context_window: int | None = None
    tools: Literal["native", "text", "off"] | str | None = None


class AnalysisChunk(Model):
    """The whole analysis, or the whole reply to small talk, in Markdown."""

    event: Literal["chunk"]
    type: Literal["analysis"]
    content: str = ""


class AnalysisForm(Model):
    """The author of the choice of an analysis' statements."""

    form: Literal["builtin", "choose"] | str = ""
    reason: str = ""


class ApiKey(Model):
    """An API key without its secret."""

    id: str
    prefix: str = ""
    owner: str = ""
    name: str = ""
    role: Literal["user", "admin"] | str = ""
    scopes: list[Literal["read", "ask", "approve", "manage", "admin"] | str] = Field(default_factory=list)
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class ApprovedTool(Model):
    """A tool as it was when an administrator approved it."""

    fingerprint: str = ""
    address: str = ""
    description: str = ""
    input_schema: dict[str, JsonValue] = Field(default_factory=dict)
    annotations: dict[str, JsonValue] = Field(default_factory=dict)
    approved_by: str = ""
    approved_at: datetime


class AskedQuestion(Model):
    """A question of a session."""

    message_id: str
    run_id: str
    query: str = ""
    asked_at: datetime


class Board(Model):
    """A page of pinned answers."""

    version: int = 0
    id: str
    title: str = ""
    stale_after_hours: int = 0
    period_days: int | None = None
    created_at: datetime
    updated_at: datetime


class Capability(Model):
    """Something that is on, or off for a reason."""

    on: bool = False
    reason: str | None = None


class ChartChunk(Model):
    """A Vega-Lite specification with its data inline."""

    event: Literal["chunk"]
    type: Literal["chart"]
    content: dict[str, JsonValue] = Field(default_factory=dict)


class CheckedDatabase(Model):
    """A database that could be opened."""

    dialect: str = ""
    masked_url: str = ""
    warnings: list[str] = Field(default_factory=list)


class Checkpoint(Model):
    """A state of the session that a fork can start from."""

    id: str
    created_at: datetime
    step: int = 0
    next_steps: list[str] = Field(default_factory=list)
    query: str | None = None
    message_id: str | None = None


class ChosenValue(Model):
    """A column, and how several of its values become one."""

    column: int = 0
    how: Literal["none", "sum", "mean", "count", "median"] | str | None = None


class Code(Model):
    """Code that an answer shows for users to take along."""

    language: str = ""
    content: str = ""
    checked: bool = False


class CodeChunk(Model):
    """Code that an investigation wrote for the user."""

    event: Literal["chunk"]
    type: Literal["code"]
    content: list[Code] = Field(default_factory=list)


class Column(Model):
    """One column of a result."""

    name: str = ""
    type: str = ""
    secret: bool = False


class ColumnRef(Model):
    """A column that an expression names."""

    source: str = ""
    column: str = ""
    table: str | None = None
    query: str | None = None


class Comment(Model):
    """A comment."""

    version: int = 0
    id: str
    author: str = ""
    own: bool = False
    text: str = ""
    mentions: list[str] = Field(default_factory=list)
    created_at: datetime
    edited_at: datetime | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None


class Computed(Model):
    """What is computed for a chart over time."""

    kind: Literal["moving_average", "change", "outliers", "projection"] | str = ""
    window: int | None = None


class ScheduleCondition(Model):
    """A condition on one cell: that of a column in the first row."""

    kind: Literal["above", "below", "changed", "no_rows"] | str = ""
    column: str | None = None
    value: float | None = None


class Confirmation(Model):
    """A call that waits until a person approves or denies it."""

    event: Literal["confirmation"]
    confirmation_id: str
    tool_name: str = ""
    description: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    destination: str = ""
    warnings: list[str] = Field(default_factory=list)
    call_hash: str = ""
    expires_at: datetime


class WaitingCall(Model):
    """A call of a tool that waits for a person, or has waited."""

    confirmation_id: str
    message_id: str
    run_id: str
    tool_name: str = ""
    category: str = ""
    description: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    destination: str = ""
    warnings: list[str] = Field(default_factory=list)
    call_hash: str = ""
    status: (
        Literal[
            "proposed",
            "waiting",
            "approved",
            "begun",
            "done",
            "failed",
            "denied",
            "expired",
            "withdrawn",
            "unknown",
        ]
        | str
    ) = ""
    expires_at: datetime
    decided_at: datetime | None = None
    reason: str | None = None
    edited_arguments: dict[str, JsonValue] | None = None


class ConfirmationDecided(Model):
    """A call that has waited is decided."""

    event: Literal["confirmation_decided"]
    confirmation_id: str
    decision: Literal["approved", "denied", "expired", "withdrawn"] | str = ""
    edited_arguments: dict[str, JsonValue] | None = None


class Database(Model):
    """A registered database."""

    version: int = 0
    id: str
    name: str = ""
    description: str = ""
    dialect: str = ""
    masked_url: str = ""
    created_at: datetime
    scanned_at: datetime | None = None
    table_count: int | None = None
    warnings: list[str] = Field(default_factory=list)
    owner: str = ""
    shared: bool = False
    external_memory: bool = False
    per_user_roles: bool = False
    schemas: list[str] = Field(default_factory=list)
    ask_above_rows: int | None = None
    refuse_above_rows: int | None = None
    starters: list[str] = Field(default_factory=list)
    file_name: str | None = None


class ConnectionStep(Model):
    """A step of the test of a database."""

    name: Literal["address", "name", "port", "encryption", "sign_in", "open", "list", "read"] | str = ""
    state: Literal["passed", "failed", "skipped"] | str = ""
    detail: str = ""


class ConnectionSteps(Model):
    """Test of a database, step by step."""

    items: list[ConnectionStep] = Field(default_factory=list)
    is_usable: bool = False


class Consent(Model):
    """A consent."""

    db_connection_id: str
    endpoint: str = ""
    granted_at: datetime
    credential: str = ""
    text_version: int = 0
    in_force: bool = False


class CommentCounts(Model):
    """Numbers of unresolved comments on answers of a session."""

    counts: dict[str, int] = Field(default_factory=dict)


class DatabaseSchema(Model):
    """A schema of a database that the account may use."""

    name: str = ""
    is_read: bool = False
    table_count: int | None = None


class DatabaseSchemas(Model):
    """The schemas of a database."""

    items: list[DatabaseSchema] = Field(default_factory=list)


class Decision(Model):
    """A decision about a call, as it is stored."""

    confirmation_id: str
    status: Literal["approved", "denied"] | str = ""
    run_id: str | None = None


class Delivery(Model):
    """A notice on its way to a target."""

    kind: Literal["mail", "chat"] | str = ""
    label: str = ""
    state: Literal["waiting", "delivered", "given_up"] | str = ""
    error: str | None = None


class Done(Model):
    """The end of the stream, emitted once, after everything else is durable."""

    database_ms: int = 0
    rows_read: int | None = None
    bytes_read: int | None = None
    steps: int = 0
    tool_calls: int = 0
    limit_reached: bool = False
    event: Literal["done"]
    run_id: str
    session_id: str
    message_id: str
    status: Literal["complete", "failed", "cancelled", "awaiting_approval"] | str = ""
    tokens_used: int = 0
    cached_tokens: int | None = None
    elapsed_ms: int = 0


class Example(Model):
    """A question with the SQL that answers it."""

    version: int = 0
    id: str
    db_connection_id: str
    created_at: datetime
    updated_at: datetime
    question: str = ""
    sql: str = ""
    status: Literal["proposed", "verified", "rejected"] | str = ""
    message_id: str | None = None
    verified_by: str | None = None
    verified_at: datetime | None = None
    asked_by: str | None = None
    answer: str | None = None
    uses: int = 0
    fault: str | None = None


class ExampleMatch(Model):
    """A statement that is the SQL of a verified example."""

    index: int = 0
    example_id: str
    question: str = ""
    verified_by: str | None = None
    verified_at: datetime | None = None


class ExampleMatches(Model):
    """The statements that are the SQL of a verified example."""

    items: list[ExampleMatch] = Field(default_factory=list)


class Extension(Model):
    """An extension: tools of another package."""

    name: str = ""
    package: str = ""
    status: Literal["loaded", "failed"] | str = ""
    error: str | None = None
    tools: list[str] = Field(default_factory=list)


class FactCell(Model):
    """A cell of a result."""

    row: int = 0
    column: str = ""


class FactSource(Model):
    """Where a fact comes from."""

    origin: Literal["promotion", "directive", "tool", "feedback"] | str = ""
    at: datetime
    message_id: str | None = None
    session_id: str | None = None
    tainted: bool = False


class Failure(Model):
    """
    An error, as a problem object (RFC 9457).

    `done.status` tells whether the run still has an answer, for example by the built-in writer when the
    model is unavailable.
    """

    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""
    retryable: bool = False
    event: Literal["error"]


class Feedback(Model):
    """A stored rating of an answer."""

    message_id: str
    rating: Literal["up", "down"] | str = ""
    comment: str | None = None
    corrected_sql: str | None = None
    created_at: datetime


class Filter(Model):
    """A condition that keeps rows or groups."""

    clause: Literal["where", "having", "qualify"] | str = ""
    sql: str = ""
    columns: list[ColumnRef] = Field(default_factory=list)
    queries: list[str] = Field(default_factory=list)


class ForeignKey(Model):
    """A foreign key of a table."""

    columns: list[str] = Field(default_factory=list)
    referred_table: str = ""
    referred_columns: list[str] = Field(default_factory=list)


class GivenFeedback(Model):
    """The latest rating of an answer."""

    rating: Literal["up", "down"] | str = ""
    comment: str | None = None
    corrected_sql: str | None = None


class GraphMemory(Model):
    """State of the graph memory, and what a user consents to."""

    enabled: bool = False
    endpoint: str | None = None
    recall: bool = False
    ingest: bool = False
    state: Literal["working", "unavailable", "stalled"] | str | None = None
    lag_seconds: int = 0
    waiting: int = 0
    not_erased: int = 0
    consent_text: str = ""
    text_version: int = 0


class GraphTestStep(Model):
    """A step of a test."""

    name: str = ""
    passed: bool = False
    milliseconds: int = 0
    detail: str = ""


class Grouping(Model):
    """A key of the groups."""

    kind: Literal["expression", "rollup", "cube", "grouping_sets"] | str = ""
    sql: str = ""
    output: str | None = None
    columns: list[ColumnRef] = Field(default_factory=list)


class HeadlineChunk(Model):
    """The first statement of the `analysis` chunk in at most twelve words."""

    event: Literal["chunk"]
    type: Literal["headline"]
    content: str = ""


class ImportedEntry(Model):
    """What becomes of an entry of the file."""

    line: int = 0
    kind: str = ""
    name: str = ""
    outcome: Literal["new", "changed", "same", "refused"] | str = ""
    reason: str | None = None


class Instruction(Model):
    """A rule for reading the data."""

    version: int = 0
    id: str
    db_connection_id: str
    created_at: datetime
    updated_at: datetime
    text: str = ""
    scope: str | None = None


class Join(Model):
    """A join of a further source."""

    kind: (
        Literal["inner", "left", "right", "full", "cross", "semi", "anti", "asof", "positional", "unknown"]
        | str
    ) = ""
    alias: str = ""
    condition: str | None = None
    using: list[str] = Field(default_factory=list)
    place: Literal["on", "using", "natural", "where", "none"] | str = ""


class KnowledgeImport(Model):
    """What an import did, or would do."""

    stored: bool = False
    new: int = 0
    changed: int = 0
    same: int = 0
    refused: int = 0
    entries: list[ImportedEntry] = Field(default_factory=list)


class KnownExample(Model):
    """A verified example that the statement's author knew."""

    id: str
    question: str = ""
    verified_by: str | None = None
    verified_at: datetime | None = None
    is_changed: bool = False
    is_statement: bool = False


class KnownFact(Model):
    """A fact that the statement's author knew."""

    id: str
    kind: (
        Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"] | str
    ) = ""
    scope: Literal["session", "workspace", "user", "shared"] | str = ""
    text: str = ""


class KnownInstruction(Model):
    """An instruction that the statement's author knew."""

    id: str
    text: str = ""
    scope: str | None = None
    is_changed: bool = False


class KnownTerm(Model):
    """A glossary term that the statement's author knew."""

    id: str
    term: str = ""
    meaning: str = ""
    sql: str | None = None
    is_changed: bool = False


class LastRun(Model):
    """The last run of a schedule."""

    scheduled_for: datetime
    ended_at: datetime
    outcome: Literal["ran", "met", "not_met", "failed"] | str = ""
    missed: int = 0
    value: JsonValue = None


class LeftOutChunk(Model):
    """Why parts of the model's choice of statements were left out."""

    event: Literal["chunk"]
    type: Literal["left_out"]
    content: list[str] = Field(default_factory=list)


class LimitedStatement(Model):
    """A statement as it would run for a person."""

    sql: str = ""
    row_policies: list[str] = Field(default_factory=list)
    column_policies: list[str] = Field(default_factory=list)
    has_barrier: bool = False


class ResourceLink(Model):
    """A thing that an answer names, and that exists."""

    label: str = ""
    resource_type: Literal["table", "result", "database"] | str = ""
    resource_id: str


class Link(Model):
    """A read-only link."""

    id: str
    kind: Literal["answer", "session", "board"] | str = ""
    target_id: str
    session_id: str | None = None
    title: str | None = None
    created_at: datetime
    expires_at: datetime
    preview: bool = False


class LinkChunk(Model):
    """Tables, results and databases that an investigation points at."""

    event: Literal["chunk"]
    type: Literal["link"]
    content: list[ResourceLink] = Field(default_factory=list)


class McpTool(Model):
    """A tool of an MCP server as it is now, beside what was approved."""

    name: str = ""
    state: Literal["approved", "new", "changed", "unusable"] | str = ""
    fault: str | None = None
    fingerprint: str = ""
    description: str = ""
    input_schema: dict[str, JsonValue] = Field(default_factory=dict)
    annotations: dict[str, JsonValue] = Field(default_factory=dict)
    approved: ApprovedTool | None = None


class Me(Model):
    """The authenticated caller."""

    owner: str = ""
    role: Literal["user", "admin"] | str = ""
    scopes: list[Literal["read", "ask", "approve", "manage", "admin"] | str] = Field(default_factory=list)
    signed_in_by: Literal["local", "api_key", "oidc"] | str = ""


class Mention(Model):
    """A comment that names the caller."""

    comment_id: str
    kind: Literal["answer", "board"] | str = ""
    target_id: str
    link_id: str | None = None


class LanguageModel(Model):
    """A language model."""

    name: str = ""
    tasks: list[Literal["sql", "agent", "analysis", "summary", "embedding"] | str] = Field(
        default_factory=list
    )
    is_listed: bool = False
    context_window: int | None = None
    window_source: Literal["setting", "service", "profile", "default"] | str | None = None
    tools: Literal["native", "text", "off"] | str | None = None
    tools_source: Literal["setting", "service", "profile", "refusal", "default"] | str | None = None


class MonthValue(Model):
    """A figure in one month."""

    month: str = ""
    value: float | None = None


class NamedFact(Model):
    """A fact that KAI remembers."""

    id: str
    kind: (
        Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"] | str
    ) = ""
    scope: Literal["session", "workspace", "user", "shared"] | str = ""
    text: str = ""


class NewApiKey(ApiKey):
    """A new API key with its text."""

    key: str = ""


class NotConfirmed(Model):
    """Something that is not deleted yet, or whose deletion is not verified."""

    what: str = ""
    why: str = ""


class NotImported(Model):
    """A fact that was not imported."""

    number: int = 0
    reason: str = ""


class NoticeFailure(Model):
    """Why a run gave no rows."""

    title: str = ""
    detail: str = ""
    cure: str = ""


class NullRule(Model):
    """What a query does with nulls in one place."""

    kind: (
        Literal["replaced", "made", "tested", "removed", "required", "skipped", "unmatched", "kept"] | str
    ) = ""
    sql: str = ""


class Option(Model):
    """A reading that a question back offers."""

    label: str = ""
    question: str = ""


class Ordering(Model):
    """A key of the order."""

    sql: str = ""
    output: str | None = None
    is_descending: bool = False
    nulls: Literal["first", "last"] | str = ""


class People(Model):
    """People who may be mentioned."""

    items: list[str] = Field(default_factory=list)


class PinFailure(Model):
    """Why the latest refresh gave no rows."""

    type: str = ""
    title: str = ""
    detail: str = ""
    cure: str = ""
    at: datetime


class PinPeriod(Model):
    """The period of a board, as it was applied to the rows of a pin."""

    days: int = 0
    column: str | None = None
    since: str | None = None
    until: str | None = None
    sql: str | None = None
    previous: list[JsonValue] | None = None
    reason: str | None = None
    choices: list[str] = Field(default_factory=list)


class Policies(Model):
    """The policies of a connection."""

    version: int = 0
    policies: dict[str, JsonValue] | None = None
    text: str = ""


class PolicyFault(Model):
    """A fault of policies."""

    kind: Literal["error", "warning"] | str = ""
    place: str = ""
    detail: str = ""


class PolicyFaults(Model):
    """The faults of policies."""

    items: list[PolicyFault] = Field(default_factory=list)


class ProblemExample(Model):
    """A problem object, as it is answered."""

    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""


class ProblemKind(Model):
    """A kind of problem."""

    kind: str = ""
    type: str = ""
    title: str = ""
    status: list[int] = Field(default_factory=list)
    causes: list[str] = Field(default_factory=list)
    cure: str = ""
    retryable: bool = False
    example: ProblemExample = Field(default_factory=ProblemExample)


class ProblemKinds(Model):
    """All kinds of problems."""

    items: list[ProblemKind] = Field(default_factory=list)


class ProfileItem(Model):
    """A sentence about the user."""

    text: str = ""
    message_id: str | None = None
    session_id: str | None = None
    at: datetime


class Progress(Model):
    """Progress of a call that takes long, at most one a second for a call; or of a whole documentation."""

    event: Literal["progress"]
    tool_call_id: str | None = None
    message: str = ""
    fraction: float = 0


class Rate(Model):
    """A rate limit."""

    name: str = ""
    limit: int = 0
    window_seconds: int = 0


class Reference(Model):
    """The source of a statement of an analysis: what was computed from which cells."""

    key: str = ""
    span: list[int] = Field(default_factory=list)
    result_id: str | None = None
    how: str = ""
    value: str | None = None
    cells: list[FactCell] = Field(default_factory=list)
    cell_count: int = 0


class ReferencesChunk(Model):
    """The sources of the statements of the `analysis` chunk: what was computed from which cells."""

    event: Literal["chunk"]
    type: Literal["references"]
    content: list[Reference] = Field(default_factory=list)


class Reset(Model):
    """Discard everything shown for this run so far."""

    event: Literal["reset"]
    reason: str = ""


class Check(Model):
    """One check of a result."""

    kind: Literal["repeated_rows", "stored_values", "nulls", "completeness"] | str = ""
    state: Literal["passed", "warning", "unknown"] | str = ""
    text: str = ""
    columns: list[str] = Field(default_factory=list)


class ResultColumn(Model):
    """A column of sample rows."""

    name: str = ""
    type: (
        Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"] | str
    ) = ""


class Rows(Model):
    """A result, or its head."""

    columns: list[Column] = Field(default_factory=list)
    rows: list[list[JsonValue]] = Field(default_factory=list)
    row_count: int = 0
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None


class RowsPage(Model):
    """A page of the rows of an answer."""

    columns: list[Column] = Field(default_factory=list)
    items: list[list[JsonValue]] = Field(default_factory=list)
    row_count: int = 0
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None
    next_cursor: str | None = None


class RuleScope(Model):
    """Where a rule may apply."""

    connections: list[str] = Field(default_factory=list)
    chat_modes: list[Literal["ask", "agent"] | str] = Field(default_factory=list)
    table_patterns: list[str] = Field(default_factory=list)


class RunError(Model):
    """Error of a failed run, as a problem object (RFC 9457)."""

    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""
    retryable: bool = False


class Sample(Model):
    """The first rows of a table."""

    columns: list[ResultColumn] = Field(default_factory=list)
    rows: list[list[JsonValue]] = Field(default_factory=list)
    truncated: bool = False


class ScanChanges(Model):
    """Numbers of tables, and of columns of the others, that a scan found otherwise than the one before."""

    tables_new: int = 0
    tables_gone: int = 0
    columns_new: int = 0
    columns_gone: int = 0


class Session(Model):
    """A conversation about one database."""

    version: int = 0
    id: str
    db_connection_id: str | None = None
    title: str | None = None
    mode: Literal["ask", "agent"] | str = ""
    also_db_connection_ids: list[str] = Field(default_factory=list)
    status: Literal["idle", "processing", "awaiting_approval", "error", "closed"] | str = ""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    active_run_id: str | None = None
    waiting_confirmations: int = 0
    turns: int = 0
    created_at: datetime
    updated_at: datetime
    pinned_at: datetime | None = None


class SnippetPart(Model):
    """A piece of a text that was found."""

    text: str = ""
    is_hit: bool = False


class Source(Model):
    """A source of rows in FROM or JOIN."""

    name: str = ""
    alias: str = ""
    kind: Literal["table", "cte", "subquery", "function", "values", "unknown"] | str = ""
    query: str | None = None
    is_lateral: bool = False


class SqlChunk(Model):
    """The whole statement about to run, with the interpretation of the question."""

    dialect: str = ""
    sql_pretty: str = ""
    corrections: list[str] = Field(default_factory=list)
    explanation: str = ""
    standalone_question: str = ""
    event: Literal["chunk"]
    type: Literal["sql"]
    content: str = ""
    tool_call_id: str | None = None


class StartedDocumentation(Model):
    """A documentation that was begun."""

    session_id: str
    run_id: str
    message_id: str
    stream: str = ""


class Status(Model):
    """A step begins."""

    event: Literal["status"]
    step: (
        Literal[
            "waiting",
            "loading_context",
            "generating_sql",
            "executing_sql",
            "repairing_sql",
            "analyzing",
            "summarizing",
            "investigating",
            "using_tool",
            "waiting_for_approval",
            "saving",
        ]
        | str
    ) = ""
    message: str = ""
    run_id: str
    at: datetime
    failed_sql: str | None = None
    error: str | None = None
    place: int | None = None
    tokens_used: int = 0


class StepCount(Model):
    """Number of rows after a step of a query."""

    query: str = ""
    step: Literal["source", "join", "where", "groups"] | str = ""
    at: int = 0
    row_count: int | None = None
    reason: str = ""


class StepCounts(Model):
    """Numbers of rows after the steps of a statement."""

    items: list[StepCount] = Field(default_factory=list)
    is_complete: bool = False


class SuggestionsChunk(Model):
    """Suggested questions, complete enough to be sent unchanged."""

    event: Literal["chunk"]
    type: Literal["suggestions"]
    content: list[str] = Field(default_factory=list)


class TableColumn(Model):
    """A column and the profile of its values."""

    name: str = ""
    type: (
        Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"] | str
    ) = ""
    database_type: str = ""
    nullable: bool = False
    primary_key: bool = False
    description: str = ""
    unit: str = ""
    hidden: bool = False
    values: list[str] = Field(default_factory=list)
    minimum: str | None = None
    maximum: str | None = None
    distinct_count: int | None = None
    format: str = ""


class TableColumnRef(Model):
    """A column of a table of the database."""

    table: str = ""
    column: str = ""


class TableRead(Model):
    """A table that a statement reads."""

    name: str = ""
    columns: list[str] = Field(default_factory=list)


class TableUse(Model):
    """A table, and how many of the caller's latest answers read it."""

    name: str = ""
    row_count: int | None = None
    answers: int = 0


class TakenStep(Model):
    """A step of an answer, as its `status` event announced it."""

    step: (
        Literal[
            "waiting",
            "loading_context",
            "generating_sql",
            "executing_sql",
            "repairing_sql",
            "analyzing",
            "summarizing",
            "investigating",
            "using_tool",
            "waiting_for_approval",
            "saving",
        ]
        | str
    ) = ""
    message: str = ""
    started_at: datetime
    ms: int = 0
    statement: str | None = None
    error: str | None = None
    rows: int | None = None
    tokens: int = 0


class ScheduleTarget(Model):
    """A target of messages."""

    id: str
    kind: Literal["mail", "chat"] | str = ""
    label: str = ""


class Term(Model):
    """A glossary term."""

    version: int = 0
    id: str
    db_connection_id: str
    created_at: datetime
    updated_at: datetime
    term: str = ""
    meaning: str = ""
    sql: str | None = None


class TextChunk(Model):
    """A piece of text from the model."""

    event: Literal["chunk"]
    type: Literal["text"]
    content: str = ""
    channel: Literal["sql", "analysis", "investigation"] | str = ""


class Tool(Model):
    """A tool of investigations."""

    name: str = ""
    toolset: str = ""
    category: Literal["read", "write", "delete", "external", "extension"] | str = ""
    source: Literal["builtin", "mcp", "extensions"] | str = ""
    description: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    gate: Literal["free", "asks", "never"] | str = ""
    modes: list[Literal["ask", "agent"] | str] = Field(default_factory=list)


class ToolCall(Model):
    """A call of a tool."""

    id: str
    name: str = ""
    category: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    edited_arguments: dict[str, JsonValue] | None = None
    status: (
        Literal[
            "proposed",
            "waiting",
            "approved",
            "begun",
            "done",
            "failed",
            "denied",
            "expired",
            "withdrawn",
            "unknown",
        ]
        | str
    ) = ""
    requires_approval: bool = False
    content: str = ""
    is_error: bool = False
    columns: list[Column] = Field(default_factory=list)
    row_count: int | None = None
    elapsed_ms: int = 0


class ToolCalled(Model):
    """A step of an investigation calls a tool."""

    event: Literal["tool_call"]
    tool_call_id: str
    step: int = 0
    name: str = ""
    category: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    requires_approval: bool = False


class ToolList(Model):
    """All tools of this KAI."""

    items: list[Tool] = Field(default_factory=list)
    extensions: list[Extension] = Field(default_factory=list)


class ToolReturned(Model):
    """A call of a tool has ended."""

    event: Literal["tool_result"]
    tool_call_id: str
    status: Literal["done", "failed", "denied", "expired", "withdrawn", "unknown"] | str = ""
    content: str = ""
    is_error: bool = False
    result_id: str | None = None
    elapsed_ms: int = 0


class TriedTarget(ScheduleTarget):
    """A target, and what came of the test."""

    error: str | None = None


class TriedTargets(Model):
    """What came of a test of all targets."""

    items: list[TriedTarget] = Field(default_factory=list)


class UploadedColumn(Model):
    """A column of a table that was read from a file."""

    name: str = ""
    source_name: str = ""
    type: str = ""
    written: Literal["point", "comma", "ymd", "dmy", "mdy"] | str | None = None
    cells: int = 0
    empty: int = 0
    not_fitting: int = 0
    not_fitting_samples: list[str] = Field(default_factory=list)
    samples: list[str] = Field(default_factory=list)


class UploadedTable(Model):
    """A table that was read from a file."""

    name: str = ""
    source_name: str = ""
    has_header: bool = False
    row_count: int = 0
    columns: list[UploadedColumn] = Field(default_factory=list)


class Used(Model):
    """An amount in use and its limit."""

    used: int = 0
    limit: int | None = None


class UsedContext(Model):
    """What an answer used of what is known of its database, by names and ids."""

    tables: list[str] = Field(default_factory=list)
    terms: list[str] = Field(default_factory=list)
    instructions: list[str] = Field(default_factory=list)
    examples: list[str] = Field(default_factory=list)


class UsedToday(Used):
    """An amount used today."""

    resets_at: datetime


class Webhook(Model):
    """A webhook."""

    version: int = 0
    id: str
    host: str = ""
    events: list[
        Literal[
            "run.complete",
            "run.failed",
            "run.cancelled",
            "run.awaiting_approval",
            "schedule.ran",
            "schedule.met",
            "schedule.failed",
            "schedule.missed",
        ]
        | str
    ] = Field(default_factory=list)
    content: Literal["ids", "answer"] | str = ""
    secret: str | None = None
    disabled_because: str | None = None
    failing_since: datetime | None = None
    created_at: datetime
    updated_at: datetime


class WebhookDelivery(Model):
    """An event on its way to a webhook."""

    id: str
    event: (
        Literal[
            "run.complete",
            "run.failed",
            "run.cancelled",
            "run.awaiting_approval",
            "schedule.ran",
            "schedule.met",
            "schedule.failed",
            "schedule.missed",
            "webhook.test",
        ]
        | str
    ) = ""
    subject_id: str
    state: Literal["waiting", "delivered", "given_up"] | str = ""
    tries: int = 0
    error: str | None = None
    at: datetime
    due_at: datetime | None = None


class WindowCall(Model):
    """A function over a window of rows."""

    function: str = ""
    partition_by: list[str] = Field(default_factory=list)
    order_by: list[str] = Field(default_factory=list)
    frame: str | None = None


class Withdrawn(Model):
    """A withdrawn consent."""

    groups: int = 0
    erasing: bool = False


class WorthAsking(Model):
    """A question, and the computed sentence that makes it worth asking."""

    question: str = ""
    finding: str = ""
    sql: str = ""


class OtherChunk(Model):
    """A chunk of a kind that this client does not know."""

    event: Literal["chunk"]
    type: str
    content: JsonValue = None


class AnswerVersion(Model):
    """A later statement for the same question, and the shape of its rows."""

    number: int = 0
    rows_id: str
    created_at: datetime
    sql: str = ""
    sql_pretty: str = ""
    columns: list[Column] = Field(default_factory=list)
    row_count: int = 0
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None


class ProfileAttribute(Model):
    """An attribute of a profile."""

    version: int = 0
    attribute: (
        Literal[
            "output_preferences",
            "personal_preferences",
            "assistant_preferences",
            "knowledge",
            "interests",
            "dislikes",
            "family_and_friends",
            "work_profile",
            "goals",
        ]
        | str
    ) = ""
    items: list[ProfileItem] = Field(default_factory=list)


class Attributes(Model):
    """The nine attributes of a profile, each with at most eight items."""

    output_preferences: list[ProfileItem] = Field(default_factory=list)
    personal_preferences: list[ProfileItem] = Field(default_factory=list)
    assistant_preferences: list[ProfileItem] = Field(default_factory=list)
    knowledge: list[ProfileItem] = Field(default_factory=list)
    interests: list[ProfileItem] = Field(default_factory=list)
    dislikes: list[ProfileItem] = Field(default_factory=list)
    family_and_friends: list[ProfileItem] = Field(default_factory=list)
    work_profile: list[ProfileItem] = Field(default_factory=list)
    goals: list[ProfileItem] = Field(default_factory=list)


class Capabilities(Model):
    """What this KAI can do."""

    model: Capability = Field(default_factory=Capability)
    investigations: Capability = Field(default_factory=Capability)
    agent_mode: Capability = Field(default_factory=Capability)
    mcp_servers: Capability = Field(default_factory=Capability)
    extensions: Capability = Field(default_factory=Capability)
    rules: Capability = Field(default_factory=Capability)
    facts: Capability = Field(default_factory=Capability)
    generating: Capability = Field(default_factory=Capability)
    analysis: AnalysisForm = Field(default_factory=AnalysisForm)
    agent_model: AgentModel | None = None


class ChartChoice(Model):
    """What a reader has chosen of a chart; what is null stays as proposed."""

    mark: (
        Literal[
            "bar", "stacked", "percent", "line", "area", "point", "arc", "histogram", "heat", "combo", "map"
        ]
        | str
        | None
    ) = None
    across: int | None = None
    values: list[ChosenValue] | None = None
    series: int | None = None
    time: Literal["day", "week", "month", "quarter", "year"] | str | None = None
    sort: Literal["rows", "value", "name", "natural"] | str | None = None
    limit: int | None = None
    share: bool | None = None
    facet: bool | None = None
    labels: bool | None = None
    color: str | None = None
    format: Literal["auto", "compact", "percent", "exact"] | str | None = None
    unit: str | None = None
    title: str | None = None
    computed: Computed | None = None
    specification: dict[str, JsonValue] | None = None


class ClarificationChunk(Model):
    """A question back to the user, which ends the turn, with the readings to choose from if there are any."""

    options: list[Option] = Field(default_factory=list)
    event: Literal["chunk"]
    type: Literal["clarification"]
    content: str = ""


class ContextChunk(Model):
    """What the statement's author knew of the database, by names and ids."""

    event: Literal["chunk"]
    type: Literal["context"]
    content: UsedContext = Field(default_factory=UsedContext)


class ExampleRun(Model):
    """The result of a run of an example's statement."""

    columns: list[ResultColumn] = Field(default_factory=list)
    rows: list[list[JsonValue]] = Field(default_factory=list)
    row_count: int = 0
    truncated: bool = False
    elapsed_ms: int = 0


class Fact(Model):
    """A remembered sentence."""

    version: int = 0
    id: str
    text: str = ""
    kind: (
        Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"] | str
    ) = ""
    scope: Literal["session", "workspace", "user", "shared"] | str = ""
    db_connection_id: str | None = None
    about: list[str] = Field(default_factory=list)
    stale: bool = False
    mine: bool = False
    source: FactSource
    status: Literal["active", "superseded", "forgotten", "waiting"] | str = ""
    supersedes: str | None = None
    created_at: datetime
    updated_at: datetime
    used_at: datetime
    uses: int = 0
    expires_at: datetime | None = None


class Figure(Model):
    """A count or a sum over whole months, and on the overview's latest day."""

    name: str = ""
    table: str = ""
    kind: Literal["count", "sum"] | str = ""
    unit: str | None = None
    value: float = 0
    first_month: str = ""
    last_month: str = ""
    before: float | None = None
    months: list[MonthValue] = Field(default_factory=list)
    latest: float | None = None
    usual: float | None = None
    question: str = ""
    sql: str = ""


class UploadedFile(Model):
    """A connection that was made of a file, and how the file was read."""

    version: int = 0
    connection: Database
    tables: list[UploadedTable] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class Finding(Model):
    """A statement of an investigation, made from the result that it names."""

    text: str = ""
    reading: str | None = None
    references: list[Reference] = Field(default_factory=list)


class FindingsChunk(Model):
    """What an investigation found, each computed from the result that it names."""

    event: Literal["chunk"]
    type: Literal["findings"]
    content: list[Finding] = Field(default_factory=list)


class Forgotten(Model):
    """Result of a deletion."""

    not_confirmed: list[NotConfirmed] = Field(default_factory=list)


class FoundQuestion(Model):
    """The question that fits the words of a search best."""

    message_id: str
    snippet: list[SnippetPart] = Field(default_factory=list)


class GeneratedSql(Model):
    """SQL for a question, or a question back."""

    sql: str | None = None
    dialect: str = ""
    explanation: str = ""
    warnings: list[str] = Field(default_factory=list)
    corrections: list[str] = Field(default_factory=list)
    valid: bool = False
    options: list[Option] = Field(default_factory=list)
    rows: Rows | None = None
    tokens_used: int = 0


class GraphTest(Model):
    """The result of a test."""

    mode: Literal["basic", "smoke"] | str = ""
    passed: bool = False
    steps: list[GraphTestStep] = Field(default_factory=list)


class ImportedFacts(Model):
    """The outcome of an import."""

    kept: int = 0
    known: int = 0
    left_out: int = 0
    refused: list[NotImported] = Field(default_factory=list)


class KeptFact(Fact):
    """A fact in the store."""

    is_new: bool = False
    near: list[Fact] = Field(default_factory=list)


class Knowledge(Model):
    """What the statement's author knew of the database."""

    tables: list[str] = Field(default_factory=list)
    terms: list[KnownTerm] = Field(default_factory=list)
    instructions: list[KnownInstruction] = Field(default_factory=list)
    examples: list[KnownExample] = Field(default_factory=list)
    facts: list[KnownFact] = Field(default_factory=list)
    deleted_count: int = 0


class ListedSession(Session):
    """A session in a list."""

    found: FoundQuestion | None = None


class McpServer(Model):
    """An MCP server that KAI uses, as the process that answers sees it."""

    name: str = ""
    description: str = ""
    transport: Literal["streamableHttp", "stdio"] | str = ""
    address: str = ""
    status: Literal["NotConnected", "Connecting", "Connected", "FailedToConnect"] | str = ""
    error: str | None = None
    connected_at: datetime | None = None
    tools: list[McpTool] = Field(default_factory=list)
    tools_left_out: int = 0


class McpServerList(Model):
    """All MCP servers that KAI uses."""

    items: list[McpServer] = Field(default_factory=list)


class Memory(Model):
    """Facts that KAI remembers: those that the answer uses, or that were kept or refused."""

    event: Literal["memory"]
    action: Literal["used", "kept", "refused"] | str = ""
    facts: list[NamedFact] = Field(default_factory=list)
    reason: str | None = None


class MemoryExport(Model):
    """Everything that KAI remembers of its caller."""

    exported_at: datetime
    facts: list[Fact] = Field(default_factory=list)
    conversations: list[JsonValue] = Field(default_factory=list)
    profile: JsonValue = None
    consents: list[JsonValue] = Field(default_factory=list)


class Message(Model):
    """A question, or its answer."""

    version: int = 0
    id: str
    run_id: str
    role: Literal["human", "assistant"] | str = ""
    query: str = ""
    status: Literal["complete", "failed", "cancelled", "awaiting_approval"] | str = ""
    error: RunError | None = None
    tokens_used: int = 0
    elapsed_ms: int = 0
    client_message_id: str | None = None
    given_sql: str | None = None
    timeline: list[TakenStep] = Field(default_factory=list)
    feedback: GivenFeedback | None = None
    chart_choice: ChartChoice | None = None
    chosen_chart: dict[str, JsonValue] | None = None
    chart_refusal: str | None = None
    versions: list[AnswerVersion] = Field(default_factory=list)
    source_message_id: str | None = None
    database_ms: int = 0
    rows_read: int | None = None
    bytes_read: int | None = None
    steps: int = 0
    tool_calls: int = 0
    limit_reached: bool = False
    headline: str | None = None
    references: list[Reference] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    chart: dict[str, JsonValue] | None = None
    suggestions: list[str] = Field(default_factory=list)
    code: list[Code] = Field(default_factory=list)
    link: list[ResourceLink] = Field(default_factory=list)
    action: list[Action] = Field(default_factory=list)
    columns: list[Column] = Field(default_factory=list)
    row_count: int | None = None
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None
    options: list[Option] = Field(default_factory=list)
    dialect: str = ""
    sql_pretty: str = ""
    corrections: list[str] = Field(default_factory=list)
    explanation: str = ""
    standalone_question: str = ""
    route: Literal["sql", "rows", "clarify", "chat", "investigate"] | str = ""
    sql: str | None = None
    results_summary: str | None = None
    analysis: str | None = None
    clarification: str | None = None
    rows_head: list[list[JsonValue]] = Field(default_factory=list)
    remembered: list[str] = Field(default_factory=list)
    context: UsedContext | None = None
    timestamp: datetime


class Notice(Model):
    """What happened at a time of a schedule, or a comment that mentions the caller."""

    id: str
    schedule_id: str | None = None
    board_id: str | None = None
    pin_id: str | None = None
    title: str = ""
    kind: Literal["ran", "met", "failed", "missed", "mention"] | str = ""
    scheduled_for: datetime
    at: datetime
    missed: int = 0
    row_count: int | None = None
    condition: ScheduleCondition | None = None
    value: JsonValue = None
    previous: JsonValue = None
    failure: NoticeFailure | None = None
    failed_pins: int = 0
    webhook: Literal["waiting", "delivered", "given_up"] | str | None = None
    webhook_error: str | None = None
    author: str | None = None
    session_id: str | None = None
    mention: Mention | None = None
    deliveries: list[Delivery] = Field(default_factory=list)


class Notices(Model):
    """A page of notices, newest first."""

    items: list[Notice] = Field(default_factory=list)
    next_cursor: str | None = None
    total: int | None = None
    unread: int = 0


class OutputColumn(Model):
    """A column that a query gives."""

    name: str = ""
    sql: str = ""
    kind: Literal["column", "computed", "aggregate", "window", "subquery", "constant", "unknown"] | str = ""
    inputs: list[ColumnRef] = Field(default_factory=list)
    sources: list[TableColumnRef] = Field(default_factory=list)
    queries: list[str] = Field(default_factory=list)


class Overview(Model):
    """Figures, questions and tables of a database, in one language."""

    figures: list[Figure] = Field(default_factory=list)
    questions: list[WorthAsking] = Field(default_factory=list)
    latest_day: str | None = None
    tables: list[TableUse] = Field(default_factory=list)
    answers: int = 0
    left_out: list[str] = Field(default_factory=list)
    is_of_role: bool = False


class DatabaseOverview(Model):
    """What a database holds, at a glance."""

    overview: Overview | None = None
    missing: Literal["off", "not_scanned", "waiting", "failed"] | str | None = None
    computed_at: datetime | None = None


class Messages(Model):
    """A page of a list."""

    items: list[Message] = Field(default_factory=list)
    next_cursor: str | None = None
    total: int | None = None


class Pin(Model):
    """A pinned question with its statement and its last rows."""

    version: int = 0
    id: str
    board_id: str
    db_connection_id: str
    title: str = ""
    question: str = ""
    sql: str = ""
    dialect: str = ""
    session_id: str
    message_id: str
    chart_choice: ChartChoice | None = None
    chosen_chart: dict[str, JsonValue] | None = None
    chart_refusal: str | None = None
    width: int = 0
    height: int = 0
    state: Literal["current", "stale", "running", "failed", "connection_gone", "no_right"] | str = ""
    failure: PinFailure | None = None
    columns: list[Column] = Field(default_factory=list)
    rows_head: list[list[JsonValue]] = Field(default_factory=list)
    row_count: int | None = None
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None
    chart: dict[str, JsonValue] | None = None
    ran_at: datetime | None = None
    database_ms: int | None = None
    rows_read: int | None = None
    bytes_read: int | None = None
    period_by: str | None = None
    period: PinPeriod | None = None
    created_at: datetime
    updated_at: datetime


class Profile(Model):
    """What KAI knows of a user."""

    version: int = 0
    enabled: bool = False
    consented_at: datetime | None = None
    attributes: Attributes = Field(default_factory=Attributes)


class QueryDescription(Model):
    """One query of a statement: a SELECT, a set operation or a list of values."""

    id: str
    role: Literal["result", "cte", "subquery", "branch"] | str = ""
    kind: Literal["select", "set_operation", "values", "unknown"] | str = ""
    name: str = ""
    is_recursive: bool = False
    is_correlated: bool = False
    sources: list[Source] = Field(default_factory=list)
    joins: list[Join] = Field(default_factory=list)
    filters: list[Filter] = Field(default_factory=list)
    is_aggregated: bool = False
    groupings: list[Grouping] = Field(default_factory=list)
    columns: list[OutputColumn] = Field(default_factory=list)
    has_all_columns: bool = False
    is_distinct: bool = False
    distinct_on: list[str] = Field(default_factory=list)
    order: list[Ordering] = Field(default_factory=list)
    limit: str | None = None
    offset: str | None = None
    windows: list[WindowCall] = Field(default_factory=list)
    nulls: list[NullRule] = Field(default_factory=list)
    operation: str | None = None
    branches: list[str] = Field(default_factory=list)
    others: list[str] = Field(default_factory=list)


class ResultsChunk(Model):
    """The first rows of the result."""

    event: Literal["chunk"]
    type: Literal["results"]
    content: Rows = Field(default_factory=Rows)
    tool_call_id: str | None = None


class Rule(Model):
    """A rule."""

    version: int = 0
    name: str = ""
    source: Literal["stored", "file"] | str = ""
    path: str | None = None
    owner: str | None = None
    apply: Literal["always", "auto", "manual"] | str = ""
    active: bool = False
    priority: int = 0
    scope: RuleScope = Field(default_factory=RuleScope)
    chart: str | None = None
    chart_of: list[str] = Field(default_factory=list)
    text: str = ""
    applied: bool = False
    warnings: list[str] = Field(default_factory=list)
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Run(Model):
    """A run: a question on its way to an answer."""

    run_id: str
    session_id: str
    message_id: str
    query: str = ""
    status: Literal["queued", "running", "complete", "failed", "cancelled", "awaiting_approval"] | str = ""
    mode: Literal["ask", "agent"] | str = ""
    protocol: Literal["kai", "chat", "langgraph", "ag-ui", "openai", "mcp"] | str = ""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    ignored: list[str] = Field(default_factory=list)
    created_at: datetime
    ended_at: datetime | None = None
    tokens_used: int = 0
    error: RunError | None = None


class Scan(Model):
    """Progress of the latest scan."""

    state: Literal["never", "running", "complete", "failed"] | str = ""
    started_at: datetime | None = None
    updated_at: datetime | None = None
    tables_total: int | None = None
    tables_done: int = 0
    error: str | None = None
    changes: ScanChanges | None = None


class Schedule(Model):
    """A schedule."""

    version: int = 0
    id: str
    board_id: str
    pin_id: str | None = None
    cron: str = ""
    time_zone: str = ""
    condition: ScheduleCondition | None = None
    webhook_host: str | None = None
    webhook_secret: str | None = None
    targets: list[ScheduleTarget] = Field(default_factory=list)
    language: Literal["en", "de"] | str = ""
    paused: bool = False
    running: bool = False
    next_at: datetime | None = None
    last_run: LastRun | None = None
    created_at: datetime
    updated_at: datetime


class SessionWithMessages(Session):
    """A session with a page of its messages."""

    summary: str | None = None
    messages: Messages = Field(default_factory=Messages)


class Step(Model):
    """A step of an investigation."""

    step: int = 0
    kind: Literal["opening", "calls", "fault", "answer", "question"] | str = ""
    text: str = ""
    fault: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    tokens_used: int = 0
    created_at: datetime


class DatabaseTable(Model):
    """A table as the latest scan found it."""

    version: int = 0
    name: str = ""
    kind: Literal["table", "view"] | str = ""
    description: str = ""
    row_count: int | None = None
    columns: list[TableColumn] = Field(default_factory=list)
    foreign_keys: list[ForeignKey] = Field(default_factory=list)


class Usage(Model):
    """Usage and limits of the caller."""

    tokens_today: UsedToday
    bytes_today: UsedToday
    runs: Used = Field(default_factory=Used)
    sessions: Used = Field(default_factory=Used)
    rates: list[Rate] = Field(default_factory=list)


class WordedChart(Model):
    """The choice that words make of a chart."""

    choice: ChartChoice | None = None
    chart: dict[str, JsonValue] | None = None
    refusal: str | None = None
    not_understood: list[str] = Field(default_factory=list)


class RunAnswer(Message):
    """An answer with the first of its rows."""

    session_id: str
    rows: list[list[JsonValue]] = Field(default_factory=list)
    confirmations: list[WaitingCall] = Field(default_factory=list)


class BoardWithPins(Board):
    """A board with its pins in order."""

    pins: list[Pin] = Field(default_factory=list)


class InspectedStatement(Model):
    """A statement that passes the guard, and what it does."""

    sql: str = ""
    tables: list[TableRead] = Field(default_factory=list)
    queries: list[QueryDescription] = Field(default_factory=list)


class Investigated(Model):
    """The steps of an answer's investigation."""

    items: list[Step] = Field(default_factory=list)


class Provenance(Model):
    """Where an answer comes from, without a model's words."""

    question: str = ""
    standalone_question: str = ""
    answered_at: datetime
    dialect: str = ""
    sql: str = ""
    tables: list[TableRead] = Field(default_factory=list)
    queries: list[QueryDescription] = Field(default_factory=list)
    knowledge: Knowledge | None = None
    columns: list[Column] = Field(default_factory=list)
    row_count: int | None = None
    truncated: bool = False
    cut_by: Literal["rows", "bytes", "values"] | str | None = None
    checks: list[Check] = Field(default_factory=list)


class Shared(Model):
    """What a link shows, read-only."""

    link_id: str
    kind: Literal["answer", "session", "board"] | str = ""
    title: str | None = None
    owner: str = ""
    expires_at: datetime
    messages: Messages = Field(default_factory=Messages)
    board: BoardWithPins | None = None


Event = (
    Status
    | TextChunk
    | SqlChunk
    | ResultsChunk
    | ChartChunk
    | AnalysisChunk
    | HeadlineChunk
    | ReferencesChunk
    | LeftOutChunk
    | ClarificationChunk
    | SuggestionsChunk
    | FindingsChunk
    | CodeChunk
    | LinkChunk
    | ActionChunk
    | ContextChunk
    | ToolCalled
    | ToolReturned
    | Confirmation
    | ConfirmationDecided
    | Progress
    | Memory
    | Reset
    | Failure
    | Done
    | OtherChunk
)
