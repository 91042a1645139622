"""Corpora of names of columns that hold secrets, of names that look like them, and of statements that hide
one behind an alias, an array, an aggregate or a text.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlglot import parse_one

from app.core.redaction.names import names_secret
from app.modules.sql.provenance.secret_outputs import secret_outputs
from tests.support.declared import declared

CORPUS = Path(__file__).parents[2] / "corpus"
FOUND = 0.97
FALSE = 0.01
TABLES = {
    "users": [
        *("id", "name", "city", "pwd_hash", "pin", "totp_seed", "recovery_codes", "password_changed_at"),
    ],
    "places": ["id", "code", "pin_code"],
    "usage_log": ["id", "token_count", "key_account", "hash_rate"],
}


def lines_of(name: str) -> Sequence[str]:
    lines = (CORPUS / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


NAMES = [line.split()[0] for line in lines_of("secret_names.txt")]
LOOKALIKES = lines_of("secret_name_lookalikes.txt")
STATEMENTS = [tuple(line.split("\t")) for line in lines_of("secret_statements.tsv")]


def test_the_corpora_are_large_enough() -> None:
    assert len(set(NAMES)) >= 120
    assert len(set(LOOKALIKES)) >= 120
    assert len(set(STATEMENTS)) >= 60


@pytest.mark.parametrize("half", [0, 1], ids=["built with", "held out"])
def test_names_of_secrets_are_found(half: int) -> None:
    names = NAMES[half::2]
    missed = [name for name in names if not names_secret(name)]
    assert len(missed) <= (1 - FOUND) * len(names), missed


@pytest.mark.parametrize("half", [0, 1], ids=["built with", "held out"])
def test_names_that_look_like_those_of_secrets_are_none(half: int) -> None:
    names = LOOKALIKES[half::2]
    wrong = [name for name in names if names_secret(name)]
    assert len(wrong) <= FALSE * len(names), wrong


@pytest.mark.parametrize("name", ["{0}", "user_{0}", "{0}2", "old_{0}", "{0}_hash", "{0}Hash", "{0}_new"])
@pytest.mark.parametrize("word", ["password", "Passwort", "contraseña", "senha", "wachtwoord", "PWD"])
def test_a_password_is_one_however_its_name_is_made(name: str, word: str) -> None:
    assert names_secret(name.format(word))


@pytest.mark.parametrize("name", ["{0}_at", "has_{0}", "{0}_count", "{0}_policy", "{0}_expires", "is_{0}"])
@pytest.mark.parametrize("word", ["password", "token", "api_key", "pin", "secret", "wachtwoord"])
def test_what_is_known_about_a_secret_is_none(name: str, word: str) -> None:
    assert not names_secret(name.format(word))


def test_statements_hide_no_secret() -> None:
    """Shares are of the columns of results."""
    missed: list[str] = []
    wrong: list[str] = []
    secrets = others = 0
    for dialect, expected, sql in STATEMENTS:
        found = secret_outputs(parse_one(sql, dialect=dialect), declared(dialect, TABLES))
        names = [f"column {number}" for number in range(len(expected))]
        flags = [False] * len(expected) if found is None else found.among(names)
        for flag, wanted in zip(flags, expected, strict=True):
            secrets += wanted == "x"
            others += wanted == "-"
            if wanted == "x" and not flag:
                missed.append(sql)
            if wanted == "-" and flag:
                wrong.append(sql)
    assert len(missed) <= (1 - FOUND) * secrets, missed
    assert len(wrong) <= FALSE * others, wrong
