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
from app.modules.sql.parsing import parsed, tokenized
from app.modules.sql_generation.reply_object import ReplyObject, broken_sql, partial_sql, read_object
from graph.ports import Written
from graph.state import Route

_FENCE = "```"
_RUN = re.compile(
    r"(?P<start>^[ \t>]*+)?(?P<ticks>`{3,}+)(?P<info>[^`\r\n]*+)(?P<end>\r?\n|\Z)?", re.MULTILINE
)
"""Backquotes that may be a fence, with the rest of their line; `end` is missing if there are more on it."""
_OPEN_FENCE = re.compile(r"(?:\n[ \t]*+)?(?<!`)`++[ \t]*+\Z")
_QUOTED = re.compile(r"'[^']*'|`[^`]*`")
_BROKEN_FENCE = re.compile(r"\n[ \t]*`{1,2}\s*\Z")
_LANGUAGE = re.compile(r"[ \t]*[a-z][\w+-]*[ \t]*\r?\n|[ \t]*sql(?=\s)", re.IGNORECASE)
_SQL_LANGUAGE = re.compile(r"[ \t]*\w*sql\w*[ \t]*\r?\n\s*\S", re.IGNORECASE)
# Possessive where blanks could be read in two ways: a reply of many blanks would take quadratic time.
_REMARKS = r"(?:\s|--[^\n]*\n|/\*[^*]*\*/)*+"
_QUERY = re.compile(_REMARKS + r"\(*+\s*+(?:select|with)\b", re.IGNORECASE)
_BARE = re.compile(
    r"^[ \t>*-]*(?:sql(?:query)?[ \t]*:[ \t]*)?`?(?=(?:select|with)\b)", re.IGNORECASE | re.MULTILINE
)
_STREAMED = re.compile(
    r"(?<!`)(?P<ticks>`{3,}+)[ \t]*+(?:\w+[ \t]*+\r?\n|\w*sql[ \t])?\s*+(?=(?:select|with)\b)", re.IGNORECASE
)
_OPENING = re.compile(r"\s*(?:(?P<ticks>`{3,})\w*\s+)?(?=[^`\s])")
_STREAMED_BARE = re.compile(r"\s*(?=(?:select|with)\b)", re.IGNORECASE)
_SET_OPERATION = re.compile(r"\b(?:union|except|intersect|all|distinct)\Z", re.IGNORECASE)
_WITH = re.compile(r"`?with\b", re.IGNORECASE)
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
_STEPS = 256
"""A reply that streams is read again when it has grown by this fraction of it: in linear time together."""
_PARSED_PER_STATEMENT = 4
"""All parts that are tried are together at most so many times as long as a statement may be."""


class SqlDeltas:
    """Picks a statement out of a reply while it streams: that of an object, or the first block that begins
    as one.

    The whole reply is read by `read_reply`, which may choose a later block.
    """

    def __init__(self) -> None:
        self._text = ""
        self._read = 0
        self._from = 0
        """Where the fence of a statement may begin."""
        self._opening: re.Match[str] | None = None
        """What stands before the statement of a block."""
        self._shown = ""
        self.started = False
        """True if a statement has begun."""

    def feed(self, token: str) -> str:
        """Returns what the statement has grown by. Empty before it begins, and while a long reply has not
        grown by a part of it.
        """
        self._text += token
        if len(self._text) - self._read < len(self._text) // _STEPS:
            return ""
        return self.end()

    def end(self) -> str:
        """Returns the rest of the statement."""
        self._read = len(self._text)
        sql = partial_sql(self._text)
        statement = self._block_statement() if sql is None else _without_fence(sql)
        if statement is None or not statement.startswith(self._shown):
            return ""
        self.started = True
        delta = statement[len(self._shown) :]
        self._shown = statement
        return delta

    def _block_statement(self) -> str | None:
        """Returns the first block that begins as a statement, as far as it is written."""
        if self._opening is None:
            self._opening = _STREAMED.search(self._text, self._from) or _STREAMED_BARE.match(self._text)
        if self._opening is not None:
            return _written(self._text, self._opening)
        # Nothing between a fence and its statement has a backtick.
        last = self._text.rfind("`") + 1
        self._from = len(self._text[:last].rstrip("`")) if last else len(self._text)
        return None


def _without_fence(sql: str) -> str | None:
    """Returns the statement of an object as far as it is written. None before its first letter."""
    found = _OPENING.match(sql)
    if found is None:
        return None
    return _written(sql, found) if found["ticks"] else sql[found.end() :]


