"""German, Spanish and French questions with the words for directions, numbers and periods in English.

The other words stay as they are. All patterns are in the lower case of `str.casefold`, which writes ß as ss.
"""

import re
from collections.abc import Sequence
from functools import cache

from app.core.language import Language, language_of

_YEAR = r"(?:19|20)\d\d"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS_OF: dict[Language, str] = {
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
_NUMBERS_OF: dict[Language, str] = {
    "de": "zwei drei vier fünf sechs sieben acht neun zehn",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez",
    "fr": "deux trois quatre cinq six sept huit neuf dix",
}
_PERIOD = rf"(?=(?:(?:{'|'.join(_MONTHS)}) )?{_YEAR})"
"""Follows a preposition of time: a year, or a month that is in English by then."""

_PHRASES: dict[Language, Sequence[tuple[str, str]]] = {
    "de": [
        (r"(\d{1,3})\.(?=\d{3}\b)", r"\1"),
        (r"nicht (mehr|weniger) als", r"no \1 als"),
        (r"(?:mehr|höher|grösser|teurer|länger|schwerer) als", "more than"),
        (r"(?:weniger|niedriger|kleiner|kürzer|leichter|billiger|günstiger) als", "less than"),
        (r"älter als", "older than"),
        (r"jünger als", "younger than"),
        (r"über (?=\d)", "over "),
        (r"unter (?=\d)", "under "),
        (r"mindestens", "at least"),
        (r"(?:höchstens|maximal) (?=\d)", "at most "),
        (r"mit (?:den|dem|der) meisten", "with the most"),
        (r"mit (?:den|dem|der) wenigsten", "with the fewest"),
        (r"am meisten|meiste[nrs]?", "most"),
        (r"am wenigsten|wenigsten?", "least"),
        (r"meistverkauft\w*", "best-selling"),
        (r"höchste[nrs]?|grösste[nrs]?|teuerste[nrs]?|(?:umsatz|absatz)stärkste[nrs]?", "highest"),
        (r"niedrigste[nrs]?|geringste[nrs]?|(?:umsatz|absatz)schwächste[nrs]?", "lowest"),
        (r"kleinste[nrs]?", "smallest"),
        (r"billigste[nrs]?|günstigste[nrs]?", "cheapest"),
        (r"längste[nrs]?", "longest"),
        (r"kürzeste[nrs]?", "shortest"),
        (r"neu(?:e)?ste[nrs]?|aktuellste[nrs]?", "latest"),
        (r"älteste[nrs]?", "oldest"),
        (r"absteigend\w*", "descending"),
        (r"aufsteigend\w*", "ascending"),
        (r"erste[ns]? quartal (?:von )?(?=\d)", "first quarter of "),
        (r"zweite[ns]? quartal (?:von )?(?=\d)", "second quarter of "),
        (r"dritte[ns]? quartal (?:von )?(?=\d)", "third quarter of "),
        (r"vierte[ns]? quartal (?:von )?(?=\d)", "fourth quarter of "),
        (r"([1-4])\. quartal (?=\d)", r"q\1 "),
        (r"(?:letzte[nms]|vergangene[nms]) jahre?s?", "last year"),
        (r"(?:letzte[nms]|vergangene[nms]) monats?", "last month"),
        (r"diese[nms] jahre?s?", "this year"),
        (r"diese[nms] monats?", "this month"),
        (r"(?:letzten|neuesten) (?=\d)", "last "),
        (r"ersten (?=\d)", "first "),
        (r"(?:tage|woche|monate|quartale|jahre|stunde|minute)n?", "days"),
        (rf"(?:seit|ab)(?: (?:dem )?jahr)? {_PERIOD}", "since "),
        (rf"nach(?: dem jahr)? {_PERIOD}", "after "),
        (rf"vor(?: dem jahr)? {_PERIOD}", "before "),
        (rf"zwischen {_PERIOD}", "between "),
        (rf"von {_PERIOD}", "from "),
        (rf"(?<={_YEAR}) (?:und|bis) {_PERIOD}", " to "),
        (rf"bis(?: zum)?(?: ende)? {_PERIOD}", "until "),
        (r"oder (?:später|danach)", "or later"),
        (r"oder (?:früher|davor)", "or earlier"),
        (r"(?:geschäfts|fiskal|schul|steuer)jahr\w*", "fiscal"),
        (r"verl(?:ust|or)\w*|rückg[aä]ng\w*|gefallen|gesunken|rabatt\w*|defizit\w*", "loss"),
        (
            r"gegenüber|verglichen|vergleich\w*|wachstum|entwicklung|verlauf|vorjahr\w*|vormonat\w*",
            "compared",
        ),
        (r"je|pro|jede[mnrs]?|zwischen", "each"),
        (r"nicht|nie|niemals|ohne|weder|kein(?:e[mnrs]?)?|ausser", "not"),
    ],
    "es": [
        (r"(\d{1,3})\.(?=\d{3}\b)", r"\1"),
        (r"no (más|menos) de", r"no \1 de"),
        (r"(?:más|mayor|mayores|superior|superiores) (?:de|que|a) (?=\d)", "more than "),
        (r"(?:menos|menor|menores|inferior|inferiores) (?:de|que|a) (?=\d)", "less than "),
        (r"(?:al|por lo) menos (?=\d)", "at least "),
        (r"(?:como máximo|a lo sumo|hasta un máximo de) (?=\d)", "at most "),
        (r"con (?:el |la |los |las )?(?:más|mayor|mayores) (?!de\b|que\b)", "with the most "),
        (r"con (?:el |la |los |las )?(?:menos|menor|menores) (?!de\b|que\b)", "with the fewest "),
        (r"(?:más|mejor) (?:vendid|car|alt|grand)[oae]s?|más elevad[oa]s?", "with the highest"),
        (r"menos vendid[oa]s?|más baj[oa]s?|peor vendid[oa]s?", "with the lowest"),
        (r"más pequeñ[oa]s?", "with the smallest"),
        (r"más barat[oa]s?", "with the cheapest"),
        (r"más larg[oa]s?", "with the longest"),
        (r"más cort[oa]s?", "with the shortest"),
        (r"más recientes?", "with the latest"),
        (r"(vend\w+|compr\w+|gast\w+) menos(?! de\b| que\b)", r"\1 least"),
        (r"(vend\w+|compr\w+|gast\w+) más(?! de\b| que\b)", r"\1 most"),
        (r"descendente|de mayor a menor", "descending"),
        (r"ascendente|de menor a mayor", "ascending"),
        (r"primer trimestre de (?=\d)", "first quarter of "),
        (r"segundo trimestre de (?=\d)", "second quarter of "),
        (r"tercer trimestre de (?=\d)", "third quarter of "),
        (r"(?:cuarto|último) trimestre de (?=\d)", "fourth quarter of "),
        (r"(?:el )?año pasado|último año", "last year"),
        (r"(?:el )?mes pasado|último mes", "last month"),
        (r"este año", "this year"),
        (r"este mes", "this month"),
        (r"últim[oa]s (?=\d)", "last "),
        (r"primer[oa]s (?=\d)", "first "),
        (r"días|semanas|meses|trimestres|años|horas|minutos", "days"),
        (rf"(?:desde|a partir de)(?: el año)? {_PERIOD}", "since "),
        (rf"después de(?:l año)? {_PERIOD}", "after "),
        (rf"antes de(?:l año)? {_PERIOD}", "before "),
        (rf"since (?={_YEAR} (?:a|hasta) )", "from "),
        (rf"de (?={_YEAR} (?:a|hasta) )", "from "),
        (rf"entre {_PERIOD}", "between "),
        (rf"(?<={_YEAR}) (?:y|a|hasta) {_PERIOD}", " to "),
        (rf"hasta(?: finales de)? {_PERIOD}", "until "),
        (r"o (?:después|posterior(?:es)?|más tarde)", "or later"),
        (r"o (?:antes|anterior(?:es)?)", "or earlier"),
        (r"ejercicio", "fiscal"),
        (r"pérdidas?|perdi\w*|caídas?|descuentos?|bajadas?|disminu\w*|déficits?", "loss"),
        (r"comparad[oa]s?|comparación|crecimiento|respecto|frente|evolución", "compared"),
        (r"cada|por (?:mes|año|trimestre|semana|día|categoría|país|región|cliente)", "each"),
        (r"nunca|jamás|sin|ningún|ningun[oa]|excepto|salvo", "not"),
    ],
    "fr": [
        (r"pas (plus|moins) de", r"no \1 de"),
        (r"(?:plus|supérieure?s?) (?:de|que|à) (?=\d)", "more than "),
        (r"(?:moins|inférieure?s?) (?:de|que|à) (?=\d)", "less than "),
        (r"au moins (?=\d)", "at least "),
        (r"au (?:plus|maximum) (?=\d)", "at most "),
        (r"(?:avec|qui ont|ayant) le (?:plus|plus grand nombre) (?:de |d')", "with the most "),
        (r"(?:avec|qui ont|ayant) le moins (?:de |d')", "with the fewest "),
        (r"l[ae]s? (?:plus vendu|plus ch[eè]r|plus élevé|plus haut|plus grand)e?s?", "with the highest"),
        (r"les? mieux vendue?s?", "with the highest"),
        (r"l[ae]s? (?:moins vendu|plus bas|plus faible)(?:s?e)?s?", "with the lowest"),
        (r"l[ae]s? plus petite?s?", "with the smallest"),
        (r"l[ae]s? moins ch[eè]re?s?", "with the cheapest"),
        (r"l[ae]s? plus long(?:ue)?s?", "with the longest"),
        (r"l[ae]s? plus courte?s?", "with the shortest"),
        (r"l[ae]s? plus récente?s?", "with the latest"),
        (r"(vend\w*|achet\w*|dépens\w*) le moins(?! de\b| d'| que\b)", r"\1 least"),
        (r"(vend\w*|achet\w*|dépens\w*) le plus(?! de\b| d'| que\b)", r"\1 most"),
        (r"décroissant", "descending"),
        (r"croissant", "ascending"),
        (r"premier trimestre (?:de )?(?=\d)", "first quarter of "),
        (r"(?:deuxième|second) trimestre (?:de )?(?=\d)", "second quarter of "),
        (r"troisième trimestre (?:de )?(?=\d)", "third quarter of "),
        (r"(?:quatrième|dernier) trimestre (?:de )?(?=\d)", "fourth quarter of "),
        (r"(?:l')?(?:année|an) (?:dernière?|passée?)", "last year"),
        (r"(?:le )?mois (?:dernier|passé)", "last month"),
        (r"cette année", "this year"),
        (r"ce mois(?:-ci)?", "this month"),
        (r"(?:dernière?s (?=\d)|(?<=\d )dernière?s)", "last "),
        (r"(?:première?s|premiers) (?=\d)", "first "),
        (r"jours|semaines|mois|trimestres|ans|années|heures|minutes", "days"),
        (rf"(?:depuis|à partir de)(?: l'année)? {_PERIOD}", "since "),
        (rf"après(?: l'année)? {_PERIOD}", "after "),
        (rf"avant(?: l'année)? {_PERIOD}", "before "),
        (rf"de (?={_YEAR} à )", "from "),
        (rf"entre {_PERIOD}", "between "),
        (rf"(?<={_YEAR}) (?:et|à) {_PERIOD}", " to "),
        (rf"jusqu'(?:en|à)(?: fin)? {_PERIOD}", "until "),
        (r"ou (?:après|plus tard|ultérieure?s?)", "or later"),
        (r"ou (?:avant|plus tôt|antérieure?s?)", "or earlier"),
        (r"exercice|fiscale?", "fiscal"),
        (r"pertes?|perdu\w*|baisses?|baiss\w+|remises?|chutes?|diminu\w*|déficits?", "loss"),
        (r"compar\w*|croissance|évolution|rapport", "compared"),
        (r"chaque|par (?:mois|an|trimestre|semaine|jour|catégorie|pays|région|client)", "each"),
        (r"pas|jamais|sans|aucune?|sauf", "not"),
    ],
}


@cache
def _compiled(language: Language) -> list[tuple[re.Pattern[str], str]]:
    numbers = enumerate(_NUMBERS_OF[language].split(), start=2)
    months = zip(_MONTHS_OF[language].split(), _MONTHS, strict=True)
    phrases = [
        *((word, str(number)) for number, word in numbers),
        *((rf"{month},? (?:del? )?(?={_YEAR})", f"{short} ") for month, short in months),
        *_PHRASES[language],
    ]
    return [(re.compile(rf"(?<![\w.])(?:{pattern})(?:(?<=[ .])|(?!\w))"), said) for pattern, said in phrases]


def translate(question: str) -> str:
    """Returns a question in lower case with those words in English; one in another language, as it is."""
    language = language_of(question)
    for pattern, said in _compiled(language) if language in _PHRASES else ():
        question = pattern.sub(said, question)
    return question
