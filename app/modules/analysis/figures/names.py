"""Guesses about a column's values, from its name alone."""

import re
from typing import Literal

from app.core.language import Language
from app.core.words import singular, without_accents
from app.modules.analysis.figures.requested_measures import words_of
from app.modules.analysis.words import title, word_set, word_sets

_WORDS = word_sets(__file__)
_IN_ENGLISH = {
    **dict.fromkeys(("jahr", "jahre", "ano", "anio", "annee", "an"), "year"),
    **dict.fromkeys(("quartal", "trimestre"), "quarter"),
    **dict.fromkeys(("monat", "mes", "mois"), "month"),
    **dict.fromkeys(("woche", "kw", "semana", "semaine"), "week"),
    **dict.fromkeys(("tag", "dia", "jour"), "day"),
    **dict.fromkeys(("datum", "fecha"), "date"),
}
"""Names of periods in other languages, without their accents."""
_DATED = _WORDS["calendar"] | {"date", "period", "time", "since", "founded", "yr", "yyyymm", "yyyymmdd"}
_COMPOUND_PART = re.compile(r"(?:quote|anteil)$")
_RATIOS = _WORDS["parts"] | {"avg", "average", "mean", "promedio", "moyenne"}
_NO_COUNTS = _WORDS["money"] | word_set("""
    gain cent second minute hour day week month quarter year meter metre mile kilometer kilometre gram
    kilogram ton tonne liter litre gallon byte degree value status net gross plan target date level balance
    difference variance stock tage stunden jahre hora dia frai heure jour chiffre
""")
_GERMAN_PLURALS = ("en", "er", "e", "n")
_GERMAN_PLURALS_ONLY = ("ungen", "heiten", "keiten")
_PARTICIPLES = ("ed", "sold", "won", "lost", "sent", "made")
_ON_HAND = re.compile(r"\bon hand\b")
_OFFSET = re.compile(r"^(?:hour|day|week|month|quarter|year)s? (?:since|after|number|no|nr|index|offset)\b")
"""Names of the distance of a row from a beginning, such as months since signup."""


def is_calendar_or_key(name: str) -> bool:
    """Return True if the numbers are ids, positions or parts of dates, which are not compared or added."""
    words = _words(name)
    last = words[-1] if words else ""
    last = _IN_ENGLISH.get(without_accents(last), last)
    if len(words) > 1 and last in _WORDS["calendar"] and title(name).endswith("s"):
        return False  # a number of days, say
    if _OFFSET.match(calendar_title(name)):
        return True
    return (
        is_key(name)
        or last in _WORDS["calendar"] | _WORDS["positions"] | _WORDS["referring"]
        or words == ["number"]
    )


def is_key(name: str) -> bool:
    words = _words(name)
    if not words:
        return False
    return words[-1] in _WORDS["keys"] or (words[-1].endswith("id") and words[-1] not in _WORDS["no_keys"])


def is_calendar(name: str) -> bool:
    return calendar_title(name) in _WORDS["calendar"]


def is_dated(name: str) -> bool:
    return bool(_DATED & {*_words(name), *calendar_title(name).split()})


def calendar_title(name: str) -> str:
    """The title of a column, in which the names of periods are English."""
    return " ".join(_IN_ENGLISH.get(without_accents(word), word) for word in title(name).split())


def part_of_year(part: str, year: str) -> Literal["month", "quarter"] | None:
    """What a column has of the years in another one, by their titles: "order month" and "order year".

    Titles are as of `calendar_title`. None if it has nothing of a year, or of another one.
    """
    *before, last = part.removesuffix(" name").removesuffix(" number").split() or [""]
    if not year.endswith("year") or (before and before != year.split()[:-1]):
        return None
    return "month" if last == "month" else "quarter" if last == "quarter" else None


def is_additive(name: str) -> bool:
    """Return True for names of amounts and counts, False for prices, rates, ages and unclear names."""
    words = set(_words(name))
    return bool(words & _WORDS["additive"]) and not words & _WORDS["not_additive"]


def is_share_of_one(name: str) -> bool:
    """Return True for names of rates, ratios and shares in four languages, which 0.429 means 42.9% of."""
    words = [without_accents(word) for word in title(name).split()]
    if not words or _WORDS["no_shares"] & set(words):
        return False
    last = words[-1]
    return (
        last in _WORDS["shares_of_one"]
        or bool(_COMPOUND_PART.search(last))
        or words[0] in _WORDS["first_of_shares"]
    )


def is_ratio(name: str) -> bool:
    """Return True for names of shares and averages, even when the column is computed as a sum or count."""
    words = _words(name)
    return (
        is_part(name) or bool(_RATIOS & set(words)) or any(each.startswith("durchschnitt") for each in words)
    )


def is_part(name: str) -> bool:
    """Return True for names of shares and rates, whose changes are differences."""
    words = _words(name)
    return bool(_WORDS["parts"] & set(words)) or any(map(_COMPOUND_PART.search, words))


def is_rate(name: str, kind: str) -> bool:
    """Return True for averages and ratios, by their computation or by their name."""
    return kind in ("average", "ratio") or is_ratio(name) or "per" in _words(name)


def is_change(name: str, kind: str) -> bool:
    """Return True for changes and growth, by their computation or by their name."""
    return kind == "change" or (
        kind != "plain" and bool(_WORDS["changes"] & set(_words(without_accents(name))))
    )


def is_numeric(name: str) -> bool:
    """Return True if the name is that of a number, so that digits in text are read as numbers."""
    return bool(set(_words(name)) & (_WORDS["additive"] | _WORDS["not_additive"]))


def is_plural(words: str, language: Language, *, counted: bool) -> bool:
    """Return True if words look like a plural; `counted` is true of the name of a count."""
    endings = _GERMAN_PLURALS if counted else _GERMAN_PLURALS_ONLY
    if language == "de" and words not in _WORDS["german_singulars"] and words.endswith(endings):
        return True
    *before, last = words.split() or [""]
    noun = before[-1] if before and last.endswith(_PARTICIPLES) else last
    return singular(noun) != noun or noun in ("people", "children")


def names_no_count(name: str) -> bool:
    """Return True for plurals of money and measures, such as sales and days, and for figures of figures."""
    words = {singular(without_accents(each)) for each in title(name).split()}
    known = words | set(_words(name)) | set(title(name).split())
    return bool(known & (_NO_COUNTS | _WORDS["not_additive"] | _RATIOS | _WORDS["levels"]))


def is_money(name: str) -> bool:
    """Return True for names of amounts of money, whose values have two decimals."""
    words = {without_accents(each) for each in [*title(name).split(), *_words(name)]}
    return bool(words & _WORDS["money"]) and not is_part(name)


def is_level(name: str) -> bool:
    """Return True for levels at a point in time, such as stock: they add up over groups, not over time."""
    return bool(_WORDS["levels"] & set(_words(name))) or bool(_ON_HAND.search(title(name)))


def is_open(name: str) -> bool:
    """Return True for things that are so at a point in time, such as open tickets."""
    words = title(name).split()
    return len(words) > 1 and words[0] in _WORDS["open"] and not is_part(name)


def _words(name: str) -> list[str]:
    return words_of(title(name))
