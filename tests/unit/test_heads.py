"""The first rows that a message keeps."""

from pydantic import JsonValue

from graph.answer import MAX_HEAD_BYTES, head_of


def test_a_message_keeps_at_most_twenty_rows() -> None:
    rows: list[list[JsonValue]] = [[number] for number in range(30)]
    assert head_of(rows) == rows[:20]


def test_a_message_keeps_whole_rows_up_to_eight_kibibytes() -> None:
    rows: list[list[JsonValue]] = [["x" * (MAX_HEAD_BYTES // 3)] for _ in range(5)]
    assert head_of(rows) == rows[:2]
    assert head_of([["x" * MAX_HEAD_BYTES]]) == []
    assert head_of([["\ud800"]]) == [["\ud800"]]
