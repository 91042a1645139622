"""Numbers, periods, lists and column names as people of four languages write them.

Figures are exact decimals throughout and are rounded half away from zero only where they are written.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import cache
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.core.language import Language
from app.core.values.dates import format_date, reader_locale
from app.core.words import plural
from app.modules.analysis.figures.calendar import UNITS, Period
from app.modules.analysis.figures.names import is_additive, is_money, is_part, is_share_of_one
from app.modules.analysis.localized import (
    format_currency,
    format_decimal,
    format_list,
    format_percent,
    locale_of,
)
from app.modules.analysis.words import label, title, word_set

if TYPE_CHECKING:
    from babel import Locale

Unit = str
"""The unit of a column: `percent` (38.6 is 38.6%), `ratio` (0.386 is 38.6%), or the code of a currency."""

_LONGEST_INTEGER = Decimal(10) ** 30
_PRECISION = 60
_MOST_PLACES = 12
_MOST_DECIMALS = 4
_CURRENCIES = word_set("""
    aud brl cad chf cny czk dkk eur gbp hkd huf inr jpy krw mxn nok nzd pln sek sgd usd zar
""")
_PERCENT = frozenset({"percent", "percentage", "pct", "prozent", "porcentaje", "pourcentage"})
_PERCENT_SIGN = "(%)"
"""At the end of a column's name: its values are per cent, however small they are."""
_SAYS_PERCENT = frozenset({"growth", "change", "margin", "discount", "wachstum", "marge", "rabatt", "margen"})
_NO_MONEY = word_set("""
    rate ratio count number num share shares id rank change growth
""")
_WEEKS: Mapping[Language, str] = {
    "en": "week {} of {}",
    "de": "Woche {} des Jahres {}",
    "es": "semana {} de {}",
    "fr": "semaine {} de {}",
}
_PREPOSITIONS: Mapping[Language, Mapping[str, Sequence[str]]] = {
    "en": {
        "the": ("{}",) * 5,
        "in": ("on {}", "in {}", "in {}", "in {}", "in {}"),
        "of": ("on {}", "in {}", "in {}", "in {}", "in {}"),
        "on": ("on {}",) * 5,
        "from": ("from {}",) * 5,
        "to": ("to {}",) * 5,
    },
    "de": {
        "the": ("der {}", "die {}", "{}", "das {}", "{}"),
        "in": ("am {}", "in {}", "im {}", "im {}", "im Jahr {}"),
        "of": ("am {}", "in {}", "im {}", "im {}", "im Jahr {}"),
        "on": ("gegenüber dem {}", "gegenüber {}", "gegenüber {}", "gegenüber dem {}", "gegenüber {}"),
        "from": ("vom {}", "von {}", "von {}", "vom {}", "von {}"),
        "to": ("bis zum {}", "bis {}", "bis {}", "bis zum {}", "bis {}"),
    },
    "es": {
        "the": ("el {}", "la {}", "{}", "el {}", "{}"),
        "in": ("el {}", "en la {}", "en {}", "en el {}", "en {}"),
        "of": ("del {}", "de la {}", "de {}", "del {}", "de {}"),
        "on": ("frente al {}", "frente a la {}", "frente a {}", "frente al {}", "frente a {}"),
        "from": ("del {}", "de la {}", "de {}", "del {}", "de {}"),
        "to": ("al {}", "a la {}", "a {}", "al {}", "a {}"),
    },
    "fr": {
        "the": ("le {}", "la {}", "{}", "le {}", "{}"),
        "in": ("le {}", "pendant la {}", "en {}", "au {}", "en {}"),
        "of": ("du {}", "de la {}", "de {}", "du {}", "de {}"),
        "on": (
            *("par rapport au {}", "par rapport à la {}", "par rapport à {}"),
            *("par rapport au {}", "par rapport à {}"),
        ),
        "from": ("du {}", "de la {}", "de {}", "du {}", "de {}"),
        "to": ("au {}", "à la {}", "à {}", "au {}", "à {}"),
    },
}
"""Articles and prepositions before a period, by its unit from day to year; an hour has those of its day."""
_OF_NAME: Mapping[Language, str] = {"en": "of ", "de": "von ", "es": "de ", "fr": "de "}
_WITH_AND_WITHOUT: Mapping[Language, tuple[str, str]] = {
    "en": ("with", "without"),
    "de": ("mit", "ohne"),
    "es": ("con", "sin"),
    "fr": ("avec", "sans"),
}
_MORE: Mapping[Language, tuple[str, str]] = {
    "en": ("{} more", "{} more"),
    "de": ("{} weitere", "{} weitere"),
    "es": ("{} más", "{} más"),
    "fr": ("{} autre", "{} autres"),
}
_TITLES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "count": "number of {}",
        "rows": "number of rows",
        "average": "average {}",
        "median": "median {}",
        "minimum": "minimum {}",
        "maximum": "maximum {}",
        "total": "total {}",
    },
    "de": {
        "count": "Anzahl {}",
        "rows": "Anzahl der Zeilen",
        "average": "Durchschnitt von {}",
        "median": "Median von {}",
        "minimum": "Minimum von {}",
        "maximum": "Maximum von {}",
        "total": "Summe von {}",
    },
    "es": {
        "count": "número de {}",
        "rows": "número de filas",
        "average": "promedio de {}",
        "median": "mediana de {}",
        "minimum": "mínimo de {}",
        "maximum": "máximo de {}",
        "total": "total de {}",
    },
    "fr": {
        "count": "nombre de {}",
        "rows": "nombre de lignes",
        "average": "moyenne de {}",
        "median": "médiane de {}",
        "minimum": "minimum de {}",
        "maximum": "maximum de {}",
        "total": "total de {}",
    },
}
_COUNTS = frozenset({"count", "num", "n"})
_FUNCTIONS = {
    **{each: each for each in ("average", "median", "minimum", "maximum", "total")},
    "avg": "average",
    "mean": "average",
    "min": "minimum",
    "max": "maximum",
    "sum": "total",
}
_CELLS: Mapping[Language, Mapping[str | bool | None, str]] = {
    "en": {None: "(none)", True: "yes", False: "no", "": "(empty)"},
    "de": {None: "(kein Wert)", True: "ja", False: "nein", "": "(leer)"},
    "es": {None: "(sin valor)", True: "sí", False: "no", "": "(vacío)"},
    "fr": {None: "(aucune valeur)", True: "oui", False: "non", "": "(vide)"},
}
_PERCENTAGE: Mapping[Language, str] = {
    "en": "percentage",
    "de": "prozent",
    "es": "porcentaje",
    "fr": "pourcentage",
}
_SPELLED = {"avg": "average"}
_GERMAN_SMALL = word_set("""
    der die das den dem des und oder in im am an auf aus bei bis für fuer je mit nach ohne per pro seit über
    ueber um von vom vor zu zum zur minus plus of by
""")
_ELIDED = re.compile(r"\b(d|qu|jusqu)e $", re.IGNORECASE)
_VOWEL = re.compile(r"\**[aàâeéèêëiîïoôuùûœ]", re.IGNORECASE)
_LIKE_I = re.compile(r"\**h?i(?![ea])", re.IGNORECASE)


