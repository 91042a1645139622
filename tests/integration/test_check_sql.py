"""`kai check-sql`: verdicts for people and for programs, and every wrong use in one line."""

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.commands.check_sql import Judge, Layer, check_sql
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.checking.names import SchemaNames
from graph.errors import StatementRefused
from tests.support.command_line import kai
from tests.support.corpus import DIALECTS, RUNS_ON, attacks, honest, shop_schema

SECURITY = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
STATEMENTS = b'{"id": 1, "sql": "SELECT 1"}\n{"id": "b", "sql": "DROP TABLE t"}\n["no object"]\n'


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)")
    return path


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def answers(given: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    path = tmp_path / "given.jsonl"
    path.write_bytes(given)
    assert check_sql(None, "postgres", None, jsonl=str(path)) == 0
    return lines(capsys.readouterr().out)


def judge(dialect: str, *columns: str) -> Judge:
    found = [TableColumn(name=each, type="text", database_type="TEXT") for each in columns]
    schema = Schema(dialect, [Table(name="Track", kind="table", columns=found)], "Chinook")
    return Judge(dialect, schema, SchemaNames(schema))


@pytest.mark.parametrize(
    "shown", re.findall(r"^\$ (kai check-sql .*\n(?:[^$`].*\n)+)", SECURITY, re.MULTILINE)
)
def test_the_examples_of_the_documents_are_true(shown: str, tmp_path: Path) -> None:
    (tmp_path / "statements.jsonl").write_bytes(STATEMENTS)
    command, _, output = shown.partition("\n")
    assert kai(*shlex.split(command)[1:], data=tmp_path).stdout == output


def test_the_exit_code_is_the_verdict(shop: Path, tmp_path: Path) -> None:
    asked = ("check-sql", "--dialect", "sqlite", "--db", str(shop))
    allowed = kai(*asked, "SELECT name FROM products", data=tmp_path)
    assert (allowed.returncode, allowed.stdout, allowed.stderr) == (0, "allow\n", "")
    blocked = kai(*asked, "SELECT nam FROM products", data=tmp_path)
    assert (blocked.returncode, blocked.stderr) == (1, "")
    assert blocked.stdout.startswith("block (column): unknown column nam")
    assert blocked.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("sql", "dialect", "database", "jsonl", "words"),
    [
        ("SELECT 1", None, None, None, "--dialect is missing"),
        ("SELECT 1", "oracle", None, None, "not 'oracle'"),
        (None, "sqlite", None, None, "either one statement or --jsonl"),
        ("SELECT 1", "sqlite", None, "-", "either one statement or --jsonl"),
        (None, "sqlite", None, "no-such.jsonl", "no-such.jsonl"),
        (None, "sqlite", None, ".", "Is a directory"),
        ("SELECT 1", "sqlite", "no-such.db", None, "no-such.db"),
        ("SELECT 1", "sqlite", "sqlite:///no-such.db", None, "no-such.db"),
        ("SELECT 1", "mysql", "shop.db", None, "a sqlite database, but --dialect says mysql"),
        ("SELECT 1", "postgres", "postgresql://u:s3cr3t@127.0.0.1:1/d", None, "cannot be"),
        ("SELECT 1", "sqlite", "given.txt", None, "given.txt"),
    ],
)
def test_a_wrong_use_is_one_line_that_names_it(
    sql: str | None,
    dialect: str | None,
    database: str | None,
    jsonl: str | None,
    words: str,
    shop: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(shop.parent)
    Path("given.txt").write_text("no database, though long enough to hold the header of one" * 20)
    assert check_sql(sql, dialect, database, jsonl=jsonl) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert words in printed.err
    assert "s3cr3t" not in printed.err


def test_a_bad_line_is_blocked_and_loses_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = [
        b"no json",
        b"[1]",
        b"{}",
        b'{"id": 7, "sql": 5}',
        b'{"id": NaN, "sql": "SELECT 1"}',
        b"\xff",
        b"[" * 9_999,
    ]
    found = answers(b"\n".join([*bad, b'{"id": "last", "sql": "SELECT 1"}']), tmp_path, capsys)
    assert [each["layer"] for each in found] == ["input"] * len(bad) + [None]
    assert all(f"Line {number} " in str(each["reason"]) for number, each in enumerate(found[:-1], start=1))
    assert [each["id"] for each in found] == [None, None, None, 7, None, None, None, "last"]


def test_lines_may_have_a_byte_order_mark_returns_blanks_and_no_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = (
        b'\xef\xbb\xbf{"id":1,"sql":"SELECT 1"}\r\n\r\n{"sql":"SELECT\\n2"}\r\n{"id":[3],"sql":"SELECT 3"}'
    )
    found = answers(given, tmp_path, capsys)
    assert [(each["id"], each["verdict"]) for each in found] == [
        (1, "allow"),
        (None, "allow"),
        ([3], "allow"),
    ]


def test_a_huge_line_is_judged_and_a_gigantic_one_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    huge, gigantic = (json.dumps({"id": 1, "sql": "x" * size}).encode() for size in (2**20, 2**25))
    found = answers(b"\n".join([huge, gigantic, b'{"id": 3, "sql": "SELECT 1"}']), tmp_path, capsys)
    assert [(each["id"], each["layer"]) for each in found] == [(1, "parse"), (None, "input"), (3, None)]


def test_an_empty_file_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answers(b"", tmp_path, capsys) == []
    assert check_sql(None, "postgres", None, jsonl=str(tmp_path / "given.jsonl")) == 0
    assert "holds no lines" in capsys.readouterr().err


def start(script: str) -> "subprocess.Popen[bytes]":
    """A shell in which KAI stands for the command."""
    command = f"{sys.executable} -c 'from app.cli import main; main()' check-sql --dialect sqlite --jsonl -"
    return subprocess.Popen(
        ["/bin/sh", "-c", script.replace("KAI", command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_each_line_is_answered_before_the_next_is_given() -> None:
    with start("exec KAI") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(b'{"id": %d, "sql": "SELECT 1"}\n' % number)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number


def test_a_closed_input_and_a_closed_output_end_it_quietly() -> None:
    with start("exec KAI <&-") as process:
        _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (2, b"kai: Standard input is closed; --jsonl - reads from it.\n")
    with start("KAI | head -n 1") as process:
        output, said = process.communicate(b'{"id": 1, "sql": "SELECT 1"}\n' * 20_000, timeout=60)
        assert (output.count(b"\n"), said) == (1, b"")


@pytest.mark.parametrize(
    ("sql", "layer"),
    [
        ("SELECT Name FROM Chinook.Track", None),
        ("SELECT Name FROM track", "table"),
        ("SELECT Nme FROM Track", "column"),
        ("SELECT x.Name FROM Track", "column"),
        ("EXPLAIN SELECT Nme FROM Track", "column"),
        ("SELECT Name FROM other.Track", "table"),
        ("SELECT SLEEP(1)", "function"),
        ("SELECT 1; SELECT 2", "statement"),
        ("SELECT FROM", "parse"),
        ("SELECT REPEAT('x', 999999999)", "cost"),
    ],
)
def test_the_layer_says_what_refused_a_statement(sql: str, layer: Layer | None) -> None:
    assert judge("mysql", "TrackId", "Name").verdict(sql).layer == layer


def test_a_name_in_another_case_is_judged_as_the_database_would() -> None:
    assert judge("mysql", "Name").verdict("SELECT name FROM Track").layer is None
    assert judge("sqlite", "Name").verdict('SELECT NAME FROM track WHERE "Name" = "x"').layer is None
    assert judge("postgres", "Name").verdict('SELECT "Name" FROM "Track"').layer is None
    verdict = judge("postgres", "Name").verdict('SELECT Name FROM "Track"')
    assert (verdict.layer, '"Name"' in str(verdict.reason)) == ("column", True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_a_database_only_tables_go_unjudged(dialect: str) -> None:
    without = Judge(dialect)
    assert [line for line in honest(dialect) if without.verdict(line.sql).layer is not None] == []
    passed = [line for line in attacks(dialect) if without.verdict(line.sql).layer is None]
    for line in passed:
        if line.category != RUNS_ON:
            with pytest.raises(StatementRefused) as refused:
                check(line.sql, shop_schema(dialect))
            assert refused.value.rule == "table"


def test_the_setting_bounds_the_statement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KAI_TUNING__LIMITS__STATEMENT_CHARS", "20")
    assert check_sql("SELECT 1", "sqlite", None, jsonl=None) == 0
    assert check_sql("(" * 21, "sqlite", None, jsonl=None) == 1
    assert "block (parse): The statement is longer than 20 characters" in capsys.readouterr().out
    monkeypatch.setenv("KAI_TUNING__LIMITS__STATEMENT_CHARS", "many")
    assert check_sql("SELECT 1", "sqlite", None, jsonl=None) == 2
    assert "LIMITS__STATEMENT_CHARS" in capsys.readouterr().err
