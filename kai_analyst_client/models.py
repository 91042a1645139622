"""Answers of KAI's routes. A field's meaning is in KAI's OpenAPI description (`/docs` of a server)."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Mode = Literal["ask", "agent"]
Outcome = Literal["complete", "failed", "cancelled", "awaiting_approval"]
Cut = Literal["rows", "bytes", "values"]
ColumnType = Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"]
CallStatus = Literal[
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
FactKind = Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"]
FactScope = Literal["session", "workspace", "user", "shared"]
Role = Literal["user", "admin"]
Scope = Literal["read", "ask", "approve", "manage", "admin"]
Tooling = Literal["native", "text", "off"]
Attribute = Literal[
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


class Model(BaseModel):
    """Base of what KAI answers. Fields that a newer KAI adds are ignored."""

    model_config = ConfigDict(frozen=True)


# Answers


class Column(Model):
    name: str
    type: str
    secret: bool = False


class Rows(Model):
    """A result, or its first rows."""

    columns: list[Column]
    rows: list[list[JsonValue]]
    row_count: int
    truncated: bool
    cut_by: Cut | None = None


class RowsPage(Model):
    columns: list[Column]
    items: list[list[JsonValue]]
    row_count: int
    truncated: bool
    cut_by: Cut | None
    next_cursor: str | None


class FactCell(Model):
    """A cell of a result; `row` counts all its rows from 0."""

    row: int
    column: str


class Reference(Model):
    """What a statement of an analysis was computed from; `cells` are the first 50 of `cell_count`."""

    key: str
    span: list[int]
    result_id: str | None
    how: str
    value: str | None
    cells: list[FactCell]
    cell_count: int


class Finding(Model):
    """A statement of an investigation; `reading` is a sentence of the model on it."""

    text: str
    reading: str | None
    references: list[Reference]


class Code(Model):
    """Code that KAI shows and has not run. `checked`: it would run it."""

    language: str
    content: str
    checked: bool


class ResourceLink(Model):
    """A thing that an answer names."""

    label: str
    resource_type: Literal["table", "result", "database"]
    resource_id: str


class Action(Model):
    """Something to do next: `payload` has `result_id`, `connection_id` and `table`, or `question`."""

    label: str
    action: Literal["open_result", "open_table", "ask", "rerun"]
    payload: dict[str, str]


class Option(Model):
    label: str
    question: str


class RunError(Model):
    type: str
    title: str
    status: int
    detail: str
    retryable: bool


StepName = Literal[
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


class TakenStep(Model):
    """A step of an answer. `ms`: until the next step began."""

    step: StepName
    message: str
    started_at: datetime
    ms: int
    statement: str | None
    error: str | None
    rows: int | None
    tokens: int


class GivenFeedback(Model):
    rating: Literal["up", "down"]
    comment: str | None
    corrected_sql: str | None


class UsedContext(Model):
    """What an answer used of what is known of its database, by names and ids."""

    tables: list[str]
    terms: list[str]
    instructions: list[str]
    examples: list[str]


class AnswerVersion(Model):
    """A later statement of an answer; its rows are read by its number."""

    number: int
    rows_id: str
    created_at: datetime
    sql: str
    sql_pretty: str
    columns: list[Column]
    row_count: int
    truncated: bool
    cut_by: Cut | None


class ChartOption(Model):
    """What is computed for a chart over time, from all rows. Columns are zero-based."""

    kind: Literal["moving_average", "change", "outliers", "projection"]
    across: int
    value: int
    unit: Literal["day", "week", "month", "quarter", "year"] | None = None
    how: Literal["sum", "mean", "count", "median"] | None = None
    window: int | None = None


class ComputedChart(Model):
    """A chart with its computed option, or why the rows do not allow it."""

    option: ChartOption
    chart: dict[str, JsonValue] | None
    refusal: str | None


class Message(Model):
    """A question, or its answer."""

    id: str
    run_id: str
    role: Literal["human", "assistant"]
    query: str
    status: Outcome
    error: RunError | None
    tokens_used: int
    elapsed_ms: int
    steps: int
    tool_calls: int
    limit_reached: bool
    headline: str | None
    references: list[Reference]
    left_out: list[str]
    chart: dict[str, JsonValue] | None
    suggestions: list[str]
    findings: list[Finding]
    code: list[Code]
    link: list[ResourceLink]
    action: list[Action]
    columns: list[Column]
    row_count: int | None
    truncated: bool
    cut_by: Cut | None
    options: list[Option]
    dialect: str
    explanation: str
    standalone_question: str
    sql_pretty: str
    corrections: list[str]
    route: Literal["sql", "rows", "clarify", "chat", "investigate"]
    sql: str | None
    results_summary: str | None
    analysis: str | None
    clarification: str | None
    remembered: list[str]
    context: UsedContext | None
    rows_head: list[list[JsonValue]]
    client_message_id: str | None
    given_sql: str | None
    timeline: list[TakenStep]
    feedback: GivenFeedback | None
    chart_choice: dict[str, JsonValue] | None
    computed_chart: ComputedChart | None
    versions: list[AnswerVersion]
    source_message_id: str | None
    timestamp: datetime


class GeneratedSql(Model):
    sql: str | None
    dialect: str
    explanation: str
    warnings: list[str]
    corrections: list[str]
    valid: bool
    options: list[Option]
    rows: Rows | None
    tokens_used: int


class StartedDocumentation(Model):
    session_id: str
    run_id: str
    message_id: str
    stream: str


# Sessions


class Session(Model):
    id: str
    db_connection_id: str | None
    title: str | None
    mode: Mode
    also: list[str]
    status: Literal["idle", "processing", "awaiting_approval", "error", "closed"]
    metadata: dict[str, JsonValue]
    active_run_id: str | None
    waiting_confirmations: int
    turns: int
    created_at: datetime
    updated_at: datetime
    pinned_at: datetime | None


class SnippetPart(Model):
    text: str
    is_hit: bool


class FoundQuestion(Model):
    message_id: str
    snippet: list[SnippetPart]


class ListedSession(Session):
    found: FoundQuestion | None


class AskedQuestion(Model):
    message_id: str
    run_id: str
    query: str
    asked_at: datetime


class Messages(Model):
    items: list[Message]
    next_cursor: str | None


class SessionWithMessages(Session):
    summary: str | None
    messages: Messages


class Checkpoint(Model):
    id: str
    created_at: datetime
    step: int
    next_steps: list[str]
    query: str | None
    message_id: str | None


class Feedback(Model):
    message_id: str
    rating: Literal["up", "down"]
    comment: str | None
    corrected_sql: str | None
    created_at: datetime


# Investigations and approvals


class ToolCall(Model):
    id: str
    name: str
    category: str
    arguments: dict[str, JsonValue]
    edited_arguments: dict[str, JsonValue] | None
    status: CallStatus
    requires_approval: bool
    content: str
    is_error: bool
    columns: list[Column]
    row_count: int | None
    elapsed_ms: int


class Step(Model):
    step: int
    kind: Literal["opening", "calls", "fault", "answer", "question"]
    text: str
    fault: str
    tool_calls: list[ToolCall]
    tokens_used: int
    created_at: datetime


class Investigated(Model):
    items: list[Step]


class WaitingCall(Model):
    """A call of a tool that waits for a person, or has waited."""

    confirmation_id: str
    message_id: str
    run_id: str
    tool_name: str
    category: str
    description: str
    arguments: dict[str, JsonValue]
    destination: str
    warnings: list[str]
    call_hash: str
    status: CallStatus
    expires_at: datetime
    decided_at: datetime | None
    reason: str | None
    edited_arguments: dict[str, JsonValue] | None


class Decision(Model):
    confirmation_id: str
    status: Literal["approved", "denied"]
    run_id: str | None


class Tool(Model):
    name: str
    toolset: str
    category: Literal["read", "write", "delete", "external", "extension"]
    source: Literal["builtin", "mcp", "extensions"]
    description: str
    arguments: dict[str, JsonValue]
    gate: Literal["free", "asks", "never"]
    modes: list[Mode]


class Extension(Model):
    name: str
    package: str
    status: Literal["loaded", "failed"]
    error: str | None
    tools: list[str]


class ToolList(Model):
    items: list[Tool]
    extensions: list[Extension]


class Capability(Model):
    on: bool
    reason: str | None


class AnalysisForm(Model):
    form: Literal["builtin", "choose"]
    reason: str


class AgentModel(Model):
    name: str
    context_window: int | None
    tools: Tooling | None


class Capabilities(Model):
    model: Capability
    investigations: Capability
    agent_mode: Capability
    mcp_servers: Capability
    extensions: Capability
    rules: Capability
    facts: Capability
    generating: Capability
    analysis: AnalysisForm
    agent_model: AgentModel | None


class LanguageModel(Model):
    name: str
    tasks: list[Literal["sql", "agent", "analysis", "summary", "embedding"]]
    is_listed: bool
    context_window: int | None
    window_source: Literal["setting", "service", "profile", "default"] | None
    tools: Tooling | None
    tools_source: Literal["setting", "service", "profile", "refusal", "default"] | None


class ApprovedTool(Model):
    fingerprint: str
    address: str
    description: str
    input_schema: dict[str, JsonValue]
    annotations: dict[str, JsonValue]
    approved_by: str
    approved_at: datetime


class McpTool(Model):
    name: str
    state: Literal["approved", "new", "changed", "unusable"]
    fault: str | None
    fingerprint: str
    description: str
    input_schema: dict[str, JsonValue]
    annotations: dict[str, JsonValue]
    approved: ApprovedTool | None


class McpServer(Model):
    name: str
    description: str
    transport: Literal["streamableHttp", "stdio"]
    address: str
    status: Literal["NotConnected", "Connecting", "Connected", "FailedToConnect"]
    error: str | None
    connected_at: datetime | None
    tools: list[McpTool]
    tools_left_out: int


class McpServerList(Model):
    items: list[McpServer]


# Databases


class Database(Model):
    """A registered database."""

    id: str
    name: str
    description: str
    dialect: str
    masked_url: str
    created_at: datetime
    scanned_at: datetime | None
    table_count: int | None
    warnings: list[str]
    owner: str
    shared: bool
    external_memory: bool
    per_user_roles: bool
    starters: list[str]
    file_name: str | None


class CheckedDatabase(Model):
    """A database that could be opened, and is not registered by that."""

    dialect: str
    masked_url: str
    warnings: list[str]


class UploadedColumn(Model):
    """A column of an uploaded file. `cells` are those that are not empty; those `not_fitting` are NULL."""

    name: str
    source_name: str
    type: str
    written: Literal["point", "comma", "ymd", "dmy", "mdy"] | None
    cells: int
    empty: int
    not_fitting: int
    not_fitting_samples: list[str]
    samples: list[str]


class UploadedTable(Model):
    name: str
    source_name: str
    has_header: bool
    row_count: int
    columns: list[UploadedColumn]


class UploadedFile(Model):
    """A database that was made of a file, and how the file was read."""

    connection: Database
    tables: list[UploadedTable]
    notes: list[str]


class Scan(Model):
    state: Literal["never", "running", "complete", "failed"]
    started_at: datetime | None
    updated_at: datetime | None
    tables_total: int | None
    tables_done: int
    error: str | None


class TableColumn(Model):
    name: str
    type: ColumnType
    database_type: str
    nullable: bool
    primary_key: bool
    description: str
    unit: str
    hidden: bool
    values: list[str]
    minimum: str | None
    maximum: str | None
    distinct_count: int | None
    format: str


class ForeignKey(Model):
    columns: list[str]
    referred_table: str
    referred_columns: list[str]


class DatabaseTable(Model):
    name: str
    kind: Literal["table", "view"]
    description: str
    row_count: int | None
    columns: list[TableColumn]
    foreign_keys: list[ForeignKey]


class ResultColumn(Model):
    name: str
    type: ColumnType


class ExampleRun(Model):
    columns: list[ResultColumn]
    rows: list[list[JsonValue]]
    row_count: int
    truncated: bool
    elapsed_ms: int


class ExampleMatch(Model):
    index: int
    example_id: str
    question: str
    verified_by: str | None
    verified_at: datetime | None


class ExampleMatches(Model):
    items: list[ExampleMatch]


class Sample(Model):
    columns: list[ResultColumn]
    rows: list[list[JsonValue]]
    truncated: bool


# Boards


class Board(Model):
    id: str
    title: str
    stale_after_hours: int
    period_days: int | None
    created_at: datetime
    updated_at: datetime


class PinPeriod(Model):
    """The period of a board, as it was applied to the rows of a pin. Days are dates as ISO texts."""

    days: int
    column: str | None
    since: str | None
    until: str | None
    sql: str | None
    previous: list[JsonValue] | None
    reason: str | None
    choices: list[str]


class PinFailure(Model):
    """Why the latest refresh of a pin gave no rows."""

    type: str
    title: str
    detail: str
    cure: str
    at: datetime


class Pin(Model):
    """A pinned question with its statement and its last good rows."""

    id: str
    board_id: str
    db_connection_id: str
    title: str
    question: str
    sql: str
    dialect: str
    session_id: str
    message_id: str
    chart_choice: dict[str, JsonValue] | None
    computed_chart: ComputedChart | None
    width: int
    height: int
    state: Literal["current", "stale", "running", "failed", "connection_gone", "no_right"]
    failure: PinFailure | None
    columns: list[Column]
    rows_head: list[list[JsonValue]]
    row_count: int | None
    truncated: bool
    cut_by: Cut | None
    chart: dict[str, JsonValue] | None
    ran_at: datetime | None
    period_by: str | None
    period: PinPeriod | None
    created_at: datetime
    updated_at: datetime


class BoardWithPins(Board):
    """A board with its pins in order."""

    pins: list[Pin]


# Schedules


class ScheduleCondition(Model):
    """A condition on the first cell of a column."""

    kind: Literal["above", "below", "changed", "no_rows"]
    column: str | None = None
    value: float | None = None


class LastRun(Model):
    """The last run of a schedule."""

    scheduled_for: datetime
    ended_at: datetime
    outcome: Literal["ran", "met", "not_met", "failed"]
    missed: int
    value: JsonValue


class Schedule(Model):
    """Times at which a pin, or all pins of a board, run."""

    id: str
    board_id: str
    pin_id: str | None
    cron: str
    time_zone: str
    condition: ScheduleCondition | None
    webhook_host: str | None
    webhook_secret: str | None = Field(repr=False)
    paused: bool
    running: bool
    next_at: datetime | None
    last_run: LastRun | None
    created_at: datetime
    updated_at: datetime


class NoticeFailure(Model):
    """Why a run of a schedule gave no rows."""

    title: str
    detail: str
    cure: str


class Notice(Model):
    """What happened at a time of a schedule."""

    id: str
    schedule_id: str
    board_id: str
    pin_id: str | None
    title: str
    kind: Literal["ran", "met", "failed", "missed"]
    scheduled_for: datetime
    at: datetime
    missed: int
    row_count: int | None
    condition: ScheduleCondition | None
    value: JsonValue
    previous: JsonValue
    failure: NoticeFailure | None
    failed_pins: int
    webhook: Literal["waiting", "delivered", "given_up"] | None
    webhook_error: str | None


class Notices(Model):
    """A page of notices, newest first."""

    items: list[Notice]
    next_cursor: str | None
    unread: int


# Links


class Link(Model):
    """A read-only link. `kai.links.open` shows what it leads to."""

    id: str
    kind: Literal["answer", "session", "board"]
    thing_id: str
    session_id: str | None
    title: str | None
    created_at: datetime
    expires_at: datetime


class Shared(Model):
    """What a link shows. `messages` are empty for a board."""

    link_id: str
    kind: Literal["answer", "session", "board"]
    title: str | None
    owner: str
    expires_at: datetime
    messages: Messages
    board: BoardWithPins | None


# Knowledge


class _Entry(Model):
    id: str
    db_connection_id: str
    created_at: datetime
    updated_at: datetime


class Example(_Entry):
    question: str
    sql: str
    status: Literal["proposed", "verified", "rejected"]
    message_id: str | None
    verified_by: str | None
    verified_at: datetime | None
    asked_by: str | None
    answer: str | None
    uses: int
    fault: str | None


class Term(_Entry):
    term: str
    meaning: str
    sql: str | None


class Instruction(_Entry):
    text: str
    scope: str | None


class ImportedEntry(Model):
    """What an import of knowledge does with an entry of its file."""

    line: int
    kind: str
    name: str
    outcome: Literal["new", "changed", "same", "refused"]
    reason: str | None


class KnowledgeImport(Model):
    """What an import of knowledge did, or would do."""

    stored: bool
    new: int
    changed: int
    same: int
    refused: int
    entries: list[ImportedEntry]


class RuleScope(Model):
    """Where a rule may apply. An empty list means everywhere."""

    connections: list[str] = Field(default_factory=list)
    chat_modes: list[Mode] = Field(default_factory=list)
    table_patterns: list[str] = Field(default_factory=list)


class Rule(Model):
    name: str
    source: Literal["stored", "file"]
    path: str | None
    owner: str | None
    apply: Literal["always", "auto", "manual"]
    active: bool
    priority: int
    scope: RuleScope
    text: str
    applied: bool
    warnings: list[str]
    created_at: datetime | None
    updated_at: datetime | None


# Memory


class FactSource(Model):
    origin: Literal["promotion", "directive", "tool", "feedback"]
    at: datetime
    message_id: str | None
    session_id: str | None
    tainted: bool


class Fact(Model):
    id: str
    text: str
    kind: FactKind
    scope: FactScope
    db_connection_id: str | None
    about: list[str]
    stale: bool
    mine: bool
    source: FactSource
    status: Literal["active", "superseded", "forgotten", "waiting"]
    supersedes: str | None
    created_at: datetime
    updated_at: datetime
    used_at: datetime
    uses: int
    expires_at: datetime | None


class KeptFact(Fact):
    is_new: bool
    near: list[Fact]


class NotImported(Model):
    number: int
    reason: str


class ImportedFacts(Model):
    kept: int
    known: int
    left_out: int
    refused: list[NotImported]


class MemoryExport(Model):
    exported_at: datetime
    facts: list[Fact]
    conversations: list[JsonValue]
    profile: JsonValue
    consents: list[JsonValue]


class ProfileItem(Model):
    text: str
    message_id: str | None
    session_id: str | None
    at: datetime


class Attributes(Model):
    output_preferences: list[ProfileItem]
    personal_preferences: list[ProfileItem]
    assistant_preferences: list[ProfileItem]
    knowledge: list[ProfileItem]
    interests: list[ProfileItem]
    dislikes: list[ProfileItem]
    family_and_friends: list[ProfileItem]
    work_profile: list[ProfileItem]
    goals: list[ProfileItem]


class Profile(Model):
    enabled: bool
    consented_at: datetime | None
    attributes: Attributes


class ProfileAttribute(Model):
    attribute: Attribute
    items: list[ProfileItem]


class Consent(Model):
    db_connection_id: str
    endpoint: str
    granted_at: datetime
    credential: str
    text_version: int
    in_force: bool


class Withdrawn(Model):
    groups: int
    erasing: bool


class GraphMemory(Model):
    enabled: bool
    endpoint: str | None
    recall: bool
    ingest: bool
    state: Literal["working", "unavailable", "stalled"] | None
    lag_seconds: int
    waiting: int
    not_erased: int
    consent_text: str
    text_version: int


class GraphTestStep(Model):
    name: str
    passed: bool
    milliseconds: int
    detail: str


class GraphTest(Model):
    mode: Literal["basic", "smoke"]
    passed: bool
    steps: list[GraphTestStep]


class NotConfirmed(Model):
    what: str
    why: str


class Forgotten(Model):
    not_confirmed: list[NotConfirmed]


# The caller


class Me(Model):
    owner: str
    role: Role
    scopes: list[Scope]
    signed_in_by: Literal["local", "api_key", "oidc"]


class Used(Model):
    used: int
    limit: int | None


class UsedToday(Used):
    resets_at: datetime


class Rate(Model):
    name: str
    limit: int
    window_seconds: int


class Usage(Model):
    tokens_today: UsedToday
    runs: Used
    sessions: Used
    rates: list[Rate]


class ApiKey(Model):
    id: str
    prefix: str
    owner: str
    name: str
    role: Role
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class NewApiKey(ApiKey):
    key: str
