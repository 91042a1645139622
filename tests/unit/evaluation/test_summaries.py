"""Many outcomes in a few numbers."""

from app.evaluation.comparison import compare
from app.evaluation.outcome import Outcome
from app.evaluation.results_file import Results
from app.evaluation.summary import summarize
from tests.unit.evaluation.test_reports import HEADER, outcome


def results(*outcomes: Outcome) -> Results:
    return Results(HEADER, {each.id: each for each in outcomes})


def test_a_gold_that_failed_counts_neither_way() -> None:
    found = summarize([outcome("1", "correct"), outcome("2", "beyond"), outcome("3", "gold_failed")], "exact")
    assert (found.accuracy.right, found.accuracy.all) == (1, 2)
    assert found.kinds == {"correct": 1, "beyond": 1, "gold_failed": 1}


def test_each_mode_has_its_own_accuracy() -> None:
    outcomes = [
        outcome("1", "correct", bird=True),
        outcome("2", "extra_columns"),
        outcome("3", "order", bird=True),
    ]
    by_mode = summarize(outcomes, "subset").by_mode
    assert {mode: share.right for mode, share in by_mode.items()} == {"exact": 1, "subset": 2, "bird": 2}


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
    assert {turn: share.right for turn, share in found.by_turn.items()} == {"0": 2, "1": 1}


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
    assert (found.first.right, found.second.right, found.first.all) == (2, 2, 3)
    assert found.p_value == 1
