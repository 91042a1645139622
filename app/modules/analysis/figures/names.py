"""Guesses about a column's values, from its name alone."""

import re

from app.core.language import Language
from app.core.words import singular, without_accents
from app.modules.analysis.figures.asked import words_of
from app.modules.analysis.words import title

_KEYS = frozenset(
    {
        "id",
        "uuid",
        "guid",
        "key",
        "identifier",
        "zip",
        "zipcode",
        "code",
        "phone",
        "fax",
        "postcode",
        "isbn",
        "sku",
    }
)
_NO_KEYS = frozenset(
    {"paid", "unpaid", "prepaid", "grid", "valid", "invalid", "solid", "liquid", "bid", "aid"}
)
_CALENDAR = frozenset({"year", "quarter", "month", "week", "day", "weekday", "hour", "decade"})
_DATED = _CALENDAR | {"date", "period", "time", "since", "founded", "yr", "yyyymm", "yyyymmdd"}
_REFERRING = frozenset({"to", "by"})  # as in reports to, managed by
_POSITIONS = frozenset({"rank", "position", "row", "rn", "index"})
_ADDITIVE = frozenset(
    {
        *("amount", "revenue", "sale", "turnover", "quantity", "qty", "unit", "count", "total", "subtotal"),
        *("profit", "spend", "spent", "spending", "cost", "expense", "order", "payment", "paid", "earning"),
    }
)
_NOT_ADDITIVE = frozenset(
    {
        *("avg", "average", "mean", "median", "price", "rate", "ratio", "share", "percent", "percentage"),
        *("per", "age", "year", "score", "rating", "margin", "running", "cumulative", "cum", "rolling"),
        *("distinct", "unique", "min", "max", "minimum", "maximum", "rank", "index", "growth", "change"),
        *("pct", "moving", "unitprice", "highest", "lowest"),
    }
)
_RATIOS = frozenset(
    {
        *("share", "pct", "percent", "percentage", "ratio", "rate", "avg", "average", "mean"),
        *("prozent", "porcentaje", "promedio", "tasa", "pourcentage", "taux", "moyenne"),
    }
)
_COMPOUND_RATIO = re.compile(r"^durchschnitt|(?:quote|anteil)$")
_NO_COUNTS = frozenset(
    {
        *("revenue", "sale", "income", "earning", "cost", "expense", "spending", "profit", "loss"),
        *("saving", "gain", "payment", "fee", "tax", "wage", "salary", "asset", "fund", "credit", "debit"),
        *("euro", "dollar", "pound", "cent", "second", "minute", "hour", "day", "week", "month", "quarter"),
        *("year", "meter", "metre", "mile", "kilometer", "kilometre", "gram", "kilogram", "ton", "tonne"),
        *("liter", "litre", "gallon", "byte", "degree", "value", "amount", "status", "net", "gross"),
        *("plan", "target", "budget", "date", "level", "balance", "difference", "variance", "stock"),
        *("umsatz", "umsaetze", "kosten", "erloese", "einnahmen", "ausgaben", "tage", "stunden", "jahre"),
        *("venta", "ingreso", "gasto", "costo", "coste", "beneficio", "ganancia", "hora", "dia", "precio"),
        *("vente", "revenu", "cout", "frai", "depense", "benefice", "montant", "heure", "jour", "chiffre"),
    }
)
_GERMAN_PLURALS = ("en", "er", "e", "n")
_GERMAN_PLURALS_ONLY = ("ungen", "heiten", "keiten")
_GERMAN_SINGULARS = frozenset({"anzahl", "menge", "summe", "quote", "rate", "nummer", "gruppe", "note"})
_PARTICIPLES = ("ed", "sold", "won", "lost", "sent", "made")
_LEVELS = frozenset(
    {"balance", "stock", "inventory", "headcount", "level", "backlog", "outstanding", "population"}
)


def is_calendar_or_key(name: str) -> bool:
    """Return True if the numbers are ids, positions or parts of dates, which are not compared or added."""
    words = _words(name)
    last = words[-1] if words else ""
    return is_key(name) or last in _CALENDAR | _POSITIONS | _REFERRING or words == ["number"]


def is_key(name: str) -> bool:
    words = _words(name)
    if not words:
        return False
    return words[-1] in _KEYS or (words[-1].endswith("id") and words[-1] not in _NO_KEYS)


def is_calendar(name: str) -> bool:
    return title(name) in _CALENDAR


def is_dated(name: str) -> bool:
    return bool(_DATED & set(_words(name)))


def is_additive(name: str) -> bool:
    """Return True for names of amounts and counts, False for prices, rates, ages and unclear names."""
    words = set(_words(name))
    return bool(words & _ADDITIVE) and not words & _NOT_ADDITIVE


def is_ratio(name: str) -> bool:
    """Return True for names of shares and averages, even when the column is computed as a sum or count."""
    words = _words(name)
    return bool(_RATIOS & set(words)) or any(map(_COMPOUND_RATIO.search, words))


def is_rate(name: str, kind: str) -> bool:
    """Return True for averages and ratios, by their computation or by their name."""
    return kind in ("average", "ratio") or is_ratio(name) or "per" in _words(name)


def is_numeric(name: str) -> bool:
    """Return True if the name is that of a number, so that digits in text are read as numbers."""
    return bool(set(_words(name)) & (_ADDITIVE | _NOT_ADDITIVE))


def is_plural(words: str, language: Language, *, counted: bool) -> bool:
    """Return True if words look like a plural; `counted` is true of the name of a count."""
    endings = _GERMAN_PLURALS if counted else _GERMAN_PLURALS_ONLY
    if language == "de" and words not in _GERMAN_SINGULARS and words.endswith(endings):
        return True
    *before, last = words.split() or [""]
    noun = before[-1] if before and last.endswith(_PARTICIPLES) else last
    return singular(noun) != noun or noun in ("people", "children")


def names_no_count(name: str) -> bool:
    """Return True for plurals of money and measures, such as sales and days, and for figures of figures."""
    words = {singular(without_accents(each)) for each in title(name).split()}
    known = words | set(_words(name)) | set(title(name).split())
    return bool(known & (_NO_COUNTS | _NOT_ADDITIVE | _RATIOS | _LEVELS))


def is_level(name: str) -> bool:
    """Return True for levels at a point in time, such as stock: they add up over groups, not over time."""
    return bool(_LEVELS & set(_words(name)))


def _words(name: str) -> list[str]:
    return words_of(title(name))
