"""The one place where dates and times become text for readers, by their language and time zone.

Babel is imported with the first use, as it loads slowly.
"""

from datetime import date, tzinfo
from functools import cache
from typing import TYPE_CHECKING, Literal
from zoneinfo import available_timezones

from app.core.clock import as_datetime
from app.core.language import Language

if TYPE_CHECKING:
    from babel import Locale

DateForm = Literal[
    "long day", "day", "day of year", "long month", "month", "quarter", "month name", "month letters"
]
"""Forms of a date: "24 November 2026", "24 Nov 2026", "24 Nov", "November 2026", "Nov 2026", "Q4 2026",
"November" and "Nov" in English.
"""
_SKELETONS: dict[DateForm, str] = {
    "long day": "yMMMMd",
    "day": "yMMMd",
    "day of year": "MMMd",
    "long month": "yMMMM",
    "month": "yMMM",
    "quarter": "yQQQQ",
}
_PATTERNS: dict[DateForm, str] = {"month name": "LLLL", "month letters": "LLL"}


def format_date(day: date, form: DateForm, language: Language) -> str:
    from babel import dates  # noqa: PLC0415

    locale = reader_locale(language)
    if form in _PATTERNS:
        return dates.format_date(day, _PATTERNS[form], locale=locale)
    skeleton = "yQQQ" if form == "quarter" and language == "en" else _SKELETONS[form]
    text = dates.format_skeleton(skeleton, day, locale=locale)
    return f"1er{text[1:]}" if language == "fr" and day.day == 1 and form == "long day" else text


def format_moment(epoch_ms: int, language: Language, zone: tzinfo) -> str:
    """Format a moment of a time zone to the minute: "24 Nov 2026, 14:05"."""
    at = as_datetime(epoch_ms).astimezone(zone)
    return f"{format_date(at, 'day', language)}, {at:%H:%M}"


@cache
def time_zones() -> frozenset[str]:
    """Returns the names of the time zones of IANA."""
    return frozenset(available_timezones())


@cache
def reader_locale(language: Language) -> "Locale":
    """The locale of dates and lists: "23 November 2026" and "A, B and C" in English."""
    from babel import Locale  # noqa: PLC0415

    return Locale.parse("en_GB" if language == "en" else language)
