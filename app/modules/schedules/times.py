"""Times of schedules: cron expressions in a time zone. Times are epoch milliseconds."""

from collections.abc import Iterator
from itertools import pairwise
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from app.core.clock import as_datetime, epoch_ms
from app.core.values.dates import time_zones
from app.modules.schedules.errors import BadTimes

MOST_MISSED = 2_000
"""Missed times that are counted at once."""
MIN_MINUTES = 5
"""Shortest time between two times of a schedule."""

_FIELDS = 5


def check_times(cron: str, time_zone: str) -> None:
    """Raises `BadTimes` for an expression or a time zone that cannot be used."""
    if time_zone not in time_zones():
        raise BadTimes(f"There is no time zone {time_zone!r}. Name one of IANA, like Europe/Berlin.")
    if len(cron.split()) != _FIELDS:
        raise BadTimes(
            "A cron expression has five fields: minute, hour, day of month, month, day of week. "
            "“0 8 * * 1” is every Monday at 8:00."
        )
    now = as_datetime(0)
    try:
        minutes = sorted(CronSim(cron, now).minutes)
        following = next(CronSim(cron, now), None)
    except CronSimError as error:
        raise BadTimes(f"The cron expression cannot be read: {str(error).lower()}.") from None
    if following is None:
        raise BadTimes("The cron expression names no day that exists.")
    gaps = [later - earlier for earlier, later in pairwise([*minutes, minutes[0] + 60])]
    if min(gaps) < MIN_MINUTES:
        raise BadTimes(f"Two times of a schedule are at least {MIN_MINUTES} minutes apart: “*/15 * * * *”.")


def next_time(cron: str, time_zone: str, after: int) -> int:
    """Returns the first time later than `after`.

    As Debian's cron does: a time of day that a change of clocks skips runs right after the gap, and one that
    comes twice runs once, unless the hour or the minute begins with a star.
    """
    return next(_times(cron, time_zone, after))


def latest_time(cron: str, time_zone: str, *, due: int, now: int) -> tuple[int, int]:
    """Returns the latest time from `due` until `now`, and how many from `due` on came before it.

    At most `MOST_MISSED` are counted; later ones are left for the next call.
    """
    latest, missed = due, 0
    for time in _times(cron, time_zone, due):
        if time > now or missed == MOST_MISSED:
            break
        latest, missed = time, missed + 1
    return latest, missed


def _times(cron: str, time_zone: str, after: int) -> Iterator[int]:
    """Times later than `after`, in order."""
    start = as_datetime(after).astimezone(ZoneInfo(time_zone))
    last = after
    for time in CronSim(cron, start):
        # Within an hour that comes twice, the library may go back to the first of the two.
        if (at := epoch_ms(time)) > last:
            last = at
            yield at
