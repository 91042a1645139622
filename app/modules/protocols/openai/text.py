"""Answers as one growing Markdown text: statement, rows, analysis and suggestions. Pure."""

import re
from collections.abc import Sequence

from pydantic import JsonValue

from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Confirmation,
    Reset,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    SuggestionsChunk,
    TextChunk,
)
from graph.state import Rows

MAX_ROWS = 20
"""Of a table."""
_MAX_CELL = 500
_FENCES = re.compile(r"`{3,}")
_BROKEN = re.compile(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_MARKUP = re.compile(r"([\\|`*_\[\]<>~])")


class AnswerText:
    """Turns the events of a run into text that can only be appended to.

    After a reset the run emits its parts again. What the client has already is not repeated; if the parts
    differ, the new answer follows the old one in full.
    """

    def __init__(self) -> None:
        self._sent = ""
        self._current = ""
        self._is_replaying = False
        self._analysis = ""
        self._has_statement = False

    def add(self, event: SessionEvent) -> str:
        """Returns the text that an event adds, often none."""
        if isinstance(event, Reset):
            self._restart()
            return ""
        piece = self._piece(event)
        if not piece:
            return ""
        self._current += piece
        return self._new() if self._is_replaying else piece

    def _restart(self) -> None:
        if not self._is_replaying:
            self._sent = self._current
        self._current = ""
        self._is_replaying = bool(self._sent)
        self._analysis = ""
        self._has_statement = False

    def _new(self) -> str:
        """Returns what the client lacks of the text that is emitted again."""
        if self._sent.startswith(self._current):
            return ""
        self._is_replaying = False
        if self._current.startswith(self._sent):
            return self._current[len(self._sent) :]
        return f"\n\n---\n\n*The answer began again.*\n\n{self._current}"

    def _piece(self, event: SessionEvent) -> str:
        match event:
            case TextChunk(channel="analysis", content=content):
                self._analysis += content
                return content
            case SqlChunk(tool_call_id=None, content=content):
                again = "*Corrected statement:*\n\n" if self._has_statement else ""
                self._has_statement = True
                return again + fenced(content)
            case ResultsChunk(tool_call_id=None, content=content):
                return table(content)
            case AnalysisChunk(content=content):
                return self._rest(content)
            case ClarificationChunk(content=content, options=options):
                return self._rest(content) + numbered([each["label"] for each in options])
            case SuggestionsChunk(content=content):
                return "\n\n" + "".join(f"- {one_line(each)}\n" for each in content)
            case _:
                return ""

    def _rest(self, whole: str) -> str:
        """Returns what the pieces lack of a whole text, or all of it if they differ."""
        said = self._analysis
        self._analysis = whole
        if whole.startswith(said):
            return whole[len(said) :]
        return f"\n\n---\n\n{whole}"


def fenced(sql: str) -> str:
    """Returns a statement as a block of SQL, fenced so that no text of it ends the block."""
    longest = max((len(each) for each in _FENCES.findall(sql)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}sql\n{sql}\n{fence}\n\n"


def table(rows: Rows) -> str:
    """Returns the first rows as a table of Markdown."""
    names = [each["name"] for each in rows["columns"]]
    if not names:
        return ""
    shown = rows["rows"][:MAX_ROWS]
    lines = [_line(names), "|" + " --- |" * len(names), *map(_line, shown)]
    more = rows["row_count"] - len(shown)
    if more > 0:
        lines.append(f"\n*{more:,} more {'row' if more == 1 else 'rows'}*")
    return "\n".join(lines) + "\n\n"


def _line(values: Sequence[JsonValue]) -> str:
    return "| " + " | ".join(map(cell, values)) + " |"


def cell(value: JsonValue) -> str:
    """Returns a value of a cell as plain text: one line, without markup of Markdown or HTML."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = one_line(str(value))
    shown = text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"
    return _MARKUP.sub(r"\\\1", shown)


def one_line(text: str) -> str:
    return _BROKEN.sub(" ", text)


def numbered(labels: Sequence[str]) -> str:
    """Returns the readings that a question back offers."""
    if not labels:
        return ""
    return "\n\n" + "".join(f"{number}. {one_line(each)}\n" for number, each in enumerate(labels, 1))


def where_to_approve(waiting: Sequence[Confirmation], session_id: str) -> str:
    """Returns the sentence of an answer that waits for an approval, which no chat completion can give."""
    names = ", ".join(f"`{each.tool_name}`" for each in waiting) or "a call"
    return (
        f"\n\nBefore KAI goes on, {names} needs your approval, which cannot be given in this chat. Approve "
        f"or deny it on KAI's own page, in the session {session_id}, or by "
        f"POST /api/v1/sessions/{session_id}/confirmations/{{id}}.\n"
    )
