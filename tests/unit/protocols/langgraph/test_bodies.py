"""What clients send to the LangGraph API, and what is refused of it."""

from dataclasses import replace
from typing import Any, cast

import pytest
from pydantic import JsonValue, ValidationError

from app.core.clock import now_ms
from app.modules.protocols.langgraph.assistants import page_headers
from app.modules.protocols.langgraph.chat import latest_turns
from app.modules.protocols.langgraph.decisions import decisions_in
from app.modules.protocols.langgraph.errors import OtherCallsWait, ValueUnsupported
from app.modules.protocols.langgraph.interrupts import interrupts_of, requests_of
from app.modules.protocols.langgraph.question import asked_in
from app.modules.protocols.langgraph.schemas import HistoryQuery, NewRun
from app.modules.protocols.messages import MAX_MESSAGES
from app.modules.records.steps import CallRecord

CALL = CallRecord(
    id="a",
    owner="ann",
    session_id="s",
    message_id="m",
    run_id="r",
    step=1,
    position=0,
    tool="describe",
    category="write",
    arguments={},
    status="waiting",
    call_hash="of a",
    created_at=now_ms(),
)
_BOTH = [CALL, replace(CALL, id="b", call_hash="of b")]
INTERRUPT = str(interrupts_of(requests_of(_BOTH))[0]["id"])
WAITING = [replace(CALL, shown_to={"c": INTERRUPT, "other": "of earlier calls"}), _BOTH[1]]


def run(**fields: Any) -> NewRun:
    return NewRun.model_validate({"assistant_id": "kai", **fields})


@pytest.mark.parametrize(
    "message",
    [
        "How many?",
        {"role": "user", "content": "How many?"},
        {"type": "human", "content": [{"type": "text", "text": "How many?"}]},
        ["user", "How many?"],
        {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "How many?"}},
    ],
)
def test_a_question_comes_in_every_form_of_langchain(message: JsonValue) -> None:
    assert asked_in({"messages": [message]}).text == "How many?"


def test_earlier_messages_must_be_part_of_the_thread() -> None:
    human: JsonValue = {"type": "human", "id": "known", "content": "First"}
    tool: JsonValue = {"type": "tool", "content": "of the client"}
    asked = asked_in({"messages": [human, tool, {"type": "human", "id": "new", "content": "Second"}]})
    assert (asked.text, asked.client_message_id) == ("Second", "new")
    asked.check_earlier({"known"})
    with pytest.raises(ValueUnsupported, match="not part of this thread"):
        asked.check_earlier(())


@pytest.mark.parametrize("given", [None, {}, {"messages": []}, {"messages": [{"role": "assistant"}]}])
def test_an_input_without_a_question_is_refused(given: dict[str, JsonValue] | None) -> None:
    with pytest.raises(ValueUnsupported):
        asked_in(given)


def test_modes_come_as_one_as_several_or_not_at_all() -> None:
    assert run().modes == ["values"]
    assert run(stream_mode="updates").modes == ["updates"]
    assert run(stream_mode=["custom", "values"]).modes == ["custom", "values"]
    with pytest.raises(ValidationError, match="no stream mode 'events'"):
        run(stream_mode="events")


def test_empty_values_of_what_is_not_offered_are_taken_and_others_are_not() -> None:
    empty: dict[str, Any] = {"webhook": None, "after_seconds": 0, "feedback_keys": [], "context": {}}
    assert run(**empty, command={"goto": [], "update": None}).command is not None
    assert run(**empty, command={"goto": "__end__"}).command is not None
    for name, value in {
        "webhook": "x",
        "after_seconds": 1,
        "feedback_keys": ["x"],
        "context": {"x": 1},
    }.items():
        with pytest.raises(ValidationError, match=name):
            run(**{name: value})
    with pytest.raises(ValidationError, match="unheard_of"):
        run(unheard_of=1)


def test_only_keys_of_langgraph_itself_are_taken_in_a_configuration() -> None:
    own = {"thread_id": "t", "checkpoint_ns": "", "__pregel": 1, "langgraph_auth": {}}
    assert run(config={"configurable": own, "tags": [], "recursion_limit": 25}).config is not None
    with pytest.raises(ValidationError, match="leave out 'prompt'"):
        run(config={"configurable": {"prompt": "Be rude."}})


def test_metadata_of_the_run_goes_before_that_of_its_config() -> None:
    given = run(config={"metadata": {"a": 1, "b": 1}}, metadata={"b": 2})
    assert given.all_metadata == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    "before", ["c", {"checkpoint_id": "c"}, {"configurable": {"checkpoint_id": "c", "thread_id": "t"}}]
)
def test_a_checkpoint_is_named_by_its_id_itself_or_a_config(before: JsonValue) -> None:
    assert HistoryQuery(before=before).before_id == "c"


