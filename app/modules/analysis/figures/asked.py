"""The measure that a question asks for."""

import re
from collections.abc import Sequence, Set

from app.core.words import singular
from app.modules.analysis.figures.ends import SUPERLATIVES
from app.modules.analysis.words import title

_WORD = re.compile(r"[^\W_]+")
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

_DROPPED = frozenset({"total", "sum", "number", "num", "count", "of", "the", "n", "no", "in", "and", "by"})
"""Words of a column's name that a question may leave out."""
_RATES = frozenset(
    {
        *("rate", "ratio", "percent", "percentage", "pct", "average", "avg", "mean", "share", "proportion"),
        *("anteil", "prozent", "porcentaje", "promedio", "media", "tasa", "taux", "moyenne", "pourcentage"),
    }
)
_CALENDAR = frozenset({"day", "week", "month", "quarter", "year", "hour", "weekday"})
_DIFFERENCES = frozenset({"variance", "difference", "diff", "deviation", "delta", "gap", "overrun", "excess"})
_COMPARED = re.compile(
    r"\b(?:over|above|below|under|beyond|than|exceed\w*|über|unter|sobre|supera\w*|dépass\w*)"
    r"\s+(?:(?:the|their|its|dem|ihrem|el|su|le|la|leur)\s+)?(?P<object>[^\W_]+)",
    re.IGNORECASE,
)
"""What values are compared with is not what is asked for, as in "over budget"."""


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in the singular."""
    return [singular(word) for word in _WORD.findall(text.lower())]


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


def is_named_whole(question: str, column: str) -> bool:
    """Return True if the question has every word of the column's name but those such as "total"."""
    asked = set(words_of(question))
    parts = words_of(title(column))
    needed = [word for word in parts if word not in _DROPPED] or parts
    return all(_holds(asked, word) for word in needed)


def measure_asked_for(
    question: str, columns: Sequence[str], *, sorted_by: str | None, rates: Set[str], groups: Sequence[str]
) -> str | None:
    """The one of the measures `columns` that the question asks for; None if nothing decides.

    It is the one sorted by, unless the question names another one whole, in words of its own. A question for
    a rate prefers `rates`, the columns that are averages or shares. `groups` are the columns that name rows:
    "per region" asks for no rate where they are regions.
    """
    rated = _rate_place(question, groups)
    if rated is not None and rates:
        before = " ".join(words_of(question)[:rated])
        counts = [each for each in columns if each not in rates and _own(before, each, rates)]
        if counts:
            return sorted_by if sorted_by in counts else min(counts, key=lambda each: place_of(before, each))
        columns = [each for each in columns if each in rates]
    stripped = _COMPARED.sub(" ", question)
    if sorted_by in columns and sorted_by is not None:
        return _beside_sorted(stripped, columns, sorted_by)
    scores = {each: naming(stripped, each) for each in columns}
    best = max(scores.values(), default=0.0)
    found = [each for each in columns if best > 0 and scores[each] == best]
    if found:
        return ranked_by(stripped, found) or min(found, key=lambda each: place_of(stripped, each))
    compared = [each["object"] for each in _COMPARED.finditer(question)]
    if any(naming(each, column) > 0 for each in compared for column in columns):
        return next((each for each in columns if _DIFFERENCES & set(words_of(title(each)))), None)
    return columns[0] if rated is not None and rates else None


def _beside_sorted(question: str, columns: Sequence[str], sorted_by: str) -> str:
    """The column sorted by, or the one that the question names instead."""
    whole = [each for each in columns if each != sorted_by and _own(question, each, {sorted_by})]
    if naming(question, sorted_by) > 0:
        first = ranked_by(question, [sorted_by, *whole])
        return first if first is not None else sorted_by
    if not whole:
        return sorted_by
    return ranked_by(question, whole) or max(whole, key=lambda each: naming(question, each))


def _own(question: str, column: str, others: Set[str]) -> bool:
    """Return True if the question names the column whole, in a word that no name of the others has."""
    shared = {word for other in others for word in words_of(title(other))}
    nouns = [word for word in words_of(title(column)) if word not in _MODIFIERS]
    return is_named_whole(question, column) and not (nouns and shared.issuperset(nouns))


def _rate_place(question: str, groups: Sequence[str]) -> int | None:
    """The position of the word that asks for a rate; None if there is none."""
    asked = words_of(question.replace("%", " percent "))
    grouping = _CALENDAR.union(*(words_of(title(each)) for each in groups))
    for at, word in enumerate(asked):
        if _is_rate(word) or (word == "per" and asked[at + 1 : at + 2] and asked[at + 1] not in grouping):
            return at
    return None


def _is_rate(word: str) -> bool:
    return word in _RATES or word.startswith("durchschnitt") or word.endswith(("quote", "anteil"))


def place_of(question: str, column: str) -> int:
    """The position of the question's first word that names the column; the number of words if none does."""
    asked = words_of(question)
    noun = ([word for word in words_of(title(column)) if word not in _MODIFIERS] or [column])[-1]
    return next((at for at, word in enumerate(asked) if _holds({word}, noun)), len(asked))


def ranked_by(question: str, columns: Sequence[str]) -> str | None:
    """The only column named right after "by" or a superlative such as "most"; None if not exactly one."""
    asked = words_of(question)
    for at, word in enumerate(asked):
        if word == "by" or word in SUPERLATIVES:
            after = " ".join(asked[at + 1 : at + 4])
            found = [column for column in columns if naming(after, column) > 0]
            if len(found) == 1:
                return found[0]
    return None


def _holds(asked: set[str], word: str) -> bool:
    return word in asked or any(word in alike and alike & asked for alike in _ALIKE)
