"""Routes of the graph memory and its consents."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query, Request

from app.core.clock import now_ms
from app.http.callers import ASK, MANAGE, READ, CurrentCaller, Owner
from app.http.parameters import PageParameters
from app.http.router import Router
from app.http.routes import PageOf, Text
from app.modules.memory.consent import TEXT, TEXT_VERSION, Consent
from app.modules.memory.graphiti.errors import ConsentOutdated, ExternalMemoryNotAllowed, GraphMemoryOff
from app.modules.memory.graphiti.external import ExternalMemory
from app.modules.memory.graphiti.schemas import (
    ConsentBody,
    GraphMemoryBody,
    GraphTestBody,
    GraphTestRequest,
    NewConsent,
    WithdrawnBody,
)

if TYPE_CHECKING:
    from app.modules.memory.graphiti.service import Graphiti

router = Router(prefix="/memory", tags=["memory"])


async def _external(request: Request) -> ExternalMemory:
    external: ExternalMemory = request.app.state.services.external_memory
    return external


External = Annotated[ExternalMemory, Depends(_external)]
ConnectionParameter = Annotated[Text, Query(max_length=100, description="Id of the database connection.")]
EraseParameter = Annotated[
    bool, Query(description="Also erase what the service holds of the database and the caller.")
]


def _enabled(external: ExternalMemory) -> "Graphiti":
    """Raises `GraphMemoryOff`."""
    if external.graphiti is None:
        raise GraphMemoryOff
    return external.graphiti


@router.get("/graph", summary="Get the state of the graph memory", dependencies=[READ])
async def read_graph_memory(owner: Owner, external: External) -> GraphMemoryBody:
    """Returns whether a graph memory service is used, its address and state, and the text that a user
    consents to. Needs scope `read`. It sends nothing to the service.
    """
    graphiti = external.graphiti
    status = None if graphiti is None else await graphiti.status()
    return GraphMemoryBody(
        enabled=graphiti is not None,
        endpoint=None if graphiti is None else graphiti.endpoint,
        recall=graphiti is not None and graphiti.recalls,
        ingest=graphiti is not None and external.ingests,
        state=None if status is None else status.state,
        lag_seconds=0 if status is None else status.lag_seconds,
        waiting=0 if status is None else status.waiting,
        not_erased=await external.forgetting.unconfirmed(owner),
        consent_text=TEXT,
        text_version=TEXT_VERSION,
    )


@router.post("/graph/test", summary="Test the connection to the graph memory", dependencies=[MANAGE])
async def test_graph_memory(body: GraphTestRequest, external: External) -> GraphTestBody:
    """Tests the service step by step, in a group of its own. Needs scope `manage`.

    A `smoke` test takes up to about 40 seconds. A step that fails ends the test; it is no error of the
    request. Answers 404 where the graph memory is off. Every call is another test.
    """
    return GraphTestBody.model_validate(await _enabled(external).test(body.mode))


@router.get("/consents", summary="List consents", dependencies=[READ])
async def list_consents(page: PageParameters, owner: Owner, external: External) -> PageOf[ConsentBody]:
    """Lists the caller's consents that a service outside of KAI remembers their questions. Needs scope
    `read`.
    """
    consents, next_cursor = await external.consents.page(owner, page.limit, page.cursor)
    items = [await _body(external, each) for each in consents]
    return PageOf(items=items, next_cursor=next_cursor)


@router.put("/consents", summary="Consent to being remembered outside", dependencies=[ASK])
async def grant_consent(body: NewConsent, caller: CurrentCaller, external: External) -> ConsentBody:
    """Stores the caller's consent for one database and one address. Needs scope `ask`.

    From then on the caller's questions about the database, or only facts that they promote, are sent to the
    service. Answers 404 where the graph memory is off or the database is unknown, 409 `consent-outdated` if
    the address or the text has changed, and 409 `external-memory-not-allowed` unless the database's owner has
    set `external_memory`.
    """
    graphiti = _enabled(external)
    outside = await external.outside_memory(caller.owner, body.db_connection_id)
    if body.endpoint.rstrip("/") != graphiti.endpoint or body.text_version != TEXT_VERSION:
        raise ConsentOutdated
    if not outside.allowed:
        raise ExternalMemoryNotAllowed
    consent = await external.consents.grant(
        caller.owner,
        body.db_connection_id,
        graphiti.endpoint,
        credential=caller.credential,
        now=now_ms(),
    )
    return await _body(external, consent)


@router.delete("/consents", summary="Withdraw a consent", dependencies=[ASK])
async def withdraw_consent(
    db_connection_id: ConnectionParameter, owner: Owner, external: External, erase: EraseParameter = False
) -> WithdrawnBody:
    """Withdraws the caller's consents for a database, to any address. Needs scope `ask`. Repeating it changes
    nothing.

    What waits is deleted first, so nothing more is sent. With `erase` the service is asked to forget, and KAI
    looks whether it has: `GET /memory/graph` counts what is not confirmed.
    """
    groups = await external.withdraw(owner, db_connection_id, now_ms(), erase=erase)
    return WithdrawnBody(groups=groups, erasing=erase and groups > 0 and external.graphiti is not None)


async def _body(external: ExternalMemory, consent: Consent) -> ConsentBody:
    graphiti = external.graphiti
    in_force = (
        graphiti is not None
        and consent.endpoint == graphiti.endpoint
        and await graphiti.gate.permit(consent.owner, consent.connection_id) is not None
    )
    return ConsentBody(
        db_connection_id=consent.connection_id,
        endpoint=consent.endpoint,
        granted_at=consent.granted_at,
        credential=consent.credential,
        text_version=consent.text_version,
        in_force=in_force,
    )
