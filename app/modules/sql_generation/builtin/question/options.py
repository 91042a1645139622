"""The options of a clarification: each reading as a full question that needs no further clarification."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from app.core.words import NUMBER_WORDS
from app.modules.sql_generation.builtin.plan import Beyond, PlanColumn, Reading, Unclear
from app.modules.sql_generation.builtin.question.words import WORDS, word_set

MOST = 8
_DEPTH = 2
_BEFORE_NUMBER = (
    r"(?:(?:more|greater|higher|larger|bigger|less|fewer|lower|smaller) than|over|above|exceeding|under"
    r"|below|at (?:least|most)|(?:no|not) (?:more|less) than|between|equal to|equals|exactly|[<>]=?|[=≤≥])"
    r"\s*[$€£]?\s*"
)
_MOVED = re.compile(r"[\s?.!]+$")

Understand = Callable[[str], exp.Select]
"""The statement of a question. Raises `Beyond` or `Unclear`."""


@dataclass(frozen=True)
class Choice:
    """One option: a label for users, and the full question that it stands for."""

    label: str
    question: str


def choices(question: str, unclear: Unclear, understand: Understand) -> tuple[Choice, ...]:
    """Returns the readings whose question is understood as exactly that reading, with different statements.

    Raises `Beyond` when fewer than two are left.
    """
    found = _choices(question, unclear, understand, depth=_DEPTH)[:MOST]
    if len(found) < 2:
        raise Beyond("The question has several meanings, of which I can answer less than two.")
    return tuple(found)


def _choices(question: str, unclear: Unclear, understand: Understand, *, depth: int) -> list[Choice]:
    kept: dict[str, Choice] = {}
    for reading in unclear.readings:
        for asked in _rewritten(question, reading):
            found = _answered(Choice(reading.label, asked), reading, understand, depth=depth)
            for sql, choice in found:
                kept.setdefault(sql, choice)
            if found:
                break
    return list(kept.values())


def _answered(
    choice: Choice, reading: Reading, understand: Understand, *, depth: int
) -> list[tuple[str, Choice]]:
    """Returns the choice with its statement; if its question is unclear again, the choices of that one."""
    try:
        select = understand(choice.question)
    except Beyond:
        return []
    except Unclear as again:
        if depth == 1:
            return []
        inner = _choices(choice.question, again, understand, depth=depth - 1)
        further = [Choice(f"{choice.label}, {each.label}", each.question) for each in inner]
        return [(understand(each.question).sql(), each) for each in further]
    return [(select.sql(), choice)] if _reads(select, reading.mark) else []


def _reads(select: exp.Select, mark: PlanColumn | str) -> bool:
    if isinstance(mark, str):
        return any(table.name == mark for table in select.find_all(exp.Table))
    names = {table.alias_or_name for table in select.find_all(exp.Table) if table.name == mark.table}
    return any(column.name == mark.column and column.table in names for column in select.find_all(exp.Column))


def _rewritten(question: str, reading: Reading) -> list[str]:
    """Returns the reworded question of a reading, once for each place of its words in the question."""
    text = _MOVED.sub("", question)
    if not reading.words:
        return [text + reading.added]
    words = r"[\W_]+".join(map(re.escape, reading.words.split()))
    before = _BEFORE_NUMBER if reading.compares else ""
    places = re.finditer(rf"(?<!\w){before}{words}(?!\w)", text, re.IGNORECASE)
    return [
        text[: place.start()] + reading.instead.replace("{}", place[0]) + text[place.end() :] + reading.added
        for place in places
    ]


# A reply to a clarification

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_SAME = WORDS["same"]
_FILLERS = word_set(WORDS["fillers"])
_NUMBERED = re.compile(
    r"(?:(?:please|the|option|choice|number|no|nr|take|pick|choose|use|i mean|i want|it is|yes)\s+)*"
    r"(?:(?P<number>\d+)(?:st|nd|rd|th)?|(?P<word>[a-z]+))"
    r"(?:\s+(?:one|option|choice|please))*"
)


def chosen(reply: str, options: Sequence[Choice]) -> Choice | None:
    """Returns the option that a reply names by number, position or label; None for any other reply."""
    said = re.findall(r"[^\W_]+", reply.lower())
    asked = [option for option in options if re.findall(r"[^\W_]+", option.question.lower()) == said]
    if asked:
        return asked[0]
    labels = [_words(option.label) for option in options]
    if (found := _only(options, [set(label) == set(_words(reply)) for label in labels])) is not None:
        return found
    place = _place(" ".join(said), len(options))
    if place is not None:
        return options[place]
    words = set(_words(reply))
    if not words:
        return None
    return _only(options, [words <= set(label) for label in labels])


def _only(options: Sequence[Choice], fits: Sequence[bool]) -> Choice | None:
    fitting = [option for option, fit in zip(options, fits, strict=True) if fit]
    return fitting[0] if len(fitting) == 1 else None


def _place(said: str, count: int) -> int | None:
    """Returns the position that is named ("2", "number 2", "the second one", "the last"), from 0; or None."""
    match = _NUMBERED.fullmatch(said)
    if match is None:
        return None
    if match["number"]:
        place = int(match["number"]) - 1
    elif match["word"] in ("last", "latter"):
        place = count - 1
    elif match["word"] == "former":
        place = 0
    elif match["word"] in _ORDINALS:
        place = _ORDINALS.index(match["word"])
    elif match["word"] in NUMBER_WORDS:
        place = NUMBER_WORDS[match["word"]] - 1
    else:
        return None
    return place if 0 <= place < count else None


def _words(text: str) -> list[str]:
    """Returns the words of a label that distinguish it from others."""
    words = re.findall(r"[^\W_]+", text.lower())
    telling = [word for word in words if word not in _FILLERS]
    return [_SAME.get(word, word.removesuffix("s") if len(word) > 3 else word) for word in telling]
