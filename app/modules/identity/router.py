"""Who asks, and the API keys of everybody, which are an administrator's."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from app.core.auth.api_keys import ApiKeys
from app.http.callers import ADMIN, ANYBODY, CurrentCaller
from app.http.problems import PROBLEM_RESPONSES
from app.http.routes import PageOf, PageQuery
from app.modules.identity.schemas import ApiKeyBody, MeBody, NewApiKey, NewApiKeyBody

router = APIRouter(tags=["identity"], responses=PROBLEM_RESPONSES)


def _keys(request: Request) -> ApiKeys:
    keys: ApiKeys = request.app.state.services.identity.keys
    return keys


Keys = Annotated[ApiKeys, Depends(_keys)]


@router.get("/me", dependencies=[ANYBODY])
async def read_me(caller: CurrentCaller) -> MeBody:
    """Who asks, what he may do, and how he has signed in."""
    return MeBody.model_validate(caller)


@router.post("/api-keys", status_code=status.HTTP_201_CREATED, dependencies=[ADMIN])
async def create_key(body: NewApiKey, keys: Keys) -> NewApiKeyBody:
    """Make a key; its text is in this answer and nowhere else."""
    key, text = await keys.create(body.wanted())
    return NewApiKeyBody.model_validate({**vars(key), "key": text})


@router.get("/api-keys", dependencies=[ADMIN])
async def list_keys(page: Annotated[PageQuery, Query()], keys: Keys) -> PageOf[ApiKeyBody]:
    """The keys of all owners, the newest first; revoked ones stay on the list."""
    found, next_cursor = await keys.page(page.limit, page.cursor)
    return PageOf(items=[ApiKeyBody.model_validate(key) for key in found], next_cursor=next_cursor)


@router.delete("/api-keys/{key_id}", status_code=status.HTTP_204_NO_CONTENT, dependencies=[ADMIN])
async def revoke_key(key_id: str, keys: Keys) -> None:
    """Revoke a key for ever; within seconds no process accepts it."""
    await keys.revoke(key_id)
