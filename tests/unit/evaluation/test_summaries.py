"""Many outcomes in a few numbers."""

import pytest

from app.evaluation.results import OutcomeKind, OutcomeVerdict, QuestionOutcome, Results
from app.evaluation.summary import compare, summarize
from tests.unit.evaluation.test_reports import HEADER, outcome


def results(*outcomes: QuestionOutcome) -> Results:
    return Results(HEADER, {each.id: each for each in outcomes})


def test_a_gold_that_failed_counts_neither_way() -> None:
    found = summarize([outcome("1", "correct"), outcome("2", "beyond"), outcome("3", "gold_failed")], "exact")
    assert (found.accuracy.right, found.accuracy.all) == (1, 2)
    assert found.kinds == {"correct": 1, "beyond": 1, "gold_failed": 1}


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("correct", "right"),
        ("extra_columns", "wrong_and_sure"),
        ("wrong_rows", "wrong_and_sure"),
        ("from_rows", "in_words"),
        ("beyond", "declined"),
        ("clarification", "declined"),
        ("no_answer", "declined"),
        ("refused", "failed"),
        ("timeout", "failed"),
        ("model_error", "failed"),
    ],
)
def test_an_answer_is_right_or_wrong_and_sure_and_no_answer_is_neither(
    kind: OutcomeKind, verdict: OutcomeVerdict
) -> None:
    assert outcome("1", kind).verdict("exact") == verdict


def test_only_questions_answered_with_rows_say_how_far_an_answer_can_be_trusted() -> None:
    kinds: tuple[OutcomeKind, ...] = (
        "correct",
        "correct",
        "correct",
        "order",
        "beyond",
        "timeout",
        "from_rows",
    )
    found = summarize([outcome(str(at), kind) for at, kind in enumerate(kinds)], "exact").tally
    assert (found.accuracy.right, found.accuracy.all) == (3, 7)
    assert (found.of_answered.right, found.of_answered.all) == (3, 4)


def test_a_right_answer_that_proves_little_is_counted_apart() -> None:
    found = summarize([outcome("1", "correct", empty=True), outcome("2", "correct")], "exact").tally
    assert (found["right"], found["right_but_empty"], found.accuracy.right) == (1, 1, 2)


def test_the_later_turns_of_conversations_have_a_tally_of_their_own() -> None:
    turns = [
        outcome("1", "correct", conversation_id="a", turn=1),
        outcome("2", "order", conversation_id="a", turn=2),
        outcome("3", "correct", conversation_id="a", turn=3),
        outcome("4", "correct"),
    ]
    found = summarize(turns, "exact").follow_ups
    assert found is not None
    assert (found["right"], found["wrong_and_sure"]) == (1, 1)
    assert summarize(turns[3:], "exact").follow_ups is None


def test_each_mode_has_its_own_accuracy() -> None:
    outcomes = [
        outcome("1", "correct", bird=True),
        outcome("2", "extra_columns"),
        outcome("3", "order", bird=True),
    ]
    by_mode = summarize(outcomes, "subset").by_mode
    assert {mode: tally.accuracy.right for mode, tally in by_mode.items()} == {
        "exact": 1,
        "subset": 2,
        "bird": 2,
    }


def test_a_conversation_is_right_when_every_turn_is() -> None:
    turns = [
        outcome("1", "correct", conversation_id="a", turn=0),
        outcome("2", "correct", conversation_id="a", turn=1),
        outcome("3", "correct", conversation_id="b", turn=0),
        outcome("4", "order", conversation_id="b", turn=1),
    ]
    found = summarize(turns, "exact")
    assert found.interactions is not None
    assert (found.interactions.right, found.interactions.all) == (1, 2)
    assert {turn: tally.accuracy.right for turn, tally in found.by_turn.items()} == {"0": 2, "1": 1}


def test_two_evaluations_are_paired_by_question() -> None:
    first = results(
        outcome("1", "correct"), outcome("2", "correct"), outcome("3", "beyond"), outcome("4", "correct")
    )
    second = results(
        outcome("1", "correct"), outcome("2", "order"), outcome("3", "correct"), outcome("5", "correct")
    )
    found = compare(first, second, "exact")
    assert [one.id for one, _ in found.regressions] == ["2"]
    assert [one.id for one, _ in found.improvements] == ["3"]
    assert (found.first.accuracy.right, found.second.accuracy.right, found.first.accuracy.all) == (2, 2, 3)
    assert [two.id for _, two in found.newly_wrong_and_sure] == ["2"]
    assert found.p_value == 1
    assert str(found.difference) == "+0.0 points (-78.4 to +78.4)"


def test_questions_with_corrections_are_counted_apart_from_repaired_ones() -> None:
    plain = outcome("1", "correct")
    corrected = plain.model_copy(update={"id": "2", "corrections": ("Joined `visit`.", "Wrote `a`.")})
    found = summarize([plain, corrected, plain.model_copy(update={"id": "3", "repairs": 1})], "exact")
    assert (found.corrected, found.repaired) == (1, 1)


def test_a_cost_is_the_mean_of_a_question_in_all_and_by_turn() -> None:
    turns = [
        outcome("1", "correct", conversation_id="a", turn=0, calls=1, prompt_tokens=90, completion_tokens=10),
        outcome("2", "order", conversation_id="a", turn=1, calls=2, prompt_tokens=270, completion_tokens=30),
    ]
    found = summarize(turns, "exact")
    assert (found.tally.cost.calls, found.tally.cost.tokens) == (1.5, 200)
    assert {turn: tally.cost.tokens for turn, tally in found.by_turn.items()} == {"0": 100, "1": 300}
