"""Secrets in base64: words whose decoded text holds a secret."""

import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from app.core.redaction.shapes import Span, token_spans
from app.core.redaction.values import secret_spans
from app.core.redaction.words import is_strong

# Four letters that decode to three characters of ASCII: their first bits are 0.
_FIRST = r"[CDI-Za-f]"
_THREE = r"[ACDEFGHQSTUVWXgijklmnwyz0123][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_ENCODED = re.compile(
    rf"{_FIRST}(?<![A-Za-z0-9+/_-].){_THREE}(?:{_FIRST}{_THREE}){{3}}[A-Za-z0-9+/_-]*={{0,2}}"
)
_LONGEST = 16_384
"""Characters of a word that are decoded."""
_PRINTED = re.compile(r"[\t\n\r -~]+")
_AUTH_LOGIN = re.compile(
    r"auth[\"'\\]{0,3}\s{0,3}[:=]\s{0,3}[\"'\\]{0,3}(?P<secret>[A-Za-z0-9+/_-]{8,1000}={0,2})", re.IGNORECASE
)
_LOGIN = re.compile(r"[\w.@-]{1,64}:(\S{6,200})")


def encoded_spans(text: str) -> Iterator[Span]:
    """Yields the places of encoded secrets, in any order. All that is decoded is searched at once.

    The text has ASCII characters only.
    """
    places: list[Span] = []
    texts: list[str] = []
    for found in _ENCODED.finditer(text):
        if (decoded := _decoded(found[0])) is not None:
            places.append(found.span())
            texts.append(decoded)
    if not texts:
        return
    starts = [0, *accumulate(len(each) + 1 for each in texts)]
    read = "\n".join(texts)
    secret: set[int] = set()
    for start, stop in (*secret_spans(read), *token_spans(read)):
        secret.update(range(bisect_right(starts, start) - 1, bisect_right(starts, stop - 1)))
    yield from (places[number] for number in secret)


def encoded_logins(text: str) -> Iterator[Span]:
    """Yields the places of encoded logins behind `auth`, as in settings of registries."""
    lowered = text.lower()
    at = lowered.find("auth")
    while at >= 0:
        if (found := _AUTH_LOGIN.match(text, at)) is not None and _is_login(found["secret"]):
            yield found.span("secret")
        at = lowered.find("auth", at + 4)


def _decoded(word: str) -> str | None:
    """Returns the text of a word in base64, without what is left of its end. None if it is no text."""
    letters = word[:_LONGEST].rstrip("=").replace("-", "+").replace("_", "/")
    decoded = b64decode(letters[: len(letters) // 4 * 4] + _rest(letters)).decode("latin-1")
    return decoded if _PRINTED.fullmatch(decoded) else None


def _rest(letters: str) -> str:
    """Returns the last letters with their padding. A single one is nothing."""
    rest = letters[len(letters) // 4 * 4 :]
    return "" if len(rest) < 2 else rest + "=" * (4 - len(rest))


def _is_login(word: str) -> bool:
    decoded = _decoded(word)
    found = None if decoded is None else _LOGIN.fullmatch(decoded)
    return found is not None and is_strong(found[1])
