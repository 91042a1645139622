"""Reading a model's reply: robust against models that follow a format only roughly.

A statement may come in a fenced block, among several blocks, in tags, as JSON or bare, with reasoning and
talk around it. Anything without a statement or a known word at its start is taken as talk.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue
from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.llm.errors import ReplyTooDeep
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.sql.parsing import parsed_one
from app.modules.sql_generation.reply_object import ReplyObject, broken_sql, partial_sql, read_object
from graph.ports import Written
from graph.state import Route

_FENCE = "```"
_LANGUAGE = re.compile(r"[ \t]*[a-z][\w+-]*[ \t]*\r?\n|[ \t]*sql(?=\s)", re.IGNORECASE)
_SQL_LANGUAGE = re.compile(r"[ \t]*\w*sql\w*[ \t]*\r?\n\s*\S", re.IGNORECASE)
# Possessive where blanks could be read in two ways: a reply of many blanks would take quadratic time.
_REMARKS = r"(?:\s|--[^\n]*\n|/\*[^*]*\*/)*+"
_QUERY = re.compile(_REMARKS + r"\(*+\s*+(?:select|with)\b", re.IGNORECASE)
_BARE = re.compile(
    r"^[ \t>*-]*(?:sql(?:query)?[ \t]*:[ \t]*)?`?(?=(?:select|with)\b)", re.IGNORECASE | re.MULTILINE
)
_STREAMED = re.compile(r"```[ \t]*+(?:\w+[ \t]*+\r?\n)?\s*+(?=(?:select|with)\b)", re.IGNORECASE)
_OPENING = re.compile(r"\s*(?:```\w*\s+)?(?=[^`\s])")
_STREAMED_BARE = re.compile(r"\s*(?=(?:select|with)\b)", re.IGNORECASE)
_LIKELY = re.compile(r"\s*(?:select\b|with\s+\w+\s+as\s*\().*\bfrom\b", re.IGNORECASE | re.DOTALL)
_REASONING_TAG = re.compile(r"<(/?)(think(?:ing)?|reasoning|thought|scratchpad)>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:sql|query)>", re.IGNORECASE)
_ROWS = re.compile(r"\W*rows\W*", re.IGNORECASE)
_MARKED = re.compile(r"\W*(clarify|chat)\W*:\W*(.*)", re.IGNORECASE | re.DOTALL)
_PLAN = re.compile(r"\W*investigate\W*:(.*)", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(r"\W*question\W*:[ \t]*(.*)(?:\n|$)", re.IGNORECASE)
_JSON_KEYS = ("sql", "query", "statement")
_MAX_EXPLANATION = 400
_MAX_QUESTION = 1_000
_MAX_PLAN_LINES = 5
_MAX_PLAN = 1_000
_MAX_TRIES = 20
"""At most so many parts of a reply are tried as statements, from its end."""
_MAX_PARTS = 100
"""At most so many parts between fences are looked at, from its end."""
_PARSED_PER_STATEMENT = 4
"""All parts that are tried are together at most so many times as long as a statement may be."""


class SqlDeltas:
    """Picks a statement out of a reply while it streams: that of an object, or the first block that begins
    as one.

    The whole reply is read by `read_reply`, which may choose a later block.
    """

    def __init__(self) -> None:
        self._text = ""
        self._shown = ""
        self.started = False
        """True if a statement has begun."""

    def feed(self, token: str) -> str:
        """Returns the part of the statement that this token adds. Empty before the statement begins."""
        self._text += token
        sql = partial_sql(self._text)
        statement = _block_statement(self._text) if sql is None else _without_fence(sql)
        if statement is None or not statement.startswith(self._shown):
            return ""
        self.started = True
        delta = statement[len(self._shown) :]
        self._shown = statement
        return delta


def _without_fence(sql: str) -> str | None:
    """Returns the statement of an object as far as it is written. None before its first letter."""
    found = _OPENING.match(sql)
    if found is None:
        return None
    statement = sql[found.end() :]
    return statement.partition(_FENCE)[0].rstrip("`") if _FENCE in found[0] else statement


def _block_statement(text: str) -> str | None:
    """Returns the first block that begins as a statement, as far as it is written."""
    found = _STREAMED.search(text) or _STREAMED_BARE.match(text)
    if found is None:
        return None
    statement, fence, _ = text[found.end() :].partition(_FENCE)
    return statement if fence else statement.rstrip("`")


class _Candidate(NamedTuple):
    """A part of a reply that begins as a statement does, and what was said before it."""

    sql: str
    before: str
    question: str = ""


def read_reply(
    text: str,
    dialect: str,
    max_characters: int = STATEMENT_CHARACTERS,
    *,
    may_investigate: bool = False,
) -> Written:
    """Parse a model's reply. An empty reply is small talk without text.

    The last statement that parses as a query in the dialect counts. If none parses, the last one is taken
    all the same, so that the model gets its error. This also holds for a statement longer than
    `max_characters`, or nested too deeply to be parsed. `may_investigate`: a reply may ask for an
    investigation by a plan, which may hold statements. Raises `ReplyTooDeep` for an object nested so.
    """
    tries = _Tries(dialect, max_characters)
    text = _without_reasoning(text)
    if (said := read_object(text)) is not None:
        return _from_object(said, tries)
    alone, text = _standalone(text)
    if may_investigate and (asked := _PLAN.match(text)) is not None:
        return Written(route="investigate", text=_plan(asked[1]), standalone_question=alone)
    text = _TAG.sub(_FENCE, text)
    if (found := _statement(text, tries)) is not None:
        question = alone or found.question[:_MAX_QUESTION]
        explanation = found.before[:_MAX_EXPLANATION]
        return Written(route="sql", text=found.sql, explanation=explanation, standalone_question=question)
    return _without_statement(text).model_copy(update={"standalone_question": alone})


def _plan(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return "\n".join(lines[:_MAX_PLAN_LINES])[:_MAX_PLAN]


def _from_object(said: ReplyObject, tries: "_Tries") -> Written:
    """A statement counts on every route but those that answer in words."""
    question = said.question[:_MAX_QUESTION]
    words = said.text or said.explanation
    in_words = said.route in {"clarify", "chat"} and said.text
    if said.sql and not in_words:
        found = _statement(said.sql, tries)
        sql = found.sql if found else _tidied(said.sql)
        explanation = said.explanation[:_MAX_EXPLANATION]
        return Written(route="sql", text=sql, explanation=explanation, standalone_question=question)
    if said.route == "rows":
        return Written(route="rows", text="", standalone_question=question)
    route: Route = "clarify" if said.route == "clarify" else "chat"
    return Written(route=route, text=words, standalone_question=question)


def _without_reasoning(text: str) -> str:
    """Some open models write their reasoning between tags, or close a tag that they never opened."""
    tags = list(_REASONING_TAG.finditer(text))
    ends: dict[str, list[int]] = {}
    for position, tag in enumerate(tags):
        if tag[1]:
            ends.setdefault(tag[2].lower(), []).append(position)
    kept: list[str] = []
    at = 0
    for position, tag in enumerate(tags):
        if tag.start() < at:
            continue  # within reasoning
        if tag[1]:
            kept.clear()
            at = tag.end()
            continue
        closing = ends.get(tag[2].lower(), [])
        following = bisect_right(closing, position)
        if following < len(closing):
            kept.append(text[at : tag.start()])
            at = tags[closing[following]].end()
    return "".join([*kept, text[at:]])


def _standalone(text: str) -> tuple[str, str]:
    """Returns the standalone question that the model wrote, and the reply without it."""
    said = _ALONE.match(text)
    return ("", text) if said is None else (said[1].strip(" *_")[:_MAX_QUESTION], text[said.end() :])


def _without_statement(text: str) -> Written:
    if _ROWS.fullmatch(text):
        return Written(route="rows", text="")
    if (marked := _MARKED.match(text)) is not None:
        said = marked[2].strip()
        is_question_back = marked[1].lower() == "clarify"
        return Written(route="clarify" if is_question_back else "chat", text=said)
    return Written(route="chat", text=text.strip())


def _statement(text: str, tries: "_Tries") -> _Candidate | None:
    blocks = _blocks(text)
    for block in reversed(blocks):
        if tries.is_query(block.sql):
            return block
    if (sql := broken_sql(text)) is not None and tries.is_query(_tidied(sql)):
        return _Candidate(_tidied(sql), "")
    return _bare(text, tries) or (blocks[-1] if blocks else None)


def _blocks(text: str) -> list[_Candidate]:
    """Returns the last few parts between fences, or after a fence that is never closed.

    A model that repeats its instructions may open a fence in a sentence, so each part between two
    fences may be a block.
    """
    parts = text.split(_FENCE)
    found: list[_Candidate] = []
    for index in range(len(parts) - 1, max(len(parts) - 1 - _MAX_PARTS, -1), -1):
        if len(found) == _MAX_TRIES:
            break
        part = parts[index]
        language = _LANGUAGE.match(part) if index else None
        content = part[language.end() :] if language else part
        if index and (_QUERY.match(content) or _SQL_LANGUAGE.match(part)):
            found.append(_Candidate(_tidied(content), _before(parts, index)))
        elif (said := _from_json(content, _before(parts, index))) is not None:
            found.append(said)
    return found[::-1]


def _before(parts: Sequence[str], index: int) -> str:
    """The words before a block, other blocks left out."""
    return " ".join(parts[:index:2]).strip()


def _bare(text: str, tries: "_Tries") -> _Candidate | None:
    """The last statement that begins a line, as far as it parses: up to its semicolon, or to the last line
    with which it still is a query. After prose it needs a FROM, for "select the year" parses as well. Where
    nothing parses, a reply that is all statement is taken as it stands."""
    for found in reversed(list(_BARE.finditer(text))[-_MAX_TRIES:]):
        rest = text[found.end() :].partition(_FENCE)[0]
        for sql in _beginnings(rest):
            if tries.is_query(sql, of_tables=bool(text[: found.start()].strip())):
                return _Candidate(sql, text[: found.start()].partition(_FENCE)[0].strip())
    rest = text.partition(_FENCE)[0]
    return _Candidate(_tidied(rest), "") if _LIKELY.match(rest) else None


def _beginnings(text: str) -> Iterator[str]:
    """The text up to a semicolon, then shorter and shorter by a line."""
    yield _tidied(text.partition(";")[0])
    lines = text.splitlines()
    for count in range(len(lines), max(len(lines) - _MAX_TRIES, 0), -1):
        yield _tidied("\n".join(lines[:count]))


def _tidied(sql: str) -> str:
    return sql.strip().strip("`").rstrip().rstrip(";").rstrip()


class _Tries:
    """Parses parts of a reply, which together are bounded: a reply may have hundreds of beginnings."""

    def __init__(self, dialect: str, max_characters: int) -> None:
        """A part with more than `max_characters` is not parsed; the guard will refuse it."""
        self._dialect = dialect
        self._max_characters = max_characters
        self._characters_left = _PARSED_PER_STATEMENT * max_characters

    def is_query(self, sql: str, *, of_tables: bool = False) -> bool:
        if len(sql) > min(self._max_characters, self._characters_left):
            return False
        self._characters_left -= len(sql)
        try:
            parsed = parsed_one(sql, self._dialect)
        except (SqlglotError, RecursionError):
            return False
        return isinstance(parsed, exp.Query) and (not of_tables or parsed.find(exp.From) is not None)


def _from_json(text: str, before: str) -> _Candidate | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found: JsonValue = json.JSONDecoder().raw_decode(text.lstrip())[0]
    except RecursionError:
        raise ReplyTooDeep from None
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    statement = next(
        (said for key in _JSON_KEYS if isinstance(said := found.get(key), str) and said.strip()), None
    )
    question = found.get("question")
    if statement is None:
        return None
    return _Candidate(_tidied(statement), before, question if isinstance(question, str) else "")