def unit_of(name: str, values: Collection[Decimal] = ()) -> Unit | None:
    """Return the unit of a column, by its name and all of its values; None if they do not tell.

    A column named as per cent whose values all lie between -1 and 1 may hold ratios as well: its unit is
    unclear. One named as a share holds ratios if all of them lie there.
    """
    words = title(name).split()
    is_small = bool(values) and all(abs(value) <= 1 for value in values)
    if name.endswith(_PERCENT_SIGN):
        return "percent"
    if _PERCENT & set(words):
        return None if is_small and any(values) else "percent"
    is_rate = bool(words) and words[-1] != "quote" and words[-1].endswith("quote")  # such as Retourenquote
    if is_rate and any(value > 1 for value in values) and all(0 <= value <= 100 for value in values):
        return "percent"
    if words and words[-1] == "share":
        return "ratio" if is_small else None
    codes = {"eur" if word in ("euro", "euros") else word for word in words} & _CURRENCIES
    if len(codes) != 1 or _NO_MONEY & set(words):
        return None
    return codes.pop().upper()


def unit_of_column(name: str, values: Collection[Decimal], *, is_ratio: bool = False) -> Unit | None:
    """Return the unit of a column by all of its values: rates, ratios and shares between 0 and 1 are ratios.

    `is_ratio` says that the statement divides. A few of the values do not tell: an exchange rate may be 0.95.
    """
    if all(0 <= value <= 1 for value in values) and not name.endswith(_PERCENT_SIGN):
        has_parts = any(0 < value < 1 for value in values)
        if (is_ratio and is_part(name)) or (has_parts and is_share_of_one(name)):
            return "ratio"
    return unit_of(name, values)


