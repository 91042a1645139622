"""The answer of a turn. Each of its fields is defined here and nowhere else.

Writer and analyst return its parts, the state holds dumps of them, events carry them. A
stored message and its form on the wire extend `Answer`. See docs/decisions/0018-one-answer.md.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from graph.described import Described
from graph.state import (
    Action,
    Author,
    Code,
    Column,
    Cut,
    Link,
    Option,
    Reference,
    Route,
    Rows,
    SessionState,
    StoredFindings,
    UsedContext,
)

MAX_HEAD_ROWS = 20
MAX_HEAD_BYTES = 8 * 1024
"""Of the JSON of the rows that a message keeps."""

References = Annotated[
    list[Reference],
    Field(
        description="Sources of the statements of the analysis, in the order of its text. `span` counts "
        "Unicode code points of that text.",
        examples=[
            [
                {
                    "key": "highest_revenue_clothing",
                    "span": [0, 77],
                    "result_id": "7d9f3a52",
                    "how": "highest revenue of 3 rows",
                    "value": "193834.08",
                    "cells": [{"row": 0, "column": "revenue"}],
                    "cell_count": 1,
                }
            ]
        ],
    ),
]


class _Part(Described):
    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


class Interpretation(_Part):
    """How the question was understood. A repair of the statement leaves it as it is."""

    explanation: str = ""
    """The interpretation of the question, in words."""
    standalone_question: str = ""
    """A follow-up in words that stand alone. Empty if the question stands alone as asked."""


class StatementDetails(_Part):
    """What an answer shows of its statement, besides its text."""

    dialect: str = ""
    """SQL dialect of the statement. Empty without a statement."""
    sql_pretty: str = ""
    """The statement, laid out for reading; as it is if it cannot be parsed. Empty without a statement of the
    answer.
    """
    corrections: list[str] = Field(
        default_factory=list,
        examples=[["Read `Brazil` as text: no column has this name."]],
    )
    """What was changed of the statement that the model wrote, and why the model wrote it again, one sentence
    each. Empty if nothing was.
    """


class Draft(StatementDetails):
    """A statement with all that belongs to it. A repair replaces it as a whole."""

    sql: str
    """The statement."""
    author: Author = "model"
    """The author of the statement."""
    plan: str = ""
    """The built-in writer's plan of the statement, as JSON, which a follow-up changes. Empty without one."""


class Repair(_Part):
    """The one repair of a turn: the statement to be repaired, and why.

    Cause `error`: the statement did not run, and `reasons` holds the words of the check, the guard or the
    database. Cause `warnings`: the statement ran and its result is the answer so far; `reasons` speak against
    that result.
    """

    first: Draft
    cause: Literal["error", "warnings"]
    reasons: list[str]


class Offer(_Part):
    """The choice that a question back offers."""

    options: list[Option] = Field(
        default_factory=list,
        examples=[
            [
                {"label": "order date", "question": "Orders per month of order date"},
                {"label": "ship date", "question": "Orders per month of ship date"},
            ]
        ],
    )
    """Readings that the question back offers. Empty if there are none. The next question may be an option's
    `question`, its `label` or its number, counted from 1.
    """


class Statements(_Part):
    """What the sentences of an analysis say, and what they were computed from."""

    headline: str | None = None
    """The first statement in at most twelve words. Null if there is none."""
    references: References = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    """Why parts of the model's choice were left out, one sentence each. Empty if nothing was."""
    findings: StoredFindings = Field(default_factory=list)
    """What an investigation found, each computed from the result that it names. Empty for other answers."""


class Findings(Statements):
    """Parts of an analysis besides its text."""

    chart: dict[str, JsonValue] | None = None
    """A Vega-Lite specification with its data inline. Null if there is none."""
    suggestions: list[str] = Field(default_factory=list)
    """Suggested questions, complete enough to be sent unchanged."""
    code: list[Code] = Field(default_factory=list)
    """Code that an investigation wrote for the user. KAI has not run it."""
    link: list[Link] = Field(default_factory=list)
    """Tables, results and databases that an investigation points at."""
    action: list[Action] = Field(default_factory=list)
    """What an investigation proposes to do next."""


class Effort(_Part):
    """What an investigation took."""

    steps: int = 0
    """Steps of the investigation: calls of the model that chose the next calls of tools. 0 without one."""
    tool_calls: int = 0
    """Calls of tools that the investigation made."""
    limit_reached: bool = False
    """A limit ended the investigation before the model did: the answer holds what was found until then."""


class DatabaseCost(_Part):
    """What the statements cost, in the last attempt at the run: also those that checked or compared."""

    database_ms: int = 0
    """Milliseconds that statements took, from their check to their last row. 0 without a statement."""
    rows_read: int | None = None
    """Rows that the database read for them. Null if it does not say."""
    bytes_read: int | None = None
    """Bytes that the database read for them. Null if it does not say."""


class ResultHeader(_Part):
    """The result without its rows, which are stored apart."""

    columns: list[Column] = Field(default_factory=list)
    """Columns of the result, in order."""
    row_count: int | None = None
    """Number of stored rows. Null if there is no result."""
    truncated: bool = False
    """A limit cut the result."""
    cut_by: Cut | None = None
    """The limit that cut the result: `rows` or `bytes` if rows are missing, `values` if long values are
    cut. Null otherwise.
    """


class Analysis(Findings):
    """The analysis of a result: its text in Markdown, and what goes with it."""

    text: str


