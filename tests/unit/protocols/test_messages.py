"""Chat messages out of stored ones, with ids that never change."""

import json

from app.modules.protocols.messages import (
    MAX_MESSAGE_BYTES,
    MAX_MESSAGES,
    ClientMessage,
    chat_messages,
    conversation,
    latest,
    question,
)
from app.modules.records.model import Message
from graph.events import RunError
from graph.state import Column
from tests.fakes import THREE

FAILURE = RunError(type="urn:kai:x", title="Failed", status=400, detail="No such table.", retryable=False)


def answer_of(**fields: object) -> Message:
    return Message.model_validate(
        {
            "id": "answer",
            "run_id": "run",
            "role": "assistant",
            "query": "How many?",
            "owner": "ada",
            "session_id": "session",
            "created_at": 1,
            "sequence": 3,
            **fields,
        }
    )


def asked() -> Message:
    return answer_of(id="asked", role="human", sequence=2)


def test_an_answer_is_a_call_of_a_tool_its_rows_and_a_text() -> None:
    message = answer_of(
        sql="SELECT 1",
        columns=[Column(name="n", type="integer")],
        row_count=1,
        analysis="One.",
        chart={"mark": "bar"},
        suggestions=["And now?"],
        headline="One",
        references=[THREE],
    )
    said, rows, text = chat_messages(message)
    assert (said.id, said.role, said.text) == ("answer-sql", "ai", "")
    assert [(use.id, use.name, use.args) for use in said.tool_calls] == [
        ("call_answer", "run_sql", {"sql": "SELECT 1"})
    ]
    assert (rows.id, rows.role, rows.tool_call_id, rows.is_error) == (
        "answer-rows",
        "tool",
        "call_answer",
        False,
    )
    assert json.loads(rows.text)["row_count"] == 1
    assert (text.id, text.text) == ("answer", "One.")
    assert text.found == {
        "headline": "One",
        "references": [THREE],
        "chart": {"mark": "bar"},
        "suggestions": ["And now?"],
    }


def test_a_statement_that_failed_has_the_error_in_place_of_its_rows() -> None:
    _, rows = chat_messages(answer_of(sql="SELECT x", error=FAILURE, status="failed"))
    assert (rows.text, rows.is_error) == ("No such table.", True)


def test_a_question_back_is_a_text() -> None:
    assert [each.text for each in chat_messages(answer_of(clarification="Which year?"))] == ["Which year?"]


def test_a_conversation_is_in_the_order_of_its_messages() -> None:
    assert [each.text for each in conversation([asked(), answer_of(analysis="One.")])] == [
        "How many?",
        "One.",
    ]


def test_the_latest_messages_are_kept_up_to_a_number_and_a_size() -> None:
    many = [question(str(number), "x") for number in range(MAX_MESSAGES + 5)]
    assert [each.id for each in latest(many)] == [str(number) for number in range(5, MAX_MESSAGES + 5)]
    large = [ClientMessage(id=str(n), role="human", text="ü" * (MAX_MESSAGE_BYTES // 5)) for n in range(4)]
    assert [each.id for each in latest(large)] == ["2", "3"]
    assert len(latest([question("1", "x" * 2 * MAX_MESSAGE_BYTES)])) == 1