def without_unit(name: str, unit: Unit | None) -> str:
    """Return a column's name without its unit, which stands beside its values: "revenue EUR", "rate pct"."""
    words = title(name).split()
    if unit is None or len(words) < 2:
        return name
    if unit not in ("percent", "ratio"):
        kept = [word for word in words if word.removesuffix("s").replace("euro", "eur") != unit.lower()]
        return " ".join(kept) or name
    is_said = words[-1] in _PERCENT and (is_part(words[-2]) or words[-2] in _SAYS_PERCENT)
    return " ".join(words[:-1]) if is_said or words[-1] == _PERCENT_SIGN else name


def decimals_of(name: str, values: Collection[Decimal]) -> int | None:
    """Return the decimals that a column's values are written with: its own up to two, of money two.

    Three or four are kept where values are larger than one, such as exchange rates. None: those that a value
    needs by its size.
    """
    most = max((-int(each.normalize().as_tuple().exponent) for each in values), default=0)
    if most <= 0 or most > _MOST_DECIMALS:
        return None
    if most > 2:
        return None if is_additive(name) or max(values) < 1 else most
    return 2 if is_money(name) else most


@dataclass(frozen=True)
class Formats:
    """Formats of one language."""

    language: Language

    # Numbers

    def amount(self, value: Decimal, unit: Unit | None = None, places: int | None = None) -> str:
        """Format a value with `places`, or with two decimals from 1 on, and three significant digits below.

        Percentages have no zeros at their end.
        """
        has_digits = places is not None and (not value or abs(value).adjusted() >= -places)
        if unit is None and places is not None and has_digits and abs(value) < _LONGEST_INTEGER:
            return self._plain(_rounded(value, places), places)
        if abs(value) >= _LONGEST_INTEGER:
            return f"{value:.4g}"
        if unit in ("percent", "ratio"):
            value = value.scaleb(2) if unit == "ratio" else value
            return self._per_cent(_rounded_apart(value, _places(value)))
        is_whole = value == value.to_integral_value()
        rounded = _rounded(value, 0 if is_whole else _places(value))
        places = 0 if is_whole else 2 if abs(value) >= 1 else _digits(rounded)
        if unit is None:
            return self._plain(rounded, places)
        places = max(2, places) if places else 0
        pattern = _locale(self.language).currency_formats["standard"].pattern
        pattern = pattern.replace("#,##0.00", _pattern(places))
        with localcontext(prec=_PRECISION):
            return format_currency(rounded, unit, pattern=pattern, locale=_locale(self.language))

    def count(self, count: int) -> str:
        return self.amount(Decimal(count))

    def percent(self, ratio: Decimal, *, signed: bool = False) -> str:
        """Format a ratio as per cent with one decimal; with more where it would read as 0% or 100%."""
        text = self._per_cent(rounded_per_cent(ratio.scaleb(2)))
        return f"+{text}" if signed and ratio > 0 else text

    def points(self, value: Decimal) -> str:
        """Format a number of percentage points, without the word."""
        rounded = rounded_per_cent(value)
        return self._plain(rounded, _digits(rounded))

    def _per_cent(self, rounded: Decimal) -> str:
        pattern = _locale(self.language).percent_formats[None].pattern
        pattern = pattern.replace("#,##0", _pattern(_digits(rounded)))
        with localcontext(prec=_PRECISION):
            return format_percent(rounded.scaleb(-2), pattern=pattern, locale=_locale(self.language))

    def _plain(self, rounded: Decimal, places: int) -> str:
        with localcontext(prec=_PRECISION):
            return format_decimal(rounded, pattern=_pattern(places), locale=_locale(self.language))

    def is_one(self, count: Decimal | int) -> bool:
        """Return True if the singular stands beside the count: for 1, in French for 0 too."""
        return _locale(self.language).plural_form(Decimal(count).normalize()) == "one"

    # Periods

    def day(self, day: date) -> str:
        return format_date(day, "long day", self.language)

    def period(self, period: Period, form: str = "") -> str:
        """Format a period; `form` is its article `the`, or a preposition: in, of, from, to or on."""
        text = self._bare(period)
        return self._add_preposition(form, period, text) if form else text

    def span(self, first: Period, last: Period, form: str = "") -> str:
        """Format the periods from first to last: "January to October 2026"."""
        if first == last:
            return self.period(first, form)
        if first.unit == "hour" and first.within("day") == last.within("day"):
            end = last.after(1).start
            hours = f"{self._bare(first)}–{end:%H:%M}"
            return self._add_preposition(form, first, hours) if form else hours
        start = self._bare(first)
        is_short = first.start.year == last.start.year and first.unit in ("month", "quarter")
        if is_short and first.unit == "month":
            start = format_date(first.start, "month name", self.language)
        elif is_short and self.language == "en":
            start = start.split()[0]
        if form == "on" and is_short and self.language in ("es", "fr"):
            return self._add_preposition(form, first, f"{start}-{self._bare(last)}")
        both = f"{start} {self.period(last, 'to')}"
        if form in ("", "the"):
            return both
        if form == "of" and self.language == "en":
            return f"of {both}"
        return self._add_preposition("on" if form == "on" else "from", first, both)

    def month(self, month: int) -> str:
        """The name of a month of any year."""
        return format_date(date(2000, month, 1), "month name", self.language)

    def _add_preposition(self, form: str, period: Period, text: str) -> str:
        unit = "day" if period.unit == "hour" else period.unit
        pattern = _PREPOSITIONS[self.language][form][UNITS[1:].index(unit)]
        return self.elided(pattern.removesuffix("{}"), text)

    def begins_with_period(self, text: str) -> bool:
        """Return True if a text begins with the word of a period, which has a capital in a sentence."""
        first = text.lstrip("*").partition(" ")[0]
        return first in _period_words(self.language)

    def _bare(self, period: Period) -> str:
        start = period.start
        match period.unit:
            case "hour":
                return f"{self.day(start)}, {start:%H:%M}"
            case "day":
                return self.day(start)
            case "week":
                year, week = period.numbered_week
                return _WEEKS[self.language].format(week, year)
            case "month":
                return format_date(start, "long month", self.language)
            case "quarter":
                return format_date(start, "quarter", self.language)
            case "year":
                return str(start.year)

    # Words

    def cell(self, cell: JsonValue) -> str:
        """Format a cell as one line of Markdown; no value, yes and no are words of the language."""
        text = cell.strip() if isinstance(cell, str) else cell
        if text is None or text == "" or isinstance(text, bool):
            return _CELLS[self.language][text]
        return label(cell)

    def name(self, name: str, form: str = "") -> str:
        """Format a name; `of` puts the preposition before it."""
        return self.elided(_OF_NAME[self.language], name) if form == "of" else name

    def listed(self, names: Sequence[str], more: int = 0) -> str:
        """Format names as a list without a serial comma; `more` are those that are only counted."""
        listed = list(names)
        if more:
            listed.append(_MORE[self.language][0 if self.is_one(more) else 1].format(self.count(more)))
        if self.language == "es" and len(listed) > 1 and _LIKE_I.match(listed[-1]):
            return f"{', '.join(listed[:-1])} e {listed[-1]}"
        return format_list(listed, locale=reader_locale(self.language))

    def title(self, name: str, things: str | None = None) -> str:
        """Format a column's name as words, so that `count(*)` and `order_count` are "number of orders".

        `things` are what the rows are, in the plural.
        """
        spelled = {**_SPELLED, "pct": _PERCENTAGE[self.language]}
        words = [spelled.get(word, word) for word in title(name).split()]
        if words in (["count"], ["count", "star"]):
            return self._titled("count", things) if things else self._titled("rows", "")
        if len(words) > 1 and words[0] in _COUNTS and words[1] != "of":
            return self._titled("count", plural(" ".join(words[1:])))
        if len(words) > 1 and words[:2] == ["number", "of"]:
            return self._titled("count", " ".join(words[2:]))
        if len(words) > 1 and words[-1] == "count":
            return self._titled("count", plural(" ".join(words[:-1])))
        if len(words) > 1 and words[0] in _FUNCTIONS:
            return self._titled(_FUNCTIONS[words[0]], _named(words[1:]))
        return self.noun(_named(words))

    def limited(self, things: str, having: Sequence[str], lacking: Sequence[str]) -> str:
        """Things that have others, and lack others: "tracks with invoice lines"."""
        for word, others in zip(_WITH_AND_WITHOUT[self.language], (having, lacking), strict=True):
            things = f"{things} {word} {self.listed(list(map(self.noun, others)))}" if others else things
        return things

    def noun(self, words: str) -> str:
        """Words of a column's name as they stand in a sentence: German ones are nouns, with capitals."""
        if self.language == "fr":
            return words.replace("chiffre affaires", "chiffre d'affaires")
        if self.language != "de":
            return words
        return " ".join(
            each if each in _GERMAN_SMALL else each[:1].upper() + each[1:] for each in words.split(" ")
        )

    def _titled(self, function: str, name: str) -> str:
        return self.elided(_TITLES[self.language][function].removesuffix("{}"), self.noun(name))

    def elided(self, before: str, after: str) -> str:
        """Join two pieces of a text; French words such as "de" lose their vowel before another one."""
        if self.language == "fr" and _VOWEL.match(after):
            before = _ELIDED.sub(r"\1'", before)
        return before + after


