"""The end of the scale that a question and its statement put first."""

import re
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from app.modules.analysis.words import word_sets

Direction = Literal["highest", "lowest"]

_WORD = re.compile(r"[^\W_]+")
_WORDS = word_sets(__file__)
_TIMES = re.compile(
    r"time|duration|second|minute|hour|day|week|month|delay|latency|lap|age|wait|price|cost|zeit|dauer|stunde"
    r"|minut|sekunde|tage|preis|tiempo|hora|segundo|días?|precio|temps|durée|heure|jour|prix"
)
_SPEEDS = re.compile(
    r"speed|velocity|kmh|mph|throughput|per (second|minute|hour|day)|geschwindigkeit|velocidad"
)

_OF_THESE = re.compile(
    r"\b(?:of (?:these|those|them)|von diesen|de (?:estos|estas)|de (?:ceux|celles)-(?:ci|là))\b",
    re.IGNORECASE,
)

SUPERLATIVES = (
    _WORDS["clear_low"]
    | _WORDS["clear_high"]
    | _WORDS["least"]
    | _WORDS["most"]
    | _WORDS["low"]
    | _WORDS["high"]
    | _WORDS["fast"]
    | _WORDS["slow"]
)


def direction_of(question: str, measure: str = "") -> Direction | None:
    """The end of the scale of `measure` that the question asks for; None when it names neither or both."""
    words = set(_WORD.findall(question.lower()))
    if words & _WORDS["most"] and words & _WORDS["least"]:
        return None
    after_more = bool(words & _WORDS["more"])
    low = bool(words & (_WORDS["clear_low"] | _WORDS["least"] | _WORDS["low"])) or (
        after_more and bool(words & (_WORDS["more_clear_low"] | _WORDS["more_low"]))
    )
    most = words & _WORDS["most"] - _WORDS["more"]
    high = bool(words & (_WORDS["clear_high"] | _WORDS["high"]) or most) or (
        after_more and bool(words & (_WORDS["more_clear_high"] | _WORDS["more_high"]))
    )
    if words & (_WORDS["fast"] | _WORDS["slow"]):
        taken = _TIMES.search(measure.lower()) and not _SPEEDS.search(measure.lower())
        is_low = bool(words & _WORDS["fast"]) == bool(taken)
        low, high = low or is_low, high or not is_low
    return None if low == high else "lowest" if low else "highest"


def is_against_question(question: str, value: Decimal) -> bool:
    """Return True if a change has the other sign than asked for: a rise where the question is what fell."""
    words = set(_WORD.findall(question.lower()))
    falls, rises = bool(words & _WORDS["falling"]), bool(words & _WORDS["rising"])
    return falls != rises and (value > 0 if falls else value < 0)


def clear_direction_of(question: str, measure: str = "") -> Direction | None:
    """The end that the question asks for in words that mean the same of every measure; None without any.

    "Most" is clear before the measure's name only, and no word is in a question about what fell.
    """
    found = _WORD.findall(question.lower())
    words = set(found)
    if words & _WORDS["falling"]:
        return None
    more = bool(words & _WORDS["more"])
    low = bool(words & _WORDS["clear_low"]) or (more and bool(words & _WORDS["more_clear_low"]))
    high = bool(words & _WORDS["clear_high"]) or (more and bool(words & _WORDS["more_clear_high"]))
    low = low or _stands_before(found, _WORDS["least"], measure)
    high = high or _stands_before(found, _WORDS["most"], measure)
    return None if low == high else "lowest" if low else "highest"


def _stands_before(words: list[str], some: frozenset[str], measure: str) -> bool:
    """Return True if one of the words stands right before one of the measure's name."""
    named = set(_WORD.findall(measure.lower()))
    return any(word in some and after in named for word, after in pairwise(words))


def leading_end(question: str, measure: str, *, descending: bool | None, limited: bool) -> Direction | None:
    """The end that leads: that of the sort order, if the statement sorts by the measure.

    `descending` is its direction, None without a sort order. Clear words of the question go before it where
    no limit has cut the other end off, or where they ask for an end "of these".
    """
    if descending is None:
        return direction_of(question, measure)
    ordered: Direction = "highest" if descending else "lowest"
    if limited and not _OF_THESE.search(question):
        return ordered
    return clear_direction_of(question, measure) or ordered
