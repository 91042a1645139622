"""Dependencies of routes that count requests and refuse those above a rate limit."""

from fastapi import Request

from app.core.clock import now_ms, rfc3339
from app.core.errors import TooMany
from app.core.rates import Rates, RemainingQuota
from app.http.callers import owner_of
from app.http.rate_limit_fields import note


class RateExceeded(TooMany):
    """The owner sent more requests in a window than the policy allows."""

    problem = "rate-limit"
    title = "Too many requests"

    def __init__(self, count: RemainingQuota) -> None:
        policy, seconds = count.policy, count.reset_seconds
        super().__init__(
            f"{policy.quota} {policy.name} in {policy.window_seconds} seconds are allowed. "
            f"Go on in {seconds} seconds.",
            retry_after_seconds=seconds,
            limit=policy.name,
            size=policy.quota,
            resets_at=rfc3339(now_ms() + seconds * 1_000),
        )


async def count_request(request: Request) -> None:
    """Dependency of every route under /api. Raises `RateExceeded`."""
    await _count(request, "requests")


async def count_question(request: Request) -> None:
    """Dependency of the routes that ask. Raises `RateExceeded`."""
    await _count(request, "questions")


async def _count(request: Request, policy: str) -> None:
    rates: Rates = request.app.state.services.rates
    count = await rates.count(policy, owner_of(request))
    if count is not None:
        note(request.scope, count)
        if count.exceeded:
            raise RateExceeded(count)
