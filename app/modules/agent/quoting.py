"""Finds text in the arguments of a call that the turn has read: in a database, or by a tool of others.

Such a text can tell a model to pass on other texts. The person who is asked should see that.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from pydantic import JsonValue

from app.modules.tools.results import NamedResult

MIN_CHARACTERS = 6
"""Shorter texts occur everywhere."""
_EXCERPT = 60
_MOST_WARNINGS = 10
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"")
_WORD = re.compile(r"[^\s\"'`<>()\[\]{},;]+")
_FIGURE = re.compile(r"\d[\d.,]*\d")
_ONLY_LETTERS = re.compile(r"[^\W\d_]+[.:!?]*")


def quotations(
    arguments: Mapping[str, JsonValue],
    results: Sequence[tuple[str, NamedResult]],
    texts: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Returns a sentence for each argument that holds text that was read, or is part of such text.

    `results` are rows by their names, `texts` what tools of others have returned by the names of their calls.
    Case and white space do not count. Takes time in proportion to the rows and the texts.
    """
    looked_for = [(path, text) for path, text in _texts("", arguments) if len(text) >= MIN_CHARACTERS]
    read: list[tuple[str, Iterable[str]]] = [(name, _Cells(result)) for name, result in results]
    read += [(name, list(_parts(text))) for name, text in texts]
    warnings: list[str] = []
    for path, text in looked_for:
        for name, parts in read:
            found = _found_in(text, parts)
            if found is not None:
                cut = found if len(found) <= _EXCERPT else f"{found[:_EXCERPT]}…"
                warnings.append(f"{path} holds text that was read in this turn: {cut!r} ({name}).")
                break
    return warnings[:_MOST_WARNINGS]


def unread_figures(text: str, read: Iterable[str]) -> list[str]:
    """Returns the numbers of a text, of two digits at least, that stand in none of those that were read."""
    known = {_number(each) for one in read for each in _FIGURE.findall(one)}
    return [each for each in _FIGURE.findall(text) if _number(each) not in known]


def _number(written: str) -> str:
    """Returns a number without separators of groups and zeros at the end of its decimals."""
    plain = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", written).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _found_in(text: str, parts: Iterable[str]) -> str | None:
    """Returns the text that argument and result share: one of them is part of the other."""
    for stored in parts:
        if len(stored) < MIN_CHARACTERS:
            continue
        if stored in text:
            return stored
        if text in stored:
            return text
    return None


class _Cells:
    """The texts and numbers of a result, read again for each argument: there may be many."""

    def __init__(self, result: NamedResult) -> None:
        self._rows = result.rows["rows"]

    def __iter__(self) -> Iterator[str]:
        for row in self._rows:
            for cell in row:
                if isinstance(cell, str | int | float) and not isinstance(cell, bool):
                    yield _folded(str(cell))


def _parts(text: str) -> Iterator[str]:
    """Yields a text as a whole and what of it may be passed on alone: lines, strings of JSON, and words, such
    as addresses and numbers, that are not of letters alone.
    """
    yield _folded(text)
    yield from map(_folded, text.splitlines())
    for found in _STRING.finditer(text):
        with suppress(ValueError):
            yield _folded(json.loads(found[0]))
    for found in _WORD.finditer(text):
        if _ONLY_LETTERS.fullmatch(found[0]) is None:
            yield _folded(found[0].rstrip(".:!?"))


def _texts(path: str, value: JsonValue | Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yields every text and number of a value, names of fields included, with where it stands."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            inner = f"{path}.{name}" if path else name
            if path:
                yield inner, _folded(name)
            yield from _texts(inner, each)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _texts(f"{path}[{at}]", each)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield path, _folded(str(value))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
