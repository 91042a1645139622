"""State of a session's thread between steps: plain JSON values only.

A checkpoint holds exactly this state, so every field is bounded. The whole history is stored as message
documents, the whole result as result documents. Times are RFC 3339 in UTC.
"""

import operator
from typing import Annotated, Literal, NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

Route = Literal["sql", "rows", "clarify", "chat"]
Author = Literal["builtin", "model", "verified", "user"]
"""The author of a statement: the built-in writer, a model, a verified example, or the user."""


Cut = Literal["rows", "bytes", "values"]
"""The limit that cut a result: the number of its rows, its size, or the length of single values."""


class Column(TypedDict):
    """One column of a result.

    `type` is one of text, integer, number, boolean, date, datetime, time, binary, json.
    """

    name: str
    type: str


class Rows(TypedDict):
    """A result, or its head: `row_count` counts all stored rows, and `rows` may hold only the first of them.

    `truncated` means that a limit cut the result. `cut_by` names the limit: rows are missing, or the ends
    of long values.
    """

    columns: list[Column]
    rows: list[list[JsonValue]]
    row_count: int
    truncated: bool
    cut_by: NotRequired[Cut | None]


ClaimStatus = Literal["checked", "not_found", "contradicted"]


class ClaimSource(TypedDict):
    """The place in the result that decides a claim.

    `row` is a 0-based index into all stored rows, and None for a value computed from several rows. `how`
    describes the computation ("sum of revenue over 12 rows").
    """

    column: str
    row: int | None
    how: str


Claim = TypedDict(
    "Claim",
    {"text": str, "span": list[int], "status": ClaimStatus, "from": ClaimSource | None},
)
"""A claim of an analysis, which the rows confirm, do not decide, or contradict.

`span` holds start and end in Unicode code points of the whole analysis text.
"""


class Option(TypedDict):
    """A reading that a question back offers: a label for the user, and the full question."""

    label: str
    question: str


class Message(TypedDict):
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


class Context(TypedDict):
    """What a model is shown with a question, as sections of a prompt.

    `schema` hardly depends on the question, so that a provider's cache of prompts holds it; `details` are
    looked up for this question.
    """

    schema: str
    details: str
    precedents: list[Precedent]


NO_CONTEXT: Context = {"schema": "", "details": "", "precedents": []}


class Repair(TypedDict):
    """The one repair of a turn: the statement to be repaired, and why.

    Cause `error`: the statement did not run, and `reasons` holds the words of the check, the guard or the
    database. Cause `warnings`: the statement ran and its result is the answer so far; `reasons` speak against
    that result, and `corrections` are those of the statement.
    """

    sql: str
    cause: Literal["error", "warnings"]
    reasons: list[str]
    corrections: list[str]


class SessionState(TypedDict, total=False):
    """The state that a step reads. A step returns any part of it as its update.

    `current_sql`, `current_results` and `current_analysis` always describe the last answered data
    question together; the statement being tried is `draft_sql`. `current_results` is the head of the rows
    kept for the message `results_message_id`. `messages` are the exchanges that the summary does not
    cover yet. `summary_pause` counts the turns until the next summary is due; after a failed one
    (`summary_failed`) the next turn tries again. `options` are those of the latest question back, until a
    later question is understood. `current_analysis` and `understanding` are dumps of the parts of an answer
    (`Analysis` and `Understanding` in graph/answer.py).

    `turns` counts the questions asked, `answered_turn` is the latest that ended with an answer: neither in an
    error nor with a question back.
    """

    session_id: str
    db_connection_id: str
    messages: list[Message]
    summary: str | None
    summary_pause: int
    summary_failed: bool
    current_query: str | None
    current_sql: str | None
    current_author: Author
    current_results: Rows | None
    results_message_id: str
    current_analysis: dict[str, JsonValue] | None
    options: list[Option]
    turns: Annotated[int, operator.add]
    answered_turn: int
    status: Literal["idle", "processing", "error", "closed"]
    metadata: dict[str, JsonValue]
    created_at: str
    updated_at: str

    # The current turn; every question resets these fields.
    run_id: str
    message_id: str
    context: Context
    route: Route
    reply: str
    draft_sql: str | None
    author: Author
    understanding: dict[str, JsonValue]
    repair: Repair | None
    tokens_used: int
