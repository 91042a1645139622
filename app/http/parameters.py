"""Parameters that several routes have. Commands that serve nothing do without this module and FastAPI."""

from typing import Annotated

from fastapi import Header, Query

from app.http.routes import Body, Text

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=100,
        description="Id of the last event received. Left out: the stream starts at the beginning.",
    ),
]


class PageQuery(Body):
    """Selects a page of a list."""

    # FastAPI takes the description of a parameter from the field.
    limit: Annotated[int, Query(ge=1, le=100, description="The most items of a page.")] = 20
    cursor: Annotated[
        Text | None,
        Query(
            max_length=1_000,
            description="`next_cursor` of the previous page. Left out for the first page.",
        ),
    ] = None


PageParameters = Annotated[PageQuery, Query()]
