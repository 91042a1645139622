"""Values of columns that are named as secrets: no model reads them, whatever a tool makes of them."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from app.core.redaction.text import redacted
from app.modules.analysis.summary import results_summary
from app.modules.context_store.model import Example, Instruction, Term
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.prompts.rows import without_secrets
from app.modules.run.summary import digest
from app.modules.sql_generation.business import Business
from app.modules.sql_generation.context import context_for
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from app.modules.sql_generation.prompt import write_sql_messages
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.tools.tool import ToolFailed
from app.modules.tools.toolsets.comparing import compare
from graph.ports import Question
from graph.state import Column, PastExchange, Rows


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


SECRET = st.from_regex(r"[a-z]{4,9}[0-9]{2,6}[a-z]{1,4}", fullmatch=True)
"""Values that no rule of redaction knows by their shape."""
CONDITIONS = (
    "password = '{}'",
    "l.password = '{}'",
    "\"password\" <> '{}'",
    "'{}' = l.password",
    "password IN ('x', '{}')",
    "password NOT IN ('{}', 'x')",
    "password LIKE '{}%'",
    "lower(password) = '{}'",
    "password BETWEEN 'a' AND '{}'",
    "CASE password WHEN '{}' THEN 1 END = 1",
    "api_key = '{}'",
    "api_key >= '{}'",
)
SAYINGS = ("The password is {}.", "password: {}", "api_key={}", "Ann's password was {}")
LOGINS = Table(
    name="logins",
    kind="table",
    columns=[
        TableColumn(name=name, type="text", database_type="TEXT") for name in ("name", "password", "api_key")
    ],
)


def sent(value: str, condition: str, saying: str) -> str:
    """All that a model is sent with a question, where every part of it names the value of a secret column."""
    sql = f"SELECT name FROM logins AS l WHERE {condition.format(value)}"
    said = saying.format(value)
    of_all: dict[str, Any] = {"owner": "ann", "db_connection_id": "c", "created_at": 0, "updated_at": 0}
    business = Business(
        examples=[
            Example(
                id="e",
                question="logins",
                question_key="k",
                sql=sql,
                status="verified",
                message_id=None,
                **of_all,
            )
        ],
        terms=[Term(id="t", term="login", meaning=said, sql=condition.format(value), **of_all)],
        instructions=[Instruction(id="i", text=said, scope=None, **of_all)],
    )
    rows = one_row("password", value)
    before = PastExchange(
        id="",
        role="assistant",
        query="login of Ann",
        sql=sql,
        results_summary=results_summary(without_secrets(rows)),
        analysis=said,
        timestamp="",
    )
    asked = Question(
        text="logins by login",
        exchanges=[before] * 5,
        summary=digest(None, [before]),
        previous_sql=f"{sql} LIMIT 7",
        previous_rows=rows,
    )
    index = SchemaIndex(ScannedSchema(Schema("sqlite", [LOGINS]), {"logins": {"password": [value]}}))
    asked = replace(asked, context=context_for(asked, index, business, budget_tokens=4_000))
    messages = write_sql_messages(asked, "sqlite", date(2026, 1, 1), instruction="long")
    return "\n".join(each.redacted().content for each in messages)


@given(SECRET, st.sampled_from(CONDITIONS), st.sampled_from(SAYINGS))
@settings(max_examples=30, deadline=None)
def test_no_part_of_a_prompt_has_the_value_of_a_secret_column(
    value: str, condition: str, saying: str
) -> None:
    shown = sent(value, condition, saying)
    for part in ("## House rules", "## Glossary", "Earlier in this conversation", "Previous statement"):
        assert part in shown
    assert value not in shown


@pytest.mark.parametrize(
    "text",
    [
        "SELECT name FROM logins WHERE city LIKE 'Oslo%' AND kind IN ('a1', 'b2')",
        "SELECT count(*) FROM logins WHERE password IS NULL AND name = 'Ann'",
        "Select the column password in the table 'logins'",
        "The password in ('a', 'b') is no statement",
    ],
)
def test_other_conditions_stay(text: str) -> None:
    assert redacted(text) == text
