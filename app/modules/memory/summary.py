"""Summaries of conversations: by a model, or as a digest of the exchanges."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.core.llm.model import LanguageModel, PromptMessage
from app.modules.memory.model import RememberedExchange, Sentiment, Summary
from app.modules.prompts.sections import sections
from app.modules.sql.parsing import parsed_one
from app.modules.sql.table_names import written_name

MOST_WORDS = 120
MOST_THEMES = 8
MOST_NAMES = 8
"""The most persons of a conversation, and the most places."""

_LONGEST_THEME = 60
_SENTIMENTS: Sequence[Sentiment] = get_args(Sentiment)
_LONGEST_TEXT = 4_000
"""The most characters of one question or answer in a prompt."""
_LONGEST_SUMMARY = 2_000
"""The most characters, for scripts without spaces between words."""

_INSTRUCTIONS = (
    (Path(__file__).parent / "prompts" / "conversation.md")
    .read_text(encoding="utf-8")
    .replace("{words}", str(MOST_WORDS))
    .replace("{themes}", str(MOST_THEMES))
    .replace("{names}", str(MOST_NAMES))
)
_LINE = re.compile(r"^\W*(themes|persons|places|sentiment)\W*:(.*)$", re.IGNORECASE | re.MULTILINE)
"""A line of a reply after its paragraph. Models put marks of Markdown around its name."""
_NONE = ("none", "n/a", "unknown", "not mentioned", "keine", "-")
"""What models write where there is nothing to name, in lower case."""
_MARKS = " .*_`\"'"
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)", re.DOTALL)
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


async def written(
    model: LanguageModel, earlier: Summary | None, exchanges: Sequence[RememberedExchange]
) -> Summary | None:
    """Returns a summary by the model, or None if its reply holds none.

    Raises `ModelUnavailable` or `ModelRejected`.
    """
    text = "\n\n".join(
        "\n".join(_said("Asked", each.question) + _said("Answered", each.answer)) for each in exchanges
    )
    so_far = "none" if earlier is None else _written_so_far(earlier)
    request = sections([("Written so far", so_far), ("New exchanges", text)])
    reply = await model.reply(
        [PromptMessage("system", _INSTRUCTIONS), PromptMessage("user", request)], on_token=lambda _: None
    )
    return read(reply.text)


def read(reply: str) -> Summary | None:
    """Returns the summary in a model's reply, cut to its limits, or None if there is none."""
    reply = _UNKEEPABLE.sub("", reply)
    lines = [(name.lower(), line) for name, line in _LINE.findall(reply)]
    text = _cut(" ".join(_LINE.sub("", reply).split()).split(" "))
    if not text:
        return None
    sentiments = [_sentiment(line) for name, line in lines if name == "sentiment"]
    return Summary(
        text,
        _listed(lines, "themes", MOST_THEMES),
        persons=_listed(lines, "persons", MOST_NAMES),
        places=_listed(lines, "places", MOST_NAMES),
        user_sentiment=next(filter(None, sentiments), None),
    )


def digest(earlier: Summary | None, exchanges: Sequence[RememberedExchange]) -> Summary:
    """Returns a line per exchange, as many of the newest as fit. Its themes are the tables queried last.

    Persons, places and the sentiment are those that a model has named earlier.
    """
    lines = [*(earlier.text.splitlines() if earlier else []), *map(_line, exchanges)]
    while len(lines) > 1 and sum(len(line.split()) for line in lines) > MOST_WORDS:
        lines = lines[1:]
    if len(lines) == 1:
        lines = [_cut(lines[0].split())]
    tables = [table for each in reversed(exchanges) for table in _tables_read(each)]
    themes = [*tables, *(earlier.themes if earlier else [])]
    text = "\n".join(lines)[-_LONGEST_SUMMARY:]
    themes = list(dict.fromkeys(themes))[:MOST_THEMES]
    return Summary(text, themes) if earlier is None else replace(earlier, text=text, themes=themes)


def _tables_read(exchange: RememberedExchange) -> list[str]:
    """Names of the tables that the statement reads, as it writes them, in alphabetical order."""
    if exchange.sql is None:
        return []
    try:
        statement = parsed_one(exchange.sql, exchange.dialect or None)
    except (SqlglotError, RecursionError, ValueError):  # the dialect may be unknown by now
        return []
    derived = {each.alias for each in statement.find_all(exp.CTE)}
    return sorted({written_name(table).text for table in statement.find_all(exp.Table)} - derived)


def _said(what: str, text: str) -> list[str]:
    return [f"{what}: {text[:_LONGEST_TEXT]}"] if text else []


def _line(exchange: RememberedExchange) -> str:
    if not exchange.answer:
        return " ".join(f"Asked: {exchange.question}".split())
    first = _SENTENCE.match(exchange.answer.strip())
    answer = first.group() if first else exchange.answer
    return " ".join(f"Asked: {exchange.question} Answered: {answer}".split())


def _written_so_far(earlier: Summary) -> str:
    """Names that are left out of the text would be lost with the next summary."""
    names = [("Persons", earlier.persons), ("Places", earlier.places)]
    return "\n".join([earlier.text, *(f"{title}: {', '.join(each)}" for title, each in names if each)])


def _listed(lines: Sequence[tuple[str, str]], name: str, most: int) -> list[str]:
    """Returns what the lines of a name list, each once."""
    parts = (
        " ".join(part.split()).strip(_MARKS)
        for each, line in lines
        if each == name
        for part in line.split(",")
    )
    kept = [part for part in parts if part and len(part) <= _LONGEST_THEME and part.lower() not in _NONE]
    return list(dict.fromkeys(kept))[:most]


def _sentiment(line: str) -> Sentiment | None:
    word = line.strip(_MARKS).lower()
    return next((each for each in _SENTIMENTS if each == word), None)


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words[:MOST_WORDS]) + (" …" if len(words) > MOST_WORDS else "")
    return text if len(text) <= _LONGEST_SUMMARY else text[: _LONGEST_SUMMARY - 1] + "…"
