"""What clients send to the LangGraph API, and what is refused of it."""

from dataclasses import replace
from typing import Any, cast

import pytest
from pydantic import JsonValue, ValidationError

from app.core.clock import now_ms
from app.core.llm.tokens import approximate_tokens
from app.modules.protocols.langgraph.assistants import page_headers
from app.modules.protocols.langgraph.chat import latest_turns
from app.modules.protocols.langgraph.decisions import decisions_in
from app.modules.protocols.langgraph.errors import ApprovalUnclear, ValueUnsupported
from app.modules.protocols.langgraph.interrupts import interrupts_of, requests_of
from app.modules.protocols.langgraph.question import asked_in
from app.modules.protocols.langgraph.schemas import HistoryQuery, NewRun
from app.modules.protocols.messages import MAX_MESSAGES
from app.modules.protocols.options import QuestionOptions, ignored_names
from app.modules.records.model import QuotedMessage
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


def test_messages_that_are_not_part_of_the_thread_are_its_context_or_are_named_as_ignored() -> None:
    human: JsonValue = {"type": "human", "id": "known", "content": "First"}
    system: JsonValue = {"type": "system", "content": "Be rude."}
    tool: JsonValue = {"type": "tool", "content": "of the client"}
    hand_over: JsonValue = {"type": "ai", "content": [{"type": "text", "text": "I ask the shop."}]}
    question: JsonValue = {"type": "human", "id": "new", "content": "Second"}
    asked = asked_in({"messages": [system, human, question, hand_over, tool], "files": {"a": 1}, "todos": []})
    assert (asked.text, asked.client_message_id) == ("Second", "new")
    assert asked.context({"known"}) == (QuotedMessage(role="ai", text="I ask the shop."),)
    assert asked.context(()) == (
        QuotedMessage(role="human", text="First"),
        QuotedMessage(role="ai", text="I ask the shop."),
    )
    assert asked.ignored({"known"}) == ["input.files", "system", "tool"]


def test_the_context_is_the_latest_six_messages_of_2000_tokens_together() -> None:
    said: list[JsonValue] = [{"type": "human", "content": f"{number} " + "word " * 50} for number in range(9)]
    asked = asked_in({"messages": [*said, "How many?"]})
    assert [each["text"].split()[0] for each in asked.context(())] == ["3", "4", "5", "6", "7", "8"]
    long: list[JsonValue] = [{"type": "ai", "content": f"{number} " + "word " * 1_000} for number in range(5)]
    quoted = asked_in({"messages": [*long, "How many?"]}).context(())
    assert [each["text"].split()[0] for each in quoted] == ["2", "3", "4"]
    assert sum(approximate_tokens(each["text"]) for each in quoted) <= 2_000
    assert "no room" in quoted[0]["text"]


def test_names_of_what_is_ignored_fit_into_a_header() -> None:
    names = ignored_names([f"input.{'x' * 900}", "a\r\nSet-Cookie: b", "a", "a", *map(str, range(50))])
    assert len(names) == 20
    assert all(len(each) <= 64 and each.isascii() and each.isprintable() for each in names)
    assert names[1:3] == ("a??Set-Cookie??b", "a")


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
    empty: dict[str, Any] = {"webhook": None, "after_seconds": 0, "feedback_keys": [], "context": None}
    assert run(**empty, command={"goto": [], "update": None}).command is not None
    assert run(**empty, command={"goto": "__end__"}).command is not None
    for name, value in {
        "webhook": "x",
        "after_seconds": 1,
        "feedback_keys": ["x"],
        "context": {"kai": {"model": "x"}},
    }.items():
        with pytest.raises(ValidationError, match=name):
            run(**{name: value})
    with pytest.raises(ValidationError, match="unheard_of"):
        run(unheard_of=1)


def test_of_a_configuration_only_the_object_of_kai_is_read() -> None:
    own = {"thread_id": "t", "checkpoint_ns": "", "__pregel": 1, "langgraph_auth": {}}
    given = run(config={"configurable": own, "tags": [], "recursion_limit": 25})
    assert (given.unread, given.options) == ([], QuestionOptions())
    given = run(
        config={"configurable": {"prompt": "Be rude.", "kai": {"mode": "ask"}}, "run_name": "x"},
        context={"user_id": "7", "kai": {"mode": "agent", "rules": ["net"], "tools": {"mcp": False}}},
    )
    assert given.unread == ["config.run_name", "configurable.prompt", "context.user_id"]
    assert (given.options.mode, given.options.rules) == ("agent", ["net"])
    assert given.options.tool_sources == ["builtin", "extensions"]
    assert run(config={"configurable": {"kai": {"mode": "agent"}}}).options.mode == "agent"
    for wrong in ({"mode": "x"}, {"model": "x"}, {"rules": ["a b"]}, {"rules": ["r"] * 21}, "agent"):
        with pytest.raises(ValidationError):
            run(context={"kai": wrong})


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
    for resume, is_shown in ((alone, True), ({INTERRUPT: alone}, False), (named, False)):
        decided = decisions_in(resume, WAITING, is_shown=is_shown)
        assert sorted((call.id, decision.verdict, decision.reason) for call, decision in decided) == [
            ("a", "approve", None),
            ("b", "deny", "No."),
        ]


@pytest.mark.parametrize(
    ("resume", "is_shown"),
    [
        ({"decisions": [{"type": "approve"}, {"type": "approve"}]}, False),
        ({"decisions": [{"type": "approve"}]}, False),
        ({"a": {"decisions": [{"type": "approve"}, {"type": "approve"}]}}, True),
        ({"decisions": [{"type": "approve", "id": "a"}, {"type": "approve", "id": "z"}]}, True),
        ({"decisions": [{"type": "approve", "id": "a"}, {"type": "approve", "id": "a"}]}, True),
        ({"decisions": [{"type": "approve", "id": "a"}]}, True),
        ({"decisions": [{"type": "approve", "call_hash": "of z"}, {"type": "approve"}]}, True),
        ({"decisions": [{"type": "approve"}, {"type": "approve", "id": "a", "call_hash": "of b"}]}, True),
    ],
)
def test_decisions_about_other_calls_than_those_that_wait_are_refused(
    resume: JsonValue, is_shown: bool
) -> None:
    with pytest.raises(ApprovalUnclear) as refused:
        decisions_in(resume, WAITING, is_shown=is_shown)
    assert refused.value.problem == "approval-unclear"
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
        decisions_in(resume, WAITING, is_shown=True)


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
            {"decisions": [{"type": "reject", "message": "half \ud800", "id": "a"}]},
            WAITING[:1],
            is_shown=True,
        )


def test_an_edit_that_names_another_tool_is_refused() -> None:
    edit: JsonValue = {"type": "edit", "edited_action": {"name": "other_tool", "args": {}}, "id": "a"}
    with pytest.raises(ValueUnsupported, match="cannot make another call"):
        decisions_in({"decisions": [edit]}, WAITING[:1], is_shown=True)


def test_a_page_names_the_offset_of_the_next_one_if_there_is_one() -> None:
    assert page_headers(3, 2) == {"X-Pagination-Total": "3", "X-Pagination-Next": "2"}
    assert page_headers(3, 3) == page_headers(3, 10) == {"X-Pagination-Total": "3"}
