"""The `kai` command: help, answers, and every expected error in one line."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.support.command_line import kai


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT);"
            "INSERT INTO customers (country) VALUES ('Norway'), ('Brazil'), ('Brazil');"
        )
    return path


def test_a_server_starts_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The other tests fork theirs from a process that has imported everything."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    with subprocess.Popen(
        [Path(sys.executable).with_name("kai"), "serve", "--port", "0", "--data-dir", tmp_path],
        env=clean,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("KAI is ready at "), said
        assert httpx.get(f"{said.split()[-1]}/healthz").status_code == 200
        process.terminate()
        assert process.wait(60) == 0


def test_a_question_is_answered_with_its_sql_rows_and_reading(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "How many customers per country?", "--db", str(shop), data=tmp_path)
    assert asked.returncode == 0, asked.stderr
    for part in ("Understood as", "SELECT", "Brazil has the most customers: 2", "2 of 2 rows"):
        assert part in asked.stdout


def test_a_question_leaves_the_store_of_the_server_alone(shop: Path, tmp_path: Path) -> None:
    kept = {"KAI_STORE": "typesense", "KAI_MIGRATE_AT_START": "false"}  # no server, no key: none is needed
    asked = kai("ask", "How many customers?", "--db", str(shop), data=tmp_path, **kept)
    assert asked.returncode == 0, asked.stderr


def test_a_question_beyond_it_fails_with_the_cure(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "Why?", "--db", str(shop), data=tmp_path)
    assert asked.returncode == 1
    assert "OPENAI_API_KEY" in asked.stdout


def test_help_names_every_command(tmp_path: Path) -> None:
    shown = kai("--help", data=tmp_path).stdout
    assert all(command in shown for command in ("serve", "demo", "ask", "eval", "eval-compare", "keys"))


NO_TYPESENSE = {
    "KAI_STORE": "typesense",
    "KAI_TYPESENSE__NODES": '["http://127.0.0.1:1"]',
    "KAI_TYPESENSE__API_KEY": "s3cr3t",
    "KAI_TYPESENSE__MAX_RETRIES": "0",
}


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (["ask", "x", "--db", "/no/such.db"], {}, "There is no file /no/such.db"),
        (["ask", "x", "--db", "sqlite:////no/such.db"], {}, "There is no file /no/such.db"),
        (["ask", "x", "--db", "/proc"], {}, "/proc is a folder"),
        (["ask", "x", "--db", "postgresql://u:s3cr3t@127.0.0.1:1/d"], {}, "cannot be"),
        (["ask", "x", "--db", "oracle://u:s3cr3t@h/d"], {}, "no driver"),
        (["ask", "bad \udcff byte", "--db", "shop.db"], {}, "cannot be stored"),
        (["backup", "new"], {}, "--data-dir"),
        (["prune"], {}, "--data-dir"),
        (["keys", "list", "--data-dir", "/proc/nowhere"], {}, "/proc/nowhere"),
        (["restore", "no-such-backup"], {}, "no-such-backup"),
        (["migrate", "--from", "sqlite", "--to", "typesense"], {}, "set KAI_TYPESENSE__API_KEY"),
        (["keys", "list"], NO_TYPESENSE, "KAI_TYPESENSE__NODES"),
        (["eval", "/proc", "--db", "shop.db"], {}, "/proc is a folder"),
        (["api"], {}, "KAI_NATS__URL"),
        (["worker", "--kind", "memory"], {}, "KAI_NATS__URL"),
        (["eval", "no-such.jsonl", "--db", "shop.db"], {}, "no-such.jsonl"),
        (["eval-compare", "no-such.jsonl", "b.jsonl"], {}, "no-such.jsonl"),
        (["serve"], {"KAI_DATA_DIR": "/proc/nowhere"}, "KAI_DATA_DIR"),
        (["serve", "--host", "192.0.2.1"], {}, "KAI_HOST"),
        (["serve", "--host", "0.0.0.0", "--port", "0"], {}, "kai keys create"),
        (["serve", "--port", "0"], {"KAI_AUTH__REQUIRED": "true"}, "kai keys create"),
        (["serve"], {"KAI_STORE": "typesense", "KAI_NATS__URL": "nats://n"}, "KAI_ENCRYPTION_KEY"),
        (["serve", "--host", "no-such.invalid"], {}, "KAI_HOST"),
        (["keys", "create", "--owner", "local"], {}, "choose another name"),
        (["keys", "create", "--owner", "ann", "--scope", "manage"], {}, "the role admin"),
        (["keys", "create", "--owner", "ann", "--scope", "everything"], {}, "'read', 'ask'"),
        (["keys", "revoke", "no-such-key"], {}, "no API key"),
    ],
    ids=str,
)
def test_an_error_is_one_line_that_names_the_cure(
    arguments: list[str], variables: dict[str, str], words: str, tmp_path: Path
) -> None:
    failed = kai(*arguments, data=tmp_path, **variables)
    assert failed.returncode == 1
    assert_one_line(failed, words)


def assert_one_line(failed: subprocess.CompletedProcess[str], words: str) -> None:
    assert failed.stderr.startswith("kai: ")
    assert failed.stderr.count("\n") == 1
    assert words in failed.stderr
    assert "s3cr3t" not in failed.stderr + failed.stdout
    assert "Errno" not in failed.stderr


def test_the_proposed_command_makes_an_encryption_key(tmp_path: Path) -> None:
    failed = kai("keys", "list", data=tmp_path, KAI_ENCRYPTION_KEY="short")
    command = failed.stderr.partition("make one by ")[2].strip()
    key = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout.strip()
    assert kai("keys", "list", data=tmp_path, KAI_ENCRYPTION_KEY=key).returncode == 0


def test_variables_that_kubernetes_sets_for_a_service_are_no_settings(tmp_path: Path) -> None:
    variables = {
        "KAI_SERVICE_HOST": "10.0.0.1",
        "KAI_API_SERVICE_PORT_HTTP": "8000",
        "KAI_REDIS_PORT": "tcp://10.0.0.2:6379",
        "KAI_PORT_8000_TCP_ADDR": "10.0.0.1",
    }
    assert kai("keys", "list", data=tmp_path, **variables).returncode == 0


def test_a_database_without_tables_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    asked = kai("ask", "How many customers?", "--db", "empty.db", data=tmp_path)
    assert asked.returncode == 1
    assert "has no tables" in asked.stdout
    assert "OPENAI_API_KEY" not in asked.stdout


def test_a_misspelt_word_is_held_against_names_that_there_are(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, signup DATE)")
    asked = kai("ask", "customers signupd in 2024", "--db", "shop.db", data=tmp_path)
    assert "Did you mean “signup”?" in asked.stdout


@pytest.mark.parametrize("command", [["keys", "list"], ["prune"], ["backup", "copy"], ["migrate"]], ids=str)
def test_a_command_finds_the_store_of_the_demo(command: list[str], tmp_path: Path) -> None:
    kai("migrate", "--data-dir", ".kai", data=tmp_path)
    found = kai(*command, data=tmp_path, KAI_DATA_DIR="", HOME=str(tmp_path / "home"))
    assert found.returncode == 0, found.stderr
    assert "Working in .kai" in found.stderr
    assert not (tmp_path / "home").exists()


def test_a_command_names_the_store_of_the_demo_where_there_is_another(tmp_path: Path) -> None:
    for folder in (".kai", "home/.kai"):
        kai("migrate", "--data-dir", folder, data=tmp_path)
    listed = kai("keys", "list", data=tmp_path, KAI_DATA_DIR="", HOME=str(tmp_path / "home"))
    assert f"Working in {tmp_path}/home/.kai" in listed.stderr
    assert "--data-dir .kai" in listed.stderr
