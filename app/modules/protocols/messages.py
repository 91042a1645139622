"""KAI's messages as chat messages: a question, its statement as a call of a tool, the rows, the answer.

Ids are the same while an answer streams, in the history and after a restart. Pure functions.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from app.modules.records.model import Message, Run
from graph.answer import Findings, head_of
from graph.state import Rows

SQL_TOOL = "run_sql"
"""Name of the tool that a statement is shown as a call of."""

NOTHING_FOUND: Mapping[str, JsonValue] = Findings().model_dump()
"""Parts of an analysis besides its text, where there is none."""

MAX_MESSAGES = 100
MAX_MESSAGE_BYTES = 128 * 1024
"""Of the chat messages that a client gets at once. Older ones are on KAI's own routes."""


@dataclass(frozen=True)
class ToolUse:
    """A call of a tool."""

    id: str
    name: str
    args: dict[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class ClientMessage:
    """A message as chat clients know it. Of role `tool` it answers the call `tool_call_id`."""

    id: str
    role: Literal["human", "ai", "tool"]
    text: str
    tool_calls: tuple[ToolUse, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    found: dict[str, JsonValue] = field(default_factory=dict)
    """Parts of an analysis besides its text, by the names of `Findings`; those that there are."""

    @property
    def estimated_bytes(self) -> int:
        """Of its JSON, without names of fields."""
        others: JsonValue = [[use.args for use in self.tool_calls], self.found]
        return len(self.text.encode()) + len(json.dumps(others))


def statement_id(message_id: str) -> str:
    return f"{message_id}-sql"


def rows_id(message_id: str) -> str:
    return f"{message_id}-rows"


def call_id(message_id: str) -> str:
    """Returns the id of the call that an answer's statement is shown as."""
    return f"call_{message_id}"


def question_of_run(run: Run) -> ClientMessage:
    """Returns a run's question, with the id that its stored message has."""
    return question(run.client_message_id or run.question_id, run.question)


def question(message_id: str, text: str) -> ClientMessage:
    return ClientMessage(id=message_id, role="human", text=text)


def statement(message_id: str, sql: str) -> ClientMessage:
    """Returns the statement of an answer. `message_id` is the answer's."""
    use = ToolUse(call_id(message_id), SQL_TOOL, {"sql": sql})
    return ClientMessage(id=statement_id(message_id), role="ai", text="", tool_calls=(use,))


def rows(message_id: str, found: Rows) -> ClientMessage:
    """Returns the first rows of an answer, as many as its message keeps. `message_id` is the answer's."""
    text = json.dumps(
        {
            "columns": [column["name"] for column in found["columns"]],
            "rows": head_of(found["rows"]),
            "row_count": found["row_count"],
            "truncated": found["truncated"],
        },
        ensure_ascii=False,
    )
    return _of_statement(message_id, text, is_error=False)


def no_rows(message_id: str, detail: str) -> ClientMessage:
    """Returns what stands in the place of the rows of a statement that has failed."""
    return _of_statement(message_id, detail, is_error=True)


def _of_statement(message_id: str, text: str, *, is_error: bool) -> ClientMessage:
    return ClientMessage(
        id=rows_id(message_id),
        role="tool",
        text=text,
        tool_call_id=call_id(message_id),
        tool_name=SQL_TOOL,
        is_error=is_error,
    )


def answer(message_id: str, text: str, found: Mapping[str, JsonValue] | None = None) -> ClientMessage:
    """`found` are the parts of an analysis besides its text, by the names of `Findings`."""
    said: dict[str, JsonValue] = {name: part for name, part in (found or {}).items() if part}
    return ClientMessage(id=message_id, role="ai", text=text, found=said)


def chat_messages(message: Message) -> list[ClientMessage]:
    """Returns the chat messages of a stored question or answer."""
    if message.role == "human":
        return [question(message.client_message_id or message.id, message.query)]
    found: list[ClientMessage] = []
    if message.sql is not None:
        found.append(statement(message.id, message.sql))
        if (head := rows_of(message)) is not None:
            found.append(rows(message.id, head))
        else:
            found.append(no_rows(message.id, message.error.detail if message.error else ""))
    text = message.analysis or message.clarification
    if text is not None:
        found.append(answer(message.id, text, findings_of(message)))
    return found


def rows_of(message: Message) -> Rows | None:
    """Returns the first rows of an answer; None if it has no result."""
    if message.row_count is None:
        return None
    return Rows(
        columns=message.columns,
        rows=message.rows_head,
        row_count=message.row_count,
        truncated=message.truncated,
    )


def structured_answer(
    message_id: str, thread_id: str, *, text: str, sql: str | None, found: Rows | None
) -> dict[str, JsonValue]:
    """Returns an answer in one object, which graphs that call KAI as a tool pass on to their model."""
    rows_found: dict[str, JsonValue] = {"columns": [], "rows": [], "row_count": None, "truncated": False}
    if found is not None:
        rows_found = {
            "columns": [column["name"] for column in found["columns"]],
            "rows": [*head_of(found["rows"])],
            "row_count": found["row_count"],
            "truncated": found["truncated"],
        }
    return {"text": text, "sql": sql, **rows_found, "thread_id": thread_id, "message_id": message_id}


def findings_of(message: Message) -> dict[str, JsonValue]:
    """Returns the parts of an answer's analysis besides its text, by the names of `Findings`, with the chart
    that readers see.
    """
    return {**message.model_dump(include=set(Findings.model_fields)), "chart": message.shown_chart}


def conversation(messages: Iterable[Message]) -> list[ClientMessage]:
    """Returns the latest chat messages of stored messages, oldest first."""
    return latest([each for message in messages for each in chat_messages(message)])


def latest(messages: Sequence[ClientMessage]) -> list[ClientMessage]:
    """Returns the latest messages within `MAX_MESSAGES` and `MAX_MESSAGE_BYTES`; the last one always."""
    kept: list[ClientMessage] = []
    size = 0
    for message in reversed(messages[-MAX_MESSAGES:]):
        size += message.estimated_bytes
        if kept and size > MAX_MESSAGE_BYTES:
            break
        kept.append(message)
    return kept[::-1]
