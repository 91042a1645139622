"""Route of what a database holds."""

from typing import Annotated

from fastapi import Depends, Query, Request

from app.http.callers import READ, Owner
from app.http.router import Router
from app.http.routes import ResponseBody, Time
from app.modules.database_connection.router import ConnectionId
from app.modules.overview.model import Missing, Overview, PageLanguage
from app.modules.overview.service import Overviews

router = Router(tags=["database connections"])


async def _overviews(request: Request) -> Overviews:
    overviews: Overviews = request.app.state.services.overviews
    return overviews


class OverviewBody(ResponseBody):
    """What a database holds, at a glance."""

    overview: Overview | None
    """Figures, questions and tables, as they were computed for the caller. Null if there are none yet."""
    missing: Missing | None
    """Why there is no overview: `off` by `KAI_OVERVIEW__ENABLED`, `not_scanned` while the tables are not
    known, `waiting` for a worker, or `failed`: the database could not be asked. Null if there is one.
    """
    computed_at: Time | None
    """Time at which it was computed. Null if it never was."""


@router.get(
    "/database-connections/{db_connection_id}/overview",
    summary="Get what a database holds",
    dependencies=[READ],
)
async def read_overview(
    db_connection_id: ConnectionId,
    owner: Owner,
    overviews: Annotated[Overviews, Depends(_overviews)],
    language: Annotated[PageLanguage, Query(description="Language of questions and findings.")] = "en",
) -> OverviewBody:
    """Returns three figures over time, questions worth asking with what their rows say, what came on the
    latest day, and the tables by use. Needs scope `read`.

    A worker computes it for each reader after a scan and once a day while it is read, under the rights of the
    reader's own questions. Answers 403 (`database-role`) if the caller has no role in the database.
    """
    return OverviewBody.model_validate(await overviews.read(owner, db_connection_id, language))
