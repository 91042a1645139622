"""Notices in words, for people who read them in a mail or a chat."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from app.core.values.dates import format_moment
from app.modules.schedules.model import MessageLanguage, Notice, Schedule

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LONGEST_HEADLINE = 300
_LONGEST_LINE = 2_000


@dataclass(frozen=True, kw_only=True)
class NoticeMessage:
    """What a notice says. No text has control characters, and so no line breaks. Ids and
    `at` are those of its notice.

    `headline` names the pin or board and what happened; `lines` say more. `link` leads to the board; None
    if KAI's own address is not set.
    """

    notice_id: str
    owner: str
    board_id: str | None
    pin_id: str | None
    at: int
    headline: str
    lines: list[str]
    link: str | None
    link_text: str
    is_failure: bool


Picture = Callable[[NoticeMessage], Awaitable[bytes | None]]
"""Draws what a message is about. Returns a PNG, or None if there is nothing to draw."""


_TEXTS = {
    "en": {
        "open": "Open it in KAI",
        "test": "This is a test. The schedule has not run for it.",
        "ran": "it ran",
        "rows": "it ran: {count} rows",
        "row": "it ran: 1 row",
        "failed": "it failed",
        "pins": "it failed ({count} pins)",
        "pin": "it failed (1 pin)",
        "is": "{column} is {value}",
        "was": "It was {value} in the run before.",
        "no_rows": "there are no rows",
        "missed": "it did not run",
        "times": "{count} times before were missed.",
        "time": "1 time before was missed.",
        "above": "Condition: {column} is more than {value}.",
        "below": "Condition: {column} is less than {value}.",
        "changed": "Condition: {column} changes by more than {value} %.",
        "for": "Time of the schedule: {time} ({zone}).",
    },
    "de": {
        "open": "In KAI öffnen",
        "test": "Dies ist ein Test. Der Zeitplan ist dafür nicht gelaufen.",
        "ran": "gelaufen",
        "rows": "gelaufen: {count} Zeilen",
        "row": "gelaufen: 1 Zeile",
        "failed": "fehlgeschlagen",
        "pins": "fehlgeschlagen ({count} Kacheln)",
        "pin": "fehlgeschlagen (1 Kachel)",
        "is": "{column} ist {value}",
        "was": "Im Lauf davor war es {value}.",
        "no_rows": "es gibt keine Zeilen",
        "missed": "nicht gelaufen",
        "times": "{count} Male davor wurden verpasst.",
        "time": "1 Mal davor wurde verpasst.",
        "above": "Bedingung: {column} ist größer als {value}.",
        "below": "Bedingung: {column} ist kleiner als {value}.",
        "changed": "Bedingung: {column} ändert sich um mehr als {value} %.",
        "for": "Zeit des Zeitplans: {time} ({zone}).",
    },
}


def message_of(notice: Notice, schedule: Schedule, page: str | None) -> NoticeMessage:
    """Returns the message of a notice in the language of its schedule. `page` is KAI's own address."""
    words = _Words(schedule.language)
    time = format_moment(notice.scheduled_for, schedule.language, ZoneInfo(schedule.time_zone))
    lines = [
        *_details(notice, words),
        words.say("for", time=time, zone=schedule.time_zone),
    ]
    return _message(notice, words, f"{notice.title}: {_outcome(notice, words)}", lines=lines, page=page)


def trial_of(notice: Notice, schedule: Schedule, page: str | None) -> NoticeMessage:
    """Returns a message that says it is a test. `notice` names the schedule's title and ids."""
    words = _Words(schedule.language)
    return _message(notice, words, notice.title, lines=[words.say("test")], page=page)


def _message(
    notice: Notice, words: "_Words", headline: str, *, lines: list[str], page: str | None
) -> NoticeMessage:
    return NoticeMessage(
        notice_id=notice.id,
        owner=notice.owner,
        board_id=notice.board_id,
        pin_id=notice.pin_id,
        at=notice.at,
        headline=_one_line(headline, _LONGEST_HEADLINE),
        lines=[_one_line(line, _LONGEST_LINE) for line in lines],
        link=None if page is None else f"{page.rstrip('/')}/boards/{notice.board_id}",
        link_text=words.say("open"),
        is_failure=notice.kind == "failed",
    )


def _outcome(notice: Notice, words: "_Words") -> str:
    condition = notice.condition
    match notice.kind:
        case "failed":
            return (
                words.count(notice.failed_pins, "pins", "pin") if notice.failed_pins else words.say("failed")
            )
        case "met":
            if condition is None or condition.column is None:
                return words.say("no_rows")
            return words.say("is", column=condition.column, value=words.value(notice.value))
        case "missed":
            return words.say("missed")
        case "ran" | "mention":
            return (
                words.say("ran") if notice.row_count is None else words.count(notice.row_count, "rows", "row")
            )


def _details(notice: Notice, words: "_Words") -> list[str]:
    condition, failure = notice.condition, notice.failure
    lines: list[str] = []
    if failure is not None:
        lines.append(f"{failure.detail} {failure.cure}")
    if notice.kind == "met" and condition is not None and condition.kind != "no_rows":
        value = words.value(condition.value)
        lines.append(words.say(condition.kind, column=str(condition.column), value=value))
        if notice.previous is not None:
            lines.append(words.say("was", value=words.value(notice.previous)))
    if notice.missed:
        lines.append(words.count(notice.missed, "times", "time"))
    return lines


class _Words:
    """Texts of a language."""

    def __init__(self, language: MessageLanguage) -> None:
        self._texts = _TEXTS[language]
        self._is_german = language == "de"

    def say(self, name: str, **values: str) -> str:
        return self._texts[name].format(**values)

    def count(self, number: int, several: str, one: str) -> str:
        return self.say(one) if number == 1 else self.say(several, count=self.value(number))

    def value(self, value: object) -> str:
        """Writes a number as the language does, with all its digits; anything else as it is."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        written = f"{value:,}" if isinstance(value, int) or abs(value) < 1e15 else str(value)
        written = written.removesuffix(".0")
        return written.translate(str.maketrans(",.", ".,")) if self._is_german else written


def _one_line(text: str, most: int) -> str:
    text = _CONTROL.sub(" ", text).strip()
    return text if len(text) <= most else text[: most - 1] + "…"
