"""Routes of the store: items that clients keep, each owner their own."""

from typing import Annotated

from fastapi import Query, status
from pydantic import JsonValue

from app.http.callers import ASK, READ, Owner
from app.http.router import Router
from app.modules.protocols.langgraph.dependencies import PREFIX, CurrentItems
from app.modules.protocols.langgraph.store_schemas import (
    ItemName,
    ItemSearch,
    Key,
    NamespaceSearch,
    NewItem,
    NoRefresh,
    QueriedPlace,
    item_of,
    labels_of,
)

router = Router(prefix=f"{PREFIX}/store", tags=["store"])


@router.put("/items", summary="Put an item", dependencies=[ASK], status_code=status.HTTP_204_NO_CONTENT)
async def put_item(body: NewItem, owner: Owner, items: CurrentItems) -> None:
    """Keeps a JSON object under a namespace and a key, or replaces it. Needs scope `ask`."""
    await items.put(owner, body.namespace, body.key, value=body.value)


@router.get("/items", summary="Get an item", dependencies=[READ])
async def get_item(
    namespace: Annotated[QueriedPlace, Query(description="Labels, joined by dots.")],
    key: Annotated[Key, Query(description="Key of the item in its namespace.")],
    owner: Owner,
    items: CurrentItems,
    refresh_ttl: Annotated[NoRefresh, Query(description="Not true.")] = None,
) -> dict[str, JsonValue] | None:
    """Returns an item by its namespace and key, or null if there is none. Needs scope `read`."""
    item = await items.get(owner, namespace, key)
    return None if item is None else item_of(item)


@router.delete("/items", summary="Delete an item", dependencies=[ASK], status_code=status.HTTP_204_NO_CONTENT)
async def delete_item(body: ItemName, owner: Owner, items: CurrentItems) -> None:
    """Deletes an item by its namespace and key, if there is one. Needs scope `ask`."""
    await items.delete(owner, body.namespace, body.key)


@router.post("/items/search", summary="Search items", dependencies=[READ])
async def search_items(
    body: ItemSearch, owner: Owner, items: CurrentItems
) -> dict[str, list[dict[str, JsonValue]]]:
    """Lists items, last changed first, or with words best first. Needs scope `read`."""
    found = await items.search(
        owner,
        body.namespace_prefix,
        pairs=body.filter,
        words=body.query,
        limit=body.limit,
        offset=body.offset,
    )
    return {"items": [item_of(each) for each in found]}


@router.post("/namespaces", summary="List namespaces", dependencies=[READ])
async def list_namespaces(
    body: NamespaceSearch, owner: Owner, items: CurrentItems
) -> dict[str, list[list[JsonValue]]]:
    """Lists the namespaces that have items, in order. Needs scope `read`."""
    found = await items.namespaces(owner, prefix=body.prefix, suffix=body.suffix, max_depth=body.max_depth)
    page = found[body.offset : body.offset + body.limit]
    return {"namespaces": [labels_of(each) for each in page]}
