"""Route of an owner's usage and limits."""

from fastapi import Request

from app.core.rates import Rates
from app.http.callers import READ, Owner
from app.http.router import Router
from app.modules.usage.schemas import RateBody, UsageBody, Used, UsedToday
from app.modules.usage.service import Allowances

router = Router(tags=["usage"])


@router.get("/usage", summary="Get usage and limits", dependencies=[READ])
async def read_usage(request: Request, owner: Owner) -> UsageBody:
    """Returns the caller's tokens and bytes of the day, open runs and stored sessions, with their limits.
    Needs scope `read`.

    A limit of null means that there is none. `rates` lists the rate limits; the `RateLimit` header of every
    answer says how many requests are left.
    """
    allowances: Allowances = request.app.state.services.allowances
    rates: Rates = request.app.state.services.rates
    usage, quotas = await allowances.usage(owner), allowances.quotas
    return UsageBody(
        tokens_today=UsedToday(
            used=usage.tokens_today, limit=quotas.tokens_per_day, resets_at=usage.day_ends_at
        ),
        bytes_today=UsedToday(
            used=usage.bytes_today, limit=quotas.bytes_per_day, resets_at=usage.day_ends_at
        ),
        runs=Used(used=usage.runs, limit=quotas.runs),
        sessions=Used(used=usage.sessions, limit=quotas.sessions),
        rates=[
            RateBody(name=each.name, limit=each.quota, window_seconds=each.window_seconds)
            for each in rates.policies
        ],
    )
