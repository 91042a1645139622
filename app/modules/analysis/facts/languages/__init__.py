"""Statements and nouns of each language: templates after the syntax of `facts.wording`.

A noun is `one|other`; `row:dative` is another form of it. All languages have the same templates and slots.
"""

from collections.abc import Mapping

from app.modules.analysis.facts.languages import de, en, es, fr
from app.modules.analysis.formats import Language

STATEMENTS: dict[Language, Mapping[str, str]] = {
    "en": en.STATEMENTS,
    "de": de.STATEMENTS,
    "es": es.STATEMENTS,
    "fr": fr.STATEMENTS,
}
NOUNS: Mapping[Language, Mapping[str, str]] = {"en": en.NOUNS, "de": de.NOUNS, "es": es.NOUNS, "fr": fr.NOUNS}
