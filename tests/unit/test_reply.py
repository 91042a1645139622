"""Models follow a format roughly; what they mean is read all the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm.errors import ReplyTooDeep
from app.modules.database_connection.guard.check import check_shape
from app.modules.sql_generation.reply import SqlDeltas, read_reply
from graph.errors import StatementRefused
from graph.ports import Written
from tests.support.cases import assert_each
from tests.support.counting import calls_of


def test_a_reply_is_read_for_what_it_means() -> None:
    def check(text: str, expected: Written) -> None:
        assert read_reply(text, "sqlite") == expected

    assert_each(
        [
            (
                "Counting.\n```sql\nSELECT 1\n```",
                Written(route="sql", text="SELECT 1", explanation="Counting."),
            ),
            ("```\nSELECT 1;\n```\nHope it helps", Written(route="sql", text="SELECT 1")),
            (
                "```postgresql\nWITH a AS (SELECT 1) SELECT * FROM a",
                Written(route="sql", text="WITH a AS (SELECT 1) SELECT * FROM a"),
            ),
            ("SELECT 1;", Written(route="sql", text="SELECT 1")),
            (
                "  with a as (select 1) select * from a",
                Written(route="sql", text="with a as (select 1) select * from a"),
            ),
            ("```select 1```", Written(route="sql", text="select 1")),
            ('{"sql": "SELECT 1"}', Written(route="sql", text="SELECT 1")),
            (
                "QUESTION: How many in 2025?\nCounting.\n```sql\nSELECT 1\n```",
                Written(
                    route="sql",
                    text="SELECT 1",
                    explanation="Counting.",
                    standalone_question="How many in 2025?",
                ),
            ),
            ("**Question:** Which?\nROWS", Written(route="rows", text="", standalone_question="Which?")),
            ("Question marks are rare.", Written(route="chat", text="Question marks are rare.")),
            ("ROWS", Written(route="rows", text="")),
            ("rows.", Written(route="rows", text="")),
            ("Rows are what tables have.", Written(route="chat", text="Rows are what tables have.")),
            ("CLARIFY: Which year?", Written(route="clarify", text="Which year?")),
            ("**Clarify:** Which year?", Written(route="clarify", text="Which year?")),
            ("CHAT: Hello!", Written(route="chat", text="Hello!")),
            ("I cannot help with that.", Written(route="chat", text="I cannot help with that.")),
            ("{broken json", Written(route="chat", text="{broken json")),
        ],
        check,
    )


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
    assert shown.strip() == read_reply(text, "sqlite").text


ENDS_IN_A_NAME = [
    "SELECT COUNT(*) FROM `Artist`",
    "SELECT `Name` FROM `Artist` ORDER BY `Name`",
    "SELECT a.`Name`\nFROM `Artist` AS a\nWHERE a.`Name` <> 'it''s `odd`' GROUP BY a.`Name`",
    "WITH `x` AS (SELECT 1 AS `n`)\nSELECT `n` FROM `x`",
    "SELECT '```' AS fence, 'a ``` b' AS `c` FROM `t`",
]
FENCED = [
    "```sql\n{}\n```",
    "Counting.\n\n```sql\n{}\n```\nDone: `Artist` has a row for each artist.",
    "```mysql\r\n{}\r\n```\r\n",
    "```\n{};\n```",
    "````sql\n{}\n````",
    "````sql\n{}\n`````",
    "> quoted\n```sql\n{}\n   ```",
    "```sql\n{}```",
    "```sql\n{};```\nDone.",
    "```sql\n{}",
]
ON_ONE_LINE = ["```sql {}```", "```{}```", "```sql {} ```", "Here: ```sql {}``` counts them.", "````{}````"]


def fenced() -> list[tuple[str, str]]:
    """Pairs of a reply and its statement."""
    whole = [(form.format(sql), sql) for form in FENCED for sql in ENDS_IN_A_NAME]
    short = [each for each in ENDS_IN_A_NAME if "\n" not in each and "```" not in each]
    return [*whole, *((form.format(sql), sql) for form in ON_ONE_LINE for sql in short)]


def test_a_block_keeps_the_quotes_of_a_name_at_its_end() -> None:
    def check(reply: str, sql: str) -> None:
        assert read_reply(reply, "mysql").text.replace("\r", "") == sql

    assert_each(fenced(), check)


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("`SELECT * FROM `Artist``", "SELECT * FROM `Artist`"),
        ("Use `SELECT * FROM Artist` here.", ""),
        ("<sql>SELECT * FROM `Artist`</sql>", "SELECT * FROM `Artist`"),
        (json.dumps({"route": "sql", "sql": "SELECT * FROM `Artist`"}), "SELECT * FROM `Artist`"),
        (
            json.dumps({"route": "sql", "sql": "```sql\nSELECT * FROM `Artist`\n```"}),
            "SELECT * FROM `Artist`",
        ),
        ("```sql\nSELECT * FROM `Artist`\n``", "SELECT * FROM `Artist`"),
        ("```sql\nSELECT 1 FROM (\n\n```sql\nSELECT * FROM `Artist`\n```", "SELECT * FROM `Artist`"),
    ],
)
def test_quotes_around_a_statement_go_and_those_of_its_last_name_stay(reply: str, sql: str) -> None:
    assert (read_reply(reply, "mysql").text if sql else "") == sql


@given(data=st.data())
def test_however_a_block_is_cut_the_quotes_at_its_end_stream_too(data: st.DataObject) -> None:
    reply, sql = data.draw(st.sampled_from(fenced()))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=12)))
    deltas = SqlDeltas()
    shown = "".join(
        deltas.feed(reply[start:end]) for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True)
    )
    assert shown.replace("\r", "").strip().rstrip(";") == sql


SPREAD = [
    "WITH a AS (SELECT 1 AS n FROM t)\nSELECT n FROM a",
    "SELECT n FROM t\nUNION ALL\nSELECT m FROM u",
    "SELECT n FROM (\nSELECT n FROM t\n) AS x",
    "WITH a AS (\n  SELECT n FROM t\n),\nb AS (\n  SELECT n FROM a\n)\nSELECT n\nFROM b",
]


@pytest.mark.parametrize(
    "form", ["{}", "{};", "Here it is:\n{};\nIt counts.", '{{"route": "sql", "sql": {j}}}']
)
@pytest.mark.parametrize("sql", SPREAD)
def test_a_statement_without_a_block_is_read_from_its_first_line(sql: str, form: str) -> None:
    written = read_reply(form.format(sql, j=json.dumps(sql)), "sqlite")
    assert (written.text, written.corrections) == (sql, [])


ONE = "SELECT a FROM t"
OTHER = "SELECT b FROM u"


@pytest.mark.parametrize(
    "reply",
    [
        f"{ONE}; {OTHER}",
        f"```sql\n{ONE};\n{OTHER};\n```",
        f"```sql {ONE}; {OTHER} ```",
        json.dumps({"route": "sql", "sql": f"{ONE};\n{OTHER};"}),
        json.dumps({"sql": f"{ONE}; {OTHER}"}),
        f"```sql\nCREATE TABLE x AS {ONE};\n{OTHER}\n```",
    ],
)
def test_several_statements_in_one_block_are_left_to_the_guard(reply: str) -> None:
    written = read_reply(reply, "sqlite")
    assert written.text.rstrip(";").endswith(OTHER)
    assert ONE in written.text
    with pytest.raises(StatementRefused, match="exactly one statement"):
        check_shape(written.text, "sqlite")


@pytest.mark.parametrize(
    "reply",
    [
        f"First:\n```sql\n{ONE}\n```\nThen:\n```sql\n{OTHER}\n```",
        f"{ONE};\nand then\n{OTHER};",
        f"```sql\n{ONE}\n```\n```sql\n{OTHER}\n```",
        json.dumps({"route": "sql", "sql": f"```sql\n{ONE}\n```\n```sql\n{OTHER}\n```"}),
    ],
)
def test_of_several_blocks_the_last_one_counts_and_that_is_said(reply: str) -> None:
    written = read_reply(reply, "sqlite")
    assert written.text == OTHER
    assert written.corrections == ["The model wrote 2 statements; only the last one ran."]


def test_a_statement_that_is_written_twice_is_one() -> None:
    assert read_reply(f"{ONE};\nAgain:\n```sql\n{ONE}\n```", "sqlite").corrections == []


def test_talk_streams_no_statement() -> None:
    deltas = SqlDeltas()
    assert deltas.feed("CHAT: you could select a table") == ""
    assert not deltas.started


STATEMENTS = [
    "SELECT name FROM customers WHERE country = 'Brazil'",
    "WITH a AS (SELECT 1 AS n) SELECT n FROM a",
    "SELECT count(*) AS n\nFROM orders AS o\nJOIN customers AS c ON c.id = customer_id\nWHERE name <> 'x;y'",
    "(SELECT 1 AS n) UNION ALL (SELECT 2)",
]
BEFORE = [
    "",
    "Here is the query you asked for:\n\n",
    "One sentence, then the statement in a block that starts with ```sql and ends with ```.\n\n",
    "The question needs data: I count orders. The statement comes in a block that starts with ```sql.\n\n",
    "<think>They may want SELECT 2 FROM nothing. ```sql\nSELECT 3\n``` is wrong.</think>\n",
    "Maybe this one.\n```sql\nSELECT 0 AS first_try FROM t\n```\nNo, with the filter:\n",
    "```sql\n```\n",
    "```\nCREATE TABLE customers (id INTEGER)\n```\nGiven this schema:\n",
    "### Answer\n**SQL:**\n",
    "reasoning first, without the tag that opens it\n</think>\n\n",
]
FORMS = [
    "```sql\n{}\n```",
    "```\n{};\n```",
    "```sqlite\r\n{}\r\n```",
    "```SQL\n-- customers of a country\n{}\n```",
    "```sql {} ```",
    "<sql>{}</sql>",
    "```sql\n{}",
]
AFTER = ["", "\n\nThis counts the rows. Let me know!", "\n\nNote: `orders` holds one row per order.\n"]


@given(st.sampled_from(STATEMENTS), st.sampled_from(BEFORE), st.sampled_from(FORMS), st.sampled_from(AFTER))
def test_the_last_statement_of_a_noisy_reply_is_read(sql: str, before: str, form: str, after: str) -> None:
    written = read_reply(before + form.format(sql) + ("" if form.endswith("{}") else after), "sqlite")
    assert written.route == "sql"
    assert written.text.removeprefix("-- customers of a country\n") == sql


@given(st.sampled_from(STATEMENTS[:3]), st.sampled_from(BEFORE[:2]), st.sampled_from(AFTER))
def test_a_bare_statement_is_read_up_to_where_it_stops_being_one(sql: str, before: str, after: str) -> None:
    assert read_reply(f"{before}{sql};{after}", "sqlite").text == sql


@given(
    st.sampled_from(STATEMENTS), st.sampled_from(["{}", "```json\n{}\n```", "Sure.\n```json\n{}\n```\nDone."])
)
def test_a_statement_in_json_is_read(sql: str, form: str) -> None:
    reply = form.format(json.dumps({"explanation": "Counting.", "sql": sql}))
    assert read_reply(reply, "sqlite").text == sql


@given(st.text(alphabet=st.sampled_from("`\nselct frowih;{}\"'()<>/SELECT1*:"), max_size=60))
def test_no_reply_is_read_as_an_empty_statement(text: str) -> None:
    written = read_reply(text, "sqlite")
    assert written.route != "sql" or written.text


@pytest.mark.parametrize("statement", ["SELECT FROM WHERE", "DELETE FROM customers"])
def test_a_block_that_is_no_query_is_kept_for_the_guard_and_for_repair(statement: str) -> None:
    reply = f"Trying.\n```sql\n{statement}\n```"
    assert read_reply(reply, "sqlite") == Written(route="sql", text=statement, explanation="Trying.")


@pytest.mark.parametrize(
    "text", ["Select the year you mean.", "With pleasure: which year?", "With ```code``` in it"]
)
def test_prose_that_begins_like_a_statement_is_talk(text: str) -> None:
    assert read_reply(text, "sqlite").route == "chat"


@pytest.mark.parametrize(
    "reply",
    [
        '{"route": "sql", "sql": ' + "[" * 100_000,
        "```json\n" + '{"query": ' + "[" * 100_000 + "\n```",
    ],
)
def test_an_object_that_is_nested_too_deeply_is_the_models_fault(reply: str) -> None:
    with pytest.raises(ReplyTooDeep, match="nested too deeply"):
        read_reply(reply, "sqlite")


def test_a_statement_that_is_nested_too_deeply_is_left_to_the_guard() -> None:
    deep = "SELECT " + "(" * 5_000 + "1" + ")" * 5_000 + " FROM t"
    assert read_reply(f"```sql\n{deep}\n```", "sqlite").text == deep


def test_a_statement_that_is_too_long_is_not_parsed_but_kept_for_the_guard_to_refuse() -> None:
    long = "SELECT " + "1, " * 40 + "1 FROM t"
    calls = calls_of(lambda: read_reply(f"```sql\n{long}\n```", "sqlite", 50))
    assert read_reply(f"```sql\n{long}\n```", "sqlite", 50).text == long
    assert calls < 500


@pytest.mark.parametrize(
    "pattern",
    [
        *("```sql\nSELECT (\n```\n", "SELECT 1 FROM\n", "<think>", "```" + " " * 2_000 + "x", " " * 64, "{"),
        *("``` x", "```sql\nSELECT 1 FROM t```", "\n```", "````", "```sql\n``` x ", "`SELECT 1 FROM `t``\n"),
    ],
)
def test_a_long_reply_is_read_with_work_in_proportion_to_its_length(pattern: str) -> None:
    few = calls_of(lambda: read_reply(pattern * (4_000 // len(pattern)), "sqlite"))
    many = calls_of(lambda: read_reply(pattern * (64_000 // len(pattern)), "sqlite"))
    assert many < 64 * few


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<think>a</think>b", "b"),
        ("<think>a<think>b</think>c", "c"),
        ("x <think>a</think> y <thought>b</thought> z", "x  y  z"),
        ("a</think>b<think>c", "b<think>c"),
        ("<THINK>a</Think>b</reasoning>c", "c"),
    ],
)
def test_reasoning_is_left_out_also_where_a_tag_is_missing(reply: str, text: str) -> None:
    assert read_reply(reply, "sqlite").text == text
