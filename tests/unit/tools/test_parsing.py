"""Strict reading of the calls that models write."""

import json

import pytest

from app.core.llm.model import ToolCall
from app.core.llm.tool_calls import ToolCallPieces
from app.modules.tools.parsing import CallRefused, parse_call
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry
from tests.support.cases import assert_each

OFFERED = ToolRegistry(BUILTIN, ToolPolicy()).offered("ask")
WHOLE = '{"sql": "SELECT id FROM orders WHERE id > 3", "purpose": "Late orders"}'


def test_a_whole_call_is_read() -> None:
    parsed = parse_call(ToolCall("", "run_sql", WHOLE), OFFERED)
    assert parsed.values == {**json.loads(WHOLE), "database": None}


def test_a_call_that_was_cut_anywhere_is_refused() -> None:
    def check(length: int) -> None:
        with pytest.raises(CallRefused, match="not valid JSON"):
            parse_call(ToolCall("", "run_sql", WHOLE[:length]), OFFERED)

    assert_each(range(1, len(WHOLE)), check)


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("", "{}", "no tool"),
        ("RUN_SQL", WHOLE, "no tool"),
        ("run_sql", "", "sql: Field required"),
        ("run_sql", "null", "JSON object"),
        ("run_sql", "[" * 100_000, "longer than"),
        ("run_sql", "[" * 60_000, "not valid JSON"),
        ("run_sql", '{"sql": NaN}', "not valid JSON"),
        ("run_sql", '{"sql": "\\ud800"}', "surrogate"),
        ("run_sql", '{"sql": 7}', "valid string"),
        ("run_sql", '{"sql": "SELECT 1", "connection_id": "x"}', "Extra inputs"),
        ("run_sql", json.dumps({"sql": "x" * 1_000_000}), "longer than"),
        ("read_rows", '{"result": "r1.1", "count": 100000}', "less than or equal to 50"),
    ],
)
def test_a_wrong_call_is_refused_with_what_is_wrong(name: str, arguments: str, complaint: str) -> None:
    with pytest.raises(CallRefused, match=complaint):
        parse_call(ToolCall("", name, arguments), OFFERED)


def test_the_pieces_of_several_calls_are_joined_by_their_numbers() -> None:
    pieces = ToolCallPieces()
    for index, name, arguments in [(1, "b", '{"x"'), (0, "a", "{"), (1, "", ": 1}"), (0, "", "}")]:
        pieces.add(index, name, arguments)
    assert [(call.name, call.arguments) for call in pieces.calls()] == [("a", "{}"), ("b", '{"x": 1}')]
