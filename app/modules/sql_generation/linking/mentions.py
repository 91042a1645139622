"""Words of a conversation that may mean a stored text, so that SQL can spell it as it is stored."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from rapidfuzz.distance import OSA

from app.modules.sql_generation.linking.columns import Columns, is_named
from app.modules.sql_generation.linking.stored_texts import StoredText, StoredTexts
from app.modules.sql_generation.linking.words import COMMON, text_key, words_of

_WORD = re.compile(r"[^\W_]+(?:['\u2019\-.&/][^\W_]+)*")
_LONGEST_PHRASE = 6
_MOST_MENTIONS = 12
_MOST_PLACES = 4
_SHORT = 2
"""So short a word means a stored text only when it is written exactly like it: "CA" is no "ca"."""
_MOST_GUESSES = 16
_GUESSED_FROM = 4
_MISSPELLED_FROM = 5
_TWO_MISTAKES_FROM = 9
"""Lengths of a word that is no name, from which one mistake and two are allowed for."""
_ASKING = frozenset(
    ("return", "tell", "compare", "display", "compute", "calculate", "determine", "retrieve", "identify")
)
"""First words of questions, whose capital letter makes no name."""


@dataclass(frozen=True)
class StoredTextMention:
    """Words of a user, and the stored texts that they may mean.

    `exact`: they differ at most in case, accents and plurals.
    """

    said: str
    places: Sequence[StoredText]
    exact: bool


def mentions(conversation: Sequence[str], stored: StoredTexts, columns: Columns) -> list[StoredTextMention]:
    """Returns at most a dozen mentions: exact ones first, then those of later lines first.

    Inexact mentions are searched only in columns that users filter by, or that the conversation names.
    """
    asked = frozenset(words_of(" ".join(conversation)))
    lookup = _Lookup(stored, columns, asked)
    exact: dict[str, StoredTextMention] = {}
    guessed: dict[str, StoredTextMention] = {}
    for line in reversed(conversation):
        words = list(_WORD.finditer(line))
        free = set(range(len(words)))
        for said, positions in _phrases(line, words):
            if positions <= free and (places := lookup.exact(said)):
                free -= positions
                exact.setdefault(said.casefold(), StoredTextMention(said, places[:_MOST_PLACES], exact=True))
        for said, positions in islice(_guessable(line, words, free), _MOST_GUESSES):
            if positions <= free and said.casefold() not in guessed and (places := lookup.guessed(said)):
                free -= positions
                guessed[said.casefold()] = StoredTextMention(said, places[:_MOST_PLACES], exact=False)
    return [*exact.values(), *guessed.values()][:_MOST_MENTIONS]


def _phrases(line: str, words: Sequence[re.Match[str]]) -> Iterator[tuple[str, set[int]]]:
    """Yields runs of words as written, and the positions of their words; long runs first."""
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            last = start + length - 1
            yield line[words[start].start() : words[last].end()], set(range(start, last + 1))


def _guessable(line: str, words: Sequence[re.Match[str]], free: Set[int]) -> Iterator[tuple[str, set[int]]]:
    """Yields runs of capitalised words, then single words. All positions must be in `free`."""
    for said, positions in _phrases(line, words):
        named = all(words[position][0][:1].isupper() for position in positions)
        if positions <= free and (named or len(positions) == 1):
            yield said, positions


class _Lookup:
    """Lookup of the stored texts that words of one conversation may mean."""

    def __init__(self, stored: StoredTexts, columns: Columns, asked: Set[str]) -> None:
        self._stored = stored
        self._columns = columns
        self._asked = asked

    def exact(self, said: str) -> Sequence[StoredText]:
        key = text_key(said)
        if said.casefold() in COMMON or key.isdigit():
            return ()
        places = self._stored.of_key(key)
        if len(key) <= _SHORT:
            return [place for place in places if place.text == said]
        return [place for place in places if not self._names_column(key, said, place)]

    def guessed(self, said: str) -> Sequence[StoredText]:
        """Returns the texts that `said` may be a part of, or else a misspelling of."""
        key = text_key(said)
        if (
            len(key) < _GUESSED_FROM
            or key.isdigit()
            or said.casefold() in COMMON
            or key in self._columns.words
        ):
            return ()
        named = said[:1].isupper() and said.casefold() not in _ASKING
        partly = self._searched(self._stored.of_word(key)) if named else ()
        if partly:
            return partly
        like = self._searched(self._stored.like(key, limit=4))
        return [place for place in like if named or _is_misspelled(key, text_key(place.text))][:2]

    def _names_column(self, key: str, said: str, place: StoredText) -> bool:
        """True if a word means a column rather than the text, as in "which option" for a text "Option"."""
        if place.text == said or key not in self._columns.words:
            return False
        return key in words_of(place.column) or place.text.casefold() != said.casefold()

    def _searched(self, places: Sequence[StoredText]) -> list[StoredText]:
        """Returns the texts in columns that users filter by, or that the question names."""
        return [
            place
            for place in places
            if self._columns.holds(place.table, place.column) != "private"
            or is_named(place.column, self._asked)
        ]


def _is_misspelled(key: str, meant: str) -> bool:
    """True if a word has the first letter of `meant`, and at most one or two spelling mistakes after it."""
    mistakes = 2 if len(key) >= _TWO_MISTAKES_FROM else int(len(key) >= _MISSPELLED_FROM)
    return key[:1] == meant[:1] and OSA.distance(key, meant) <= mistakes
