"""Events of a run as frames of the LangGraph API: a list in, a list out."""

import json
from collections.abc import Sequence
from typing import Any, cast

import pytest
from langchain_core.messages import messages_from_dict

from app.modules.protocols.frame_stream import Frame
from app.modules.protocols.langgraph.chat import langchain_message
from app.modules.protocols.langgraph.fold import MODES, NODE_OF_STEP, Mode, RunFold, ThreadRun
from app.modules.protocols.messages import question
from graph.events import (
    AnalysisChunk,
    ChartChunk,
    Confirmation,
    ConfirmationDecided,
    Done,
    Failure,
    Reset,
    ResultsChunk,
    RunOutcome,
    SessionEvent,
    SqlChunk,
    Status,
    Step,
    TextChunk,
    ToolCalled,
    ToolReturned,
)
from graph.session import drawn_graph
from tests.unit.protocols.said import HEADLINE, LEFT_OUT, REFERENCES

SQL = SqlChunk(content="SELECT 1 AS one")
ROWS = ResultsChunk(
    content={
        "columns": [{"name": "one", "type": "integer"}],
        "rows": [[1]],
        "row_count": 1,
        "truncated": False,
    }
)


def done(status: RunOutcome = "complete") -> Done:
    return Done(run_id="r", session_id="t", message_id="m", status=status, tokens_used=0, elapsed_ms=1)


def status(step: Step) -> Status:
    return Status(step=step, message="", run_id="r")


def asked_to(call: str) -> Confirmation:
    return Confirmation(
        confirmation_id=call,
        tool_name="describe",
        description="Describe it.",
        arguments={"table": call},
        destination="database shop",
        warnings=[],
        call_hash="0" * 64,
        expires_at="2026-01-01T00:00:00Z",
    )


def text(content: str) -> TextChunk:
    return TextChunk(content=content, channel="analysis")


TURN: Sequence[SessionEvent] = [
    status("generating_sql"),
    SQL,
    status("executing_sql"),
    ROWS,
    status("analyzing"),
    text("One"),
    AnalysisChunk(content="One."),
    done(),
]


def fold_of(*modes: Mode) -> RunFold:
    asked = langchain_message(question("q", "How many?"))
    return RunFold(ThreadRun(run_id="r", thread_id="t", message_id="m", question=asked), modes or MODES)


def frames_of(events: Sequence[SessionEvent], *modes: Mode) -> list[tuple[str, Any]]:
    fold = fold_of(*modes)
    folded: list[Frame | None] = [*fold.begin()]
    for event in events:
        folded += fold.frames(event)
    return [(str(frame.event), json.loads(frame.data)) for frame in folded if frame is not None]


def named_in(frames: Sequence[Frame | None], name: str) -> list[Any]:
    return [json.loads(frame.data) for frame in frames if frame is not None and frame.event == name]


def named(frames: Sequence[tuple[str, Any]], name: str) -> list[Any]:
    return [data for event, data in frames if event == name]


def test_frames_keep_their_places_in_every_mode() -> None:
    every, alone = fold_of(), [fold_of(mode) for mode in MODES]
    begun = every.begin()
    assert all(len(each.begin()) == len(begun) for each in alone)
    for event in TURN:
        whole, parts = every.frames(event), [each.frames(event) for each in alone]
        for place, frame in enumerate(whole):
            (found,) = {part[place] for part in parts if part[place] is not None} or {None}
            assert frame == found or (frame is None and found is not None and found.event == "values")
        assert {len(part) for part in parts} == {len(whole)}


def test_values_follow_each_step_or_begin_and_end_a_stream_with_messages() -> None:
    def lengths(frames: Sequence[tuple[str, Any]]) -> list[int]:
        return [len(values["messages"]) for values in named(frames, "values")]

    assert lengths(frames_of(TURN, "values")) == [1, 2, 3, 4, 4]
    both = frames_of(TURN, "values", "messages-tuple")
    assert lengths(both) == [1, 4]
    assert [message["id"] for message, _ in named(both, "messages")] == ["m-sql", "m-rows", "m", "m"]
    calls = [
        ToolCalled(tool_call_id=each, step=1, name="run_sql", category="read", arguments={}) for each in "ab"
    ]
    assert lengths(frames_of([*calls, status("using_tool"), done()], "values")) == [1, 3, 3]
    waiting: Sequence[SessionEvent] = [calls[0], asked_to("a"), asked_to("b"), done("awaiting_approval")]
    assert lengths(frames_of(waiting, "values")) == [1, 2, 2]


