"""The language of a question: English, German, Spanish or French, recognized by common words."""

import re
from pathlib import Path
from typing import Literal, get_args

Language = Literal["en", "de", "es", "fr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"(?<!\w)(?:\"[^\"]*\"|'[^']*'|`[^`]*`|„[^“”]*[“”]|“[^”]*”|«[^»]*»)(?!\w)")
_LONGEST = 2_000


def _read_words() -> dict[Language, frozenset[str]]:
    """The common words of each language; the file has one line a language."""
    lines = (Path(__file__).parent / "common_words.txt").read_text(encoding="utf-8").splitlines()
    words = dict(line.split(": ", 1) for line in lines)
    return {language: frozenset(words[language].split()) for language in LANGUAGES}


_COMMON = _read_words()


def language_of(question: str) -> Language:
    """The language in which a question is written; English when the words do not decide.

    Text in quotation marks does not count, as it is data. A word that is common in several languages counts
    for each of them.
    """
    text = _QUOTED.sub(" ", question[:_LONGEST].replace("’", "'").lower())
    words = _WORD.findall(text)
    scores = {language: sum(word in _COMMON[language] for word in words) for language in LANGUAGES}
    best = max(scores.values())
    leaders = [language for language in LANGUAGES if scores[language] == best]
    return leaders[0] if len(leaders) == 1 else "en"
