"""The sentences about statements and their results, in English, German, Spanish and French."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from app.core.language import Language

_THOUSANDS: Mapping[Language, str] = {"en": ",", "de": ".", "es": ".", "fr": "\u202f"}
SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8")
)


class WarningPhrase(NamedTuple):
    """A sentence, or a part of one, that is written in the language of its reader: the `name` of a text and
    the `values` in it.
    """

    name: str
    values: "tuple[str | int | WarningPhrase, ...]" = ()

    def say(self, language: Language) -> str:
        """Returns the sentence; numbers have the language's mark of thousands."""
        return SENTENCES[self.name][language].format(*(_written(language, each) for each in self.values))


def joined(names: Sequence[str | WarningPhrase]) -> str | WarningPhrase:
    """Returns at least one name, with "and" between them."""
    first, *more = names
    return WarningPhrase("and", (first, joined(more))) if more else first


def _written(language: Language, value: str | int | WarningPhrase) -> str:
    if isinstance(value, WarningPhrase):
        return value.say(language)
    return f"{value:,}".replace(",", _THOUSANDS[language]) if isinstance(value, int) else value
