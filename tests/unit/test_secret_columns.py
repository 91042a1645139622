"""Values of columns that are named as secrets: no model reads them, whatever a tool makes of them."""

import pytest
from pydantic import JsonValue

from app.modules.prompt_rows import without_secrets
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from app.modules.tools.tool import ToolFailed
from app.modules.tools.toolsets.comparing import compare
from graph.state import Column, Rows


def one_row(name: str, value: JsonValue) -> Rows:
    return Rows(columns=[Column(name=name, type="text")], rows=[[value]], row_count=1, truncated=False)


@pytest.mark.parametrize(
    "name",
    ["password", "max(password)", "MIN(u.api_key)", "group_concat(distinct token)", "password left"],
)
def test_what_functions_and_comparisons_make_of_a_secret_is_redacted(name: str) -> None:
    assert without_secrets(one_row(name, "hunter2"))["rows"] == [["[redacted]"]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count(password)", 17),
        ("max(city)", "Rome"),
        ("city left", "Rome"),
        ("token_count", 17),
        ("max(password_changed_at)", "2026-01-01"),
    ],
)
def test_other_values_stay(name: str, value: JsonValue) -> None:
    assert without_secrets(one_row(name, value))["rows"] == [[value]]


def test_stored_texts_of_secret_columns_are_not_found_and_not_suggested() -> None:
    stored = StoredTexts({"logins": {"password": ["hunter22x"], "city": ["hunter town"]}})
    assert [each.column for each in stored.like("hunter22", limit=4)] == []
    assert stored.nearest("logins", "password", "hunter22") == []
    assert not stored.knows("logins", "password")
    assert stored.nearest("logins", "city", "hunter tow") == ["hunter town"]


def test_keys_that_are_secret_are_not_repeated_in_an_error() -> None:
    rows = Rows(
        columns=[Column(name="api_key", type="text"), Column(name="n", type="number")],
        rows=[["hunter22x", 1], ["hunter22x", 2]],
        row_count=2,
        truncated=False,
    )
    with pytest.raises(ToolFailed, match="several rows have the same ones") as failed:
        compare(rows, rows, [("api_key", 0, 0)], values=[("n", 1, 1)])
    assert "hunter22x" not in str(failed.value)
