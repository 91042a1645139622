"""Times, conditions and signatures of schedules."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from pydantic import JsonValue

from app.core.clock import as_datetime, epoch_ms
from app.modules.schedules.conditions import Verdict, judge
from app.modules.schedules.errors import BadTimes
from app.modules.schedules.model import Condition, ConditionKind
from app.modules.schedules.times import MOST_MISSED, check_times, latest_time, next_time
from app.modules.webhooks.sending import signed
from graph.state import Column

BERLIN = "Europe/Berlin"
"""In 2026 its clocks go from 2:00 to 3:00 on 29 March, and from 3:00 to 2:00 on 25 October."""


def at(text: str, time_zone: str = BERLIN) -> int:
    """An offset in the text counts; else it is a local time."""
    time = datetime.fromisoformat(text)
    return epoch_ms(time if time.tzinfo else time.replace(tzinfo=ZoneInfo(time_zone)))


def following(cron: str, after: str, count: int, time_zone: str = BERLIN) -> list[str]:
    """The next times, in UTC."""
    found, last = [], at(after, time_zone)
    for _ in range(count):
        last = next_time(cron, time_zone, last)
        found.append(as_datetime(last).strftime("%m-%d %H:%M"))
    return found


def test_a_time_of_day_follows_the_clocks_of_its_zone() -> None:
    assert following("0 8 * * *", "2026-03-28T00:00", 2) == ["03-28 07:00", "03-29 06:00"]
    assert following("0 8 * * *", "2026-10-24T12:00", 2) == ["10-25 07:00", "10-26 07:00"]
    assert following("0 8 * * 1", "2026-11-23T00:00", 2, "America/New_York") == ["11-23 13:00", "11-30 13:00"]


def test_a_time_that_is_skipped_runs_right_after_the_gap_and_one_that_comes_twice_runs_once() -> None:
    assert following("30 2 * * *", "2026-03-28T12:00", 2) == ["03-29 01:00", "03-30 00:30"]
    assert following("30 2 * * *", "2026-10-24T12:00", 2) == ["10-25 00:30", "10-26 01:30"]
    in_the_second_hour = "2026-10-25T02:15+01:00"
    assert following("30 2 * * *", in_the_second_hour, 1) == ["10-26 01:30"]


def test_hourly_times_are_an_hour_apart_also_when_clocks_change() -> None:
    assert following("0 * * * *", "2026-03-29T00:30", 3) == ["03-29 00:00", "03-29 01:00", "03-29 02:00"]
    assert following("0 * * * *", "2026-10-25T01:30", 3) == ["10-25 00:00", "10-25 01:00", "10-25 02:00"]


def test_missed_times_are_counted_and_the_latest_one_runs() -> None:
    due = at("2026-11-02T08:00")
    assert latest_time("0 8 * * 1", BERLIN, due=due, now=due) == (due, 0)
    three_weeks_late = at("2026-11-25T12:00")
    assert latest_time("0 8 * * 1", BERLIN, due=due, now=three_weeks_late) == (at("2026-11-23T08:00"), 3)
    latest, missed = latest_time("*/5 * * * *", "UTC", due=0, now=at("2026-11-25T12:00"))
    assert (latest, missed) == (MOST_MISSED * 5 * 60_000, MOST_MISSED)


@pytest.mark.parametrize(
    ("cron", "time_zone", "cure"),
    [
        ("0 8 * * 1", "Mars/Olympus", "no time zone"),
        ("0 8 * * 1", "../../etc/passwd", "no time zone"),
        ("0 8 * *", "UTC", "five fields"),
        ("0 0 8 * * 1", "UTC", "five fields"),
        ("61 8 * * *", "UTC", "bad minute"),
        ("0 8 30 2 *", "UTC", "bad day-of-month"),
        ("0 8 30 2 1", "UTC", None),
        ("* * * * *", "UTC", "5 minutes apart"),
        ("0,58 * * * *", "UTC", "5 minutes apart"),
        ("*/5 * * * *", "UTC", None),
    ],
)
def test_times_that_cannot_be_used_name_the_cure(cron: str, time_zone: str, cure: str | None) -> None:
    if cure is None:
        check_times(cron, time_zone)
        return
    with pytest.raises(BadTimes, match=cure):
        check_times(cron, time_zone)


def verdict(kind: ConditionKind, value: float | None, cell: JsonValue, previous: JsonValue = None) -> Verdict:
    columns: list[Column] = [{"name": "day", "type": "date"}, {"name": "revenue", "type": "number"}]
    column = None if kind == "no_rows" else "revenue"
    condition = Condition(kind=kind, column=column, value=value)
    return judge(condition, columns, ["2026-11-22", cell], previous=previous)


@pytest.mark.parametrize(
    ("kind", "value", "cell", "previous", "is_met"),
    [
        ("above", 10, 10, None, False),
        ("above", 10, 10.5, None, True),
        ("above", 0.1, "0.10000000000000000001", None, True),
        ("below", 10, 10, None, False),
        ("below", 10, -3, None, True),
        ("above", 10, None, None, False),
        ("changed", 10, 111, 100, True),
        ("changed", 10, 110, 100, False),
        ("changed", 10, 89, 100, True),
        ("changed", 10, 500, None, False),
        ("changed", 10, 1, 0, True),
        ("changed", 0, -5, -5, False),
        ("changed", 50, -1, -2.5, True),
        ("no_rows", None, 3, None, False),
    ],
)
def test_a_condition_looks_at_one_cell(
    kind: ConditionKind, value: float | None, cell: JsonValue, previous: JsonValue, is_met: bool
) -> None:
    found = verdict(kind, value, cell, previous)
    assert (found.is_met, found.failure) == (is_met, None)


def test_no_rows_meet_only_the_condition_that_asks_for_them() -> None:
    columns: list[Column] = [{"name": "revenue", "type": "number"}]
    assert judge(Condition(kind="no_rows"), columns, None, previous=None).is_met
    below = Condition(kind="below", column="revenue", value=10)
    assert judge(below, columns, None, previous=None) == Verdict(False)


def test_a_condition_that_cannot_be_judged_is_a_failure() -> None:
    text = verdict("above", 10, "many")
    assert text.failure is not None
    assert "no number" in text.failure.detail
    gone = judge(Condition(kind="above", column="revenue", value=1), [], [], previous=None)
    assert gone.failure is not None
    assert "no column" in gone.failure.detail


def test_a_signature_is_that_of_standard_webhooks() -> None:
    """The example of the libraries at github.com/standard-webhooks."""
    headers = signed(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        keys=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
