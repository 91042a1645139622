"""Words of a conversation that may mean a stored text, so that it is written as it is stored."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from app.modules.sql_generation.linking.stored_texts import StoredText, StoredTexts
from app.modules.sql_generation.linking.words import COMMON, text_key

_WORD = re.compile(r"[^\W_]+(?:['\u2019\-.&/][^\W_]+)*")
_LONGEST_PHRASE = 6
_MOST_MENTIONS = 12
_MOST_PLACES = 4
_SHORT = 2
"""So short a word means a stored text only when it is written exactly like it: "CA" is no "ca"."""
_MOST_GUESSES = 16
_GUESSED_FROM = 4


@dataclass(frozen=True)
class Mention:
    """What was said, and the stored texts that it may mean; `exact` but for case, accents and plurals."""

    said: str
    places: Sequence[StoredText]
    exact: bool


def mentions(conversation: Sequence[str], stored: StoredTexts) -> list[Mention]:
    """The likeliest dozen, those said in full first; a later line goes before an earlier one."""
    exact: dict[str, Mention] = {}
    guessed: dict[str, Mention] = {}
    for line in reversed(conversation):
        words = list(_WORD.finditer(line))
        free = set(range(len(words)))
        for said, positions in _phrases(line, words):
            if positions <= free and (places := _exact(said, stored)):
                free -= positions
                exact.setdefault(said.casefold(), Mention(said, places[:_MOST_PLACES], exact=True))
        for said, positions in islice(_guessable(line, words, free), _MOST_GUESSES):
            if positions <= free and said.casefold() not in guessed and (places := _guessed(said, stored)):
                free -= positions
                guessed[said.casefold()] = Mention(said, places[:_MOST_PLACES], exact=False)
    return [*exact.values(), *guessed.values()][:_MOST_MENTIONS]


def _phrases(line: str, words: Sequence[re.Match[str]]) -> Iterator[tuple[str, set[int]]]:
    """Runs of words as they were written, long ones first."""
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            last = start + length - 1
            yield line[words[start].start() : words[last].end()], set(range(start, last + 1))


def _guessable(line: str, words: Sequence[re.Match[str]], free: Set[int]) -> Iterator[tuple[str, set[int]]]:
    """Names of several capitalised words, then single words."""
    for said, positions in _phrases(line, words):
        named = all(words[position][0][:1].isupper() for position in positions)
        if positions <= free and (named or len(positions) == 1):
            yield said, positions


def _exact(said: str, stored: StoredTexts) -> Sequence[StoredText]:
    key = text_key(said)
    if said.casefold() in COMMON or key.isdigit():
        return ()
    places = stored.of_key(key)
    if len(key) <= _SHORT:
        return [place for place in places if place.text == said]
    return places


def _guessed(word: str, stored: StoredTexts) -> Sequence[StoredText]:
    """A part of a name, or a misspelling."""
    key = text_key(word)
    if len(key) < _GUESSED_FROM or key.isdigit() or word.casefold() in COMMON:
        return ()
    partly = stored.of_word(key) if word[:1].isupper() else ()
    return partly or stored.like(key, limit=2)
