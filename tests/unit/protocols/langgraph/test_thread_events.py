"""Events of a run in LangGraph's event streaming: a list in, a list out."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from app.modules.protocols.frame_stream import Frame, Position
from app.modules.protocols.langgraph.chat import langchain_message
from app.modules.protocols.langgraph.fold import ThreadRun
from app.modules.protocols.langgraph.interrupts import interrupts_of, request_of
from app.modules.protocols.langgraph.thread_events import CHANNELS, Place, ThreadFold, event_frame, place_of
from app.modules.protocols.messages import question
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Confirmation,
    Failure,
    Reset,
    SessionEvent,
    Status,
    ToolCalled,
    ToolReturned,
)
from tests.unit.protocols.langgraph.test_fold import ROWS, SQL, done, text

BEGAN = datetime(2026, 11, 22, tzinfo=UTC)
STATUS = Status(step="generating_sql", message="Writing", run_id="r", at=BEGAN)
TURN: list[SessionEvent] = [STATUS, SQL, ROWS, text("One"), AnalysisChunk(content="One row."), done()]


def fold_of(*channels: str) -> ThreadFold:
    asked = langchain_message(question("q", "How many?"))
    turn = ThreadRun(run_id="r", thread_id="t", message_id="m", question=asked)
    return ThreadFold(turn, channels or CHANNELS, asked_at=1)


def frames_of(events: Sequence[SessionEvent], *channels: str) -> list[tuple[str, Any]]:
    """Methods and data."""
    fold = fold_of(*channels)
    folded: list[Frame | None] = [*fold.begin()]
    for event in events:
        folded += fold.frames(event)
    return [(str(frame.event), json.loads(frame.data)["data"]) for frame in folded if frame is not None]


def data(events: Sequence[SessionEvent], channel: str) -> list[Any]:
    return [each for _, each in frames_of(events, channel)]


def test_frames_keep_their_places_in_every_channel_and_have_a_number_each() -> None:
    events: list[SessionEvent] = [*TURN[:-1], Reset(reason="retry"), *TURN]
    every = fold_of()
    folds = {channel: fold_of(channel) for channel in CHANNELS}
    whole: Sequence[Frame | None] = every.begin()
    parts = {channel: fold.begin() for channel, fold in folds.items()}
    for event in [None, *events]:
        if event is not None:
            whole = every.frames(event)
            parts = {channel: fold.frames(event) for channel, fold in folds.items()}
        assert len(whole) < 63
        for some in parts.values():
            assert len(some) == len(whole)
            assert all(frame is None or frame == whole[place] for place, frame in enumerate(some))


def test_a_text_is_a_message_that_starts_grows_and_finishes() -> None:
    messages = data(TURN, "messages")
    assert [each["event"] for each in messages] == [
        "message-start",
        "content-block-start",
        "content-block-delta",
        "content-block-delta",
        "content-block-finish",
        "message-finish",
    ]
    assert messages[0]["id"] == "m"
    assert [each["delta"]["text"] for each in messages[2:4]] == ["One", " row."]
    assert messages[4]["content"]["text"] == "One row."
    asked = data([ClarificationChunk(content="Which?"), done()], "messages")
    assert asked[2]["delta"]["text"] == "Which?"


def test_a_text_that_is_written_again_is_a_message_of_its_own() -> None:
    messages = data([text("Two"), AnalysisChunk(content="One."), done()], "messages")
    assert [each["content"]["text"] for each in messages if each["event"] == "content-block-finish"] == [
        "Two",
        "One.",
    ]
    assert [each["event"] for each in data([text("Tw"), done("cancelled")], "messages")][
        -1
    ] == "message-finish"


def test_the_statement_is_a_call_with_the_rows_as_its_output() -> None:
    started, finished = data(TURN, "tools")
    assert (started["event"], started["tool_name"]) == ("tool-started", "run_sql")
    assert started["input"] == {"sql": "SELECT 1 AS one"}
    assert (finished["event"], finished["tool_call_id"]) == ("tool-finished", started["tool_call_id"])
    assert finished["output"]["rows"] == [[1]]


def test_every_call_that_starts_ends() -> None:
    failure = Failure(type="x", title="t", status=500, detail="No rows.", retryable=True)
    assert [each["event"] for each in data([SQL, SQL, ROWS, done()], "tools")] == [
        "tool-started",
        "tool-error",
        "tool-started",
        "tool-finished",
    ]
    assert data([SQL, failure, done("failed")], "tools")[-1]["message"] == "No rows."
    assert data([SQL, Reset(reason="retry")], "tools")[-1]["event"] == "tool-error"
    called = ToolCalled(tool_call_id="c", step=1, name="look", category="read", arguments={"a": 1})
    for is_error, end in ((False, "tool-finished"), (True, "tool-error")):
        returned = ToolReturned(
            tool_call_id="c",
            status="failed" if is_error else "done",
            content="so",
            is_error=is_error,
            elapsed_ms=1,
        )
        assert [each["event"] for each in data([called, returned], "tools")] == ["tool-started", end]


def test_a_run_is_running_until_it_has_completed_failed_or_waits() -> None:
    failure = Failure(type="x", title="t", status=500, detail="No key.", retryable=False)
    assert [each["event"] for each in data(TURN, "lifecycle")] == ["running", "completed"]
    assert data([done("cancelled")], "lifecycle")[-1]["event"] == "completed"
    assert data([failure, done()], "lifecycle")[-1]["event"] == "completed"
    failed = data([failure, done("failed")], "lifecycle")[-1]
    assert (failed["event"], failed["error"]) == ("failed", "No key.")
    asked = Confirmation(
        confirmation_id="c",
        tool_name="write",
        description="Writes.",
        arguments={"a": 1},
        destination="shop",
        warnings=[],
        call_hash="h",
        expires_at=BEGAN,
    )
    frames = frames_of([asked, done("awaiting_approval")], "lifecycle", "input", "updates")
    [requested] = [each for method, each in frames if method == "input.requested"]
    assert requested["interrupt_id"] == interrupts_of({"c": request_of(asked)})[0]["id"]
    assert requested["value"]["action_requests"][0]["args"] == {"a": 1}
    assert frames[-1] == ("lifecycle", {"event": "interrupted", "graph_name": "kai"})
    assert "updates" not in dict(frames)


def test_values_grow_and_updates_name_their_node() -> None:
    values = data(TURN, "values")
    assert [each["type"] for each in values[0]["messages"]] == ["human"]
    assert values[-1]["analysis"] == "One row."
    assert [each["node"] for each in data(TURN, "updates")] == ["write_sql", "run_sql", "analyse"]


def test_custom_events_are_selected_by_their_names() -> None:
    assert [each["name"] for each in data([STATUS, SQL], "custom")] == ["kai.status", "kai.chunk"]
    assert [each["name"] for each in data([STATUS, SQL], "custom:kai.status")] == ["kai.status"]


def test_numbers_grow_with_runs_events_and_frames_and_name_their_place() -> None:
    places = [
        Place(0, Position(0, -1)),
        Place(0, Position(0, 0)),
        Place(0, Position(1_000_001, 62)),
        Place(0, Position(1_000_002, 0)),
        Place(1, Position(0, -1)),
        Place(1_000_000, Position(5_000_000, 3)),
    ]
    numbers = [place.seq for place in places]
    assert numbers == sorted(set(numbers))
    assert [place_of(number) for number in numbers] == places
    assert numbers[0] == 0
    assert numbers[-1] < 1 << 53


def test_a_frame_as_it_is_sent() -> None:
    fold = fold_of("lifecycle")
    fold.begin()
    fold.frames(STATUS)
    frame = fold.frames(done())[-1]
    assert frame is not None
    place = Place(1, Position(7, 2))
    sent = event_frame("r", place, frame)
    assert sent.event == "lifecycle"
    assert json.loads(sent.data) == {
        "type": "event",
        "event_id": "r:7-2",
        "seq": place.seq,
        "method": "lifecycle",
        "params": {
            "namespace": [],
            "timestamp": int(BEGAN.timestamp() * 1_000),
            "data": {"event": "completed", "graph_name": "kai"},
        },
    }
