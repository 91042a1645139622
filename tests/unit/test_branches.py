"""Branches of a session: the messages that a question follows."""

from app.modules.records.model import START, Message, Outcome, TakenStep
from app.modules.session.branches import path_before, path_to_last

STEP = TakenStep(step="analyzing", message="Writing", started_at="2026-01-01T00:00:00Z", ms=0)


def turn(
    number: int, parent: str | None = None, status: Outcome = "complete", *, steps: int = 1
) -> list[Message]:
    """A question and its answer, with the ids `q1` and `a1`."""
    return [
        _message(f"q{number}", "human", sequence=2 * number, parent=parent),
        _message(f"a{number}", "assistant", sequence=2 * number + 1, status=status, steps=steps),
    ]


def _message(
    message_id: str,
    role: str,
    *,
    sequence: int,
    parent: str | None = None,
    status: Outcome = "complete",
    steps: int = 0,
) -> Message:
    return Message.model_validate(
        {
            "id": message_id,
            "run_id": "r",
            "role": role,
            "query": "?",
            "status": status,
            "timeline": [STEP] * steps,
            "owner": "ann",
            "session_id": "s",
            "created_at": 0,
            "sequence": sequence,
            "parent_message_id": parent,
        }
    )


def ids(messages: list[Message]) -> str:
    return " ".join(message.id for message in messages)


def test_a_question_follows_the_turn_before_it_or_the_answer_that_it_names() -> None:
    record = [*turn(1), *turn(2), *turn(3, "a1"), *turn(4), *turn(5, "a2"), *turn(6, START)]
    assert [ids(path_to_last(record[: 2 * count])) for count in range(7)] == [
        "",
        "q1 a1",
        "q1 a1 q2 a2",
        "q1 a1 q3 a3",
        "q1 a1 q3 a3 q4 a4",
        "q1 a1 q2 a2 q5 a5",
        "q6 a6",
    ]
    assert ids(path_before(record, "a4")) == "q1 a1 q3 a3 q4 a4"
    assert path_before(record, START) == []


def test_a_path_ends_where_its_parent_is_not_in_the_record() -> None:
    record = [*turn(7, "a1"), *turn(8)]
    assert ids(path_to_last(record)) == "q7 a7 q8 a8"
    assert path_before(record, "a1") == []


def test_a_branch_that_ended_before_its_first_step_is_followed_by_nothing() -> None:
    unbegun = turn(3, "a1", "cancelled", steps=0)
    assert ids(path_to_last([*turn(1), *turn(2), *unbegun, *turn(4)])) == "q1 a1 q2 a2 q4 a4"
    begun = turn(3, "a1", "cancelled")
    assert ids(path_to_last([*turn(1), *turn(2), *begun, *turn(4)])) == "q1 a1 q3 a3 q4 a4"
    waiting = turn(3, "a1")[:1]
    assert ids(path_to_last([*turn(1), *turn(2), *waiting])) == "q1 a1 q3"
