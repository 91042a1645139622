"""The typed client without I/O: what is sent again, where a stream goes on, and what rows become."""

import json
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal

import pytest
from httpx_sse import ServerSentEvent
from pydantic import JsonValue, TypeAdapter

from kai_analyst_client import (
    Answer,
    AsyncKai,
    Invalid,
    Kai,
    NotFound,
    RateLimited,
    Table,
    Unavailable,
    Unreachable,
)
from kai_analyst_client.answers import add_event, answered
from kai_analyst_client.errors import KaiError, unreachable
from kai_analyst_client.flows import MAX_WAIT_SECONDS, RETRIES, Reply, Request, create, send
from kai_analyst_client.following import Following, event_of
from kai_analyst_client.routes import resolve_database
from kai_analyst_client.schema import Board, Column, Event, TextChunk

READ = Request("GET", "/me")
CHANGE = Request("POST", "/sessions", body={})
OK = Reply(200, {}, b"{}")


def refusal(status: int, retry_after: str | None, kind: str = "rate-limit", **members: JsonValue) -> Reply:
    body = {"type": f"urn:kai:{kind}", "title": "No", "status": status, "detail": "Later.", **members}
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Reply(status, headers, json.dumps(body).encode())


@pytest.mark.parametrize("request_", [READ, CHANGE])
def test_a_refused_request_is_sent_again_after_the_named_time(request_: Request) -> None:
    flow = send(request_)
    assert next(flow).wait_seconds == 0
    again = flow.send(refusal(429, "7"))
    assert (again.path, again.wait_seconds) == (request_.path, 7)
    with pytest.raises(StopIteration) as end:
        flow.send(OK)
    assert end.value.value == OK


def test_a_refusal_for_a_long_time_or_without_one_is_an_error_at_once() -> None:
    for retry_after in (str(int(MAX_WAIT_SECONDS) + 1), None):
        flow = send(READ)
        next(flow)
        with pytest.raises(RateLimited):
            flow.send(refusal(429, retry_after))


def test_a_request_is_not_sent_again_for_ever() -> None:
    flow = send(READ)
    next(flow)
    for _ in range(RETRIES):
        flow.send(refusal(429, "1"))
    with pytest.raises(RateLimited):
        flow.send(refusal(429, "1"))


def test_only_a_request_that_may_be_repeated_is_sent_again_where_its_fate_is_unknown() -> None:
    flow = send(READ)
    next(flow)
    assert flow.throw(unreachable("cut")).wait_seconds > 0
    assert flow.send(refusal(503, "5", "storage-unavailable")).wait_seconds == 5
    flow = send(CHANGE)
    next(flow)
    with pytest.raises(Unreachable):
        flow.throw(unreachable("cut"))
    flow = send(CHANGE)
    next(flow)
    with pytest.raises(Unavailable):
        flow.send(refusal(503, "5", "storage-unavailable"))


def test_a_record_is_created_by_one_key_however_often_it_is_sent() -> None:
    flow = create("/boards", {"title": "Sales"}, Board)
    key = next(flow).headers["Idempotency-Key"]
    again = [
        flow.throw(unreachable("cut")),
        flow.send(refusal(409, "1", "idempotency-key-in-use")),
        flow.send(refusal(503, "5", "storage-unavailable")),
    ]
    assert [each.headers["Idempotency-Key"] for each in again] == [key] * 3
    assert [each.wait_seconds for each in again][1:] == [1, 5]
    assert next(create("/boards", {}, Board)).headers["Idempotency-Key"] != key
    assert next(create("/boards", {}, Board, key="order-17")).headers["Idempotency-Key"] == "order-17"


def test_the_server_is_that_of_the_environment_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_URL", "https://kai.example.com/")
    for client in (Kai, AsyncKai):
        assert client().address == "https://kai.example.com/api/v1"
        assert client("http://other:8000").address == "http://other:8000/api/v1"
    monkeypatch.delenv("KAI_URL")
    assert Kai().address == "http://127.0.0.1:8000/api/v1"


def test_a_database_is_found_by_its_id_its_name_or_because_it_is_the_only_one() -> None:
    shop, crm = database("1", "Shop"), database("2", "CRM")
    assert resolved(None, shop) == "1"
    assert resolved("crm", shop, crm) == "2"
    assert resolved("2", shop, crm) == "2"
    with pytest.raises(Invalid, match=r"Shop \(1\), CRM \(2\)"):
        resolved(None, shop, crm)
    with pytest.raises(NotFound, match="There are: none"):
        resolved(None)


