"""The words of questions and of schemas in one form, so that `InvoiceLines` meets "invoice line"."""

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

_RUN = re.compile(r"[^\W\d_]+|\d+")
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

COMMON = frozenset((Path(__file__).parent / "common_words.txt").read_text(encoding="utf-8").split())
"""Words that mean no stored text, even where one is stored, and are no likeness between questions."""


def words_of(text: str) -> list[str]:
    """Lower case, without accents, singular, identifiers split; in their order."""
    return [_normal(word) for word in _RUN.findall(_BOUNDARY.sub(" ", _without_accents(text)))]


def telling_words(text: str) -> list[str]:
    """The words without those that say nothing of what is asked for."""
    return [word for word in words_of(text) if word not in COMMON]


def text_key(text: str) -> str:
    """What two spellings of a stored text share: not case, accents, punctuation or a plural; may be empty."""
    return " ".join(_normal(word) for word in _RUN.findall(_without_accents(text)))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


@lru_cache(maxsize=20_000)
def _normal(word: str) -> str:
    word = word.casefold()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
