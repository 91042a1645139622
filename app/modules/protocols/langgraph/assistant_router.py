"""Routes of assistants: the databases that a caller may ask."""

from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from app import __version__
from app.http.callers import READ, Owner
from app.http.router import Router
from app.modules.protocols.dependencies import CurrentThreads
from app.modules.protocols.langgraph.assistants import (
    assistant_of,
    graph,
    have_metadata,
    matching,
    page_headers,
    schemas,
    selected,
)
from app.modules.protocols.langgraph.dependencies import PREFIX, AssistantId
from app.modules.protocols.langgraph.schemas import AssistantSearch, VersionSearch

router = Router(prefix=PREFIX, tags=["assistants"])

Namespace = Annotated[str, Path(description="Empty, or a slash and the namespace of a subgraph.")]


async def read_ok(_: Request) -> JSONResponse:
    return JSONResponse({"ok": True})


async def read_info(_: Request) -> JSONResponse:
    flags = {"assistants": True, "crons": False, "langsmith": False, "langsmith_tracing_replicas": False}
    return JSONResponse({"version": __version__, "flags": flags, "metadata": {"kind": "kai"}})


router.add_route(f"{PREFIX}/ok", read_ok, include_in_schema=False)
router.add_route(f"{PREFIX}/info", read_info, include_in_schema=False)


@router.post("/assistants/search", summary="Search assistants", dependencies=[READ])
async def search_assistants(body: AssistantSearch, owner: Owner, threads: CurrentThreads) -> JSONResponse:
    """Lists the databases that the caller may ask, as assistants. Needs scope `read`."""
    found = matching(await threads.assistants(owner), body)
    end = body.offset + body.limit
    page = [selected(each, body.select) for each in found[body.offset : end]]
    return JSONResponse(page, headers=page_headers(len(found), end))


@router.post("/assistants/count", summary="Count assistants", dependencies=[READ])
async def count_assistants(body: AssistantSearch, owner: Owner, threads: CurrentThreads) -> int:
    """Returns the number of assistants that a search would find in all. Needs scope `read`."""
    return len(matching(await threads.assistants(owner), body))


@router.get("/assistants/{assistant_id}", summary="Get an assistant", dependencies=[READ])
async def get_assistant(
    assistant_id: AssistantId, owner: Owner, threads: CurrentThreads
) -> dict[str, JsonValue]:
    """Returns an assistant: a database that the caller may ask. Needs scope `read`."""
    return assistant_of(await threads.assistant(owner, assistant_id))


@router.get("/assistants/{assistant_id}/graph", summary="Get the graph of an assistant", dependencies=[READ])
async def get_assistant_graph(
    assistant_id: AssistantId, owner: Owner, threads: CurrentThreads
) -> dict[str, list[dict[str, JsonValue]]]:
    """Returns the nodes and edges of KAI's graph, which all assistants share. Needs scope `read`."""
    await threads.assistant(owner, assistant_id)
    return graph()


@router.get(
    "/assistants/{assistant_id}/schemas", summary="Get the schemas of an assistant", dependencies=[READ]
)
async def get_assistant_schemas(
    assistant_id: AssistantId, owner: Owner, threads: CurrentThreads
) -> dict[str, JsonValue]:
    """Returns the JSON schemas of what is asked and answered. Needs scope `read`."""
    assistant = assistant_of(await threads.assistant(owner, assistant_id))
    return {"assistant_id": assistant["assistant_id"], **schemas()}


@router.get(
    "/assistants/{assistant_id}/subgraphs{namespace:path}",
    summary="List the subgraphs of an assistant",
    dependencies=[READ],
)
async def get_assistant_subgraphs(
    assistant_id: AssistantId, namespace: Namespace, owner: Owner, threads: CurrentThreads
) -> dict[str, JsonValue]:
    """Returns an empty object, because KAI's graph has no subgraphs. Needs scope `read`."""
    await threads.assistant(owner, assistant_id)
    return {}


@router.post(
    "/assistants/{assistant_id}/versions", summary="List the versions of an assistant", dependencies=[READ]
)
async def get_assistant_versions(
    assistant_id: AssistantId, owner: Owner, threads: CurrentThreads, body: VersionSearch | None = None
) -> list[dict[str, JsonValue]]:
    """Returns the only version: assistants are not changed here. Needs scope `read`."""
    only = assistant_of(await threads.assistant(owner, assistant_id))
    return [] if body is not None and (body.offset or not have_metadata(body.metadata)) else [only]
