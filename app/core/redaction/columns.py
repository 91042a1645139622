"""Values that are secret by the name of their column, in tables that are written as text.

Cells are separated by commas, semicolons, tabs or bars.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from app.core.redaction.shapes import Span
from app.core.redaction.words import is_complex, is_key, is_password, is_strong

Judge: TypeAlias = Literal["password", "key", "word"]
"""How values of a column are judged. `word`: the name may mean something else, such as `pass`."""
NamedPlace: TypeAlias = tuple[int, Judge]
"""The start of a name that ends its cell, and how the values below it are judged."""

ENDS_CELL = re.compile(
    r"(?:w(?:or)?d|wort|phrase|code)?\\?[\"'`]?[ \t\r]{0,40}(?:[,;|\t\n]|\\n|\Z)", re.IGNORECASE
)
"""What follows a name of a secret that ends its cell."""
_SIGNS = "\t|;,"
_LONGEST = 4_000
"""Characters of a line. A longer one is no part of a table."""
_BREAK = "\\n"
"""A line break in JSON, which tables may stand in."""
_QUOTED = re.compile(r"[ ]*\"(?:[^\"]|\"\")*+\"[ \r]*")
_RULES = "-+|:= \r"
_RULE = re.compile(rf"[{_RULES}]+")
_CLEAN = re.compile(r"[ \t\r]*\\?[\"'`]?[\w.#-]{1,60}(?:[ ][\w.#()%-]{1,40}){0,2}\\?[\"'`]?[ \t\r]*")
_ENDS_IN_NAME = re.compile(r"(?:^|[\s:>\"])\\?[\"'`]?[\w.#-]{1,60}\\?[\"'`]?[ \t\r]*$")
_STATEMENT = re.compile(
    r"[ \t(]*(?:select|from|where|group|order|having|limit|union|values|join|left|inner|on|and|or|insert"
    r"|update|set|create|primary|returning)\b(?![,;|\t])",
    re.IGNORECASE,
)
"""The beginning of a line of SQL."""
_TYPE = re.compile(r"\w{3,20}\(\d{1,5}(?:,\s?\d{1,3})?\)")
_AROUND = " \t\r\"'`\\"


_start: Callable[[Sequence[object]], int] = itemgetter(0)  # of a place, and of a cell


class TableHead(NamedTuple):
    """The names of the columns of a table, of which some are those of secrets."""

    sign: str
    """What separates cells. Empty in a table of one column."""
    width: int
    """Number of its cells."""
    secret: Mapping[int, Judge]
    """The columns that are secret, from 0."""
    is_table: bool
    """The line has nothing but names."""

    def secrets_of(self, text: str, start: int, stop: int) -> list[Span] | None:
        """Returns the places of secrets in a line of a text. None if it is no row of the table."""
        if start == stop or (self.sign and _STATEMENT.match(text, start, stop)):
            return None
        if text[start] in _RULES and _RULE.fullmatch(text, start, stop):
            return []
        row = _cells(text, start, stop, sign=self.sign)
        if len(row) != self.width:
            return None
        found: list[Span] = []
        for column, judge in self.secret.items():
            value = _value(text, row[column])
            if _is_secret(text[slice(*value)], judge, is_table=self.is_table, is_alone=not self.sign):
                found.append(value)
        return found


def column_spans(text: str, names: Sequence[NamedPlace]) -> Iterator[Span]:
    """Yields the places of values below names of secrets, in order. Each line is read a few times at most."""
    places = sorted(names)
    done = 0
    for number, (at, _) in enumerate(places):
        if at < done:
            continue
        start, done, following = _line_around(text, at)
        head = None if start < 0 else _head_of(text, start, done, places=places[number:])
        while head is not None and following < len(text):
            start, stop, following = _line_at(text, following)
            secrets = None if start < 0 else head.secrets_of(text, start, stop)
            if secrets is None:
                break
            yield from secrets
            done = stop


def last_head(text: str, names: Sequence[NamedPlace]) -> TableHead | None:
    """Returns what the last line of a text names, if it is the head of a table with secrets."""
    start = text.rfind("\n") + 1
    places = sorted(place for place in names if place[0] >= start)
    return (
        _head_of(text, start, len(text), places=places) if places and len(text) - start <= _LONGEST else None
    )


def _head_of(text: str, start: int, stop: int, *, places: Sequence[NamedPlace]) -> TableHead | None:
    """Returns what a line names; None if it is no head. Of the names, those in the line count."""
    if _STATEMENT.match(text, start, stop):
        return None
    sign = next((each for each in _SIGNS if text.find(each, start, stop) >= 0), "")
    cells = _cells(text, start, stop, sign=sign)
    if not _names_columns(text, cells, sign) or _is_row(text, start, cells, sign=sign):
        return None
    secret: dict[int, Judge] = {}
    for place, judge in places[: bisect_left(places, stop, key=_start)]:
        secret[bisect_right(cells, place, key=_start) - 1] = judge
    is_table = ", " not in text[start:stop] and all(_is_clean(text, cell) for cell in _filled(text, cells))
    return TableHead(sign, len(cells), secret, is_table)


def _is_secret(value: str, judge: Judge, *, is_table: bool, is_alone: bool) -> bool:
    """`is_table`: the line above has nothing but names. `is_alone`: the table has one column, so that it may
    be a list of words.
    """
    if value.endswith(")") and _TYPE.fullmatch(value):
        return False
    if is_alone:
        return " " not in value and is_complex(value)
    if judge == "word" or not is_table:
        return " " not in value and is_strong(value)
    if judge == "password":
        return is_password(value, is_prose=False, is_variable=True)
    return is_key(value, is_prose=False, is_variable=True)


def _line_around(text: str, at: int) -> tuple[int, int, int]:
    """Returns the start and the end of the line of a place, and the start of the next. -1: it is too long."""
    least = max(0, at - _LONGEST)
    start = text.rfind("\n", least, at) + 1
    broken = text.rfind(_BREAK, max(start, least), at)
    start = start if broken < 0 else broken + len(_BREAK)
    begun, stop, following = _line_at(text, at)
    is_cut = (start == 0 and least > 0) or begun < 0
    return -1 if is_cut else start, stop, following


def _line_at(text: str, start: int) -> tuple[int, int, int]:
    """Returns a line from its start, its end, and the start of the next. A start of -1: it is too long."""
    most = min(len(text), start + _LONGEST)
    stop = text.find("\n", start, most)
    end = most if stop < 0 else stop
    broken = text.find(_BREAK, start, end)
    if broken >= 0:
        return start, broken, broken + len(_BREAK)
    if stop < 0 and most < len(text):
        return -1, most, most
    return start, end, end + 1


def _cells(text: str, start: int, stop: int, *, sign: str) -> list[Span]:
    """Returns the places of the cells of a line."""
    cells: list[Span] = []
    at = start
    has_quotes = text.find('"', start, stop) >= 0
    while sign:
        quoted = _QUOTED.match(text, at, stop) if has_quotes else None
        end = text.find(sign, at if quoted is None else quoted.end(), stop)
        if end < 0:
            break
        cells.append((at, end))
        at = end + 1
    return [*cells, (at, stop)]


def _is_row(text: str, start: int, cells: Sequence[Span], *, sign: str) -> bool:
    """True if the line before is a line of the same table: then this one does not name its columns."""
    if start == 0 or not sign:
        return False
    end = start - (1 if text[start - 1] == "\n" else len(_BREAK))
    before, _, _ = _line_around(text, end)
    if before < 0 or _RULE.fullmatch(text, before, end):
        return False
    row = _cells(text, before, end, sign=sign)
    return len(row) == len(cells) and all(_is_clean(text, cell) for cell in _filled(text, row))


def _names_columns(text: str, cells: Sequence[Span], sign: str) -> bool:
    """True if all cells are names. Other words may stand before the first one of several."""
    if sign == "|":
        cells = cells[_is_blank(text, cells[0]) : len(cells) - _is_blank(text, cells[-1])]
    if not all(_is_clean(text, cell) for cell in cells[1:]):
        return False
    if len(cells) == 1:
        return _is_clean(text, cells[0])
    return sign == "|" or _ENDS_IN_NAME.search(text[slice(*cells[0])]) is not None


def _filled(text: str, cells: Sequence[Span]) -> list[Span]:
    return [cell for cell in cells if not _is_blank(text, cell)]


def _is_blank(text: str, cell: Span) -> bool:
    return not text[slice(*cell)].strip()


def _is_clean(text: str, cell: Span) -> bool:
    return _CLEAN.fullmatch(text, *cell) is not None


def _value(text: str, cell: Span) -> Span:
    """Returns the place of a value, without the blanks and the quotes around it."""
    start, stop = cell
    whole = text[start:stop]
    if whole.isalnum():
        return cell
    bare = whole.lstrip(_AROUND)
    start += len(whole) - len(bare)
    quote = bare.find('"')
    bare = (bare if quote < 0 or whole.lstrip()[:1] == '"' else bare[:quote]).rstrip(_AROUND)
    return start, start + len(bare)
