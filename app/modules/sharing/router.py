"""Routes of read-only links, and of what they show."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, status

from app.http.callers import ASK, READ, Owner
from app.http.entity_tags import located
from app.http.parameters import CreatedQuery, PageParameters, PageQuery
from app.http.router import Router
from app.http.routes import PageOf
from app.modules.session.schemas import RowsPage, SessionBody
from app.modules.sharing.schemas import LinkBody, NewLink, SharedBody
from app.modules.sharing.service import Sharing

router = Router(tags=["links"])


async def _sharing(request: Request) -> Sharing:
    sharing: Sharing = request.app.state.services.sharing
    return sharing


Service = Annotated[Sharing, Depends(_sharing)]
LinkId = Annotated[str, Path(description="Id of the link.")]


class SharedRowsQuery(PageQuery):
    """Selects a page of rows."""

    limit: Annotated[int, Query(ge=1, le=5_000, description="The most rows of a page.")] = 20


@router.post(
    "/links",
    summary="Make a link",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/shared/{id}")],
)
async def add_link(body: NewLink, owner: Owner, sharing: Service) -> LinkBody:
    """Makes a read-only link to an answer, a session or a board of the caller. Needs scope `ask`.

    Users of this KAI who may use the database read it by `GET /shared/{id}` until it expires or is revoked;
    with `preview` all who have its address read its title, headline and picture. A session is shown until
    now, a board as it is when it is read. Answers 404 for a thing of another owner and for an answer whose
    calls wait, 422 (`link-not-offered`) for a database with roles, and 422 (`too-many-links`) if there are
    500.
    """
    return LinkBody.model_validate(
        await sharing.add(owner, body.kind, body.target_id, days=body.days, preview=body.preview)
    )


@router.get("/links", summary="List links", dependencies=[READ])
async def list_links(
    query: Annotated[CreatedQuery, Query()], owner: Owner, sharing: Service
) -> PageOf[LinkBody]:
    """Lists the caller's links, by default newest first, expired ones included. Needs scope `read`."""
    found = await sharing.repository.page(owner, query.wanted())
    return query.page_of([LinkBody.model_validate(each) for each in found.items], found)


@router.delete(
    "/links/{link_id}", summary="Revoke a link", status_code=status.HTTP_204_NO_CONTENT, dependencies=[ASK]
)
async def revoke_link(link_id: LinkId, owner: Owner, sharing: Service) -> None:
    """Revokes a link of the caller: from now on it is unknown. Needs scope `ask`."""
    await sharing.revoke(owner, link_id)


@router.get("/shared/{link_id}", summary="Read what a link shows", dependencies=[READ])
async def read_shared(link_id: LinkId, page: PageParameters, reader: Owner, sharing: Service) -> SharedBody:
    """Returns the answer, a page of the session, or the board. Needs scope `read`. No statement runs.

    Answers 404 for a link that is unknown, expired or revoked, and if the caller may not use the database.
    Of a board, pins of databases that the caller may not use are left out.
    """
    return SharedBody.of(await sharing.open(reader, link_id, page.limit, cursor=page.cursor))


@router.post(
    "/shared/{link_id}/continue",
    summary="Continue what a link shows",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/sessions/{id}")],
)
async def continue_shared(link_id: LinkId, reader: Owner, sharing: Service) -> SessionBody:
    """Creates a session of the caller with copies of what the link shows: its questions, answers and rows.
    Needs scope `ask`. The original stays unchanged, and every call creates another session.

    Further questions run with the caller's rights. Answers 404 as the link does, 422
    (`nothing-to-continue`) for the link of a board, and 429 (`too-many-sessions`) when the caller's quota is
    reached.
    """
    return SessionBody.model_validate(await sharing.go_on(reader, link_id))


@router.get(
    "/shared/{link_id}/messages/{message_id}/rows", summary="Get rows that a link shows", dependencies=[READ]
)
async def read_shared_rows(
    link_id: LinkId,
    message_id: Annotated[str, Path(description="Id of the answer.")],
    query: Annotated[SharedRowsQuery, Query()],
    reader: Owner,
    sharing: Service,
) -> RowsPage:
    """Returns a page of the rows of an answer that the link shows. Needs scope `read`. Answers 404 as the
    link does, and if the rows are no longer stored.
    """
    result, rows, next_cursor = await sharing.answer_rows(
        reader, link_id, message_id, limit=query.limit, cursor=query.cursor
    )
    return RowsPage.model_validate({**vars(result), "items": rows, "next_cursor": next_cursor})
