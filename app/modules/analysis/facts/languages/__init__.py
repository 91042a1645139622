"""Statements of each language: templates after the syntax of `facts.wording`, a file a language.

All languages have the same templates with the same slots; further forms of a noun (`row.dative`) stand only
in the languages that need them.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from app.core.language import LANGUAGES, Language


def _read_table(language: Language) -> Mapping[str, str]:
    return tomllib.loads((Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8"))


TABLES: dict[Language, Mapping[str, str]] = {language: _read_table(language) for language in LANGUAGES}
