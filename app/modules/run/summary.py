"""The rolling summary of a conversation: by a model, or, without one, as a digest of its exchanges.

A digest has short lines. If space runs out, lines are dropped in this order, oldest exchanges first:
statements, findings, questions. Questions that seem to set rules for later ones ("from now on", "ignore
cancelled orders", "by revenue I mean") are dropped last.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.llm.tokens import approximate_tokens, unrounded_tokens
from app.modules.prompts.sections import sections
from graph.errors import SummaryFailed
from graph.ports import Summarized
from graph.state import PastExchange

_WORDS = 300
"""About 400 tokens in English: below the limit also for tokenizers that count more."""

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "summary.md").read_text(encoding="utf-8")

MAX_TOKENS = 499
"""Tokens of a summary: under 500."""

_MAX_PROSE_TOKENS = 4 * MAX_TOKENS // 5
_MAX_STATEMENTS_TOKENS = 150
"""Tokens of the user's rules, beside a summary that had to be cut."""
_SHORT_QUESTION = 60
_LONG_QUESTION = 300
"""Characters."""

_LINE = re.compile(r"Asked: (?P<asked>.*?)(?P<found> (?:Found|Answered): .*?)?(?P<sql> SQL: .*)?", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?\u2026][)\]\"'\u201d\u2019*_]*(?=\s|$)|[\u3002\uff01\uff1f]|(?<=\S)(?=\n)")
"""Ends of sentences, also in Chinese and Japanese, and ends of lines."""

_FOR_LATER = re.compile(
    r"\b(from now on|from here on|from this point|henceforth|going forward|in the following|throughout"
    r"|for the rest|for everything|(?:any |all )?later questions?"
    r"|in (?:all|every) (?:\w+ )?(?:answer|question)s?"
    r"|remember|keep in mind|bear in mind|note that|i mean|we mean|we call|constraint"
    r"|ab jetzt|ab sofort|dorénavant|désormais|de ahora en adelante)\b",
    re.IGNORECASE,
)
_LAYS_DOWN = re.compile(
    r"\b(always|never|unless|ignor(?:e|ing)|exclud(?:e|ing)|leav(?:e|ing) out|disregard|forget|stick to"
    r"|restrict"
    r"|limit(?:ed)? to|(?:just|only) (?:look|consider|use|count|include|want|need|care|interested)"
    r"|(?:look|consider|use|count|include)\w* only|(?:do not|don't|must not|should not)|means|defined?"
    r"|definition|assume|treat|prefer|rule|by default|immer|nie|nur|toujours|jamais|siempre|nunca)\b",
    re.IGNORECASE,
)
_QUESTION_START = re.compile(
    r"(?i)(?:how|what|which|who|whom|whose|where|when|why|is|are|was|were|do|does|did|can|could|show|list|give|count"
    r"|find|top|compare|plot|chart|draw|tell|and|question)\b"
)


