"""What no log line may hold, whatever is logged."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis.strategies import from_regex

from app.core.logs.ids import bound, note
from app.core.logs.lines import PLAIN, JsonLines, TextLines
from app.core.logs.redaction import MAX_CHARACTERS, inert, redacted

FERNET_KEY = Fernet.generate_key().decode()
ENCRYPTED = Fernet(FERNET_KEY).encrypt(b"a url").decode()
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
SECRETS = [
    ("Authorization: Bearer {}", "abc.def-ghi"),
    ("postgresql://ada:{}@db.example:5432/shop", "s3cr3t"),
    ("redis://:{}@cache:6379/0", "p@ss/word"),
    ("the key {} is unknown", "kai_9fQ2mZ0b7RkXw3LtYh5VnC8sDj1aGe4u"),
    ("the service refused {}", "sk-proj-Abc123xyz789"),
    ("a token: {}", TOKEN),
    ("kept as {}", ENCRYPTED),
    ("read with {}", FERNET_KEY),
    ("host=db password={} port=1", "hunter2"),
    ('{{"api_key": "{}"}}', "hunter2"),
    ("KAI_TYPESENSE__API_KEY={}", "hunter2"),
    ("AWS_SECRET_ACCESS_KEY={}", "hunter2/abc"),
    ("password = 'the {} of two words'", "hunter2"),
    ("the seed {} is refused", "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY"),
    ("pushed with {}", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA"),
]
HARMLESS = [
    "12 tokens used by run 01970000-0000-7000-8000-000000000000",
    "collection kai_table_vectors_ledgers is rebuilt",
    "Typesense does not answer as it should: ConnectError. See http://127.0.0.1:8108/health",
    "d3b07384d113edec49eaa6238ad5ff00",
    'password="oauth2!!!!"',
    'password="getenv1234"',
    'password="Insert1Password"',
    'password="value1changeme"',
    'api_key="value1redacted"',
    'token="12345678ms"',
    "password=db_password1",
]


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """What the logger `app.tests` says, as JSON lines."""
    written, logger = io.StringIO(), logging.getLogger("app.tests")
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    logger.propagate = False
    yield written
    logger.removeHandler(handler)
    logger.propagate = True


def line(said: io.StringIO) -> dict[str, object]:
    read: dict[str, object] = json.loads(said.getvalue())
    return read


@pytest.mark.parametrize(("text", "secret"), SECRETS, ids=[text for text, _ in SECRETS])
def test_secrets_are_taken_out_of_messages_and_fields(said: io.StringIO, text: str, secret: str) -> None:
    logging.getLogger("app.tests").error(text.format(secret), extra={"shown": text.format(secret)})
    assert secret not in said.getvalue()
    assert said.getvalue().count("[redacted]") == 2


@pytest.mark.parametrize("harmless", HARMLESS)
def test_what_is_no_secret_stays_readable(said: io.StringIO, harmless: str) -> None:
    logging.getLogger("app.tests").error(harmless)
    assert line(said)["message"] == harmless


@pytest.mark.parametrize("kind", [JsonLines, TextLines])
def test_a_message_cannot_forge_a_line_or_move_a_terminals_cursor(kind: type[JsonLines]) -> None:
    hostile = "first\r\nsecond \x1b[2J third \u2028 \x9b1m"
    record = logging.LogRecord("app", logging.ERROR, "", 0, "%s", (hostile,), None)
    shown = kind().format(record)
    assert not set("\r\n\x1b\u2028\x9b") & set(shown)
    assert "second" in shown


CELL, QUESTION = "Ada Lovelace", "Who owes us most?"


def fail(cell: str, question: str) -> None:
    cells: dict[str, str] = {}
    try:
        cells[cell]
    except KeyError as error:
        raise ValueError(question) from error


def test_an_exception_is_logged_by_place_and_class_but_not_by_its_text(said: io.StringIO) -> None:
    try:
        fail(CELL, QUESTION)
    except ValueError:
        logging.getLogger("app.tests").exception("it failed")
    shown = str(line(said)["traceback"])
    assert shown.index("builtins.KeyError") < shown.index("builtins.ValueError")
    assert "in fail" in shown
    assert CELL not in shown
    assert QUESTION not in shown


def test_lines_carry_what_is_bound_and_what_became_known_meanwhile(said: io.StringIO) -> None:
    with bound(request_id="r1"):
        note(owner="ada")
        with bound(run_id="r2", owner="ben"):
            pass
        logging.getLogger("app.tests").error("now")
    assert (line(said)["request_id"], line(said)["owner"]) == ("r1", "ada")
    assert "run_id" not in line(said)


def test_the_log_of_a_forgotten_task_holds_no_words_of_its_exception() -> None:
    said = "Task exception was never retrieved\nfuture: <Task exception=ValueError('a row')>"
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, said, (), None)
    assert json.loads(JsonLines().format(record))["message"] == "Task exception was never retrieved"


HOSTILE = [
    "a-",
    "a.b-",
    "a://",
    "kai_-",
    "eyJ-",
    "password ",
    "bearer ",
    "token=" + " " * 9,
    "x" * 42 + "=",
    "pwd='",
    "sql '",
    "sql ='",
    "sql ''",
    "sql in ('x',",
    "sql='x' and ",
]


def test_a_long_text_of_almost_secrets_is_redacted_in_linear_time() -> None:
    """Square time would take hours. A process of its own, because a regular expression cannot be stopped."""
    program = (
        "from app.core.logs.redaction import redacted\n"
        f"for text in {HOSTILE!r}: redacted(text * (300_000 // len(text)))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=110)


def test_an_overlong_text_is_cut_before_it_is_redacted() -> None:
    shown = redacted("x" * MAX_CHARACTERS + "password=hunter2")
    assert shown == "x" * MAX_CHARACTERS + " [16 characters cut]"


@given(from_regex(PLAIN, fullmatch=True))
def test_values_that_are_not_looked_into_hold_no_secret(value: str) -> None:
    assert inert(redacted(value)) == value
