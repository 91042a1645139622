"""Routes of facts, and the export of everything that is remembered of an owner."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response, status
from pydantic import model_validator

from app.core.auth.caller import Caller, ScopeMissing
from app.core.clock import now_ms
from app.core.storage.edits import current_edit
from app.http.callers import ASK, READ, CurrentCaller, Owner
from app.http.entity_tags import located
from app.http.parameters import ChangedQuery, ChangeSort, check_order_of_matches
from app.http.router import Router
from app.http.routes import PageOf, Text
from app.modules.memory.export import MemoryExports
from app.modules.memory.fact_import import import_facts
from app.modules.memory.fact_reading import FactFilter
from app.modules.memory.fact_schemas import (
    FactBody,
    FactChange,
    FactImport,
    ImportedFacts,
    KeptFact,
    MemoryExport,
    NewFactBody,
    fact_body,
    kept_body,
)
from app.modules.memory.facts import Facts
from app.modules.memory.model import FactKind, FactSource, FactStatus, Kept, NewFact, StoredFact
from app.modules.memory.scopes import Scope

router = Router(tags=["memory"], prefix="/memory")


async def _facts(request: Request) -> Facts:
    facts: Facts = request.app.state.services.facts
    return facts


async def _exports(request: Request) -> MemoryExports:
    exports: MemoryExports = request.app.state.services.memory_exports
    return exports


Service = Annotated[Facts, Depends(_facts)]
FactId = Annotated[str, Path(description="Id of the fact.")]


class FactListQuery(ChangedQuery):
    """Selects facts, and a page of them."""

    sort: ChangeSort = "-updated_at"

    scope: Annotated[Scope | None, Query(description="Only facts of this scope.")] = None
    kind: Annotated[FactKind | None, Query(description="Only facts of this kind.")] = None
    db_connection_id: Annotated[
        Text | None, Query(max_length=100, description="Only facts of this database connection.")
    ] = None
    status: Annotated[
        FactStatus | None,
        Query(
            description="Only facts with this status. Left out: those that are active, and those that wait."
        ),
    ] = None
    message_id: Annotated[
        Text | None, Query(max_length=100, description="Only facts that come from this message.")
    ] = None
    session_id: Annotated[
        Text | None, Query(max_length=100, description="Only facts that come from this conversation.")
    ] = None
    q: Annotated[
        Text | None,
        Query(max_length=500, description="Only facts that contain all of these words, best matches first."),
    ] = None

    _matches_have_an_order = model_validator(mode="after")(check_order_of_matches)


@router.get("/facts", summary="List facts", dependencies=[READ])
async def list_facts(
    wanted: Annotated[FactListQuery, Query()], owner: Owner, facts: Service
) -> PageOf[FactBody]:
    """Lists the caller's facts, and the shared ones of connections that they may ask. Needs scope `read`.

    By default latest change first; with `q` the best matches first, at most 250.
    """
    chosen = FactFilter(
        scope=wanted.scope,
        kind=wanted.kind,
        connection_id=wanted.db_connection_id,
        status=wanted.status,
        message_id=wanted.message_id,
        session_id=wanted.session_id,
        words=wanted.q,
    )
    found = await facts.page(owner, chosen, wanted.wanted())
    stale = await facts.stale(owner, found.items)
    return wanted.page_of([fact_body(each, owner, stale) for each in found.items], found)


@router.post(
    "/facts",
    summary="Remember a fact",
    status_code=status.HTTP_201_CREATED,
    responses={200: {"description": "The scope holds this text already"}},
    dependencies=[ASK, located("/memory/facts/{id}")],
)
async def add_fact(body: NewFactBody, response: Response, caller: CurrentCaller, facts: Service) -> KeptFact:
    """Remembers a sentence. Needs scope `ask`; for a shared fact `manage`, and only the owner of the
    connection (else 403).

    With `message_id` the fact names the caller's message that it comes from, with its session and connection.
    The same text in the same scope is the same fact (200). Credentials are refused (422 `fact-refused`); what
    reads like an instruction to KAI needs `confirm` (409 `fact-needs-confirmation`). A full scope drops its
    least used fact, if it was not used for 90 days, and else answers 409 `facts-full`. `near` are facts that
    it perhaps replaces.
    """
    _check_scope(caller, body.scope)
    new = NewFact(
        owner=caller.owner,
        scope=body.scope,
        kind=body.kind,
        text=body.text,
        source=FactSource("promotion", now_ms(), body.message_id, body.session_id),
        about=tuple(dict.fromkeys(body.about)),
        connection_id=body.db_connection_id,
        supersedes=body.supersedes,
    )
    kept = await facts.keep(await facts.promoted(new), confirmed=body.confirm)
    response.status_code = status.HTTP_201_CREATED if kept.is_new else status.HTTP_200_OK
    return await _kept(facts, caller.owner, kept)


@router.get("/facts/{fact_id}", summary="Get a fact", dependencies=[READ])
async def read_fact(fact_id: FactId, owner: Owner, facts: Service) -> FactBody:
    """Returns a fact of the caller, or a shared one of a connection that they may ask. Needs scope `read`.
    Any other fact is unknown (404).
    """
    return await _read(facts, owner, await facts.get(owner, fact_id))


@router.patch("/facts/{fact_id}", summary="Reword, promote, accept or restore a fact", dependencies=[ASK])
async def change_fact(fact_id: FactId, body: FactChange, caller: CurrentCaller, facts: Service) -> KeptFact:
    """Makes one change. Needs scope `ask`; for shared facts `manage`, and only the owner of the connection
    (else 403).

    `text` and `scope` make a new fact with another id, which supersedes this one; `supersedes` names a fact
    that this one replaces. `status` `active` accepts a fact that waits; of a superseded one, it undoes the
    change and forgets what replaced it. Answers 409 (`fact-changed`) if it was changed meanwhile.
    """
    fact = await facts.get(caller.owner, fact_id)
    current_edit().check(fact.version)
    _check_scope(caller, fact.scope)
    source = FactSource("promotion", now_ms())
    if body.text is not None:
        kept = await facts.supersede(caller.owner, fact_id, body.text, source=source, confirmed=body.confirm)
    elif body.scope is not None:
        _check_scope(caller, body.scope)
        kept = await facts.promote(
            caller.owner,
            fact_id,
            body.scope,
            source=source,
            connection_id=body.db_connection_id,
            confirmed=body.confirm,
        )
    elif body.supersedes is not None:
        kept = Kept(await facts.replace(caller.owner, fact_id, body.supersedes), is_new=False)
    else:
        kept = Kept(await facts.activate(caller.owner, fact_id), is_new=False)
    return await _kept(facts, caller.owner, kept)


@router.delete(
    "/facts/{fact_id}",
    summary="Forget a fact",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def forget_fact(fact_id: FactId, caller: CurrentCaller, facts: Service) -> None:
    """Deletes a fact and all that it has superseded. Needs scope `ask`; for shared facts `manage`, and only
    the owner of the connection (else 403). Answers 404 if it does not exist.
    """
    fact = await facts.get(caller.owner, fact_id)
    _check_scope(caller, fact.scope)
    await facts.forget(caller.owner, fact_id)


@router.post("/facts/import", summary="Import facts", dependencies=[ASK])
async def import_fact_list(body: FactImport, caller: CurrentCaller, facts: Service) -> ImportedFacts:
    """Remembers the facts of an export, or the items of Markdown lists. Needs scope `ask`; for shared facts
    `manage`.

    Each is checked as a new fact; those that are refused are listed with the reason, the others are kept. An
    unknown `db_connection_id` answers 404, and more than a thousand facts and items together 422
    `too-many-facts`.
    """
    return await import_facts(facts, caller, body)


@router.get("/export", summary="Export what is remembered", dependencies=[READ])
async def export_memory(owner: Owner, exports: Annotated[MemoryExports, Depends(_exports)]) -> MemoryExport:
    """Returns everything that KAI remembers of the caller as JSON. Needs scope `read`.

    Besides the facts, memories of conversations, the profile and the consents. Shared facts that others have
    written are not the caller's.
    """
    return await exports.export(owner)


def _check_scope(caller: Caller, scope: Scope) -> None:
    if scope == "shared" and not caller.may("manage"):
        raise ScopeMissing(caller, "manage")


async def _read(facts: Facts, owner: str, fact: StoredFact) -> FactBody:
    return fact_body(fact, owner, await facts.stale(owner, [fact]))


async def _kept(facts: Facts, owner: str, kept: Kept) -> KeptFact:
    return kept_body(kept, owner, await facts.stale(owner, [kept.fact, *kept.near]))
