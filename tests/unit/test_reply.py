"""Models follow a format roughly; what they mean is read all the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.sql_generation.reply import SqlDeltas, read_reply
from graph.ports import Written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Counting.\n```sql\nSELECT 1\n```", Written("sql", "SELECT 1", "Counting.")),
        ("```\nSELECT 1;\n```\nHope it helps", Written("sql", "SELECT 1")),
        (
            "```postgresql\nWITH a AS (SELECT 1) SELECT * FROM a",
            Written("sql", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ),
        ("SELECT 1;", Written("sql", "SELECT 1")),
        ("  with a as (select 1) select * from a", Written("sql", "with a as (select 1) select * from a")),
        ("```select 1```", Written("sql", "select 1")),
        ('{"sql": "SELECT 1"}', Written("sql", "SELECT 1")),
        (
            "QUESTION: How many in 2025?\nCounting.\n```sql\nSELECT 1\n```",
            Written("sql", "SELECT 1", "Counting.", standalone_question="How many in 2025?"),
        ),
        ("**Question:** Which?\nROWS", Written("rows", "", standalone_question="Which?")),
        ("Question marks are rare.", Written("chat", "Question marks are rare.")),
        ("ROWS", Written("rows", "")),
        ("rows.", Written("rows", "")),
        ("Rows are what tables have.", Written("chat", "Rows are what tables have.")),
        ("CLARIFY: Which year?", Written("clarify", "Which year?")),
        ("**Clarify:** Which year?", Written("clarify", "Which year?")),
        ("CHAT: Hello!", Written("chat", "Hello!")),
        ("I cannot help with that.", Written("chat", "I cannot help with that.")),
        ("{broken json", Written("chat", "{broken json")),
    ],
)
def test_a_reply_is_read_for_what_it_means(text: str, expected: Written) -> None:
    assert read_reply(text) == expected


@pytest.mark.parametrize(
    "text", ["Counting.\n```sql\nSELECT `a` FROM t\n```\nDone", "SELECT 1 FROM t", "```sql\nSELECT 1"]
)
@given(data=st.data())
def test_however_a_reply_is_cut_its_statement_streams_whole(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    deltas = SqlDeltas()
    shown = "".join(
        deltas.feed(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    )
    assert shown.strip() == read_reply(text).text


def test_talk_streams_no_statement() -> None:
    deltas = SqlDeltas()
    assert deltas.feed("CHAT: you could select a table") == ""
    assert not deltas.started