def _named(words: Sequence[str]) -> str:
    """A name of words, with codes of currencies in capitals."""
    return " ".join(word.upper() if word in _CURRENCIES else word for word in words)


def _rounded(value: Decimal, places: int) -> Decimal:
    """Round half away from zero, as people do."""
    with localcontext(prec=_PRECISION):
        return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _places(value: Decimal) -> int:
    """Decimals of an amount: two from 1 on, below that so many that three significant digits stand."""
    return 2 if abs(value) >= 1 or not value else min(2 - value.adjusted(), _MOST_PLACES)


def rounded_per_cent(value: Decimal) -> Decimal:
    """Round to one decimal, to more if the value is not 0 or 100 and would be, and to none from 1,000 on."""
    places = (
        0 if abs(value) >= 1000 else 1 if abs(value) >= Decimal("0.1") or not value else 1 - value.adjusted()
    )
    return _rounded_apart(value, places)


def _rounded_apart(value: Decimal, places: int) -> Decimal:
    """Round a percentage, to more places if it is not 100 and would be."""
    rounded = _rounded(value, places)
    while abs(rounded) == 100 != abs(value) and places < _MOST_PLACES:
        places += 1
        rounded = _rounded(value, places)
    return rounded


def _digits(rounded: Decimal) -> int:
    """Decimals of a number, without zeros at the end."""
    _, _, fraction = f"{rounded:f}".partition(".")
    return len(fraction.rstrip("0"))


def _pattern(places: int) -> str:
    return f"#,##0.{'0' * places}" if places else "#,##0"


@cache
def _period_words(language: Language) -> frozenset[str]:
    months = reader_locale(language).months["stand-alone"]["wide"].values()
    return frozenset({*months, _WEEKS[language].partition(" ")[0]})


@cache
def _locale(name: str) -> "Locale":
    return locale_of(name)
