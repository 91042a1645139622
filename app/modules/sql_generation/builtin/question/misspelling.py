"""Correction of a misspelt word, where exactly one word can be meant."""

from calendar import month_name

from rapidfuzz.distance import OSA

from app.modules.sql_generation.builtin.question.lexicon import Lexicon
from app.modules.sql_generation.builtin.question.readings import plural
from app.modules.sql_generation.builtin.question.words import REVENUE, WORDS, Token, word_set

_SHORTEST = 4
"""Letters of a word that is corrected. From `_ONE_WRONG` letters on one of them may be wrong; below, two are
exchanged."""
_ONE_WRONG = 5
_TWO_WRONG = 9
_OWN = word_set(WORDS["spelled"]) | {*REVENUE, *(name.lower() for name in month_name if name)}
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = frozenset("aeiou")


def correction(token: Token, lexicon: Lexicon) -> str | None:
    """Returns the word that `token` is a misspelling of; None if there is none, or if there are several.

    A letter is wrong if it is missing, added, exchanged with the next, or another vowel or a key beside it:
    "house" is no misspelling of "horse". The first letter counts as right.
    """
    if token.kind != "word" or len(token.raw) < _SHORTEST or not token.raw.isalpha():
        return None
    own = {word: OSA.distance(token.raw, word) for word in _OWN if _is_misspelled(token.raw, word)}
    names = {
        plural(said) if token.plural else said: OSA.distance(token.word, word)
        for word, said in lexicon.spellings(token.word).items()
        if _is_misspelled(token.word, word)
    }
    found = own | names
    nearest = [word for word, distance in found.items() if distance == min(found.values())]
    return nearest[0] if len(nearest) == 1 else None


def _is_misspelled(word: str, meant: str) -> bool:
    if word[0] != meant[:1] or abs(len(word) - len(meant)) > 2 or not meant.isalpha():
        return False
    wrong = OSA.distance(word, meant, score_cutoff=2)
    if wrong == 1:
        return _is_slip(word, meant)
    return wrong == 2 and len(word) >= _TWO_WRONG


def _is_slip(word: str, meant: str) -> bool:
    """True if two words that differ by one mistake differ by one that people make without noticing."""
    if len(word) != len(meant):
        return len(word) >= _ONE_WRONG and not word.startswith(meant)  # "rated" is a form of "rate"
    wrong = [(one, other) for one, other in zip(word, meant, strict=True) if one != other]
    if len(wrong) == 2:
        return True
    (one, other) = wrong[0]
    return len(word) > _ONE_WRONG and ({one, other} <= _VOWELS or _is_beside(one, other))


def _is_beside(one: str, other: str) -> bool:
    """True if two letters are neighbours in a row of a keyboard."""
    return any(one + other in row or other + one in row for row in _ROWS)
