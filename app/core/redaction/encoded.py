"""Secrets in base64: words whose decoded text holds a secret."""

import re
from base64 import b64decode
from collections.abc import Iterator

from app.core.redaction.shapes import tokens_in
from app.core.redaction.values import Span, secret_spans
from app.core.redaction.words import is_strong

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_HEAD = 16
"""Characters that are decoded first: those of most words are no text."""
_LONGEST = 16_384
"""Characters of a word that are decoded."""
_PRINTED = re.compile(r"[\t\n\r -~]+")
_LOGIN = re.compile(r"[\w.@-]{1,64}:(\S{6,200})")
_AUTH = re.compile(r"auth[\"'\\]{0,3}\s{0,3}[:=]\s{0,3}[\"'\\]{0,3}$", re.IGNORECASE)
_BEFORE = 20


def encoded_spans(text: str) -> Iterator[Span]:
    """Yields the places of encoded secrets, and of encoded logins behind `auth`, in order.

    The text has ASCII characters only.
    """
    for found in _ENCODED.finditer(text):
        word = found[0]
        if _decoded(word[:_HEAD]) is None:
            continue
        decoded = _decoded(word[:_LONGEST])
        if decoded is None:
            continue
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        is_secret = tokens_in(decoded) or next(secret_spans(decoded), None) is not None
        if is_secret or (_AUTH.search(before) and _is_login(decoded)):
            yield found.span()


def _decoded(word: str) -> str | None:
    """Returns the text of a word in base64, without what is left of its end. None if it is no text."""
    letters = word.rstrip("=").replace("-", "+").replace("_", "/")
    decoded = b64decode(letters[: len(letters) // 4 * 4] + _rest(letters)).decode("latin-1")
    return decoded if _PRINTED.fullmatch(decoded) else None


def _rest(letters: str) -> str:
    """Returns the last letters with their padding. A single one is nothing."""
    rest = letters[len(letters) // 4 * 4 :]
    return "" if len(rest) < 2 else rest + "=" * (4 - len(rest))


def _is_login(decoded: str) -> bool:
    found = _LOGIN.fullmatch(decoded)
    return found is not None and is_strong(found[1])