def test_values_and_the_message_have_what_statements_were_computed_from() -> None:
    said = [HEADLINE, *TURN[:-1], REFERENCES, LEFT_OUT, done()]
    values = named(frames_of(said, "values"), "values")[-1]
    kai = {
        "headline": HEADLINE.content,
        "references": REFERENCES.content,
        "left_out": LEFT_OUT.content,
    }
    assert {name: values[name] for name in kai} == kai
    assert (values["findings"], values["chart"]) == ([], None)
    answer = values["messages"][-1]
    assert answer["additional_kwargs"] == {"kai": {name: kai[name] for name in ("headline", "left_out")}}
    updates = named(frames_of(said, "updates"), "updates")
    assert {"analyse": {"references": REFERENCES.content}} in updates


def test_the_answer_is_content_blocks_that_langchain_reads() -> None:
    said = [*TURN[:-1], REFERENCES, ChartChunk(content={"mark": "bar"}), done()]
    written = named(frames_of(said, "values"), "values")[-1]["messages"][-1]
    answer = messages_from_dict([{"type": "ai", "data": written}])[0]
    (text,) = cast("list[dict[str, Any]]", answer.content_blocks)
    assert answer.text == text["text"]
    (cited,) = text["annotations"]
    (reference,) = REFERENCES.content
    assert [cited["start_index"], cited["end_index"], cited["title"]] == [
        *reference["span"],
        reference["how"],
    ]
    assert cited["extras"] == {"kai": reference}
    assert answer.additional_kwargs["kai"]["chart"] == {"mark": "bar"}
    assert written["response_metadata"] == {}  # LangChain's JavaScript would take the content away
    plain = named(frames_of(TURN, "values"), "values")[-1]["messages"][-1]
    assert isinstance(plain["content"], str)


def test_values_in_the_middle_have_the_answers_that_a_run_has_waited_for() -> None:
    fold = fold_of("values", "messages-tuple")
    fold.begin()
    fold.place_after([langchain_message(question("earlier", "What?"))])
    assert named_in(fold.frames(SQL), "values") == []
    (values,) = named_in(fold.frames(status("executing_sql")), "values")
    assert [each["id"] for each in values["messages"]] == ["earlier", "q", "m-sql"]


@pytest.mark.parametrize(
    "again",
    [[SQL], [Reset(reason="Again."), SQL], [text("Two"), AnalysisChunk(content="One.")]],
    ids=["statement", "reset", "text"],
)
def test_values_say_what_was_written_again(again: Sequence[SessionEvent]) -> None:
    fold = fold_of("values", "messages-tuple")
    for event in (SQL, status("executing_sql")):
        assert named_in(fold.frames(event), "values") == []
    folded = [frame for event in (*again, status("analyzing")) for frame in fold.frames(event)]
    assert named_in(folded, "values")[-1] == json.loads(fold.values())


def test_the_statement_is_a_call_and_the_rows_are_its_answer() -> None:
    frames = frames_of([SQL, ROWS, done()], "values")
    _, called, answered = named(frames, "values")[-1]["messages"]
    assert called["tool_calls"][0]["args"] == {"sql": "SELECT 1 AS one"}
    assert answered["tool_call_id"] == called["tool_calls"][0]["id"]
    assert json.loads(answered["content"])["rows"] == [[1]]


def test_pieces_and_the_rest_add_up_to_the_text() -> None:
    frames = frames_of(
        [text("One "), text("row"), AnalysisChunk(content="One row."), done()], "messages-tuple"
    )
    assert [message["content"] for message, _ in named(frames, "messages")] == ["One ", "row", "."]


def test_a_text_that_was_written_again_replaces_its_pieces() -> None:
    frames = frames_of([text("Two"), AnalysisChunk(content="One."), done()], "messages-tuple")
    kinds = [(message["type"], message["content"]) for message, _ in named(frames, "messages")]
    assert kinds == [("AIMessageChunk", "Two"), ("remove", ""), ("AIMessageChunk", "One.")]


