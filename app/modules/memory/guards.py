"""Guards of facts: credentials are never kept, and instructions only by a person who has seen a warning.

The second guard reads words, so it can be deceived. It does not stand alone: facts are data in a prompt, and
no fact changes the gate of a tool, a rule or a guard.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from app.core.redaction.text import secrets_in
from app.modules.memory.fact_guard import Objection

SECRET = "It holds what looks like a password, a key or another credential. Leave that out."  # noqa: S105

_WARNINGS = {
    "rules": "It addresses how KAI works, rather than the data or the person.",
    "calls": "It tells KAI what to call, or whom not to ask.",
    "addresses": "It names an address, or tells KAI to send or fetch something.",
    "writes": "It holds SQL that changes data.",
    "encoded": "It holds text that is encoded, or that is to be decoded.",
}
_OBJECT = (
    r"(?:table|view|index|schema|database|column|user|role|function|procedure|trigger|sequence|type)s?\b"
)

_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Invisible tag characters and the letters they stand for, which a model may read."""
_SQL_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_LATIN = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0442\u043a\u043c\u043d"
    "\u03b1\u03b5\u03bf\u03c1\u03bd\u03b9\u03c4\u03c5\u03c7\u03ba\u0131",
    "aeopcyxijsdhtkmnaeopvityxki",
)
"""Cyrillic and Greek letters that look like Latin ones, and those."""

_WORD = r"\b"
_MOST_READ = 2_000
"""Characters that are looked at. A fact has at most a quarter of them."""


@cache
def _patterns() -> Sequence[tuple[str, re.Pattern[str]]]:
    """The warnings with the pattern of what they are about, made with the first text."""
    listed: dict[str, list[str]] = {name: [] for name in _WARNINGS}
    name = ""
    for line in (Path(__file__).parent / "instructions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1] in listed:
            name = line[1:-1]
        elif line and not line.startswith("#"):
            listed[name].append(line.replace("{object}", _OBJECT))
    return [
        (_WARNINGS[each], re.compile(_any_of(patterns), re.IGNORECASE)) for each, patterns in listed.items()
    ]


def _any_of(patterns: Sequence[str]) -> str:
    """Returns one pattern for all. Those that begin at a word are tried at the beginnings of words only."""
    words = [each.removeprefix(_WORD) for each in patterns if each.startswith(_WORD)]
    others = [f"(?:{each})" for each in patterns if not each.startswith(_WORD)]
    return "|".join([rf"\b(?=\w)(?:{'|'.join(words)})", *others])


class WordGuard:
    """Objects to secrets for good, and to instructions until a person has read the warning."""

    def check(self, text: str) -> Objection | None:
        if holds_secret(text):
            return Objection(SECRET, is_final=True)
        warning = instruction_warning(text)
        return None if warning is None else Objection(warning, is_final=False)


def holds_secret(text: str) -> bool:
    """True if a text holds what looks like a credential or a private key, by the detector of redaction."""
    return bool(secrets_in(text) or secrets_in(_plain(text)))


def instruction_warning(text: str) -> str | None:
    """Returns a sentence that says why a text is rather an instruction than a fact. None if it is a fact."""
    plain = " ".join(_SQL_COMMENT.sub(" ", _plain(text[:_MOST_READ])).split())
    for each in dict.fromkeys([plain, plain.translate(_LATIN)]):
        for warning, pattern in _patterns():
            if pattern.search(each) is not None:
                return warning
    return None


def _plain(text: str) -> str:
    """Returns the text without invisible characters, and with the ordinary forms of wide and styled ones.

    Tags become what they stand for.
    """
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).translate(_TAGS))
