"""Reading a model's reply: robust against models that follow a format only roughly.

A statement may come in a fenced block, bare, or as JSON; anything without a statement or a known
word at its start is taken as talk.
"""

import json
import re
from dataclasses import replace

from graph.ports import Written

_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n|```[ \t]*(?=(?:select|with)\b)", re.IGNORECASE)
_BARE = re.compile(r"\s*(?=(?:select|with)\b)", re.IGNORECASE)
_ROWS = re.compile(r"\W*rows\W*", re.IGNORECASE)
_MARKED = re.compile(r"\W*(clarify|chat)\W*:\W*(.*)", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(r"\W*question\W*:[ \t]*(.*)(?:\n|$)", re.IGNORECASE)
_MAX_EXPLANATION = 400
_MAX_QUESTION = 1_000


class SqlDeltas:
    """Picks the statement out of a reply while it streams."""

    def __init__(self) -> None:
        self._text = ""
        self._shown = -1

    @property
    def started(self) -> bool:
        """Whether a part of the statement has been shown."""
        return self._shown >= 0

    def feed(self, token: str) -> str:
        """The part of the statement that this token adds; empty while there is none."""
        self._text += token
        start = self._shown
        if start < 0:
            start = _statement_start(self._text)
            if start < 0:
                return ""
        end = self._text.find("```", start)
        stop = end if end >= 0 else len(self._text.rstrip("`"))
        self._shown = max(start, stop)
        return self._text[start:stop]


def read_reply(text: str) -> Written:
    """What the model decided; a reply with nothing in it is empty talk."""
    if (written := _from_json(text)) is not None:
        return written
    alone, text = _standalone(text)
    return replace(_read(text), standalone_question=alone)


def _standalone(text: str) -> tuple[str, str]:
    """The question as the model has put it to stand alone, and the reply without it."""
    said = _ALONE.match(text)
    return ("", text) if said is None else (said[1].strip(" *_")[:_MAX_QUESTION], text[said.end() :])


def _read(text: str) -> Written:
    if (start := _statement_start(text)) >= 0:
        statement = text[start:].partition("```")[0].strip().rstrip(";")
        return Written("sql", statement, explanation=_before(text, start))
    if _ROWS.fullmatch(text):
        return Written("rows", "")
    if (marked := _MARKED.match(text)) is not None:
        said = marked[2].strip()
        return Written("clarify", said) if marked[1].lower() == "clarify" else Written("chat", said)
    return Written("chat", text.strip())


def _statement_start(text: str) -> int:
    fence = _FENCE.search(text)
    if fence is not None:
        return fence.end()
    bare = _BARE.match(text)
    return -1 if bare is None else bare.end()


def _before(text: str, start: int) -> str:
    said = re.sub(r"```.*$", "", text[:start], flags=re.DOTALL).strip()
    return said[:_MAX_EXPLANATION]


def _from_json(text: str) -> Written | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    statement, alone = found.get("sql") or found.get("query"), found.get("question")
    if not isinstance(statement, str):
        return None
    question = alone[:_MAX_QUESTION] if isinstance(alone, str) else ""
    return Written("sql", statement.strip().rstrip(";"), standalone_question=question)
