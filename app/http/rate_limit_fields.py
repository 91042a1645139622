"""Response fields `RateLimit-Policy` and `RateLimit`, structured as in
draft-ietf-httpapi-ratelimit-headers-11."""

from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.rates import RemainingQuota

_COUNTS = "kai.rate_counts"


def policy_field(counts: Sequence[RemainingQuota]) -> str:
    policies = (each.policy for each in counts)
    return ", ".join(f'"{each.name}";q={each.quota};w={each.window_seconds}' for each in policies)


def limit_field(counts: Sequence[RemainingQuota]) -> str:
    return ", ".join(f'"{each.policy.name}";r={each.remaining};t={each.reset_seconds}' for each in counts)


def note(scope: Scope, count: RemainingQuota) -> None:
    """Add a count to the rate limit fields of this request's answer."""
    counts: list[RemainingQuota] = scope[_COUNTS]
    counts.append(count)


class RateLimitFields:
    """ASGI middleware that adds the rate limit fields to every answer, streams and refusals included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        counts: list[RemainingQuota] = []
        scope[_COUNTS] = counts

        async def saying(message: Message) -> None:
            if counts and message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["RateLimit-Policy"] = policy_field(counts)
                headers["RateLimit"] = limit_field(counts)
            await send(message)

        await self._app(scope, receive, saying)
