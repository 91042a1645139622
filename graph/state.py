"""State of a session's thread between steps: plain JSON values only.

A checkpoint holds exactly this state, so every field is bounded. The whole history is stored as message
documents, the whole result as result documents. Times are RFC 3339 in UTC.
"""

import operator
from typing import Annotated, Literal, NotRequired

from pydantic import BeforeValidator, JsonValue
from typing_extensions import TypedDict

from graph.described import described

Route = Literal["sql", "rows", "clarify", "chat", "investigate"]
Author = Literal["builtin", "model", "verified", "user"]
"""The author of a statement: the built-in writer, a model, a verified example, or the user."""


Cut = Literal["rows", "bytes", "values"]
"""The limit that cut a result: the number of its rows, its size, or the length of single values."""


@described
class Column(TypedDict):
    """One column of a result."""

    name: str
    """Name of the column."""
    type: str
    """Type of the values: text, integer, number, boolean, date, datetime, time, binary or json."""
    secret: NotRequired[bool]
    """The values are made of a column that is named as secrets are, such as `password`: models get them
    redacted.
    """


@described
class Rows(TypedDict):
    """A result, or its head."""

    columns: list[Column]
    """Columns of the result, in order."""
    rows: list[list[JsonValue]]
    """The rows, or the first of them; one list of values each."""
    row_count: int
    """Number of all stored rows."""
    truncated: bool
    """A limit cut the result."""
    cut_by: NotRequired[Cut | None]
    """The limit that cut the result: `rows` or `bytes` if rows are missing, `values` if the ends of long
    values are cut.
    """


@described
class FactCell(TypedDict):
    """A cell of a result."""

    row: int
    """0-based index into all stored rows."""
    column: str
    """Name of the column."""


@described
class Reference(TypedDict):
    """The source of a statement of an analysis: what was computed from which cells."""

    key: str
    """Name of the fact, such as `highest_revenue_west`: unique among those of one result."""
    span: list[int]
    """Start and end of the statement in Unicode code points of the whole analysis text."""
    result_id: str | None
    """Id of the result of an investigation. Null for the result of the answer."""
    how: str
    """The computation, such as `sum of revenue over 12 rows`."""
    value: str | None
    """The exact value. Null if the statement rests on several."""
    cells: list[FactCell]
    """The cells that it was computed from, the first 50 of them."""
    cell_count: int
    """Number of all these cells."""


@described
class Option(TypedDict):
    """A reading that a question back offers."""

    label: str
    """Short label for the user."""
    question: str
    """The full question that it stands for."""


class PastExchange(TypedDict):
    """One exchange: the question and, for role `assistant`, the answer."""

    id: str
    role: Literal["human", "assistant"]
    query: str
    sql: str | None
    results_summary: str | None
    analysis: str | None
    timestamp: str


class Precedent(TypedDict):
    """A question that was asked before, and the statement that a person has verified for it."""

    question: str
    sql: str


@described
class UsedContext(TypedDict):
    """What an answer used of what is known of its database, by names and ids."""

    tables: list[str]
    """Names of the tables that the model read, at most 100."""
    terms: list[str]
    """Ids of the glossary terms."""
    instructions: list[str]
    """Ids of the instructions."""
    examples: list[str]
    """Ids of the verified examples."""


MAX_USED_TABLES = 100
"""Names of tables that an answer keeps as used."""


class Context(TypedDict):
    """Context of a question for a model, as sections of a prompt.

    `schema` hardly depends on the question, so that a provider's cache of prompts holds it; `details` are
    looked up for this question, `page` is what the page shows. `rules` are those that the model has to
    follow, `rules_left_out` the names of those for which there was no room. `used` names what the sections
    are made of; None if there is no context.
    """

    schema: str
    details: str
    page: str
    precedents: list[Precedent]
    rules: str
    rules_left_out: list[str]
    used: UsedContext | None


NO_CONTEXT: Context = {
    "schema": "",
    "details": "",
    "page": "",
    "precedents": [],
    "rules": "",
    "rules_left_out": [],
    "used": None,
}


FactKind = Literal["decision", "lesson_learned", "preference", "procedure", "task_update", "terminology"]
FactScope = Literal["session", "workspace", "user", "shared"]
"""How far a fact reaches: one session, an owner's questions to one database, all questions of an owner, or
everyone who may ask one database.
"""


@described
class NamedFact(TypedDict):
    """A fact that KAI remembers."""

    id: str
    """Id of the fact."""
    kind: FactKind
    """Kind of the fact."""
    scope: FactScope
    """How far the fact reaches."""
    text: str
    """The fact, as it was written."""


class RememberedFact(NamedFact):
    """A fact that a prompt shows. `date` is the day on which it was written, such as `2026-03-31`."""

    date: str


@described
class Finding(TypedDict):
    """A statement of an investigation, made from the result that it names."""

    text: str
    """The statement, in a sentence of the program."""
    reading: str | None
    """A sentence of the model on it, without figures and names of the data. Null without one."""
    references: list[Reference]
    """The sources of the statement; `span` counts code points of `text`."""


def _read_findings(found: JsonValue) -> JsonValue:
    """Earlier commits stored the model's words as `claim`, with what the result says of them: they are read
    as text without references, and left out if the result contradicts them.
    """
    if not isinstance(found, list):
        return found
    read: list[JsonValue] = []
    for each in found:
        if not (isinstance(each, dict) and "claim" in each):
            read.append(each)
        elif each.get("status") != "contradicted":
            read.append({"text": each["claim"], "reading": None, "references": []})
    return read


