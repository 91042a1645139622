"""Charts as picture files, for the routes of answers and pins."""

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response, status
from pydantic import BaseModel, ConfigDict

from app.core.errors import NotFound
from app.modules.analysis.chart.pictures import (
    MAX_WIDTH,
    MEDIA_TYPES,
    MIN_WIDTH,
    WIDTH,
    ChartPictures,
    PictureFormat,
    Theme,
    picture_tag,
)
from app.modules.analysis.chart.plan import Spec

Ending = Annotated[PictureFormat, Path(description="Format of the file.")]
PICTURE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The picture.",
        # Generators of clients know no pictures, but bytes.
        "content": {
            media_type: {"schema": {"type": "string", "format": "binary"}}
            for media_type in (*MEDIA_TYPES.values(), "application/octet-stream")
        },
    },
    304: {"description": "The picture is that of `If-None-Match`."},
}


class NoChart(NotFound):
    """The answer or pin has no chart."""

    sentence = "This has no chart: its rows say as much as a table."


class PictureQuery(BaseModel):
    """How a chart is drawn."""

    model_config = ConfigDict(extra="forbid")

    theme: Annotated[Theme, Query(description="Colours for a light or a dark page.")] = "light"
    width: Annotated[
        int,
        Query(ge=MIN_WIDTH, le=MAX_WIDTH, description="Width of the chart. A PNG has twice as many pixels."),
    ] = WIDTH


async def _pictures(request: Request) -> ChartPictures:
    pictures: ChartPictures = request.app.state.services.pictures
    return pictures


Drawing = Annotated[ChartPictures, Depends(_pictures)]


async def picture_answer(
    request: Request,
    pictures: ChartPictures,
    spec: Spec | None,
    *,
    ending: PictureFormat,
    query: PictureQuery,
    cache: str = "private, no-cache",
) -> Response:
    """Draws the chart unless the caller has this picture.

    Raises `NoChart`, `NoPicture` and `PicturesBusy`.
    """
    if spec is None:
        raise NoChart
    headers = {
        "ETag": picture_tag(spec, ending, query.theme, query.width),
        "Cache-Control": cache,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'",
    }
    known = [each.strip() for each in request.headers.get("If-None-Match", "").split(",")]
    if headers["ETag"] in known:
        return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers=headers)
    file = await pictures.file(spec, ending, theme=query.theme, width=query.width)
    return Response(file, media_type=MEDIA_TYPES[ending], headers=headers)