def _written(text: str, opening: re.Match[str]) -> str:
    """Returns what follows an opening, up to its closing fence. A part of one at the end is left out."""
    ticks = opening.groupdict().get("ticks") or _FENCE
    content = text[opening.end() :]
    closing = _closing(content, 0, len(ticks), is_block="\n" in opening[0])
    if closing is not None:
        return content[: closing.start]
    open_fence = _OPEN_FENCE.search(content)
    if open_fence is None:
        return content
    shown = content[: open_fence.start()]
    return shown + "`" if open_fence[0].startswith("`") and _has_open_name(shown) else shown


class _Fence(NamedTuple):
    """A fence: the text before it ends at `start`, the text behind it begins at `end`."""

    start: int
    end: int


def _closing(text: str, at: int, length: int, *, is_block: bool) -> _Fence | None:
    """Returns the fence that closes what a fence of `length` backquotes has opened before `at`, or None.

    As in CommonMark it stands at the beginning of a line and is at least as long as the opening; one with
    the name of a language behind it opens the next block, whose model forgot to close the one before. Models
    also close at the end of a line, and within it what they have opened within it (not `is_block`). There
    the first backquote belongs to the statement if it ends a name.
    """
    for run in _RUN.finditer(text, at):
        if len(run["ticks"]) < length:
            continue
        start = run.start("ticks")
        if run["start"] is not None:
            opens = run["info"].strip() and run["end"]
            return _Fence(run.start(), start if opens else run.end("ticks"))
        if is_block and (run["info"].strip() or run["end"] is None):
            continue
        return _Fence(start + _has_open_name(text[at:start]), run.end("ticks"))
    return None


def _has_open_name(sql: str) -> bool:
    """True if a statement ends within a name in backquotes."""
    return "`" in _QUOTED.sub("", sql)


def _parts(text: str) -> list[str]:
    """Returns the text split at its fences: talk, the first block with its language, talk, and so on."""
    parts: list[str] = []
    at = 0
    while (run := _RUN.search(text, at)) is not None:
        parts.append(text[at : run.start()])
        at = run.end("ticks")
        is_block = run["start"] is not None and run["end"] is not None
        closing = _closing(text, at, len(run["ticks"]), is_block=is_block)
        if closing is None:
            break
        parts.append(text[at : closing.start])
        at = closing.end
    return [*parts, text[at:]]


class _Candidate(NamedTuple):
    """A part of a reply that begins as a statement does, and what was said before it."""

    sql: str
    before: str
    question: str = ""
    written: int = 1
    """Number of different statements in the reply."""

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader of the answer."""
        if self.written == 1:
            return []
        return [f"The model wrote {self.written} statements; only the last one ran."]


def read_reply(
    text: str,
    dialect: str,
    max_characters: int = STATEMENT_CHARACTERS,
    *,
    may_investigate: bool = False,
) -> Written:
    """Parse a model's reply. An empty reply is small talk without text.

    The last statement that parses as a query in the dialect counts, and `corrections` say if there were
    others. Several statements in one block are taken together, for the guard to refuse. If none parses, the
    last one is taken all the same, so that the model gets its error. This also holds for a statement longer
    than `max_characters`, or nested too deeply to be parsed. `may_investigate`: a reply may ask for an
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
        return Written(
            route="sql",
            text=found.sql,
            explanation=explanation,
            standalone_question=question,
            corrections=found.notes,
        )
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
        return Written(
            route="sql",
            text=found.sql if found else _tidied(said.sql),
            explanation=said.explanation[:_MAX_EXPLANATION],
            standalone_question=question,
            corrections=found.notes if found else [],
        )
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
    if _QUERY.match(text) and tries.holds_queries(whole := _tidied(text)):
        return _Candidate(whole, "")
    blocks = _blocks(text)
    queries = [block for block in reversed(blocks) if tries.holds_query(block.sql)]
    if queries:
        return queries[0]._replace(written=len({" ".join(each.sql.split()) for each in queries}))
    if (sql := broken_sql(text)) is not None and tries.is_query(_tidied(sql)):
        return _Candidate(_tidied(sql), "")
    return _bare(text, tries) or (blocks[-1] if blocks else None)


