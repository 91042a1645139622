"""The measure that a question asks for."""

import re
from collections.abc import Sequence, Set

from app.core.words import singular, without_accents
from app.modules.analysis.figures.ends import SUPERLATIVES
from app.modules.analysis.words import title, word_set

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
    word_set("""
        growth grow grew grown growing grows increase increased rise rose change changed difference diff
        delta decrease decreased decline declined drop dropped fell fall fallen shrank shrunk gain gained
    """),
)
_MODIFIERS = word_set("""
    average avg mean count number num many total sum of the per by maximum max minimum min highest lowest n
    no in and
""")
_UNSAID = word_set("""
    percent pct percentage prozent porcentaje pourcentage eur euro usd dollar gbp chf vs versus previous
    prior
""")
"""Words of a column's name that tell its unit or what it is compared with: no question need have them."""
_DROPPED = frozenset({"total", "sum", "number", "num", "count", "of", "the", "n", "no", "in", "and", "by"})
"""Words of a column's name that a question may leave out."""
_RATES = word_set("""
    rate ratio percent percentage pct average avg mean share proportion anteil prozent porcentaje promedio
    media tasa taux moyenne pourcentage
""")
_CALENDAR = frozenset({"day", "week", "month", "quarter", "year", "hour", "weekday"})
_DIFFERENCES = word_set("""
    variance difference diff deviation delta gap overrun excess minus differenz abweichung diferencia
    desviacion desviación ecart écart
""")
_PART = re.compile(
    r"\b(?:(?:quelle|la) part|(?:qué|la) parte)\b(?= d)|\b(?:quelle|qué) parte?\b", re.IGNORECASE
)
"""Words for a share that mean other things elsewhere."""
_GROUPING = word_set("""
    by per each every je pro nach por cada según par chaque selon
""")
_LONGEST_GROUP = 3
_COUNTING = re.compile(
    r"\b(?:how (?:many|often)|number of|count|anzahl|zahl der|wie (?:viele|oft)|häufig\w*|cu[aá]nt[oa]s"
    r"|n[uú]mero de|cantidad de|combien de|nombre de)\b",
    re.IGNORECASE,
)
_DEGREE = re.compile(
    r"\bhow (?!many|much|often|do|does|did|is|are|was|were|have|has|can|could|will|would|should|to)\w+"
    r"|\bwie (?:lange|alt|schnell|teuer|gut|schlecht|weit|schwer|zuverlässig|pünktlich)\b"
    r"|\bqu[eé] tan\b|\bcombien de temps\b|\bcu[aá]nto tard\w+"
    r"|\b(?:worth|wert|valen|vale|valent|vaut|satisf\w+|zufrieden\w*|expensive|teurer|caros?|chers?)\b",
    re.IGNORECASE,
)
"""Words that ask how a thing is, and not how many there are."""
_MANY = word_set("""
    more most fewer fewest mehr meisten weniger wenigsten más menos plus
""")
_SHORTEST_STEM = 6
_STEMMED = 0.3
_COMPARED = re.compile(
    r"\b(?:over|above|below|under|beyond|than|against|versus|vs|exceed\w*|über|unter|gegen|gegenüber|sobre|frente"
    r"(?: al?)?|supera\w*|dépass\w*|rapport (?:au|à))"
    r"\s+(?:(?:the|their|its|dem|ihrem|el|su|le|la|leur)\s+)?(?P<object>[^\W_]+)",
    re.IGNORECASE,
)
"""What values are compared with is not what is asked for, as in "over budget"."""


def _plain_words(text: str) -> list[str]:
    """The words of a text without accents."""
    return words_of(without_accents(text))


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in the singular."""
    return [singular(word) for word in _WORD.findall(text.lower())]


def names_difference(column: str) -> bool:
    """Return True for names of differences, such as variance or profit minus plan, whose sign tells most."""
    return bool(_DIFFERENCES & set(words_of(title(column))))


def naming(question: str, column: str) -> float:
    """Score how well a question names a column: 0 for not at all, more for more of the column's words.

    Words such as "total" or "average" only decide between columns whose other words are named. A word with
    the same stem, as in "satisfied" and "satisfaction", counts for little.
    """
    asked = _asked(question)
    parts = _plain_words(title(column))
    nouns = [word for word in parts if word not in _MODIFIERS | _UNSAID] or parts
    named = [word for word in nouns if _holds(asked, word)]
    if not named or not _holds(asked, nouns[-1]):
        return _STEMMED if any(_has_stem(asked, word) for word in nouns) else 0.0
    modifiers = [word for word in parts if word in _MODIFIERS]
    kept = sum(_holds(asked, word) for word in modifiers)
    units = sum(word in asked for word in parts if word in _UNSAID)
    decided = kept + units - 0.5 * (len(modifiers) - kept)
    return len(named) / len(nouns) + decided / 10 + len(named) / 100


def without_compared(question: str) -> str:
    """The question without what values are compared with, such as "below the average"."""
    return _COMPARED.sub(" ", question)


def is_named_whole(question: str, column: str) -> bool:
    """Return True if the question has every word of the column's name but those such as "total"."""
    asked = _asked(question)
    parts = _plain_words(title(column))
    needed = [word for word in parts if word not in _DROPPED | _UNSAID] or parts
    return all(_holds(asked, word) for word in needed)


