"""The phrases of the form's words. What a phrase changes is named by the fields of a choice."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class Phrase:
    """A pattern, and the fields that it sets. None takes a field back."""

    pattern: re.Pattern[str]
    fields: Mapping[str, JsonValue]


def _pattern(*ways: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(ways)})(?!\w)", re.IGNORECASE)


def _phrase(*ways: str, **fields: JsonValue) -> Phrase:
    return Phrase(_pattern(*ways), fields)


_CHART = r"(?:[\s-]?(?:chart|graph|plot|diagramm?))?"
_NO = r"(?:without|no|hide|remove|ohne|keine?n?)\s+(?:the\s+|any\s+|die\s+|das\s+|den\s+)?"
_WITH = r"(?:with|show|add|mit|zeige)\s+(?:the\s+|die\s+|den\s+)?"
_TOTAL = r"\s+(?:of|in|am|vom|von)\s+(?:the\s+|der\s+|dem\s+)?(?:total|whole|gesamten|ganzen|summe)"
_BY = r"(?:per|by|a|each|every|pro|je|nach)\s+"
SORTED = r"(?:sort(?:ed)?|order(?:ed)?|sortiert?|sortiere|geordnet)\s+(?:by|nach)\s+(?:the\s+|dem\s+|der\s+)?"
_PERIODS = "periods|days|weeks|months|quarters|years|perioden|tage|wochen|monate|quartale|jahre"

RESET = _pattern(
    r"\s*(?:please\s+|bitte\s+)?(?:reset|undo|start over|back to the proposal)\s*[.!]?\s*",
    r"\s*(?:as (?:it was )?proposed|as before|wie vorgeschlagen|wie vorher)\s*[.!]?\s*",
    r"\s*(?:bitte\s+)?(?:zurücksetzen|rückgängig)\s*[.!]?\s*",
)
TITLE = re.compile(
    r"(?<!\w)(?:title|heading|titel|überschrift)\s*(?:[:=]|\bis\b|\bto\b|\bist\b|\blautet\b|(?=[\"“„']))\s*"
    r"(?:[\"“„'](?P<quoted>[^\"”“']*)[\"”“']|(?P<plain>[^;\n]*))",
    re.IGNORECASE,
)
UNIT = re.compile(
    r"(?<!\w)(?:unit|einheit)\s*(?:[:=]|\bis\b|\bist\b)?\s*[\"“„']?(?P<unit>[^\s,;\"”“']{1,12})[\"”“']?",
    re.IGNORECASE,
)
HEX = re.compile(r"#[0-9a-fA-F]{6}(?![0-9a-fA-F])")
NEGATION = _pattern(
    "not", "never", r"don['’]?t", "nicht", "without", "no", "ohne", "keine?[nrs]?", "hide", "remove"
)

_ENGLISH = "one two three four five six seven eight nine ten"
_GERMAN = "zwei drei vier fünf sechs sieben acht neun zehn"  # "ein" is an article, too
_NUMBERS: Mapping[str, int] = {
    **{word: at for at, word in enumerate(_ENGLISH.split(), 1)},
    **{word: at for at, word in enumerate(_GERMAN.split(), 2)},
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "zwölf": 12,
    "fünfzehn": 15,
    "zwanzig": 20,
}
_NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_LARGEST = "(?:largest|biggest|highest|greatest|best|most|top|größten|höchsten|besten|stärksten)"
_ONLY = r"(?:only\s+|just\s+|nur\s+)?(?:the\s+|die\s+)?"
LIMITS = (
    _pattern(rf"{_ONLY}{_NUMBER}\s+{_LARGEST}"),
    _pattern(rf"{_ONLY}top[\s-]?{_NUMBER}"),
    _pattern(rf"{_ONLY}{_LARGEST}\s+{_NUMBER}"),
)
AVERAGE = re.compile(
    r"(?<!\w)(?:moving average|rolling average|running mean|gleitende[rmn]? (?:durchschnitt|mittelwert))"
    rf"(?:\s+(?:of|over|über|von)\s+(?P<window>\d{{1,3}})(?:\s+(?:{_PERIODS}))?)?(?!\w)",
    re.IGNORECASE,
)

PHRASES: Sequence[Phrase] = (
    _phrase(
        rf"{_NO}(?:moving average|average|change|growth|outliers?|projection|forecast)",
        rf"{_NO}(?:gleitenden durchschnitt|veränderung|ausreißer|prognose|vorhersage)",
        computed=None,
    ),
    _phrase(
        rf"{_NO}(?:series|split|colou?rs?|groups|breakdown|reihen?|serien?|aufteilung|gruppen|farben)",
        "in (?:one|a single) line",
        "in einer linie",
        series=-1,
        facet=None,
    ),
    _phrase(
        rf"{_NO}(?:shares?|anteile?)",
        r"absolute(?:\s+(?:values|numbers))?",
        "absolute? (?:werte|zahlen)",
        "absolut",
        share=False,
    ),
    _phrase(rf"{_NO}(?:value )?(?:labels|numbers at the bars|beschriftung(?:en)?|werte)", labels=False),
    _phrase(rf"{_NO}(?:title|heading|titel|überschrift)", title=""),
    _phrase(rf"{_NO}(?:small multiples|small pictures|facets|kleinen? bilder)", facet=False),
    _phrase(rf"{_NO}(?:limit|grenze)", "all (?:names|bars)", "alle (?:namen|balken)", limit=100),
    _phrase(
        "small multiples",
        "small (?:pictures|charts)",
        "facets?",
        "facetted",
        "each in its own (?:picture|chart)",
        "kleine bilder",
        "jede[sr]? in eine[mr] eigenen (?:bild|diagramm)",
        facet=True,
    ),
    _phrase(
        rf"{_WITH}(?:value )?(?:labels|values|beschriftung(?:en)?|werten?|zahlen)",
        "labelled",
        "beschriftet",
        labels=True,
    ),
    _phrase(
        rf"(?:as\s+)?(?:an?\s+|the\s+)?(?:percentages?|per ?cent|prozent){_TOTAL}",
        rf"(?:as\s+)?(?:an?\s+|the\s+)?(?:shares?|proportions?)(?:{_TOTAL})?",
        rf"(?:als\s+)?(?:prozentualer? )?anteile?(?:{_TOTAL})?",
        share=True,
    ),
    _phrase("outliers", "unusual (?:periods|values)", "ausreißer", computed={"kind": "outliers"}),
    _phrase(
        *("projection", "forecast", "projected", "prognose", "vorhersage", "hochrechnung"),
        computed={"kind": "projection"},
    ),
    _phrase(
        r"(?:the\s+)?(?:change|growth)(?: (?:per|by) period| to the period before)?",
        r"(?:die\s+|das\s+)?(?:veränderung|wachstum)(?: (?:je|pro) periode)?",
        computed={"kind": "change"},
    ),
    _phrase(rf"stacked(?: bars?| columns?)?{_CHART}", "gestapelte?(?: balken| säulen)?", mark="stacked"),
    _phrase(r"100[\s-]?(?:%|percent|per cent|prozent)[\s-](?:bars?|balken)", mark="percent"),
    _phrase(r"heat[\s-]?map", "wärmekarte", mark="heat"),
    _phrase(
        rf"bars?{_CHART}",
        r"columns?[\s-](?:chart|graph)",
        "balken(?:diagramm)?",
        "säulen(?:diagramm)?",
        mark="bar",
    ),
    _phrase(rf"lines?{_CHART}", "curve", "linien?(?:diagramm)?", "kurve", mark="line"),
    _phrase(rf"areas?{_CHART}", "flächen?(?:diagramm)?", mark="area"),
    _phrase(
        rf"(?:pie|donut){_CHART}",
        "(?:kreis|kuchen)(?:diagramm)?",
        "torten?(?:diagramm)?",
        mark="arc",
    ),
    _phrase(
        rf"(?:points?|dots?){_CHART}",
        rf"scatter(?:[\s-]?plot)?{_CHART}",
        "punkte?(?:diagramm)?",
        "streudiagramm",
        mark="point",
    ),
    _phrase("histogram", "distribution", "histogramm", "verteilung", mark="histogram"),
    _phrase("(?:two )?panels", "(?:zwei )?felder", mark="combo"),
    _phrase("map", "landkarte", "karte", mark="map"),
    _phrase("daily", f"{_BY}days?", "täglich", f"{_BY}tag(?:en)?", time="day"),
    _phrase("weekly", f"{_BY}weeks?", "wöchentlich", f"{_BY}wochen?", time="week"),
    _phrase("monthly", f"{_BY}months?", "monatlich", f"{_BY}monat(?:en)?", time="month"),
    _phrase("quarterly", f"{_BY}quarters?", "vierteljährlich", f"{_BY}quartal(?:en)?", time="quarter"),
    _phrase("yearly", "annual(?:ly)?", f"{_BY}years?", "jährlich", f"{_BY}jahr(?:en)?", time="year"),
    _phrase(
        rf"{SORTED}(?:names?|letters?|namen|buchstaben)",
        "nach (?:namen|buchstaben) (?:sortiert|geordnet)",
        "(?:in )?alphabetical(?:ly)?(?: order)?",
        "alphabetisch",
        sort="name",
    ),
    _phrase(
        rf"{SORTED}(?:values?|size|wert(?:en)?|größe)",
        "nach (?:wert(?:en)?|größe) (?:sortiert|geordnet)",
        "descending",
        "(?:largest|highest) first",
        "absteigend",
        "größte zuerst",
        sort="value",
    ),
    _phrase(
        "(?:in the )?(?:original order|order of the (?:rows|table))",
        "as in the table",
        "wie in der tabelle",
        sort="rows",
    ),
    _phrase("(?:in )?(?:calendar|natural) order", f"{SORTED}calendar", "kalenderreihenfolge", sort="natural"),
    _phrase(
        "(?:in|as|format(?:ted)? as) (?:percent|per cent|percentages?|%)",
        "in prozent",
        format="percent",
    ),
    _phrase("compact(?: numbers)?", "short numbers", "kurze zahlen", "kompakt", format="compact"),
    _phrase(
        "exact(?: numbers| values)?",
        "full numbers",
        "in full",
        "genaue? (?:zahlen|werte)",
        "ausgeschrieben",
        format="exact",
    ),
    _phrase("automatic(?: numbers| format)?", "automatische zahlen", format="auto"),
)

_HUES: Mapping[str, str] = {
    "red": "#c0392b",
    "green": "#2e7d32",
    "blue": "#1f6fb2",
    "orange": "#d2691e",
    "yellow": "#b8860b",
    "purple": "#7b3fa0",
    "pink": "#c2408b",
    "teal": "#0b7a75",
    "brown": "#7a4b2a",
    "grey": "#6b737b",
    "black": "#202326",
}
_NAMES: Mapping[str, str] = {
    **{name: name for name in _HUES},
    "rot": "red",
    "grün": "green",
    "blau": "blue",
    "gelb": "yellow",
    "rosa": "pink",
    "türkis": "teal",
    **dict.fromkeys(("lila", "violett", "violet"), "purple"),
    "turquoise": "teal",
    "braun": "brown",
    "gray": "grey",
    "grau": "grey",
    "schwarz": "black",
}
COLOUR = _pattern(rf"(?:(?:in|colou?red|colou?r|farbe|gefärbt)\s+)?(?P<name>{'|'.join(_NAMES)})(?:e[rnms]?)?")

AGGREGATES: Mapping[str, str] = {
    **dict.fromkeys(("sum", "total", "summe"), "sum"),
    **dict.fromkeys(("mean", "average", "avg", "mittelwert", "durchschnitt"), "mean"),
    **dict.fromkeys(("count", "number", "anzahl"), "count"),
    "median": "median",
}

_FILLERS = """
a an the as in it its of by to with and then also please only just show draw make display use chart graph
picture plot diagram me us be this that is are now instead rather but for on at
ein eine einen einem einer das die der den dem des als mit und dann auch bitte nur zeig zeige zeichne mach
mache nimm stelle dar diagramm bild mir uns es ist sind jetzt stattdessen aber für auf von nach je pro im
"""
FILLERS = frozenset(_FILLERS.split())


def number_of(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word.lower()]


def hue_of(name: str) -> str:
    return _HUES[_NAMES[name.lower()]]
