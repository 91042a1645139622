"""A few words stay out: each stands for a term of the field, which a reader finds at once. No two public
classes have one name."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

USE_INSTEAD = {
    "told": "emitted, published, stored, logged, reported",
    "hush": "drop, discard",
    "hushed": "dropped, discarded",
    "anew": "again",
    "nobody": "no user, no worker, nothing",
    "somebody": "a user, another owner, another process",
    "everybody": "all users",
    "whoever": "the caller, the worker, the process",
    "whomever": "any owner",
    "whosoever": "any owner",
    "he": "they, the owner",
    "him": "them, the owner",
    "his": "their",
    "himself": "themselves",
    "is away": "is unavailable",
    "was away": "was unavailable",
    "let go": "released, cancelled",
    "lets go": "releases, cancels",
    "letting go": "releasing",
    "broken off": "interrupted, cancelled",
    "broke off": "was interrupted, failed",
}
FOLDERS = (
    "app",
    "graph",
    "typesense_checkpoint",
    "migrations",
    "deploy",
    "docs",
    "kai_analyst_client",
    "kai_analyst_tasks",
    "tests",
    "ui/src",
)
FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml")
ENDINGS = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".lua", ".jinja", ".ts", ".tsx", ".css"}
ALLOWED = re.compile(
    # This list, words of users' questions and answers, and prompts, which are measured as they stand.
    r"tests/unit/test_words\.py|app/modules/sql_generation/builtin/question/|app/modules/analysis/facts/reading\.py"
    r"|app/.*/prompts/"
)
# Names are made of words, too: `_told` and `is_told` count.
_BANNED = re.compile(
    r"(?<![a-z'-])(?:" + "|".join(word.replace(" ", "[ _]") for word in USE_INSTEAD) + r")(?![a-z'])",
    re.IGNORECASE,
)


def sources() -> list[str]:
    inside = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS)
    read = [*inside, *(ROOT / name for name in FILES)]
    paths = [path.relative_to(ROOT).as_posix() for path in read]
    # The names of the page's built files are digests, and may be words.
    written = (path for path in paths if "/node_modules/" not in path and "app/web/static/" not in path)
    return [path for path in written if not ALLOWED.search(path)]


def found(text: str) -> list[str]:
    return [
        f"{number}: {match[0]!r} (rather: {USE_INSTEAD[match[0].lower().replace('_', ' ')]})"
        for number, line in enumerate(text.splitlines(), start=1)
        for match in _BANNED.finditer(line)
    ]


def test_words_that_stop_a_reader_stay_out() -> None:
    read = sources()
    assert {"graph/session.py", "docs/api.md", "README.md", "ui/src/shared/texts.ts"} <= set(read)
    assert {path: words for path in read if (words := found((ROOT / path).read_text()))} == {}


@pytest.mark.parametrize(
    "text", ["It is told.", "def is_told():", "The bus is away.", "Whoever asks", "_TOLD = 1"]
)
def test_a_word_is_found_in_a_sentence_and_in_a_name(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize("text", ["the", "history", "untold", "anewer"])
def test_parts_of_other_words_are_not_found(text: str) -> None:
    assert found(text) == []


def test_no_public_class_name_stands_for_two_things() -> None:
    files = (
        path
        for folder in ("app", "graph", "kai_analyst_tasks", "typesense_checkpoint")
        for path in (ROOT / folder).rglob("*.py")
    )
    names = Counter(
        node.name
        for path in files
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert names.total() > 1_000
    assert [name for name, times in names.items() if times > 1] == []