def _blocks(text: str) -> list[_Candidate]:
    """Returns the last few parts between fences, or after a fence that is never closed.

    A model that repeats its instructions may open a fence in a sentence, so each part between two
    fences may be a block.
    """
    parts = _parts(text)
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
    starts = [_bare_start(found) for found in _BARE.finditer(text)][-_MAX_TRIES:]
    written: list[_Span] = []
    end = len(text)
    while starts:
        start = starts.pop()
        if (last := _first_query(text, start, end, tries=tries)) is None:
            continue
        # A line of the statement may begin as another one: that of a subquery, or of the last in a union.
        for index, earlier in enumerate(starts):
            if _goes_on(text[earlier : last.start]):
                whole = _first_query(text, earlier, end, tries=tries)
                if whole is not None and whole.end >= last.end:
                    last = whole
                    starts = starts[:index]
                    break
        written.append(last)
        end = last.start
    if written:
        sql = [" ".join(_tidied(text[each.start : each.end]).split()) for each in written]
        start, stop = written[0]
        before = text[: written[-1].start].partition(_FENCE)[0].strip()
        return _Candidate(_tidied(text[start:stop]), before, written=len(set(sql)))
    rest = text.partition(_FENCE)[0]
    return _Candidate(_tidied(rest), "") if _LIKELY.match(rest) else None


def _goes_on(beginning: str) -> bool:
    """True if the statement that follows may belong to this one: in brackets, in a union or behind WITH."""
    before = beginning.rstrip(" \t\r\n(")
    if beginning.count("(") > beginning.count(")") or _SET_OPERATION.search(before[-20:]):
        return True
    return before.endswith(")") and _WITH.match(before) is not None


class _Span(NamedTuple):
    start: int
    end: int


def _bare_start(found: re.Match[str]) -> int:
    """The offset of a statement, with the backquote before it."""
    return found.end() - found[0].endswith("`")


def _first_query(text: str, start: int, end: int, *, tries: "_Tries") -> _Span | None:
    """Returns the statement at `start` as far as it parses: all, up to a semicolon, or a line less."""
    closing = _closing(text, start, len(_FENCE), is_block=False)
    rest = text[start : end if closing is None else min(end, closing.start)]
    of_tables = bool(text[:start].strip())
    if not of_tables and tries.holds_queries(_tidied(rest)):
        return _Span(start, start + len(rest))
    for length in _lengths(rest):
        if tries.is_query(_tidied(rest[:length]), of_tables=of_tables):
            return _Span(start, start + length)
    return None


def _lengths(text: str) -> Iterator[int]:
    """The length up to a semicolon, up to the last backquote if the text begins with one, then shorter and
    shorter by a line."""
    yield len(text.partition(";")[0])
    if text.startswith("`"):
        yield text.rfind("`") + 1
    lines = text.splitlines(keepends=True)
    for count in range(len(lines), max(len(lines) - _MAX_TRIES, 0), -1):
        yield sum(map(len, lines[:count]))


def _tidied(sql: str) -> str:
    """Returns a statement without the blanks, backquotes and semicolon around it."""
    sql = _BROKEN_FENCE.sub("", sql).strip()
    ticks = len(sql) - len(sql.lstrip("`"))
    if ticks:
        sql = sql[ticks:].removesuffix("`" * ticks)
    return sql.rstrip().rstrip(";").rstrip()


class _Tries:
    """Parses parts of a reply, which together are bounded: a reply may have hundreds of beginnings."""

    def __init__(self, dialect: str, max_characters: int) -> None:
        """A part with more than `max_characters` is not parsed; the guard will refuse it."""
        self._dialect = dialect
        self._max_characters = max_characters
        self._characters_left = _PARSED_PER_STATEMENT * max_characters

    def is_query(self, sql: str, *, of_tables: bool = False) -> bool:
        """True for a single query; `of_tables`: which reads a table."""
        found = self._read(sql)
        return len(found) == 1 and self._is_query(found[0], of_tables=of_tables)

    def holds_query(self, sql: str) -> bool:
        """True for statements of which one is a query."""
        return any(map(self._is_query, self._read(sql)))

    def holds_queries(self, sql: str) -> bool:
        """True for statements which all are queries."""
        found = self._read(sql)
        return bool(found) and all(map(self._is_query, found))

    @staticmethod
    def _is_query(tree: exp.Expr, *, of_tables: bool = False) -> bool:
        return isinstance(tree, exp.Query) and (not of_tables or tree.find(exp.From) is not None)

    def _read(self, sql: str) -> Sequence[exp.Expr]:
        """Returns the trees of the statements in a text; none if it cannot be parsed, or is too long."""
        if len(sql) > min(self._max_characters, self._characters_left):
            return []
        self._characters_left -= len(sql)
        try:
            found = parsed(tokenized(sql, self._dialect), sql, self._dialect)
        except (SqlglotError, RecursionError):
            return []
        return [each for each in found if each is not None and not isinstance(each, exp.Semicolon)]


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
