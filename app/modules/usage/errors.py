"""Errors of exceeded quotas. Each message names the limit and what helps."""

from app.core.clock import rfc3339
from app.core.errors import TooMany


class TokensSpent(TooMany):
    """The owner has used all tokens of the day."""

    problem = "token-budget"
    title = "The day's tokens are spent"

    def __init__(self, limit: int, resets_at: int, retry_after_seconds: int) -> None:
        super().__init__(
            f"The {limit} tokens of a day are spent. There are new ones at midnight UTC.",
            retry_after_seconds=retry_after_seconds,
            limit="tokens_per_day",
            size=limit,
            resets_at=rfc3339(resets_at),
        )


class BytesSpent(TooMany):
    """Databases have read all bytes of the owner's day."""

    problem = "byte-budget"
    title = "The day's bytes are spent"

    def __init__(self, limit: int, resets_at: int, retry_after_seconds: int) -> None:
        super().__init__(
            f"Databases have read the {limit:,} bytes that a day has for your statements. There are new ones "
            "at midnight UTC, or earlier if an administrator raises KAI_QUOTAS__BYTES_PER_DAY.",
            retry_after_seconds=retry_after_seconds,
            limit="bytes_per_day",
            size=limit,
            resets_at=rfc3339(resets_at),
        )


class TooManyRuns(TooMany):
    """The owner has as many open runs as allowed, waiting ones included."""

    problem = "too-many-runs"
    title = "Too many questions at once"

    _A_WHILE_SECONDS = 5

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} questions are being answered or wait for it, and more are not allowed at once. "
            "Wait until one is answered, or cancel one.",
            retry_after_seconds=self._A_WHILE_SECONDS,
            limit="runs",
            size=limit,
            resets_at=None,
        )


class TooManySessions(TooMany):
    """The owner has as many sessions as allowed."""

    problem = "too-many-sessions"
    title = "Too many sessions"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} sessions are kept, and more are not allowed. Delete one that is not needed any more.",
            limit="sessions",
            size=limit,
            resets_at=None,
        )