class Answer(Interpretation, StatementDetails, Offer, ResultHeader, Findings, Effort, DatabaseCost):
    """An answer as it is stored and sent."""

    route: Route = "sql"
    """Kind of the answer: from a statement, from rows already fetched, a question back, small talk, or an
    investigation of several steps.
    """
    sql: str | None = None
    """The statement; of a failed answer the one that failed. Null if there is none."""
    results_summary: str | None = None
    """One line about the rows, for later questions. Null without an analysis."""
    analysis: str | None = None
    """The analysis or the reply to small talk, in Markdown. Null if there is none."""
    clarification: str | None = None
    """The question back. Null if there is none."""
    rows_head: list[list[JsonValue]] = Field(default_factory=list)
    """The first rows of the result: at most 20, and 8 KiB of JSON. Empty without a result."""
    remembered: list[str] = Field(default_factory=list)
    """Ids of the facts that the model read with the question, at most ten. Empty if there are none."""
    context: UsedContext | None = None
    """What the model or the verified example knew of the database. Null for the user's own statement and the
    built-in writer's.
    """


class TurnAnswer(Answer):
    """The answer of a turn so far, with what its message does not hold."""

    results: Rows | None = None
    """The head of the rows that this turn fetched."""
    summary: str | None = None
    """Summary of the conversation's older exchanges, after the turn's last completed step."""
    tokens_used: int = 0
    cached_tokens: int | None = None
    """Of the tokens used, those that providers read from their caches; None if none reported them."""


def shift_references(references: Sequence[Reference], by: int) -> list[Reference]:
    """Returns references of a text at their places behind so many code points."""
    return [Reference(**{**each, "span": [at + by for at in each["span"]]}) for each in references]


def interpretation_of(state: SessionState) -> Interpretation:
    """Returns how the turn's question was understood; an empty one before its statement is written."""
    if "interpretation" not in state:
        return Interpretation.model_validate(state["understanding"])
    return Interpretation.model_validate(state["interpretation"])


def draft_of(state: SessionState) -> Draft | None:
    """Returns the statement that the turn tries or has run; None before it is written, and without one."""
    if "draft" not in state:
        old = state["draft_sql"]
        return None if old is None else _old_draft(state, {"sql": old})
    return None if state["draft"] is None else Draft.model_validate(state["draft"])


def repair_of(state: SessionState) -> Repair | None:
    """Returns the turn's repair; None if nothing is to be repaired."""
    repair = state["repair"]
    if repair is None:
        return None
    if "first" not in repair:
        return Repair.model_validate({**repair, "first": _old_draft(state, repair)})
    return Repair.model_validate(repair)


def answer_of(state: SessionState) -> TurnAnswer:
    """Returns the answer of the turn's completed steps, derived from the state alone.

    LangGraph's list of next steps cannot be used: between a step's writes and its checkpoint it is empty.
    """
    route = state["route"]
    standing = _standing_draft(state)
    author = "model" if (draft := draft_of(state)) is None else draft.author
    fetched = route in ("sql", "investigate") and state.get("results_message_id") == state["message_id"]
    results = state.get("current_results") if fetched else None
    exchanges = state.get("messages", [])
    is_answered = bool(exchanges) and exchanges[-1]["id"] == state["message_id"]
    is_reply = route in ("clarify", "chat")
    found = state.get("current_analysis") if is_answered and not is_reply else None
    analysis = Analysis.model_validate(found) if found is not None else None
    reply = state["reply"] if is_answered and is_reply else None
    return TurnAnswer(
        **interpretation_of(state).model_dump(),
        **(standing.model_dump(include=set(StatementDetails.model_fields)) if standing else {}),
        **ResultHeader.model_validate(results or {}).model_dump(),
        **(analysis.model_dump(exclude={"text"}) if analysis else {}),
        route=route,
        sql=standing.sql if standing else None,
        results=results,
        rows_head=head_of(results["rows"]) if results else [],
        results_summary=exchanges[-1]["results_summary"] if analysis else None,
        analysis=analysis.text if analysis else reply if route == "chat" else None,
        clarification=reply if route == "clarify" else None,
        options=state.get("options", []) if is_answered and route == "clarify" else [],
        **_effort(state).model_dump(),
        remembered=state.get("remembered", []) if author == "model" else [],
        context=used_context(state),
        summary=state.get("summary"),
        tokens_used=state["tokens_used"],
    )


def used_context(state: SessionState) -> UsedContext | None:
    """Returns what the statement's author knew. None for an answer without a statement of the turn's own."""
    draft = draft_of(state)
    if state["route"] != "sql" or draft is None or draft.author not in ("model", "verified"):
        return None
    return state["context"]["used"]


def head_of(rows: Sequence[list[JsonValue]]) -> list[list[JsonValue]]:
    """Returns the first rows, as many as a message keeps."""
    head: list[list[JsonValue]] = []
    size = 0
    for row in rows[:MAX_HEAD_ROWS]:
        size += len(json.dumps(row)) + 1
        if size > MAX_HEAD_BYTES:
            break
        head.append(row)
    return head


def _effort(state: SessionState) -> Effort:
    investigation = state.get("investigation")
    if investigation is None:
        return Effort()
    return Effort(
        steps=investigation["step"],
        tool_calls=investigation["call_count"],
        limit_reached=investigation["limit_reached"],
    )


def _standing_draft(state: SessionState) -> Draft | None:
    """Returns the statement of the answer; None if there is none."""
    draft = draft_of(state)
    repair = repair_of(state)
    if state["route"] not in ("sql", "investigate") or draft is None:
        return None
    if repair is None:
        return draft
    if repair.cause == "warnings":
        # The rows at hand are still those of the statement to be repaired.
        return repair.first
    return None if repair.first.sql == draft.sql else draft


def _old_draft(state: SessionState, statement: Mapping[str, JsonValue]) -> Draft:
    """Returns a draft of a state of an earlier commit, which kept it in several fields."""
    named = {**state["understanding"], **statement, "author": state["author"]}
    return Draft.model_validate({name: named[name] for name in Draft.model_fields if name in named})
