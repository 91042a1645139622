"""Snippets of texts that were found by their words."""

import re

from app.core.words import without_accents

_WORD = re.compile(r"[^\W_]+")
_BEFORE = 40
"""Characters before the first hit, at most."""
_LONGEST = 140
"""Characters of a snippet, at most."""


def snippet(text: str, words: str) -> list[tuple[str, bool]]:
    """Returns the text around its first hit on one line, in pieces. True for a hit.

    As in the search, case and accents do not count, and the last of the words may be the beginning of one.
    """
    line = " ".join(text.split())
    hits = _hits(line, words)
    start = _start(line, hits[0][0] if hits else 0)
    stop = min(len(line), start + _LONGEST)
    pieces = [("… ", False)] if start else []
    at = start
    for first, last in hits:
        if last > stop:
            break
        pieces += [(line[at:first], False), (line[first:last], True)]
        at = last
    pieces += [(line[at:stop], False), (" …" if stop < len(line) else "", False)]
    return [(piece, is_hit) for piece, is_hit in pieces if piece]


def _start(line: str, hit: int) -> int:
    """Returns the begin of a word, at most `_BEFORE` characters before the hit."""
    if hit <= _BEFORE:
        return 0
    space = line.find(" ", hit - _BEFORE, hit)
    return hit if space < 0 else space + 1


def _hits(line: str, words: str) -> list[tuple[int, int]]:
    wanted = [_plain(each) for each in _WORD.findall(words)]
    if not wanted:
        return []
    *whole, beginning = wanted
    found = ((match, _plain(match.group())) for match in _WORD.finditer(line))
    return [match.span() for match, word in found if word in whole or word.startswith(beginning)]


def _plain(word: str) -> str:
    return without_accents(word).lower()
