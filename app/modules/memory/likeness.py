"""What two texts have in common without vectors, and differences that vectors do not see."""

import re
import unicodedata
from collections import Counter

from app.core.words import without_accents

_TOKEN = re.compile(r"\d+(?:[.,:/\u066b\u066c-]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)?")

_NEGATIONS = frozenset(
    {
        # English
        *("not", "no", "never", "none", "neither", "nor", "cannot", "without"),
        *("except", "excluding", "exclude", "excludes", "excluded", "unless"),
        # German
        *("nicht", "nichts", "nie", "niemals", "niemand", "nirgends", "weder", "ohne", "außer", "ausser"),
        # French, where `ne` and `n'` go with another word
        *("pas", "jamais", "rien", "aucun", "aucune", "sans", "sauf", "hormis", "ni", "non"),
        # Spanish
        *("nunca", "nada", "nadie", "ninguno", "ninguna", "ningún", "jamás", "tampoco", "sin", "salvo"),
    }
)
_NEGATION = re.compile(r"^no(?:body|thing|where)$|n['\u2019]t$|^kein(?:e[mnrs]?)?$|^ausgeschlossene?[mnrs]?$")

_NUMBERS = (
    ("zero", "null", "zéro", "cero"),
    ("two", "twice", "second", "zwei", "zweimal", "zweite", "deux", "deuxième", "dos", "segundo", "segunda"),
    ("three", "third", "drei", "dritte", "trois", "troisième", "tres", "tercero", "tercera"),
    ("four", "fourth", "vier", "vierte", "quatre", "quatrième", "cuatro", "cuarto", "cuarta"),
    ("five", "fifth", "fünf", "fünfte", "cinq", "cinquième", "cinco", "quinto", "quinta"),
    ("six", "sixth", "sechs", "sechste", "sixième", "seis"),
    ("seven", "seventh", "sieben", "siebte", "sept", "septième", "siete"),
    ("eight", "eighth", "acht", "achte", "huit", "huitième", "ocho"),
    ("nine", "ninth", "neun", "neunte", "neuf", "neuvième", "nueve"),
    ("ten", "tenth", "zehn", "zehnte", "dix", "dixième", "diez"),
    ("eleven", "elf", "onze", "once"),
    ("twelve", "dozen", "zwölf", "dutzend", "douze", "douzaine", "doce", "docena"),
    ("twenty", "zwanzig", "vingt", "veinte"),
    ("thirty", "dreißig", "dreissig", "trente", "treinta"),
    ("forty", "vierzig", "quarante", "cuarenta"),
    ("fifty", "fünfzig", "cinquante", "cincuenta"),
    ("sixty", "sechzig", "soixante", "sesenta"),
    ("seventy", "siebzig", "setenta"),
    ("eighty", "achtzig", "ochenta"),
    ("ninety", "neunzig", "noventa"),
    ("hundred", "hundert", "cent", "cien", "ciento"),
    ("thousand", "tausend", "mille", "mil"),
    ("million", "millions", "millionen", "millones", "millón"),
    ("half", "halb", "halbe", "hälfte", "demi", "moitié", "medio", "media", "mitad"),
    ("double", "doppelt", "doppelte", "doble"),
)
_NUMBER_OF = {word: str(number) for number, words in enumerate(_NUMBERS) for word in words}


_SHARED = 0.75
"""The least share of words that texts have in common which say almost the same."""


def shares_words(one: str, other: str) -> bool:
    """True if two texts have three quarters of their words in common, order, case and accents aside."""
    first, second = _words(one), _words(other)
    return 2 * len(first & second) >= _SHARED * (len(first) + len(second))


def differs_in_sense(one: str, other: str) -> bool:
    """True if two texts have other numbers, or deny something else, in English, German, French or Spanish.

    Such texts have vectors that are hardly apart.
    """
    return _sense(one) != _sense(other)


def _words(text: str) -> set[str]:
    return set(_TOKEN.findall(without_accents(unicodedata.normalize("NFKC", text).lower())))


def _sense(text: str) -> tuple[Counter[str], int]:
    """Returns the numbers of a text, and how often it denies something."""
    tokens = [token.lower() for token in _TOKEN.findall(unicodedata.normalize("NFKC", text))]
    numbers = Counter(_digits(token) if token[0].isdigit() else _NUMBER_OF.get(token, "") for token in tokens)
    del numbers[""]
    denials = sum(token in _NEGATIONS or _NEGATION.search(token) is not None for token in tokens)
    return numbers, denials


def _digits(token: str) -> str:
    """Returns a number with the digits 0 to 9, whatever its script."""
    return "".join(str(unicodedata.digit(each)) if each.isdigit() else each for each in token)
