"""Warnings about results are said in the language of the question, each in all four."""

import re

import pytest

from app.core.language import LANGUAGES
from app.modules.sql_generation.result_warnings.checks import check_result, check_rows
from app.modules.sql_generation.result_warnings.filters import missing_text
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.sentences import SENTENCES
from graph.state import Column, Rows
from tests.unit.sql_generation.test_result_warnings import INDEX

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


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["50 % of c1 is null: 1 of 2 rows.", "A limit cut the result: the statement gives more than"]),
        ("de", ["50 % von c1 fehlen (NULL): 1 von 2 Zeilen.", "Eine Grenze hat das Ergebnis gekürzt"]),
        ("es", ["El 50 % de c1 es nulo: 1 de 2 filas.", "Un límite cortó el resultado"]),
        ("fr", ["50 % de c1 est nul : 1 lignes sur 2.", "Une limite a coupé le résultat"]),
    ],
)
def test_the_checks_of_rows_are_said_in_the_language_of_the_question(language: str, said: list[str]) -> None:
    columns = [Column(name=name, type="text") for name in ("c0", "c1")]
    found = Rows(columns=columns, rows=[["a", None], ["b", "c"]], row_count=2, truncated=True)
    (chosen,) = [each for each in LANGUAGES if each == language]
    texts = [each.text for each in check_rows(found, chosen)]
    assert [text.startswith(begin) for text, begin in zip(texts, said, strict=True)] == [True, True], texts


def test_the_checks_of_a_statement_are_said_in_the_language_of_the_question() -> None:
    found = Rows(columns=[], rows=[], row_count=0, truncated=False)
    sql = "select 1 from customers c join invoices i on i.customer_id = c.id where c.country = 'Norway'"
    checked = {each.kind: each.text for each in check_result(sql, found, INDEX, language="de")}
    assert checked["stored_values"] == "„Norway“ war beim letzten Einlesen gespeichert."
    assert checked["repeated_rows"].startswith("Die Schlüssel zeigen")
    english = [each.text for each in check_result(sql, found, INDEX, language="en")]
    assert "“Norway” was stored at the last scan." in english
