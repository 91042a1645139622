"""The route that tells owners what they use."""

from fastapi import APIRouter, Request

from app.core.rates import Rates
from app.http.callers import READ, Owner
from app.http.problems import PROBLEM_RESPONSES
from app.modules.usage.schemas import RateBody, UsageBody, Used, UsedToday
from app.modules.usage.service import Allowances

router = APIRouter(tags=["usage"], responses=PROBLEM_RESPONSES)


@router.get("/usage", dependencies=[READ])
async def read_usage(request: Request, owner: Owner) -> UsageBody:
    """What you have used today and use now, and your limits (null: none)."""
    allowances: Allowances = request.app.state.services.allowances
    rates: Rates = request.app.state.services.rates
    usage, quotas = await allowances.usage(owner), allowances.quotas
    return UsageBody(
        tokens_today=UsedToday(
            used=usage.tokens_today, limit=quotas.tokens_per_day, resets_at=usage.tokens_reset_at
        ),
        runs=Used(used=usage.runs, limit=quotas.runs),
        sessions=Used(used=usage.sessions, limit=quotas.sessions),
        rates=[
            RateBody(name=each.name, limit=each.quota, window_seconds=each.window_seconds)
            for each in rates.policies
        ],
    )
