"""Replies of models that choose statements: any text gives a choice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.analysis.facts.choice import FactChoice, read_choice
from app.modules.analysis.facts.judging import ReadingJudge
from app.modules.analysis.facts.wording import Wording
from tests.unit.analysis.facts.readings import BY_CATEGORY, QUESTION, read

SHEET, CALLS = read()
JUDGE = ReadingJudge(BY_CATEGORY, QUESTION)


def chosen(reply: str) -> FactChoice:
    return read_choice(
        reply, SHEET, answer_call=CALLS.answer, judge_reading=JUDGE.fault, wording=Wording("en")
    )


def numbers(choice: FactChoice) -> list[int]:
    return [SHEET.facts.index(fact) + 1 for fact in choice.facts]


@pytest.mark.parametrize(
    "reply",
    [
        '{"facts": ["f3", "f1"], "reading": ""}',
        '{"facts": ["F3", "f 1"]}',
        '{"facts": [3, 1], "reading": null}',
        '{"facts": "f3, f1"}',
        'Sure!\n```json\n{"facts": ["{{f3}}", "f1"], "reading": ""}\n```',
        '{"facts": ["f3: Shoes and Hats", "f1 = Clothing"]}',
        "f3, f1",
        "3 and 1",
        "[3, 1]",
        "{{f3}} {{f1}}",
        "Answer: f3\nf1",
        "I looked at f2 first. Answer: f3 f1",
        "lowest_revenue, then highest_revenue",
        '{"facts": ["f3", "f3", "f1"]}',
    ],
)
def test_numbers_and_keys_are_read_in_any_form(reply: str) -> None:
    choice = chosen(reply)
    assert (numbers(choice), choice.left_out) == ([3, 1], [])


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Clothing made 193,834.08 in 2026, 12 % more than Tents.",
        '{"facts": [], "reading": "It holds."}',
        '{"facts": ["f99", "f0"]}',
        '{"facts": {"f1": 1}}',
        '{"facts": ["f1"',
        "[" * 5_000,
        '{"facts":' * 5_000,
        "f" * 100_000,
        "share(" * 5_000,
    ],
)
def test_a_reply_without_a_choice_leaves_the_order_of_the_sheet(reply: str) -> None:
    choice = chosen(reply)
    if reply != '{"facts": ["f1"':
        assert choice.facts == SHEET.lead
        assert "KAI's own choice" in choice.left_out[-1]
    assert choice.reading is None


def test_what_cannot_be_shown_is_left_out_with_its_reason() -> None:
    choice = chosen('{"facts": ["f77", "share(profit, category=\\"Tents\\")", "f2"], "reading": ""}')
    assert numbers(choice) == [2]
    assert choice.left_out == ["2 statements that the model named are left out: these rows do not give them."]


def test_what_is_left_out_is_named_without_the_words_of_the_model() -> None:
    choice = chosen(
        '{"facts": ["Revenue rose by 12 %", "Clothing(12 %)", "total(revenue, category=\\"12 %\\")"]}'
    )
    assert len(choice.left_out) == 2
    assert not any("12" in each for each in choice.left_out)


def test_at_most_three_statements_are_shown() -> None:
    reply = '{"facts": ["f1", "f2", "f3", "f4", "f5"]}'
    assert numbers(chosen(reply)) == [1, 2, 3]
    assert "More than three statements" in chosen(reply).left_out[0]


def test_at_most_three_calls_are_answered() -> None:
    wrong = ", ".join(f'"value(revenue, category=\\"No {each}\\")"' for each in range(3))
    choice = chosen(f'{{"facts": [{wrong}, "total(revenue)", "f2"]}}')
    assert numbers(choice) == [2]
    assert choice.left_out[0].startswith("4 statements")


def test_a_called_fact_is_shown_in_the_words_of_the_program() -> None:
    choice = chosen('{"facts": ["gap(revenue, category=\\"Tents\\", category=\\"Hats\\")"], "reading": ""}')
    assert [each.statement for each in choice.facts] == [
        "Tents is 100,000.25 ahead of Hats in revenue, 22.5 points of the total."
    ]


def test_a_call_in_a_text_is_read() -> None:
    choice = chosen('Answer: value(revenue, category="Hats") and f1')
    assert [each.kind for each in choice.facts] == ["value", "highest"]


def test_a_reading_is_kept_beside_statements_and_judged() -> None:
    good = chosen('{"facts": ["f1"], "reading": "A look at the season may help."}')
    assert (good.reading, good.left_out) == ("A look at the season may help.", [])
    bad = chosen('{"facts": ["f1"], "reading": "Clothing rose by 12 %."}')
    assert bad.reading is None
    assert bad.left_out[0].startswith("A sentence of the model is left out: ")
    assert chosen("Answer: f1\nReading: A look at the season may help.").reading == good.reading


PIECES = st.sampled_from(
    [
        *(
            "f1",
            "f2",
            "f24",
            "f25",
            "3",
            "{",
            "}",
            "[",
            "]",
            '"',
            ":",
            ",",
            "\n",
            "facts",
            "reading",
            "Answer:",
        ),
        *(
            "share(",
            "revenue",
            ")",
            "category=",
            '"Tents"',
            "..",
            "total(revenue)",
            "highest_revenue",
            "\\",
            "ü",
        ),
        *(
            "Reading: ",
            '{"facts": ["f1"], "reading": "',
            "Tents rose",
            "12 %",
            "\u202e",
            "highest_revenue",
            "\x00",
            "**",
            "count()",
        ),
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=30))
def test_whatever_a_model_replies_only_statements_of_the_program_are_shown(pieces: list[str]) -> None:
    choice = chosen(" ".join(pieces))
    assert 1 <= len(choice.facts) <= 3 or choice.facts == SHEET.lead
    known = {fact.statement for fact in SHEET.facts}
    assert all(each.statement in known or each.key for each in choice.facts)
    assert choice.reading is None or JUDGE.fault(choice.reading) is None