def database(database_id: str, name: str) -> dict[str, JsonValue]:
    return {
        "id": database_id,
        "name": name,
        "description": "",
        "dialect": "sqlite",
        "masked_url": "sqlite:///shop.db",
        "created_at": "2026-01-01T00:00:00Z",
        "scanned_at": None,
        "table_count": None,
        "warnings": [],
        "owner": "ann",
        "shared": False,
        "external_memory": False,
        "per_user_roles": False,
        "starters": [],
        "file_name": None,
    }


def resolved(name: str | None, *known: dict[str, JsonValue]) -> str:
    flow = resolve_database(name)
    next(flow)
    body = {"items": [*known], "next_cursor": None}
    with pytest.raises(StopIteration) as end:
        flow.send(Reply(200, {}, json.dumps(body).encode()))
    return str(end.value.value)


# The place in a stream


ASK = Request(
    "POST", "/sessions/s/query/stream", headers={"Idempotency-Key": "k"}, body={"query": "How many?"}
)


def frame(number: int, data: Mapping[str, object], name: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(event=name or str(data["event"]), data=json.dumps(data), id=str(number))


def text(piece: str) -> dict[str, object]:
    return {"event": "chunk", "type": "text", "content": piece, "channel": "analysis"}


DONE = {
    "event": "done",
    "run_id": "r",
    "session_id": "s",
    "message_id": "m",
    "status": "complete",
    "tokens_used": 1,
    "cached_tokens": None,
    "elapsed_ms": 2,
    "steps": 0,
    "tool_calls": 0,
    "limit_reached": False,
}


def test_a_stream_goes_on_after_its_last_event_and_gives_each_once() -> None:
    place = Following("s", None, ASK)
    assert place.next_request() == ASK
    place.begin({"x-run-id": "r"})
    assert place.take(frame(1, text("a"))) is not None
    place.lose(None)
    again = place.next_request()
    assert (again.method, again.path) == ("GET", "/sessions/s/runs/r/stream")
    assert again.headers == {"Last-Event-ID": "1"}
    assert again.wait_seconds > 0
    place.begin({})
    assert place.take(frame(1, text("a"))) is None
    assert isinstance(place.take(frame(2, text("b"))), TextChunk)
    assert not place.ended
    place.take(frame(3, DONE))
    assert place.ended


def test_comments_and_unknown_events_are_left_out() -> None:
    place = Following("s", "r", None)
    assert place.take(ServerSentEvent()) is None
    assert place.take(frame(1, {"event": "of_next_year"})) is None
    assert place.take(frame(2, {**text("b"), "added_next_year": 1})) is not None


def test_a_question_whose_answer_never_began_is_sent_again_with_its_key() -> None:
    place = Following("s", None, ASK)
    place.lose(ConnectionError("cut"))
    again = place.next_request()
    assert (again.method, again.headers) == ("POST", {"Idempotency-Key": "k"})


def test_a_question_that_is_refused_for_a_while_is_asked_again_and_otherwise_an_error() -> None:
    place = Following("s", None, ASK)
    place.refuse(ASK, refusal(429, "3"))
    assert place.next_request().wait_seconds == 3
    with pytest.raises(NotFound):
        place.refuse(ASK, refusal(404, None, "not-found"))


def test_a_question_that_is_not_known_to_be_stored_yet_is_followed_and_not_asked_again() -> None:
    place = Following("s", None, ASK)
    place.refuse(ASK, refusal(202, None, "not-kept-yet", run_id="r"))
    again = place.next_request()
    assert (again.method, again.path) == ("GET", "/sessions/s/runs/r/stream")
    place.refuse(again, refusal(404, None, "not-found"))
    place.refuse(again, refusal(503, "5", "storage-unavailable"))
    place.begin({"x-run-id": "r"})
    assert place.take(frame(1, text("a"))) is not None


def break_off(place: Following) -> None:
    for _ in range(50):
        place.lose(ConnectionError("cut"))


def test_a_stream_that_only_breaks_is_given_up() -> None:
    with pytest.raises(Unreachable, match="again and again"):
        break_off(Following("s", "r", None))


# Answers


def event(**fields: object) -> Event:
    read = event_of(TypeAdapter(dict[str, JsonValue]).validate_python(fields))
    assert read is not None
    return read


def test_an_answer_begins_again_after_a_reset() -> None:
    answer = Answer()
    sql = {"event": "chunk", "type": "sql", "content": "SELECT 1", "dialect": "sqlite", "corrections": []}
    sql |= {"explanation": "", "standalone_question": "", "sql_pretty": "SELECT\n  1"}
    answer = add_event(answer, event(**sql, tool_call_id=None))
    answer = add_event(answer, event(**sql | {"content": "SELECT 2"}, tool_call_id="call-1"))
    assert answer.sql == "SELECT 1"
    answer = add_event(answer, event(event="reset", reason="again"))
    assert answer.sql is None
    answer = add_event(answer, event(event="chunk", type="analysis", content="Three."))
    answer = answered(add_event(answer, event(**DONE)))
    assert (answer.analysis, answer.message_id, answer.status) == ("Three.", "m", "complete")


def test_a_failed_run_is_an_error_with_its_ids() -> None:
    failure = event(
        event="error",
        type="urn:kai:statement-failed",
        title="The statement failed",
        status=422,
        detail="There is no table x.",
        retryable=False,
    )
    answer = add_event(add_event(Answer(), failure), event(**DONE | {"status": "failed"}))
    with pytest.raises(KaiError, match="no table x") as failed:
        answered(answer)
    assert type(failed.value).__name__ == "StatementFailed"
    assert failed.value.members["run_id"] == "r"


# Rows


TABLE = Table(
    columns=[
        Column(name="id", type="integer"),
        Column(name="id", type="integer"),
        Column(name="price", type="number"),
        Column(name="day", type="date"),
        Column(name="at", type="datetime"),
        Column(name="hour", type="time"),
        Column(name="picture", type="binary"),
        Column(name="tags", type="json"),
        Column(name="name", type="text"),
    ],
    rows=[
        [1, "9007199254740993", 1.5, "2026-01-02", "2026-01-02T03:04:05", "03:04:05", "AAE=", ["a"], "Ada"],
        [2, None, "0.1000000000000000055", None, None, None, None, None, None],
    ],
    truncated=False,
    cut_by=None,
)


def test_values_become_pythons_own_types() -> None:
    columns = TABLE.python_columns()
    assert list(columns) == ["id", "id_2", "price", "day", "at", "hour", "picture", "tags", "name"]
    assert columns["id_2"] == [9007199254740993, None]
    assert columns["price"] == [Decimal("1.5"), Decimal("0.1000000000000000055")]
    assert columns["day"] == [date(2026, 1, 2), None]
    assert columns["at"] == [datetime(2026, 1, 2, 3, 4, 5), None]  # noqa: DTZ001 - it comes without a zone
    assert columns["hour"] == [time(3, 4, 5), None]
    assert columns["picture"] == [b"\x00\x01", None]
    assert TABLE.to_dicts()[0]["name"] == "Ada"


def test_a_column_with_a_value_of_another_type_stays_as_it_came() -> None:
    odd = Table(
        columns=[Column(name="day", type="date")],
        rows=[["2026-01-02"], ["soon"]],
        truncated=False,
        cut_by=None,
    )
    assert odd.python_columns() == {"day": ["2026-01-02", "soon"]}
    assert odd.to_arrow()["day"].to_pylist() == odd.to_polars()["day"].to_list() == ["2026-01-02", "soon"]


def test_rows_become_data_frames() -> None:
    arrow = TABLE.to_arrow()
    assert [str(each) for each in arrow.schema.types[:5]] == [
        "int64",
        "int64",
        "decimal128(20, 19)",
        "date32[day]",
        "timestamp[us]",
    ]
    assert arrow["tags"].to_pylist() == ['["a"]', None]
    polars = TABLE.to_polars()
    assert polars.shape == (2, 9)
    assert polars["id_2"].to_list() == [9007199254740993, None]
    assert polars["day"].to_list() == [date(2026, 1, 2), None]
    pandas = TABLE.to_pandas()
    assert list(pandas.columns) == TABLE.names
    assert pandas["name"][0] == "Ada"


def test_a_result_without_rows_becomes_an_empty_data_frame() -> None:
    empty = Table(columns=[Column(name="id", type="integer")], rows=[], truncated=False, cut_by=None)
    assert empty.to_pandas().shape == empty.to_polars().shape == (0, 1)
    assert empty.to_arrow().num_rows == 0
