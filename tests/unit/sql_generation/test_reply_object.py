"""A reply as one object: read whole, read while it streams, and read as text where it is none."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.sql_generation.reply import SqlDeltas, read_reply
from app.modules.sql_generation.reply_object import REPLY_OBJECT, partial_sql
from graph.ports import Written

SQL = "SELECT count(*) AS n\nFROM orders WHERE name = 'Zoë \"x\" \\ 😀'"


def reply(**fields: str) -> dict[str, str]:
    return {name: fields.get(name, "") for name in REPLY_OBJECT.properties}


OBJECT = reply(route="sql", explanation="Counting.", sql=SQL)
EXPECTED = Written(route="sql", text=SQL, explanation="Counting.")


def streamed(text: str, cuts: list[int]) -> str:
    bounds = [0, *sorted(cuts), len(text)]
    deltas = SqlDeltas()
    return "".join(deltas.feed(text[start:end]) for start, end in pairwise(bounds))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (OBJECT, EXPECTED),
        (
            reply(route="sql", question="How many in 2025?", sql="SELECT 1;"),
            Written(route="sql", text="SELECT 1", standalone_question="How many in 2025?"),
        ),
        (reply(route="SQL ", sql="```sql\nSELECT 1\n```"), Written(route="sql", text="SELECT 1")),
        (reply(route="sql", sql="DELETE FROM orders"), Written(route="sql", text="DELETE FROM orders")),
        (reply(route="rows"), Written(route="rows", text="")),
        (reply(route="rows", sql="SELECT 1"), Written(route="sql", text="SELECT 1")),
        (reply(route="clarify", text="Which year?"), Written(route="clarify", text="Which year?")),
        (reply(route="clarify", text="Which?", sql="SELECT 1"), Written(route="clarify", text="Which?")),
        (reply(route="clarify", explanation="Which year?"), Written(route="clarify", text="Which year?")),
        (reply(route="chat", text="Hello!"), Written(route="chat", text="Hello!")),
        (reply(route="chat", sql="SELECT 1"), Written(route="sql", text="SELECT 1")),
        (
            reply(route="sql", text="There is no such table."),
            Written(route="chat", text="There is no such table."),
        ),
        (
            {"route": "sql", "sql": "SELECT 1", "question": None, "more": [1]},
            Written(route="sql", text="SELECT 1"),
        ),
        ({"sql": "SELECT 1", "route": "sql"}, Written(route="sql", text="SELECT 1")),
    ],
)
def test_an_object_is_read_for_what_it_means(fields: dict[str, object], expected: Written) -> None:
    assert read_reply(json.dumps(fields), "sqlite") == expected


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "```json\n{}\n```",
        "Sure, here it is:\n{}\nDone.",
        "<think>I need a count.</think>{}",
        '<tool_call>\n{{"name": "write_sql", "arguments": {}}}\n</tool_call>',
        'The form is {{"route": "chat", "text": "..."}}, so:\n{}',
        '{{"route": "nowhere"}}\n{}',
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_is_found_in_what_surrounds_it(form: str, indent: int | None) -> None:
    assert read_reply(form.format(json.dumps(OBJECT, indent=indent)), "sqlite") == EXPECTED


def test_line_breaks_that_are_not_escaped_are_read() -> None:
    text = '{"route": "sql", "explanation": "", "sql": "SELECT 1\nFROM orders"}'
    assert read_reply(text, "sqlite").text == "SELECT 1\nFROM orders"


@pytest.mark.parametrize("end", ['", "text": ""}', '"}', '"\n}\n```\n'])
def test_quotes_that_are_not_escaped_are_read(end: str) -> None:
    text = '{"route": "sql", "explanation": "", "sql": "SELECT "a"\\nFROM \\"t\\"' + end
    assert read_reply(text, "sqlite").text == 'SELECT "a"\nFROM "t"'


def test_half_an_object_is_no_statement() -> None:
    assert read_reply('{"route": "sql", "sql": "SELECT "a" FROM t WHERE', "sqlite").route == "chat"


def test_half_a_surrogate_pair_reaches_no_one() -> None:
    text = '{"route": "sql", "sql": "SELECT \'\\ud83d\'"}'
    assert read_reply(text, "sqlite").text == "SELECT '?'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"route": "sql", "sql": "SELECT 1',
            Written(route="chat", text='{"route": "sql", "sql": "SELECT 1'),
        ),
        ('{"sql": "SELECT 1"}', Written(route="sql", text="SELECT 1")),
        ('{"route": "nowhere", "sql": "SELECT 1"}', Written(route="sql", text="SELECT 1")),
        (
            'Counting.\n```sql\nSELECT 1\n```\n{"route": "sql"',
            Written(route="sql", text="SELECT 1", explanation='Counting. {"route": "sql"'),
        ),
        ("{}", Written(route="chat", text="{}")),
    ],
)
def test_what_is_no_such_object_is_read_as_text(text: str, expected: Written) -> None:
    assert read_reply(text, "sqlite").route == expected.route
    assert read_reply(text, "sqlite").text == expected.text


@given(text=st.text(alphabet=st.sampled_from('{}":,route sqlSELECT1\\u\n'), max_size=80))
def test_no_text_breaks_the_reader_or_gives_an_empty_statement(text: str) -> None:
    for reply_text in (text, '{"route": "sql", "sql": "' + text):
        written = read_reply(reply_text, "sqlite")
        assert written.route != "sql" or written.text
        streamed(reply_text, list(range(0, len(reply_text), 7)))


@given(
    sql=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="`")),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
    before=st.sampled_from(["", "```json\n", "\n "]),
    data=st.data(),
)
def test_however_an_object_is_cut_its_statement_streams_whole(
    sql: str, ascii_only: bool, indent: int | None, before: str, data: st.DataObject
) -> None:
    fields = reply(route="sql", question='What "is" {it}?', sql=sql, text="not SQL")
    text = before + json.dumps(fields, ensure_ascii=ascii_only, indent=indent)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
    assert streamed(text, cuts) == sql.lstrip()


@given(sql=st.text(st.characters(exclude_categories=["Cs"]), max_size=20), ascii_only=st.booleans())
def test_a_statement_grows_while_its_object_is_written(sql: str, ascii_only: bool) -> None:
    text = json.dumps(reply(route="sql", sql=sql), ensure_ascii=ascii_only)
    parts = [partial_sql(text[:end]) or "" for end in range(len(text) + 1)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(parts))
    assert parts[-1] == sql


def test_a_statement_is_shown_as_soon_as_its_letters_are_there() -> None:
    deltas = SqlDeltas()
    pieces = ['{"route":"sql","explanation":"SELECT is used.","sq', 'l":"SEL', "ECT \\", "n1", '","text":""}']
    assert [deltas.feed(piece) for piece in pieces] == ["", "SEL", "ECT ", "\n1", ""]
    assert deltas.started


def test_a_fence_within_the_statement_is_not_shown() -> None:
    text = json.dumps(reply(route="sql", sql="```sql\nSELECT `a` FROM t\n```"))
    assert streamed(text, list(range(1, len(text)))) == "SELECT `a` FROM t\n"


def test_a_reply_in_words_streams_no_statement() -> None:
    deltas = SqlDeltas()
    assert deltas.feed(json.dumps(reply(route="chat", text="Use SELECT 1, or:\n```sql\nSELECT 2"))) == ""
    assert not deltas.started
