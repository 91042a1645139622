"""The `kai` command: help, answers, and every expected error in one line."""

import sqlite3
from contextlib import closing
from pathlib import Path

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


def test_a_question_is_answered_with_its_sql_rows_and_reading(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "How many customers per country?", "--db", str(shop), data=tmp_path)
    assert asked.returncode == 0, asked.stderr
    for part in ("Understood as", "SELECT", "Brazil has the highest", "2 of 2 rows"):
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


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (["ask", "x", "--db", "/no/such.db"], {}, "no existing file"),
        (["ask", "x", "--db", "postgresql://u:s3cr3t@127.0.0.1:1/d"], {}, "cannot be"),
        (["ask", "x", "--db", "oracle://u:s3cr3t@h/d"], {}, "no driver"),
        (["ask", "bad \udcff byte", "--db", "shop.db"], {}, "cannot be kept"),
        (["backup", "new"], {}, "nothing to back up"),
        (["prune"], {}, "kai migrate"),
        (["api"], {}, "KAI_REDIS__URL"),
        (["worker", "--kind", "memory"], {}, "KAI_REDIS__URL"),
        (["eval", "no-such.jsonl", "--db", "shop.db"], {}, "no-such.jsonl"),
        (["eval-compare", "no-such.jsonl", "b.jsonl"], {}, "no-such.jsonl"),
        (["serve"], {"KAI_PORT": "many"}, "KAI_PORT"),
        (["serve"], {"KAI_LLM__UNKNOWN": "1"}, "KAI_LLM__UNKNOWN"),
        (["serve"], {"KAI_LLM__BASE_URL": "localhost:1/v1"}, "KAI_LLM__BASE_URL"),
        (["serve"], {"KAI_ENCRYPTION_KEY": "short"}, "KAI_ENCRYPTION_KEY"),
        (["serve"], {"KAI_QUOTAS__RUNS": "-1"}, "KAI_QUOTAS__RUNS"),
        (["serve"], {"KAI_REDIS__URL": "http://:s3cr3t@127.0.0.1"}, "redis://"),
        (["serve"], {"KAI_REDIS__URL": "redis://:s3cr3t/signs@127.0.0.1"}, "URL-encoded"),
        (["serve"], {"KAI_DATA_DIR": "/proc/nowhere"}, "KAI_DATA_DIR"),
        (["serve", "--host", "192.0.2.1"], {}, "KAI_HOST"),
        (["serve", "--host", "0.0.0.0", "--port", "0"], {}, "kai keys create"),
        (["serve", "--port", "0"], {"KAI_AUTH__REQUIRED": "true"}, "kai keys create"),
        (["serve"], {"KAI_AUTH__OIDC__ISSUER": "https://login.example.com"}, "KAI_AUTH__OIDC__AUDIENCE"),
        (["serve"], {"KAI_AUTH__OIDC__ISSUER": "http://login.example.com"}, "https://"),
        (["serve"], {"KAI_AUTH__OIDC__ALGORITHMS": '["HS256"]'}, "KAI_AUTH__OIDC__ALGORITHMS"),
        (["serve"], {"KAI_AUTH__OIDC__AUDIENCE": "kai"}, "KAI_AUTH__OIDC__ISSUER"),
        (["serve"], {"KAI_TYPESENSE__NODES": "localhost"}, "KAI_TYPESENSE"),
        (["serve"], {"KAI_DATABASES__FOLDERS": "/data"}, "KAI_DATABASES__FOLDERS: it has to be a JSON list"),
        (["serve"], {"KAI_ALLOWED_HOSTS": '["kai.*"]'}, "KAI_ALLOWED_HOSTS"),
        (["serve"], {"OPENAI_BASE_URL": "localhost"}, "OPENAI_BASE_URL"),
        (["serve"], {"KAI_STORE": "typesense", "KAI_REDIS__URL": "redis://r"}, "KAI_ENCRYPTION_KEY"),
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
    assert failed.stderr.startswith("kai: ")
    assert failed.stderr.count("\n") == 1
    assert words in failed.stderr
    assert "s3cr3t" not in failed.stderr + failed.stdout
