"""German, Spanish and French questions with the words for directions, numbers and periods in English.

The other words stay as they are. All patterns are in the lower case of `str.casefold`, which writes ß as ss.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from app.core.language import Language, language_of

_YEAR = r"(?:19|20)\d\d"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PERIOD = rf"(?=(?:(?:{'|'.join(_MONTHS)}) )?{_YEAR})"
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def _compiled(language: Language) -> list[tuple[re.Pattern[str], str]]:
    words = _WORDS[language]
    numbers = enumerate(words["numbers"].split(), start=2)
    months = zip(words["months"].split(), _MONTHS, strict=True)
    phrases = [
        *((word, str(number)) for number, word in numbers),
        *((rf"{month},? (?:del? )?(?={_YEAR})", f"{short} ") for month, short in months),
        *words["phrases"],
    ]
    return [
        (re.compile(rf"(?<![\w.])(?:{_insert_times(pattern)})(?:(?<=[ .])|(?!\w))"), said)
        for pattern, said in phrases
    ]


def _insert_times(pattern: str) -> str:
    """Returns a pattern with those of a year and a period in the place of their names."""
    return pattern.replace("PERIOD", _PERIOD).replace("YEAR", _YEAR)


def translate(question: str) -> str:
    """Returns a question in lower case with those words in English; one in another language, as it is."""
    language = language_of(question)
    for pattern, said in _compiled(language) if language in _WORDS else ():
        question = pattern.sub(said, question)
    return question
