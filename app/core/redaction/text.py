"""Removes secrets from texts that are logged, or that leave for a model or another service.

Every pattern takes linear time: its repetitions are bounded, or end where the next match begins. Texts may
come from attackers, and are redacted in the event loop.
"""

import codecs
import re
from collections.abc import Sequence
from functools import lru_cache

from app.core.redaction.conditions import condition_spans
from app.core.redaction.encoded import encoded_logins, encoded_spans
from app.core.redaction.inserts import inserted_spans
from app.core.redaction.private_keys import private_key_spans
from app.core.redaction.shapes import Span, token_spans
from app.core.redaction.values import secret_spans

HIDDEN = "[redacted]"
_URL_PARTS = re.compile(
    r"(https?://)(?:[^/\s@?#\"']{1,2000}@)?([^\s?#\"'@]{1,2000})(?:[?#][^\s\"']{0,8000})?"
)
"""A URL: scheme; user information; host and path; query and fragment."""
_REMEMBERED_CHARACTERS = 20_000
_BY_A_LETTER = "kai.by_a_letter"
"""Errors of encoding become letters: the text is then searched several times faster, and keeps its places."""


def _by_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "x" * (error.end - error.start), error.end


codecs.register_error(_BY_A_LETTER, _by_letters)


def in_ascii(text: str) -> str:
    """Returns the text with a letter in the place of each other character."""
    return text if text.isascii() else text.encode("ascii", _BY_A_LETTER).decode("ascii")


def redacted(text: str) -> str:
    """Returns the text without passwords, keys, tokens and credentials of URLs."""
    spans = secrets_in(text)
    if not spans:
        return text
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += [text[end:start], HIDDEN]
        end = stop
    return "".join([*parts, text[end:]])


def secrets_in(text: str) -> Sequence[Span]:
    """Returns the places of all secrets, in order and apart from each other.

    Each request to a model sends most texts of the one before it, so those are not searched again.
    """
    return _found_lately(text) if len(text) <= _REMEMBERED_CHARACTERS else _found(text)


def _found(text: str) -> Sequence[Span]:
    text = in_ascii(text)
    found = [*secret_spans(text), *token_spans(text), *encoded_spans(text), *encoded_logins(text)]
    found += [*inserted_spans(text), *private_key_spans(text), *condition_spans(text)]
    apart: list[Span] = []
    for start, stop in sorted(found):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(stop, apart[-1][1]))
        else:
            apart.append((start, stop))
    return apart


_found_lately = lru_cache(maxsize=256)(_found)


def redacted_address(text: str) -> str:
    """Returns an address or a command line redacted, its URLs without user information and queries.

    Whatever a query holds may be a key, however it is named.
    """
    return redacted(_URL_PARTS.sub(r"\1\2", text))
