"""The end of the scale that a question and its statement put first."""

import re
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from app.modules.analysis.words import word_set

Direction = Literal["highest", "lowest"]

_WORD = re.compile(r"[^\W_]+")
_CLEAR_LOW = word_set("""
    lowest fewest smallest minimum min minimal littlest menor menores mínimo niedrigste niedrigsten
    niedrigster geringste geringsten kleinste kleinsten
""")
_CLEAR_HIGH = word_set("""
    highest largest biggest greatest maximum max maximal mayor mayores máximo höchste höchsten höchster
    größte größten
""")
_LEAST = frozenset({"least", "wenigsten", "menos", "moins"})
_MOST = frozenset({"most", "meisten", "más", "plus"})
_LOW = word_set("""
    worst bottom shortest lightest youngest poorest weakest rarest lower earliest nearest closest ascending
    cheapest schlechteste schlechtesten billigste billigsten günstigste günstigsten peor peores pire pires
""")
_HIGH = word_set("""
    best dearest priciest top longest heaviest oldest richest strongest farthest latest newest furthest
    descending beste besten teuerste teuersten mejor mejores meilleur meilleure meilleurs
""")
_FAST = word_set("""
    fastest quickest schnellste schnellsten rápido rápida rapide rapides
""")
_SLOW = frozenset({"slowest", "langsamste", "langsamsten", "lento", "lenta", "lent", "lente", "lents"})
_MORE = frozenset({"más", "plus"})
_MORE_CLEAR_LOW = frozenset({"bajo", "bajos", "baja", "bajas", "faible", "faibles", "bas", "basse", "basses"})
_MORE_CLEAR_HIGH = word_set("""
    alto altos alta altas élevé élevés élevée élevées haut haute hauts
""")
_MORE_LOW = frozenset({"barato", "barata", "baratos", "baratas"})
_MORE_HIGH = frozenset({"caro", "cara", "caros", "caras", "cher", "chère", "chers", "chères"})
"""Words that ask for an end of the scale after one for more, as in "más alto"."""
_FALLING = word_set("""
    lost lose losing loss losses decline declined drop dropped fell fall fallen decrease decreased shrank
    shrunk reduction verlust verloren rückgang gefallen gesunken zurückgegangen abgenommen fiel sank pérdida
    pérdidas perdió perdieron caída cayó cayeron bajó bajaron disminuyó perte pertes perdu baisse baissé
    diminué chuté reculé
""")
"""Words with which more is a lower change, or a higher loss."""
_RISING = word_set("""
    grew grow grown growth rose risen increased gained gestiegen gewachsen zugenommen wuchs stieg creció
    crecieron subió subieron aumentó augmenté progressé
""")
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

SUPERLATIVES = _CLEAR_LOW | _CLEAR_HIGH | _LEAST | _MOST | _LOW | _HIGH | _FAST | _SLOW


def direction_of(question: str, measure: str = "") -> Direction | None:
    """The end of the scale of `measure` that the question asks for; None when it names neither or both."""
    words = set(_WORD.findall(question.lower()))
    if words & _MOST and words & _LEAST:
        return None
    after_more = bool(words & _MORE)
    low = bool(words & (_CLEAR_LOW | _LEAST | _LOW)) or (
        after_more and bool(words & (_MORE_CLEAR_LOW | _MORE_LOW))
    )
    most = words & _MOST - _MORE
    high = bool(words & (_CLEAR_HIGH | _HIGH) or most) or (
        after_more and bool(words & (_MORE_CLEAR_HIGH | _MORE_HIGH))
    )
    if words & (_FAST | _SLOW):
        taken = _TIMES.search(measure.lower()) and not _SPEEDS.search(measure.lower())
        is_low = bool(words & _FAST) == bool(taken)
        low, high = low or is_low, high or not is_low
    return None if low == high else "lowest" if low else "highest"


def is_against_question(question: str, value: Decimal) -> bool:
    """Return True if a change has the other sign than asked for: a rise where the question is what fell."""
    words = set(_WORD.findall(question.lower()))
    falls, rises = bool(words & _FALLING), bool(words & _RISING)
    return falls != rises and (value > 0 if falls else value < 0)


def clear_direction_of(question: str, measure: str = "") -> Direction | None:
    """The end that the question asks for in words that mean the same of every measure; None without any.

    "Most" is clear before the measure's name only, and no word is in a question about what fell.
    """
    found = _WORD.findall(question.lower())
    words = set(found)
    if words & _FALLING:
        return None
    more = bool(words & _MORE)
    low = bool(words & _CLEAR_LOW) or (more and bool(words & _MORE_CLEAR_LOW))
    high = bool(words & _CLEAR_HIGH) or (more and bool(words & _MORE_CLEAR_HIGH))
    low = low or _stands_before(found, _LEAST, measure)
    high = high or _stands_before(found, _MOST, measure)
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
