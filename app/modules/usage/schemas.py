"""Bodies of the usage route. A limit of null means that there is none."""

from app.http.routes import ResponseBody, Time


class Used(ResponseBody):
    """An amount in use and its limit."""

    used: int
    """Amount in use."""
    limit: int | None
    """The most that is allowed. Null if there is no limit."""


class UsedToday(Used):
    """An amount used today."""

    resets_at: Time
    """Time at which the count starts again: midnight UTC."""


class RateBody(ResponseBody):
    """A rate limit."""

    name: str
    """Name of the limit, as in the `RateLimit` header."""
    limit: int
    """Requests allowed in a window."""
    window_seconds: int
    """Length of the window. Seconds."""


class UsageBody(ResponseBody):
    """Usage and limits of the caller."""

    tokens_today: UsedToday
    """Tokens of the runs that ended today. With a limit, also those of titles, memories and embeddings."""
    bytes_today: UsedToday
    """Bytes that databases read for the caller's statements today, as far as they say so."""
    runs: Used
    """Questions that are being answered or wait."""
    sessions: Used
    """Stored sessions."""
    rates: list[RateBody]
    """Rate limits. The `RateLimit` header of every answer says how many requests are left."""