class ModelSummarizer:
    """Writes the summary by one call of a model. Raises `SummaryFailed` if the model fails or writes
    nothing.

    A summary that is too long is cut at a sentence. Then the user's own rules from the covered exchanges
    are appended, because they may have been cut off.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized:
        folded = "\n\n".join(map(exchange_line, exchanges))
        messages = [
            PromptMessage("system", _INSTRUCTIONS.replace("{words}", str(_WORDS))),
            PromptMessage(
                "user", sections([("Summary so far", summary or "none"), ("Older exchanges", folded)])
            ),
        ]
        try:
            reply = await self._model.reply_within(messages, MAX_TOKENS)
        except (ModelUnavailable, ModelRejected) as error:
            raise SummaryFailed(str(error)) from error
        text = reply.text.strip()
        if reply.cut or approximate_tokens(text) > MAX_TOKENS:
            statements = kept_statements(summary, exchanges)
            room = MAX_TOKENS - approximate_tokens("\n".join(["", *statements]))
            text = "\n".join([cut_at_sentence(text, room), *statements])
        return Summarized(text, reply.tokens_used)

    def digest(self, summary: str | None, exchanges: Sequence[PastExchange]) -> str:
        return digest(summary, exchanges)


class DigestSummarizer:
    """Summarizes by one line per exchange, as far as they fit."""

    async def summarize(self, summary: str | None, exchanges: Sequence[PastExchange]) -> Summarized:
        return Summarized(digest(summary, exchanges))

    def digest(self, summary: str | None, exchanges: Sequence[PastExchange]) -> str:
        return digest(summary, exchanges)


@dataclass(frozen=True)
class _Line:
    """An exchange. `weight` (0 to 2) says how likely the question sets a rule for later ones."""

    asked: str
    found: str
    sql: str

    @property
    def text(self) -> str:
        return f"Asked: {self.asked}{self.found}{self.sql}"

    @cached_property
    def tokens(self) -> float:
        """Estimated, not rounded."""
        return unrounded_tokens(self.text)

    @property
    def weight(self) -> int:
        lays_down = _LAYS_DOWN.search(self.asked) is not None
        states = "?" not in self.asked and _QUESTION_START.match(self.asked) is None
        return 2 if _FOR_LATER.search(self.asked) or (lays_down and states) else int(lays_down or states)


def exchange_line(exchange: PastExchange) -> str:
    """Returns an exchange in one line, uncut."""
    return _line(exchange).text


def digest(summary: str | None, exchanges: Sequence[PastExchange]) -> str:
    """Returns the earlier summary, by a model or a digest, and a line per exchange, under `MAX_TOKENS`.

    Text by a model gets at most four fifths of the space.
    """
    earlier, lines = _read(summary)
    prose = "\n".join(earlier)
    if approximate_tokens(prose) > _MAX_PROSE_TOKENS:
        prose = cut_at_sentence(prose, _MAX_PROSE_TOKENS)
    lines = [*lines, *map(_line, exchanges)]
    room = MAX_TOKENS - approximate_tokens(prose + "\n")
    for shorten in (_without_sql, _without_findings, _with_short_question):
        lines = _shortened(lines, shorten, room)
    for weight in (0, 1, 2):
        lines = _dropped(lines, weight, room)
    return "\n".join([*([prose] if prose else []), *(line.text for line in lines)])


def kept_statements(summary: str | None, exchanges: Sequence[PastExchange]) -> list[str]:
    """Returns the user's rules for later questions, a line each in their order: the newest that fit."""
    _, earlier = _read(summary)
    lines = [
        _with_short_question(replace(line, found="", sql=""))
        for line in [*earlier, *map(_line, exchanges)]
        if line.weight == 2
    ]
    distinct = list(dict.fromkeys(lines))
    return [line.text for line in _dropped(distinct, 2, _MAX_STATEMENTS_TOKENS)]


def cut_at_sentence(text: str, max_tokens: int) -> str:
    """Returns the whole sentences or lines that fit, or, if none fits, the words that fit.

    A last sentence without an end is dropped, also if it would fit.
    """
    fitting = text.encode(errors="replace")[: 4 * max_tokens].decode(errors="ignore")
    ends = [match.end() for match in _SENTENCE_END.finditer(fitting)]
    if ends:
        return fitting[: ends[-1]].rstrip()
    return fitting.rstrip() if len(fitting) == len(text) else fitting.rpartition(" ")[0] or fitting


def _read(summary: str | None) -> tuple[list[str], list[_Line]]:
    """Returns the lines of a summary by a model, and those of a digest."""
    prose: list[str] = []
    lines: list[_Line] = []
    for text in (summary or "").splitlines():
        match = _LINE.fullmatch(text)
        if match is None:
            prose.append(text)
        else:
            lines.append(_Line(match["asked"], match["found"] or "", match["sql"] or ""))
    return prose, lines


def _line(exchange: PastExchange) -> _Line:
    found = sql = ""
    if exchange["results_summary"]:
        found = f" Found: {_flat(exchange['results_summary'])}"
    elif exchange["analysis"]:
        found = f" Answered: {_flat(exchange['analysis'])}"
    if exchange["sql"]:
        sql = f" SQL: {_flat(exchange['sql'])}"
    return _Line(_flat(exchange["query"]), found, sql)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _without_sql(line: _Line) -> _Line:
    return replace(line, sql="")


def _without_findings(line: _Line) -> _Line:
    return replace(line, found="")


def _with_short_question(line: _Line) -> _Line:
    limit = _LONG_QUESTION if line.weight else _SHORT_QUESTION
    return line if len(line.asked) <= limit else replace(line, asked=line.asked[: limit - 1].rstrip() + "…")


def _shortened(lines: Sequence[_Line], shorten: Callable[[_Line], _Line], room: int) -> list[_Line]:
    """Shortens lines, oldest first, until they fit."""
    kept = list(lines)
    tokens = sum(line.tokens for line in kept)
    for index, line in enumerate(kept):
        if tokens <= room:
            break
        kept[index] = shorten(line)
        tokens += kept[index].tokens - line.tokens
    return kept


def _dropped(lines: Sequence[_Line], weight: int, room: int) -> list[_Line]:
    """Drops lines of this weight, oldest first, until they fit."""
    kept = list(lines)
    tokens = sum(line.tokens for line in kept)
    for line in [each for each in lines if each.weight == weight]:
        if tokens <= room:
            break
        kept.remove(line)
        tokens -= line.tokens
    return kept