def test_decisions_come_in_the_order_of_the_calls_alone_or_by_the_id_of_the_interrupt() -> None:
    approve: JsonValue = {"type": "approve"}
    reject: JsonValue = {"type": "reject", "message": "No."}
    alone: JsonValue = {"decisions": [approve, reject]}
    named: JsonValue = {
        "decisions": [
            {"type": "reject", "message": "No.", "call_hash": "of b"},
            {"type": "approve", "id": "a"},
        ]
    }
    for resume, client in ((alone, "c"), ({INTERRUPT: alone}, "other"), (named, "other")):
        decided = decisions_in(resume, WAITING, client=client)
        assert sorted((call.id, decision.verdict, decision.reason) for call, decision in decided) == [
            ("a", "approve", None),
            ("b", "deny", "No."),
        ]


@pytest.mark.parametrize(
    ("resume", "client"),
    [
        ({"decisions": [{"type": "approve"}, {"type": "approve"}]}, "other"),
        ({"decisions": [{"type": "approve"}]}, "other"),
        ({"a": {"decisions": [{"type": "approve"}, {"type": "approve"}]}}, "c"),
        ({"decisions": [{"type": "approve", "id": "a"}, {"type": "approve", "id": "z"}]}, "c"),
        ({"decisions": [{"type": "approve", "id": "a"}, {"type": "approve", "id": "a"}]}, "c"),
        ({"decisions": [{"type": "approve", "id": "a"}]}, "c"),
        ({"decisions": [{"type": "approve", "call_hash": "of z"}, {"type": "approve"}]}, "c"),
        ({"decisions": [{"type": "approve"}, {"type": "approve", "id": "a", "call_hash": "of b"}]}, "c"),
    ],
)
def test_decisions_about_other_calls_than_those_that_wait_are_refused(resume: JsonValue, client: str) -> None:
    with pytest.raises(OtherCallsWait) as refused:
        decisions_in(resume, WAITING, client=client)
    (interrupt,) = cast("list[Any]", refused.value.members["interrupts"])
    assert interrupt["id"] == INTERRUPT
    assert [request["id"] for request in interrupt["value"]["action_requests"]] == ["a", "b"]


def test_an_interrupt_has_the_id_of_its_calls() -> None:
    ids = {interrupts_of(requests_of(calls))[0]["id"] for calls in (WAITING, WAITING[:1], WAITING[1:])}
    changed = [replace(WAITING[0], call_hash="of another"), WAITING[1]]
    assert len(ids | {interrupts_of(requests_of(changed))[0]["id"]}) == 4


@pytest.mark.parametrize(
    "resume",
    [
        "yes",
        {},
        {"decisions": [{"type": "approve"}]},
        {INTERRUPT: {"decisions": [{"type": "approve"}]}},
        {INTERRUPT: "yes"},
        {"a": {"decisions": [{"type": "approve"}]}, "b": {"decisions": [{"type": "approve"}]}},
        {"decisions": [{"type": "ignore"}, {"type": "approve"}]},
    ],
)
def test_a_resume_that_does_not_fit_decides_nothing(resume: JsonValue) -> None:
    with pytest.raises(ValueUnsupported):
        decisions_in(resume, WAITING, client="c")


def test_the_latest_turns_stay_whole() -> None:
    turns = [[{"id": f"{turn}-{each}"} for each in range(4)] for turn in range(40)]
    kept = latest_turns([[{**message} for message in turn] for turn in reversed(turns)])
    assert len(kept) == MAX_MESSAGES
    assert kept[0]["id"] == "15-0"
    large: list[dict[str, JsonValue]] = [{"id": "large", "content": "x" * 200_000}]
    assert latest_turns([large, large]) == large


def test_a_decision_that_cannot_be_stored_is_refused() -> None:
    with pytest.raises(ValueUnsupported, match="half surrogate pairs"):
        decisions_in(
            {"decisions": [{"type": "reject", "message": "half \ud800", "id": "a"}]}, WAITING[:1], client="c"
        )


def test_an_edit_that_names_another_tool_is_refused() -> None:
    edit: JsonValue = {"type": "edit", "edited_action": {"name": "other_tool", "args": {}}, "id": "a"}
    with pytest.raises(ValueUnsupported, match="cannot make another call"):
        decisions_in({"decisions": [edit]}, WAITING[:1], client="c")


def test_a_page_names_the_offset_of_the_next_one_if_there_is_one() -> None:
    assert page_headers(3, 2) == {"X-Pagination-Total": "3", "X-Pagination-Next": "2"}
    assert page_headers(3, 3) == page_headers(3, 10) == {"X-Pagination-Total": "3"}
