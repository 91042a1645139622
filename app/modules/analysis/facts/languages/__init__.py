"""Statements of each language: templates after the syntax of `facts.wording`.

All languages have the same templates with the same slots; further forms of a noun (`row.dative`) stand only
in the languages that need them.
"""

from collections.abc import Mapping

from app.core.language import Language
from app.modules.analysis.facts.languages import de, en, es, fr

TABLES: dict[Language, Mapping[str, str]] = {"en": en.TABLE, "de": de.TABLE, "es": es.TABLE, "fr": fr.TABLE}
