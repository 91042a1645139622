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


@pytest.mark.parametrize("name", ["password", "user_api_key", "password left"])
@pytest.mark.parametrize("value", ["hunter2", 4711, ["hunter2"]])
def test_values_of_columns_named_as_secrets_are_redacted(name: str, value: JsonValue) -> None:
    assert without_secrets(one_row(name, value))["rows"] == [["[redacted]"]]


@pytest.mark.parametrize("name", ["count(password)", "city left", "token_count"])
def test_other_values_stay(name: str) -> None:
    assert without_secrets(one_row(name, 17))["rows"] == [[17]]


def test_what_a_comparison_makes_of_a_secret_is_one() -> None:
    columns = [Column(name="k", type="text"), Column(name="p", type="integer", secret=True)]
    left = Rows(columns=columns, rows=[["a", 4711], ["b", 1], ["c", 2]], row_count=3, truncated=False)
    right = Rows(
        columns=[columns[0], Column(name="p", type="integer")],
        rows=[["a", 9422], ["b", 2], ["c", 4]],
        row_count=3,
        truncated=False,
    )
    compared = compare(left, right, [("k", 0, 0)], values=[("p", 1, 1)])
    shown = without_secrets(Rows(columns=compared.columns, rows=compared.rows, row_count=3, truncated=False))
    assert shown["rows"][0] == ["a", "differs", "[redacted]", "[redacted]", "[redacted]"]
    assert not compared.totals
    assert not compared.patterns


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
