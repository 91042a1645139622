"""Bodies of the usage route. A limit that is null is none."""

from pydantic import BaseModel

from app.http.routes import Time


class Used(BaseModel):
    """How much of something is used, and how much may be."""

    used: int
    limit: int | None


class UsedToday(Used):
    """What begins anew at midnight UTC."""

    resets_at: Time


class RateBody(BaseModel):
    """So many requests in any window; how many are left comes with every answer, in `RateLimit`."""

    name: str
    limit: int
    window_seconds: int


class UsageBody(BaseModel):
    """What the asking owner uses, and may use."""

    tokens_today: UsedToday
    """The tokens of the runs that ended today. With a limit also those of titles, memories and embeddings."""
    runs: Used
    """Questions being answered or waiting for it."""
    sessions: Used
    rates: list[RateBody]
