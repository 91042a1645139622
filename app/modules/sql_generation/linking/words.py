"""The words of questions and schemas in one form, so that `InvoiceLines` matches "invoice line"."""

import re
from functools import lru_cache
from pathlib import Path

from app.core.words import singular, split_identifier, without_accents

_RUN = re.compile(r"[^\W\d_]+|\d+")

COMMON = frozenset((Path(__file__).parent / "common_words.txt").read_text(encoding="utf-8").split())
"""Words that mean no stored text, even where one is stored, and are no likeness between questions."""


def words_of(text: str) -> list[str]:
    """Returns the words of a text in order: lower case, without accents, singular, identifiers split."""
    return [_normal(word) for word in _RUN.findall(split_identifier(without_accents(text)))]


def telling_words(text: str) -> list[str]:
    """Returns `words_of` a text without common words."""
    return [word for word in words_of(text) if word not in COMMON]


def text_key(text: str) -> str:
    """Returns a key that ignores case, accents, punctuation and plurals; may be empty."""
    return " ".join(_normal(word) for word in _RUN.findall(without_accents(text)))


@lru_cache(maxsize=20_000)
def _normal(word: str) -> str:
    return singular(word.casefold())
