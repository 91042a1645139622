"""Summaries of conversations: by a model, or as a digest of the exchanges."""

import re
from collections.abc import Sequence
from pathlib import Path

from app.core.llm.model import LanguageModel, PromptMessage
from app.modules.memory.model import Exchange, Summary
from app.modules.prompt_sections import sections

MOST_WORDS = 120
MOST_THEMES = 8

_LONGEST_THEME = 60
_LONGEST_TEXT = 4_000
"""The most characters of one question or answer in a prompt."""
_LONGEST_SUMMARY = 2_000
"""The most characters, for scripts without spaces between words."""

_INSTRUCTIONS = (
    (Path(__file__).parent / "prompts" / "conversation.md")
    .read_text(encoding="utf-8")
    .replace("{words}", str(MOST_WORDS))
    .replace("{themes}", str(MOST_THEMES))
)
_THEMES_LINE = re.compile(r"^\W*themes\W*:\W*(.*)$", re.IGNORECASE | re.MULTILINE)
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)", re.DOTALL)
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


async def written(
    model: LanguageModel, earlier: Summary | None, exchanges: Sequence[Exchange]
) -> Summary | None:
    """Returns a summary by the model, or None if its reply holds none.

    Raises `ModelUnavailable` or `ModelRejected`.
    """
    text = "\n\n".join(
        f"Asked: {each.question[:_LONGEST_TEXT]}\nAnswered: {each.answer[:_LONGEST_TEXT]}"
        for each in exchanges
    )
    so_far = "none" if earlier is None else earlier.text
    request = sections([("Written so far", so_far), ("New exchanges", text)])
    reply = await model.reply(
        [PromptMessage("system", _INSTRUCTIONS), PromptMessage("user", request)], on_token=lambda _: None
    )
    return read(reply.text)


def read(reply: str) -> Summary | None:
    """Returns the summary in a model's reply, cut to its limits, or None if there is none."""
    reply = _UNKEEPABLE.sub("", reply)
    themes = [theme for line in _THEMES_LINE.findall(reply) for theme in _themes(line)]
    text = _cut(" ".join(_THEMES_LINE.sub("", reply).split()).split(" "))
    return Summary(text, list(dict.fromkeys(themes))[:MOST_THEMES]) if text else None


def digest(earlier: Summary | None, exchanges: Sequence[Exchange]) -> Summary:
    """Returns a line per exchange, as many of the newest as fit. Its themes are the tables queried last."""
    lines = [*(earlier.text.splitlines() if earlier else []), *map(_line, exchanges)]
    while len(lines) > 1 and sum(len(line.split()) for line in lines) > MOST_WORDS:
        lines = lines[1:]
    if len(lines) == 1:
        lines = [_cut(lines[0].split())]
    tables = [table for each in reversed(exchanges) for table in each.tables]
    themes = [*tables, *(earlier.themes if earlier else [])]
    return Summary("\n".join(lines)[-_LONGEST_SUMMARY:], list(dict.fromkeys(themes))[:MOST_THEMES])


def _line(exchange: Exchange) -> str:
    first = _SENTENCE.match(exchange.answer.strip())
    answer = first.group() if first else exchange.answer
    return " ".join(f"Asked: {exchange.question} Answered: {answer}".split())


def _themes(line: str) -> list[str]:
    parts = (" ".join(part.split()).strip(" .*`\"'") for part in line.split(","))
    return [part for part in parts if part and len(part) <= _LONGEST_THEME]


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words[:MOST_WORDS]) + (" …" if len(words) > MOST_WORDS else "")
    return text if len(text) <= _LONGEST_SUMMARY else text[: _LONGEST_SUMMARY - 1] + "…"
