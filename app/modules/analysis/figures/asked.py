"""The measure that a question asks for, and whether it asks for the highest or the lowest."""

import re
from collections.abc import Sequence
from typing import Literal

from app.core.words import singular
from app.modules.analysis.words import title

Direction = Literal["highest", "lowest"]

_WORD = re.compile(r"[^\W_]+")
_LOWEST = frozenset(
    {
        *(
            "lowest",
            "least",
            "fewest",
            "smallest",
            "worst",
            "cheapest",
            "minimum",
            "min",
            "bottom",
            "shortest",
        ),
        *("lightest", "slowest", "youngest", "poorest", "weakest", "rarest", "minimal", "littlest", "lower"),
        *("earliest", "nearest", "closest", "ascending"),
        *("niedrigste", "niedrigsten", "niedrigster", "geringste", "geringsten", "wenigsten", "kleinste"),
        *("kleinsten", "schlechteste", "schlechtesten", "billigste", "günstigste"),
        *("menor", "menores", "menos", "mínimo", "peor", "peores", "moins", "pire", "pires"),
    }
)
_HIGHEST = frozenset(
    {
        *("highest", "most", "largest", "biggest", "best", "dearest", "priciest", "maximum", "max", "top"),
        *(
            "longest",
            "heaviest",
            "fastest",
            "oldest",
            "richest",
            "strongest",
            "greatest",
            "maximal",
            "farthest",
        ),
        *("latest", "newest", "furthest", "descending"),
        *("höchste", "höchsten", "höchster", "meisten", "größte", "größten", "beste", "besten"),
        *("teuerste", "teuersten", "máximo", "mejor", "mejores", "meilleur", "meilleure", "meilleurs"),
    }
)
_MORE = frozenset({"más", "plus"})
_MORE_LOW = frozenset({"bajo", "bajos", "baja", "bajas", "faible", "faibles", "bas", "basse", "basses"})
_MORE_HIGH = frozenset(
    {"alto", "altos", "alta", "altas", "élevé", "élevés", "élevée", "élevées", "haut", "haute", "hauts"}
)
"""Words that ask for an end of the scale after one for more, as in "más alto"."""
_ALIKE = (
    frozenset({"revenue", "sale", "turnover", "earning", "income"}),
    frozenset({"spent", "spend", "spending"}),
    frozenset({"quantity", "qty", "unit"}),
    frozenset({"employee", "staff"}),
    frozenset({"average", "avg", "mean"}),
    frozenset({"count", "number", "num", "many"}),
    frozenset({"total", "sum"}),
    frozenset({"maximum", "max", "highest"}),
    frozenset({"minimum", "min", "lowest"}),
    frozenset({"percent", "pct", "percentage"}),
    frozenset(
        {
            *("growth", "grow", "grew", "grown", "growing", "grows", "increase", "increased", "rise", "rose"),
            *("change", "changed", "difference", "diff", "delta", "decrease", "decreased", "decline"),
            *("declined", "drop", "dropped", "fell", "fall", "fallen", "shrank", "shrunk", "gain", "gained"),
        }
    ),
)
_MODIFIERS = frozenset(
    {
        *(
            "average",
            "avg",
            "mean",
            "count",
            "number",
            "num",
            "many",
            "total",
            "sum",
            "of",
            "the",
            "per",
            "by",
        ),
        *("maximum", "max", "minimum", "min", "highest", "lowest", "n", "no", "in", "and"),
        *("percent", "pct", "percentage"),
    }
)


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in the singular."""
    return [singular(word) for word in _WORD.findall(text.lower())]


def direction_of(question: str) -> Direction | None:
    """The end of the scale that the question asks for; None when it names neither or both."""
    words = set(_WORD.findall(question.lower()))
    low = bool(words & _LOWEST) or bool(words & _MORE and words & _MORE_LOW)
    high = bool(words & _HIGHEST) or bool(words & _MORE and words & _MORE_HIGH)
    if low == high:
        return None
    return "lowest" if low else "highest"


def naming(question: str, column: str) -> float:
    """Score how well a question names a column: 0 for not at all, more for more of the column's words.

    Words such as "total" or "average" only decide between columns whose other words are named.
    """
    asked = set(words_of(question))
    parts = words_of(title(column))
    nouns = [word for word in parts if word not in _MODIFIERS] or parts
    named = [word for word in nouns if _holds(asked, word)]
    if not named or not _holds(asked, nouns[-1]):
        return 0.0
    modifiers = [word for word in parts if word in _MODIFIERS]
    kept = sum(_holds(asked, word) for word in modifiers)
    return len(named) / len(nouns) + (kept - 0.5 * (len(modifiers) - kept)) / 10


def place_of(question: str, column: str) -> int:
    """The position of the question's first word that names the column; the number of words if none does."""
    asked = words_of(question)
    noun = ([word for word in words_of(title(column)) if word not in _MODIFIERS] or [column])[-1]
    return next((at for at, word in enumerate(asked) if _holds({word}, noun)), len(asked))


def ranked_by(question: str, columns: Sequence[str]) -> str | None:
    """The only column named right after "by" or a superlative such as "most"; None if not exactly one."""
    asked = words_of(question)
    for at, word in enumerate(asked):
        if word == "by" or word in _LOWEST | _HIGHEST:
            after = " ".join(asked[at + 1 : at + 4])
            found = [column for column in columns if naming(after, column) > 0]
            if len(found) == 1:
                return found[0]
    return None


def _holds(asked: set[str], word: str) -> bool:
    return word in asked or any(word in alike and alike & asked for alike in _ALIKE)
