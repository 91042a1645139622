"""Values that a statement compares with columns that are named as secrets are."""

import re
from collections.abc import Iterator

from app.core.redaction.names import names_secret
from app.core.redaction.shapes import Span
from app.core.redaction.words import is_placeholder

_SQL = re.compile(r"\b(?:select|sql)\b", re.IGNORECASE)
_TEXT = r"'(?:''|[^'\n]){1,400}+'"
_COMPARED = re.compile(
    r"(?:[=<>~]|\b(?:like|ilike|glob|rlike|regexp|between|when)|\bin\s{0,3}\()\s{0,3}"
    rf"(?P<texts>{_TEXT}(?:\s{{0,3}}(?:,|\band\b)\s{{0,3}}{_TEXT}){{0,200}}+)",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"(\w{2,64})[\"`\]]?[\s)]{0,4}(?:[!<>]|\bnot\s{1,3})?\Z", re.IGNORECASE)
_LONGEST_BEFORE = 80
_TURNED = re.compile(
    rf"(?P<texts>{_TEXT})\s{{0,3}}(?:=|<>|!=)\s{{0,3}}(?:[\"`\[]?\w{{1,64}}[\"`\]]?\.){{0,2}}[\"`\[]?(?P<name>\w{{2,64}})",
    re.IGNORECASE,
)
_EACH = re.compile(_TEXT)


def condition_spans(text: str) -> Iterator[Span]:
    """Yields the places of texts in conditions on secret columns. Only a text that names SQL has conditions.

    The text has ASCII characters only.
    """
    if "'" not in text or _SQL.search(text) is None:
        return
    for found in _COMPARED.finditer(text):
        before = _NAME_BEFORE.search(text[max(0, found.start() - _LONGEST_BEFORE) : found.start()])
        if before is not None and names_secret(before[1]):
            yield from _texts(text, found)
    for found in _TURNED.finditer(text):
        if names_secret(found["name"]):
            yield from _texts(text, found)


def _texts(text: str, found: re.Match[str]) -> Iterator[Span]:
    for each in _EACH.finditer(text, *found.span("texts")):
        if not is_placeholder(each[0][1:-1]):
            yield each.start() + 1, each.end() - 1
