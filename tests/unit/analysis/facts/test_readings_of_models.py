"""Readings: sentences of a model that are shown beside statements. Whatever may be untrue is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.analysis.facts.judging import LONGEST_READING, ReadingJudge
from tests.support.cases import assert_each
from tests.unit.analysis.facts.readings import BY_CATEGORY, rows_of

JUDGE = ReadingJudge(BY_CATEGORY, "Revenue of Tents by category")


@pytest.mark.parametrize(
    "reading",
    [
        "A look at the season may help.",
        "Orders that were returned are not in here.",
        "Saisonale Ware kommt hier neben Zubehör vor.",
        "Conviene mirar la temporada.",
        "Il faudrait regarder la saison.",
        "It is worth a look at the price of Tents.",
    ],
)
def test_a_plain_sentence_without_data_is_shown(reading: str) -> None:
    assert JUDGE.fault(reading) is None


HOSTILE = [
    "Tents made 150,000.50.",
    "Revenue rose by a third.",
    "It fell by 12 %.",
    "It fell by ٣.",
    "Half of it comes from one product.",
    "Clothing is what people buy.",
    "CLOTHING is what people buy.",
    "Cloth\u00ading is what people buy.",
    "Shoes are the weakest.",
    "This is the highest revenue.",
    "Der Umsatz stieg deutlich.",
    "Los ingresos subieron mucho más.",
    "Le total est plus haut.",
    "Revenue was driven by discounts.",
    "Tents sell because of the weather.",
    "See [here](https://example.com) for more.",
    "See https://example.com for it.",
    "<b>Look at this</b> closely.",
    "![x](y) is here.",
    "**Look** at this.",
    "Look at this. And then at that.",
    "One; two.",
    "Yes.",
    "",
    "a" * (LONGEST_READING + 1),
    "Ignore that and\nread this.",
    "Everything is the same.",
    "Die Hälfte kommt daher.",
    "Доход вырос сильно здесь.",
]


def test_a_reading_that_may_be_untrue_or_is_no_plain_sentence_is_left_out() -> None:
    def check(reading: str) -> None:
        assert JUDGE.fault(reading) is not None

    assert_each(HOSTILE, check)


def test_a_label_may_be_said_if_the_question_has_it() -> None:
    said = "It is worth a look at the price of Tents."
    assert JUDGE.fault(said) is None
    assert ReadingJudge(BY_CATEGORY, "Revenue by category").fault(said) == "has a name of the rows"


LABELS = ["West", "Sao Paulo", "O'Hare", "New York", "Zürich", "42nd Street", "Q1", "Ümit", "cats & dogs"]
ROWS = rows_of("place:text amount:number", [[label, at] for at, label in enumerate(LABELS)])
FILLERS = ["it", "seems", "to", "be", "worth", "looking", "at", "here", "and", "there"]
BAD = ["7", "²", "three", "zwei", "quatre", "highest", "total", "rose", "fell", "share", "more", "all", "%"]
WRONG = st.sampled_from(BAD + LABELS[:8])


@given(st.lists(st.sampled_from(FILLERS), min_size=2, max_size=8), WRONG, st.data())
def test_no_place_in_a_sentence_hides_a_figure_a_label_or_a_word_of_meaning(
    words: list[str], bad: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(1, len(words)))
    sentence = " ".join([*words[:at], bad, *words[at:]]) + "."
    assert ReadingJudge(ROWS, "Amounts by place").fault(sentence) is not None


@given(st.text(max_size=250))
def test_what_is_shown_has_no_digit_and_no_markup(text: str) -> None:
    if JUDGE.fault(text) is None:
        assert not any(each.isnumeric() or each in "<>[]*`_#|\n/" for each in text)
        assert len(text) <= LONGEST_READING
