"""Answers to interrupts as decisions."""

import pytest
from pydantic import JsonValue

from app.modules.protocols.agui.decisions import PayloadUnsupported, ResumeMismatch, decisions_of
from app.modules.protocols.agui.schemas import InterruptAnswer
from app.modules.records.steps import CallRecord


def call(name: str) -> CallRecord:
    return CallRecord(
        id=name,
        owner="ann",
        session_id="session",
        message_id="answer",
        run_id="run",
        step=1,
        position=0,
        tool="save_example",
        category="write",
        arguments={},
        status="waiting",
        created_at=0,
        call_hash=f"hash of {name}",
    )


def answer(name: str, payload: JsonValue = None, status: str = "resolved") -> InterruptAnswer:
    return InterruptAnswer.model_validate({"interruptId": name, "status": status, "payload": payload})


@pytest.mark.parametrize(
    ("given", "decided"),
    [
        (answer("a", {"type": "approve"}), ("approve", None, "hash of a")),
        (answer("a", {"type": "approve", "call_hash": "other"}), ("approve", None, "other")),
        (answer("a", {"decisions": [{"type": "approve"}]}), ("approve", None, "hash of a")),
        (answer("a", {"type": "reject", "message": "Too early."}), ("deny", "Too early.", "hash of a")),
        (answer("a", {"type": "reject"}), ("deny", None, "hash of a")),
        (answer("a", None, "cancelled"), ("deny", None, "hash of a")),
        (answer("a", {"approved": True}), ("approve", None, "hash of a")),
        (answer("a", {"approved": False}), ("deny", None, "hash of a")),
        (answer("a", {"approved": False, "reason": "Too early."}), ("deny", "Too early.", "hash of a")),
        (
            answer("a", {"approved": True, "editedArgs": {"n": 1}}),
            ("approve", None, "hash of a", {"n": 1}),
        ),
        (
            answer("a", {"type": "edit", "edited_action": {"name": "save_example", "args": {"n": 1}}}),
            ("approve", None, "hash of a", {"n": 1}),
        ),
    ],
)
def test_an_answer_is_a_decision(given: InterruptAnswer, decided: tuple[object, ...]) -> None:
    (decision,) = decisions_of([given], [call("a")])
    verdict, reason, call_hash, *edited = decided
    assert (decision.verdict, decision.reason, decision.call_hash) == (verdict, reason, call_hash)
    assert [decision.edited] == (edited or [None])


@pytest.mark.parametrize(
    "payload",
    [
        *(None, True, "approve", {}, {"type": "perhaps"}, {"decisions": []}),
        *(
            {"approved": "yes"},
            {"approved": 1},
            {"approved": True, "args": {}},
            {"approved": True, "editedArgs": 1},
        ),
        {"type": "reject", "message": "x" * 1_001},
        {"type": "edit", "edited_action": {"name": "other_tool", "args": {"n": 1}}},
        {"type": "reject", "message": "half \ud800"},
    ],
    ids=repr,
)
def test_other_payloads_are_refused_with_the_form_of_a_decision(payload: JsonValue) -> None:
    with pytest.raises(PayloadUnsupported, match="approve"):
        decisions_of([answer("a", payload)], [call("a")])


@pytest.mark.parametrize("named", [["b"], ["a"], ["a", "b", "c"], ["a", "a"]])
def test_exactly_the_open_interrupts_must_be_answered(named: list[str]) -> None:
    answers = [answer(name, {"type": "approve"}) for name in named]
    with pytest.raises(ResumeMismatch, match="a, b") as refused:
        decisions_of(answers, [call("a"), call("b")])
    assert refused.value.members["open"] == ["a", "b"]


def test_without_open_interrupts_there_is_nothing_to_resume() -> None:
    with pytest.raises(ResumeMismatch, match="ask a question"):
        decisions_of([answer("a", {"type": "approve"})], [])
