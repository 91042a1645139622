"""Spellings of one word meet in one form."""

import pytest

from app.core.words import singular, split_identifier, without_accents


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("orders", "order"),
        ("categories", "category"),
        ("boxes", "box"),
        ("classes", "class"),
        ("waltzes", "waltz"),
        ("sizes", "size"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("gas", "gas"),
    ],
)
def test_a_word_and_its_plural_meet(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


def test_identifiers_are_split_where_case_changes() -> None:
    assert split_identifier("InvoiceLines") == "Invoice Lines"
    assert split_identifier("HTTPStatus2Code") == "HTTP Status2 Code"


def test_accents_and_ligatures_become_plain_letters() -> None:
    assert without_accents("Citroën ﬁve") == "Citroen five"