def test_a_reset_removes_the_messages_of_the_turn_and_keeps_the_question() -> None:
    frames = frames_of([SQL, text("One"), Reset(reason="Again."), done()], "values", "messages-tuple")
    removed = [message["id"] for message, _ in named(frames, "messages") if message["type"] == "remove"]
    assert removed == ["m-sql", "m"]
    assert [each["id"] for each in named(frames, "values")[-1]["messages"]] == ["q"]


def test_an_error_ends_the_stream_only_if_the_run_has_failed() -> None:
    error = Failure(type="urn:kai:x", title="X", status=500, detail="It failed.", retryable=False)
    failed = frames_of([error, done("failed")], "updates")
    assert [event for event, _ in failed] == ["metadata", "error", "end"]
    assert named(failed, "error") == [{"error": "urn:kai:x", "message": "It failed."}]
    answered = frames_of([error, AnalysisChunk(content="One."), done()], "custom")
    assert named(answered, "error") == []
    assert named(answered, "end") == [{"run_id": "r", "status": "success"}]


def test_a_statement_that_did_not_run_has_an_answer_that_says_so() -> None:
    error = Failure(type="urn:kai:x", title="X", status=500, detail="No such table.", retryable=False)
    (*_, answered) = named(frames_of([SQL, error, done("failed")], "values"), "values")[-1]["messages"]
    assert (answered["status"], answered["content"]) == ("error", "No such table.")


def asking(call: str) -> list[SessionEvent]:
    called = ToolCalled(tool_call_id=call, step=1, name="describe", category="write", arguments={})
    return [called, asked_to(call)]


def test_all_confirmations_are_one_interrupt_in_updates_values_and_the_end() -> None:
    events = [*asking("z"), *asking("a"), *asking("m")]
    decided = ConfirmationDecided(confirmation_id="a", decision="approved")
    frames = frames_of([*events, decided, done("awaiting_approval")], "values", "updates")
    (interrupt,) = named(frames, "values")[-1]["__interrupt__"]
    assert [each["id"] for each in interrupt["value"]["action_requests"]] == ["z", "m"]
    assert [each["args"] for each in interrupt["value"]["action_requests"]] == [
        {"table": "z"},
        {"table": "m"},
    ]
    reviews = interrupt["value"]["review_configs"]
    assert [each["allowed_decisions"] for each in reviews] == [["approve", "edit", "reject"]] * 2
    updates = [each["__interrupt__"] for each in named(frames, "updates") if "__interrupt__" in each]
    assert updates == [[interrupt]]
    assert named(frames, "end")[0]["status"] == "interrupted"


def test_a_call_of_an_investigation_and_its_answer_are_messages() -> None:
    called = ToolCalled(tool_call_id="c", step=1, name="run_sql", category="read", arguments={"sql": "x"})
    returned = ToolReturned(tool_call_id="c", status="done", content="1", is_error=False, elapsed_ms=1)
    frames = frames_of([called, returned, done()], "values")
    _, call, answer = named(frames, "values")[-1]["messages"]
    assert (call["tool_calls"][0]["name"], answer["name"], answer["tool_call_id"]) == (
        "run_sql",
        "run_sql",
        "c",
    )


def test_tasks_are_named_after_nodes_of_the_graph() -> None:
    nodes = {str(node["id"]) for node in drawn_graph()["nodes"]}
    assert set(NODE_OF_STEP.values()) <= nodes
    begun, ended = named(frames_of([status("executing_sql"), done()], "tasks"), "tasks")
    assert (begun["name"], begun["id"]) == ("run_sql", ended["id"])


def test_a_run_that_has_waited_comes_after_the_answers_before_it() -> None:
    fold = fold_of("values")
    fold.place_after([langchain_message(question("earlier", "What?"))])
    assert [each["id"] for each in json.loads(fold.values())["messages"]] == ["earlier", "q"]


def test_values_are_one_line_of_ascii() -> None:
    fold = fold_of("values")
    fold.frames(AnalysisChunk(content="Größe\u2028 und mehr"))
    assert fold.values().isascii()
