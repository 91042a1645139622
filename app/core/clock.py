"""Times: epoch milliseconds in documents, RFC 3339 in UTC everywhere else."""

import time
from datetime import UTC, datetime, timedelta


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def epoch_ms(time: datetime) -> int:
    return (time - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def as_datetime(epoch_ms: int) -> datetime:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC)


def rfc3339(epoch_ms: int) -> str:
    return as_datetime(epoch_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")