def measure_asked_for(
    question: str,
    columns: Sequence[str],
    *,
    sorted_by: str | None,
    rates: Set[str],
    counts: Set[str] = frozenset(),
    groups: Sequence[str],
) -> str | None:
    """The one of the measures `columns` that the question asks for; None if nothing decides.

    It is the one sorted by, unless the question names another one whole, in words of its own. A question for
    a rate prefers `rates`, the columns that are averages or shares, and one that asks how things are, such as
    "worth more", passes over `counts`. `groups` are the columns that name rows: "per region" asks for no rate
    where they are regions.
    """
    rated = _rate_place(question, groups)
    if rated is not None and rates:
        before = " ".join(words_of(question)[:rated])
        found = [each for each in columns if each not in rates and _own(before, each, rates)]
        if found:
            return sorted_by if sorted_by in found else min(found, key=lambda each: place_of(before, each))
        columns = [each for each in columns if each in rates]
    stripped = _remove_groups(without_compared(question), groups)
    others = [each for each in columns if each not in counts]
    passed = bool(others) and sorted_by not in counts and _asks_for_degree(question, counts)
    columns = others if passed else columns
    if sorted_by in columns and sorted_by is not None:
        is_difference = names_difference(sorted_by)
        return (
            sorted_by
            if is_difference and _COMPARED.search(question)
            else _beside_sorted(stripped, columns, sorted_by)
        )
    scores = {each: naming(stripped, each) for each in columns}
    best = max(scores.values(), default=0.0)
    found = [each for each in columns if best > 0 and scores[each] == best]
    if found:
        return ranked_by(stripped, found) or min(found, key=lambda each: place_of(stripped, each))
    compared = [each["object"] for each in _COMPARED.finditer(question)]
    if any(naming(each, column) > 0 for each in compared for column in columns):
        return next(filter(names_difference, columns), None)
    return columns[0] if columns and (passed or (rated is not None and rates)) else None


def _asks_for_degree(question: str, counts: Set[str]) -> bool:
    """Return True if the question asks how things are, and not how many of `counts` there are."""
    if _COUNTING.search(question) or not _DEGREE.search(question):
        return False
    asked = words_of(question)
    after = [asked[at + 1] for at, word in enumerate(asked[:-1]) if word in _MANY]
    return not any(naming(word, each) > 0 for word in after for each in counts)


def _remove_groups(question: str, groups: Sequence[str]) -> str:
    """The question without the words that say what the rows are: "by ticket priority"."""
    names = {word for each in groups for word in _plain_words(title(each))}
    words = question.split()
    kept = list[str]()
    at = 0
    while at < len(words):
        after = words[at + 1 : at + 1 + _LONGEST_GROUP]
        named = [step for step, word in enumerate(after) if names & set(_plain_words(word))]
        is_group = words[at].lower() in _GROUPING and bool(named)
        kept += [] if is_group else words[at : at + 1]
        at += 2 + named[-1] if is_group else 1
    return " ".join(kept)


def _beside_sorted(question: str, columns: Sequence[str], sorted_by: str) -> str:
    """The column sorted by, or the one that the question names instead."""
    whole = [each for each in columns if each != sorted_by and _own(question, each, {sorted_by})]
    sorted_words = set(words_of(title(sorted_by)))
    closer = [each for each in whole if sorted_words < set(words_of(title(each)))]
    if closer:
        return max(closer, key=lambda each: naming(question, each))
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
    asked = words_of(_PART.sub(" share ", question.replace("%", " percent ")))
    grouping = _CALENDAR.union(*(words_of(title(each)) for each in groups))
    for at, word in enumerate(asked):
        if _is_rate(word) or (word == "per" and asked[at + 1 : at + 2] and asked[at + 1] not in grouping):
            return at
    return None


def _is_rate(word: str) -> bool:
    return word in _RATES or word.startswith("durchschnitt") or word.endswith(("quote", "anteil"))


def place_of(question: str, column: str) -> int:
    """The position of the question's first word that names the column; the number of words if none does."""
    asked = _plain_words(question)
    noun = ([word for word in _plain_words(title(column)) if word not in _MODIFIERS | _UNSAID] or [column])[
        -1
    ]
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


def _asked(question: str) -> set[str]:
    """The words of a question, and the initials of those that follow each other ("high definition": "hd")."""
    words = _plain_words(question)
    runs = (words[at : at + count] for at in range(len(words)) for count in (2, 3))
    return {*words, *("".join(word[0] for word in run) for run in runs if len(run) > 1)}


def _has_stem(asked: set[str], word: str) -> bool:
    stem = word[:_SHORTEST_STEM]
    return len(stem) == _SHORTEST_STEM and any(each.startswith(stem) for each in asked)


def _holds(asked: set[str], word: str) -> bool:
    return word in asked or any(word in alike and alike & asked for alike in _ALIKE)
