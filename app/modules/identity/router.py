"""Routes of the authenticated caller and, for administrators, of API keys."""

import logging
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Path, Query, Request, Response, status
from starlette.responses import JSONResponse

from app.core.auth.api_keys import ApiKeys
from app.core.auth.caller import Caller
from app.core.clock import now_ms
from app.core.errors import Conflict
from app.http.callers import ADMIN, ANYBODY, CurrentCaller
from app.http.entity_tags import located
from app.http.own_address import own_address
from app.http.parameters import CreatedQuery
from app.http.router import Router
from app.http.routes import PageOf
from app.http.sign_in_cookie import delete_cookie, is_of_own_page, set_cookie
from app.modules.identity.schemas import ApiKeyBody, MeBody, NewApiKey, NewApiKeyBody

if TYPE_CHECKING:  # only for those who have an issuer
    from app.core.auth.provider import Provider

audit = logging.getLogger("kai.audit")

router = Router(tags=["identity"])


async def _keys(request: Request) -> ApiKeys:
    keys: ApiKeys = request.app.state.services.identity.keys
    return keys


Keys = Annotated[ApiKeys, Depends(_keys)]
KeyId = Annotated[str, Path(description="Id of the key.")]


@router.get("/me", summary="Get the authenticated caller", dependencies=[ANYBODY])
async def read_me(caller: CurrentCaller) -> MeBody:
    """Returns the owner that the request acts for, with role, scopes and the kind of credential. Any valid
    credential suffices, so the route also tests a key. Answers 401 if a login is required and the request
    has no valid credential.
    """
    return MeBody.model_validate(caller)


class NotSignedIn(Conflict):
    """The request is not one of the page, or its credential is no API key."""


@router.post(
    "/sign-in",
    summary="Keep a browser signed in",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ANYBODY],
    include_in_schema=False,
)
async def sign_in(request: Request, caller: CurrentCaller, keys: Keys) -> Response:
    """For the page alone, so not in OpenAPI. Sets a cookie that signs KAI's page in, for 30 days at most, and
    never longer than the API key that this request brings. The cookie counts only with the header
    `X-KAI-Page`, from KAI's own origin, and no script can read it. At most 20 browsers of an owner stay
    signed in.

    Answers 409 for a request of another origin, and for any other credential than an API key.
    """
    if not is_of_own_page(request.scope) or "authorization" not in request.headers:
        raise NotSignedIn("Only KAI's own page can keep a browser signed in, by an API key.")
    if caller.key_id is None:
        raise NotSignedIn(
            "Only an API key can keep a browser signed in. Sign in with this credential for one tab."
        )
    browser, text = await keys.sign_in(caller.key_id)
    response = Response(status_code=status.HTTP_204_NO_CONTENT)
    seconds = ((browser.expires_at or 0) - now_ms()) // 1000
    set_cookie(response, text, seconds=seconds, origin=request.headers.get("origin"))
    return response


@router.delete(
    "/sign-in",
    summary="Sign a browser out",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ANYBODY],
    include_in_schema=False,
)
async def sign_out(request: Request, caller: CurrentCaller, keys: Keys) -> Response:
    """Ends the sign-in of the cookie that this request brings: within three seconds every process refuses it.
    Other credentials stay as they are.

    Answers 200 with `continue_at` if the browser is to go to the identity provider, to sign out there, too.
    """
    continue_at: str | None = None
    if caller.key_id is not None:
        await keys.sign_out(caller.key_id)
        provider: Provider | None = request.app.state.services.identity.provider
        if caller.signed_in_by == "oidc" and provider is not None:
            continue_at = await provider.page_to_sign_out(f"{own_address(request.scope)}/")
    response = (
        Response(status_code=status.HTTP_204_NO_CONTENT)
        if continue_at is None
        else JSONResponse({"continue_at": continue_at})
    )
    delete_cookie(response)
    return response


@router.post(
    "/api-keys",
    summary="Create an API key",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ADMIN, located("/api-keys/{id}")],
)
async def create_key(body: NewApiKey, caller: CurrentCaller, keys: Keys) -> NewApiKeyBody:
    """Creates an API key for an owner. Needs scope `admin`.

    The key's text is only in this answer: KAI stores a digest. Every call creates another key. Answers 422
    if `scopes` holds one that the role does not have.
    """
    key, text = await keys.create(body.wanted())
    _audit(caller, key.id, "created", key_owner=key.owner, role=key.role, scopes=sorted(key.scopes))
    return NewApiKeyBody.model_validate({**vars(key), "key": text})


@router.get("/api-keys", summary="List API keys", dependencies=[ADMIN])
async def list_keys(query: Annotated[CreatedQuery, Query()], keys: Keys) -> PageOf[ApiKeyBody]:
    """Lists the keys of all owners, by default newest first, including revoked and expired ones. Needs scope
    `admin`. The answer holds no secret.
    """
    found = await keys.page(query.wanted())
    return query.page_of([ApiKeyBody.model_validate(key) for key in found.items], found)


@router.delete(
    "/api-keys/{key_id}",
    summary="Revoke an API key",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ADMIN],
)
async def revoke_key(key_id: KeyId, caller: CurrentCaller, keys: Keys) -> None:
    """Revokes a key permanently; within three seconds every process refuses it. Needs scope `admin`.

    Can be repeated: a revoked key stays revoked. Answers 404 for an unknown key.
    """
    await keys.revoke(key_id)
    _audit(caller, key_id, "revoked")


def _audit(caller: Caller, key_id: str, action: str, **of_key: object) -> None:
    """One line for each change, without a key's text."""
    audit.info("api key", extra={"owner": caller.owner, "key_id": key_id, "action": action, **of_key})
