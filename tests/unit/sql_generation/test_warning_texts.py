"""Warnings about results are said in the language of the question, each in all four."""

import re

import pytest

from app.core.language import LANGUAGES
from app.modules.sql_generation.result_warnings.filters import missing_text
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.sentences import SENTENCES

SLOT = re.compile(r"\{\d\}")
PARTS = ("time ", "and", "quoted", "repaired ")
"""Texts of these names are parts of sentences."""


@pytest.mark.parametrize("name", SENTENCES)
def test_a_warning_has_the_same_values_in_each_language_and_words_of_its_own(name: str) -> None:
    texts = SENTENCES[name]
    assert tuple(texts) == LANGUAGES
    slots = [set(SLOT.findall(each)) for each in texts.values()]
    assert slots == [slots[0]] * len(LANGUAGES)
    assert len(set(texts.values())) == len(LANGUAGES)
    assert all(each.endswith(".") or name.startswith(PARTS) for each in texts.values())


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "several rows of actors: only 4 of 1,200 rows differ."),
        ("de", "mehrere Zeilen von actors treffen: Nur 4 von 1.200 Zeilen sind verschieden."),
        ("es", "con varias de actors: solo 4 de 1.200 filas son distintas."),
        ("fr", "plusieurs lignes de actors : seules 4 lignes sur 1\u202f200 diffèrent."),
    ],
)
def test_a_warning_has_names_and_numbers_of_its_result(language: str, said: str) -> None:
    warning = ResultWarning("rows that differ", ("films", "actors", 4, 1200))
    (chosen,) = [each for each in LANGUAGES if each == language]
    assert warning.say(chosen).replace("\u00a0", " ").endswith(said)


def test_braces_in_a_name_are_no_slots() -> None:
    assert ResultWarning("null column", ("{0}{x}",)).text == "Every value of “{0}{x}” is null."


def test_near_texts_are_quoted_as_the_language_of_the_reader_does() -> None:
    warning = missing_text("Customers.Country", "Brasil", ["Brazil", "Brunei"])
    assert warning.text.endswith("The nearest stored there: “Brazil”, “Brunei”.")
    assert warning.say("de").endswith("Dort am ähnlichsten: „Brazil“, „Brunei“.")
    assert warning.say("es").endswith("Los más parecidos: «Brazil», «Brunei».")
