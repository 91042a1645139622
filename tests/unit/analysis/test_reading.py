"""Sentences of a model that may stand beside statements: none can be untrue of a result."""

import pytest

from app.modules.analysis.facts.reading import ReadingGate
from graph.state import Column, Rows
from tests.support.cases import assert_each

ROWS = Rows(
    columns=[
        Column(name="region", type="text"),
        Column(name="country_code", type="text"),
        Column(name="person", type="text"),
        Column(name="revenue", type="number"),
    ],
    rows=[
        ["West", "IN", "Frank Harris", 12.5],
        ["Nord-Süd", "A", "Place Tower Museum", 3],
        ["Spade", "DE", "it came with a long note on how the parcel had been packed and sent", 3],
    ],
    row_count=3,
    truncated=False,
    cut_by=None,
)
GATE = ReadingGate([ROWS], names=["orders", "order_items_2", "region", "revenue"])


@pytest.mark.parametrize(
    "sentence",
    [
        "A campaign may explain this.",
        "In this business a discount often comes before a return.",
        "Look at the price of the products, too.",
        "The revenue comes from `orders` and from order_items_2.",
        "Vielleicht hat eine Aktion das ausgelöst.",
        "Conviene mirar los precios.",
        "Une campagne peut expliquer cela.",
    ],
)
def test_a_sentence_that_explains_may_be_shown(sentence: str) -> None:
    assert GATE.fault(sentence) is None


def test_a_sentence_with_a_figure_a_name_or_a_comparison_may_not() -> None:
    def check(sentence: str, fault: str) -> None:
        assert GATE.fault(sentence) == fault

    assert_each(
        [
            ("Revenue was 12.", "a figure"),
            ("It was ½ of it.", "a figure"),
            ("It was `12`.", "a figure"),
            ("Twelve regions did well.", "a number in words"),
            ("Der Umsatz hat sich verdoppelt.", "a number in words"),
            ("In December it looked odd.", "a period"),
            ("In May it looked odd.", "a period"),
            ("The west explains it.", "a name of the rows"),
            ("West's campaign explains it.", "a name of the rows"),
            ("Harris explains it.", "a name of the rows"),
            ("A nord süd campaign explains it.", "a name of the rows"),
            ("Spades explain it.", "a name of the rows"),
            ("Look at IN again.", "a name of the rows"),
            ("Revenue fell.", "a word that compares"),
            ("It is the highest.", "a word that compares"),
            ("Der Umsatz ist gefallen.", "a word that compares"),
            ("Las ventas subieron, y es la región más alta.", "a word that compares"),
            ("Le chiffre d'affaires a augmenté.", "a word that compares"),
            ("売上が落ちた。", "letters that are not Latin"),
        ],
        check,
    )