StoredFindings = Annotated[list[Finding], BeforeValidator(_read_findings)]


@described
class Code(TypedDict):
    """Code that an answer shows for users to take along. KAI has not run it."""

    language: str
    """Language of the code, such as `sql` or `python`."""
    content: str
    """The code."""
    checked: bool
    """KAI would run it: a statement that only reads, with names that the database has. False for other
    languages, which KAI cannot check.
    """


LinkTarget = Literal["table", "result", "database"]


@described
class Link(TypedDict):
    """A thing that an answer names, and that exists."""

    label: str
    """Words of the link."""
    resource_type: LinkTarget
    """Kind of the thing."""
    resource_id: str
    """Id of the thing: of a database its connection; of a table the connection, a slash and its name; of a
    result the call that has fetched it.
    """


ActionKind = Literal["open_result", "open_table", "ask", "rerun"]


def _read_earlier_payload(stored: object) -> object:
    """A stored payload may be from before `connection_id` became `db_connection_id`."""
    if isinstance(stored, dict) and "connection_id" in stored:
        return {f"db_{name}" if name == "connection_id" else name: each for name, each in stored.items()}
    return stored


@described
class Action(TypedDict):
    """Something that users may do next, by one click."""

    label: str
    """Words of the action."""
    action: ActionKind
    """What it does: opens a result or a table, or puts a question into the question box: a new one (`ask`),
    or that of this answer again (`rerun`).
    """
    payload: Annotated[dict[str, str], BeforeValidator(_read_earlier_payload)]
    """What it does it with: `result_id`, `db_connection_id` and `table`, or `question`."""


CallGate = Literal["free", "asks"]
"""How a call begins: it runs, or it asks a person first."""


class ToolCallRef(TypedDict):
    """A call of a tool in the present step of an investigation."""

    id: str
    """Id of the call, which is also that of its result."""
    tool: str
    """Name of the tool."""
    gate: CallGate


CallOutcome = Literal["done", "failed", "denied", "expired", "withdrawn", "unknown"]
"""How a call ended. `unknown`: it began, and its process died before the end was stored."""


def merged_outcomes(known: dict[str, CallOutcome], new: dict[str, CallOutcome]) -> dict[str, CallOutcome]:
    """Returns all outcomes: the calls of a step end one by one."""
    return {**known, **new}


def latest_run(_: str, new: str) -> str:
    """Returns the new id. Of a run that goes on with a turn and waits again, the checkpoint has both."""
    return new


class InvestigationState(TypedDict):
    """How far the turn's investigation has come.

    What was called and returned is in documents; this holds ids only.
    """

    step: int
    calls: list[ToolCallRef]
    """The calls of the present step."""
    call_count: int
    """Number of calls in all steps."""
    limit_reached: bool
    is_concluded: bool


class UnfinishedInvestigation(TypedDict):
    """An investigation that ended without an answer. What it called and returned is in documents."""

    message_id: str
    question: str
    """The question, at most 1,000 characters of it."""
    plan: str
    """The plan, at most 1,000 characters of it."""
    step: int
    """The last step that was stored."""


class SessionState(TypedDict, total=False):
    """The state that a step reads. A step returns any part of it as its update.

    `current_sql`, `current_results` and `current_analysis` always describe the last answered data
    question together; the statement being tried is `draft`. `current_results` is the head of the rows
    kept for the message `results_message_id`. `messages` are the exchanges that the summary does not
    cover yet. `summary_pause` counts the turns until the next summary is due; after a failed one
    (`summary_failed`) the next turn tries again. `options` are those of the latest question back, until a
    later question is understood. `current_analysis`, `interpretation`, `draft` and `repair` are dumps of the
    parts of an answer (`Analysis`, `Interpretation`, `Draft` and `Repair` in graph/answer.py).

    `turns` counts the questions asked, `answered_turn` is the latest that ended with an answer: neither in an
    error nor with a question back.
    """

    session_id: str
    db_connection_id: str
    messages: list[PastExchange]
    summary: str | None
    summary_pause: int
    summary_failed: bool
    current_query: str | None
    current_sql: str | None
    current_author: Author
    current_plan: str
    current_results: Rows | None
    results_message_id: str
    current_analysis: dict[str, JsonValue] | None
    options: list[Option]
    unfinished: UnfinishedInvestigation | None
    """The latest investigation, until a turn ends with an answer or a question back: one that failed or was
    cancelled can go on with its steps.
    """
    turns: Annotated[int, operator.add]
    answered_turn: int
    status: Literal["idle", "processing", "error", "closed"]
    metadata: dict[str, JsonValue]
    created_at: str
    updated_at: str

    # The current turn; every question resets these fields.
    run_id: Annotated[str, latest_run]
    message_id: str
    context: Context
    remembered: list[str]
    """Ids of the facts that the prompt shows, at most ten. Their texts are not part of the state: a fact may
    be forgotten at any time."""
    route: Route
    reply: str
    interpretation: dict[str, JsonValue]
    draft: dict[str, JsonValue] | None
    repair: dict[str, JsonValue] | None
    tokens_used: int
    done: Annotated[dict[str, CallOutcome], merged_outcomes]
    """Outcomes of the present step's calls, by their ids. Every step resets them."""
    investigation: InvestigationState | None
    """Null before its first step. The plan is the `reply` of the SQL model."""

    # In checkpoints of earlier commits, in place of `interpretation` and `draft`: read for one release.
    draft_sql: str | None
    author: Author
    understanding: dict[str, JsonValue]
