"""Parse dates and periods in text and in cells, in English and German."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue


class PartialDate(NamedTuple):
    """A day, month, quarter, half or year; fields that the text leaves out are None."""

    year: int | None = None
    half: int | None = None
    quarter: int | None = None
    month: int | None = None
    day: int | None = None

    def covers(self, other: "PartialDate") -> bool:
        """Return True if the other period, of a row, lies within this one."""
        return all(mine is None or mine == its for mine, its in zip(self, other.whole(), strict=True))

    def whole(self) -> "PartialDate":
        """The same date with the quarter and half of its month filled in."""
        month = self.month
        quarter = self.quarter
        quarter = (month + 2) // 3 if month else quarter
        half = (quarter + 1) // 2 if quarter else self.half
        return self._replace(quarter=quarter, half=half)

    def grain(self) -> tuple[str, ...]:
        """The names of the fields that are not None, from year to day."""
        return tuple(name for name, value in zip(self._fields, self, strict=True) if value is not None)


class WrittenPeriod(NamedTuple):
    start: int
    end: int
    period: PartialDate
    doubtful: bool = False
    """True for a plain year, whose four digits may also be a number."""
    month_end: int = 0
    """The end of the month's name if a day without a year follows, else 0: "in May 13" is ambiguous."""


_NAMES = (
    ("january|januar|jänner|jan", 1),
    ("february|februar|feb", 2),
    ("march|märz|maerz|mar|mrz|mär", 3),
    ("april|apr", 4),
    ("may|mai", 5),
    ("june|juni|jun", 6),
    ("july|juli|jul", 7),
    ("august|aug", 8),
    ("september|sept|sep", 9),
    ("october|oktober|oct|okt", 10),
    ("november|nov", 11),
    ("december|dezember|dec|dez", 12),
)
MONTHS = {name: at for names, at in _NAMES for name in names.split("|")}
_ORDINALS = {
    **dict.fromkeys(("first", "1st", "erste", "ersten", "erstes", "1."), 1),
    **dict.fromkeys(("second", "2nd", "zweite", "zweiten", "zweites", "2."), 2),
    **dict.fromkeys(("third", "3rd", "dritte", "dritten", "drittes", "3."), 3),
    **dict.fromkeys(("fourth", "4th", "last", "vierte", "vierten", "viertes", "letzten", "4."), 4),
}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ORDINAL = "|".join(re.escape(each) for each in _ORDINALS)
_YEAR = r"(?:1[89]|20|21)\d\d"
_PATTERN = re.compile(
    rf"(?<![\w.,/-])(?:"
    rf"(?P<iso>(?P<iy>{_YEAR})-(?P<im>0[1-9]|1[0-2])(?:-(?P<id>[0-3]\d))?)(?:[T "
    rf"][0-2]\d:[0-5]\d(?::[0-5]\d)?)?(?![\d-])"
    rf"|(?P<yq>{_YEAR})[ -]?Q(?P<q1>[1-4])"
    rf"|Q(?P<q2>[1-4])(?:[ /-]{{0,3}}(?:of |in )?['’]?(?P<y2>{_YEAR}))?"
    rf"|H(?P<h1>[12])(?:[ /-]{{0,3}}(?:of |in )?(?P<y1>{_YEAR}))?"
    rf"|(?P<oq>{_ORDINAL}) (?P<unit>quarter|quartal|half|halbjahr|hälfte)(?: of| in| "
    rf"von| des jahres)?(?: (?P<y3>{_YEAR}))?"
    rf"|(?P<d1>[0-3]?\d)(?:st|nd|rd|th|\.)? (?:of )?(?P<m1>{_MONTH})\.?(?:,? (?P<y4>{_YEAR}))?"
    rf"|(?P<m2>{_MONTH})\.? (?P<d2>[0-3]?\d)(?:st|nd|rd|th)?(?:,? (?P<y5>{_YEAR}))?(?![\d.,]?\d|%| ?%)"
    rf"|(?P<m3>{_MONTH})\.?(?:,? (?:of |in )?['’]?(?P<y6>{_YEAR}))?"
    rf"|(?P<d3>[0-3]?\d)\.(?P<m4>[01]?\d)\.(?P<y7>{_YEAR})"
    rf"|(?P<d4>[0-3]?\d)/(?P<m5>[0-3]?\d)/(?P<y8>{_YEAR})"
    rf"|(?P<m6>0?[1-9]|1[0-2])/(?P<y9>{_YEAR})"
    rf"|(?P<plain>{_YEAR})(?P<decade>s|er)?"
    rf")(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"(?:in|im|bis|seit|ab|und|of|since|from|to|and|until|by|for|between|vs\.?|"
    r"through|than|after|before|[(,–-]) ?$",
    re.IGNORECASE,
)


def written_periods(text: str) -> Iterator[WrittenPeriod]:
    """Yield the dates and periods of the text, in order."""
    for found in _PATTERN.finditer(text):
        period = _period(found)
        if period is None or (
            found.group().lower() in ("may", "mar", "dec", "sep") and not _is_month(text, found)
        ):
            continue
        if found["m3"] and not found["y6"] and not found.group()[0].isupper():
            continue
        end = found.end() - (found.group().endswith(".") and len(found.group()) > 5)
        month_end = found.end("m2") if found["d2"] and not found["y5"] else 0
        yield WrittenPeriod(
            found.start(), end, period, doubtful=found["plain"] is not None, month_end=month_end
        )


def _is_month(text: str, found: re.Match[str]) -> bool:
    return found.group()[0].isupper() and bool(_MAY.search(text[max(0, found.start() - 9) : found.start()]))


def _period(found: re.Match[str]) -> PartialDate | None:
    group = found.groupdict()

    def number(*names: str) -> int | None:
        return next((int(group[name]) for name in names if group[name]), None)

    if group["decade"]:
        return None
    year = number("iy", "yq", "y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8", "y9", "plain")
    if group["oq"]:
        at = _ORDINALS[group["oq"].lower()]
        if group["unit"].lower().startswith("quart"):
            return PartialDate(year, quarter=at)
        return PartialDate(year, half=min(at, 2)) if at in (1, 2) else None
    name = group["m1"] or group["m2"] or group["m3"]
    month = MONTHS[name.lower()] if name else number("im", "m4", "m5", "m6")
    day = number("id", "d1", "d2", "d3", "d4")
    if month is not None and month > 12 and day is not None:
        month, day = day, month
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    return PartialDate(year, number("h1"), number("q1", "q2"), month=month, day=day)


_CELL = re.compile(
    rf"(?P<y>{_YEAR})(?:[-/.]?Q(?P<q>[1-4])|[-/.](?P<m>\d\d?)(?:[-/.](?P<d>\d\d?)(?:[T ].*)?)?)?$",
    re.IGNORECASE,
)


def cell_period(cell: JsonValue) -> PartialDate | None:
    """Parse a cell as a period; None if it is not one. Integers from 1800 to 2199 are years."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return PartialDate(cell) if 1800 <= cell < 2200 else None
    if not isinstance(cell, str) or not 3 <= len(cell) <= 40:
        return None
    if len(cell) >= 10 and cell[4] == cell[7] == "-" and cell[:4].isdigit():
        try:
            return PartialDate(int(cell[:4]), month=int(cell[5:7]), day=int(cell[8:10])).whole()
        except ValueError:
            return None
    found = _CELL.match(cell)
    if found is not None:
        year, quarter, month, day = (int(each) if each else None for each in found.group("y", "q", "m", "d"))
        return PartialDate(year, None, quarter, month=month, day=day).whole()
    written = next(written_periods(f"in {cell}"), None)
    if written is None or written.start != 3 or written.end != len(cell) + 3:
        return None
    return written.period.whole()
