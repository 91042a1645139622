"""Routes of the sign-in at the identity provider, which browsers visit without a credential."""

import logging
import re
from functools import partial
from hmac import compare_digest
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.responses import JSONResponse, RedirectResponse

from app.core.auth.api_keys import ApiKeys
from app.core.auth.attempt import ATTEMPT_SECONDS, AttemptLost, Failure, SignInAttempt, new_attempt
from app.core.clock import now_ms
from app.core.errors import NotFound, Problem, TooMany, Unauthenticated
from app.core.storage.port import StorageUnavailable
from app.http.own_address import own_address
from app.http.router import Router
from app.http.routes import API_PREFIX
from app.http.sign_in_cookie import set_cookie
from app.http.wrong_keys import WrongKeys, address_of
from app.web.page import is_of_page

if TYPE_CHECKING:  # only for those who have an issuer
    from app.core.auth.provider import Provider

PATH = f"{API_PREFIX}/sign-in/provider"
START = f"{PATH}/start"
BACK = f"{PATH}/callback"
OPEN_PATHS = frozenset({PATH, START, BACK})
COOKIE = "kai_attempt"
FAILED = "sign_in"
"""Parameter of the page's address, with which a failed attempt comes back to it."""
_LONGEST_PATH = 500
_FAILURES: dict[str, Failure] = {
    "access_denied": "denied",
    "server_error": "unavailable",
    "temporarily_unavailable": "unavailable",
}
"""Of the provider's errors (RFC 6749, 4.1.2.1); any other is a refusal."""

logger = logging.getLogger(__name__)

router = Router(include_in_schema=False)


@router.get(PATH, summary="Name the identity provider")
async def describe(request: Request) -> Response:
    """Returns the name of the provider for the page's button, or null without one."""
    provider = _provider(request)
    return JSONResponse({"name": None if provider is None else provider.name})


@router.get(START, summary="Begin a sign-in at the identity provider")
async def start(request: Request) -> Response:
    """Sends the browser to the provider, with a new attempt in a cookie of this browser."""
    provider = _configured(request)
    return_to = local_path(request.query_params.get("return_to", ""))
    address = own_address(request.scope)
    attempt = new_attempt(address + BACK, return_to)
    try:
        response = RedirectResponse(await provider.page(attempt), 303)
    except Problem:
        return _failed("unavailable", return_to)
    response.set_cookie(
        COOKIE,
        provider.attempts.seal(attempt),
        max_age=ATTEMPT_SECONDS,
        path=PATH,
        secure=address.startswith("https://"),
        httponly=True,
        samesite="lax",  # the provider's redirect, from another site, has to bring it
    )
    return response


@router.get(BACK, summary="End a sign-in at the identity provider")
async def finish(request: Request) -> Response:
    """Takes the browser back from the provider: to where it came from, signed in or with the failure."""
    provider = _configured(request)
    try:
        attempt = provider.attempts.open(request.cookies.get(COOKIE, ""))
    except AttemptLost:
        return _failed("expired", "/")
    if not compare_digest(request.query_params.get("state", "").encode(), attempt.state.encode()):
        return _failed("expired", attempt.return_to)
    response = await _signed_in(request, provider, attempt)
    response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="lax")
    return response


async def _signed_in(request: Request, provider: "Provider", attempt: SignInAttempt) -> Response:
    keys: ApiKeys = request.app.state.services.identity.keys
    wrong_keys: WrongKeys = request.app.state.wrong_keys
    code = request.query_params.get("code")
    if code is None:
        return _failed(_failure(request.query_params.get("error", "")), attempt.return_to)
    check = partial(provider.signed_in, attempt, code)
    try:
        found = await wrong_keys.checked(address_of(request.scope), code, check)
        browser, text = await keys.sign_in_by_issuer(
            found.caller, provider.issuer, expires_at=found.expires_at
        )
    except Unauthenticated as error:
        logger.warning("a sign-in at the identity provider is refused: %r", error.__cause__ or error)
        return _failed("refused", attempt.return_to)
    except TooMany:
        return _failed("busy", attempt.return_to)
    except (Problem, StorageUnavailable):
        return _failed("unavailable", attempt.return_to)
    response = RedirectResponse(attempt.return_to, 303)
    seconds = ((browser.expires_at or 0) - now_ms()) // 1000
    set_cookie(response, text, seconds=seconds, origin=own_address(request.scope))
    return response


def local_path(wanted: str) -> str:
    """Returns a path of the page, which never leads to another host; `/` for anything else."""
    return wanted if is_of_page(wanted) and len(wanted) <= _LONGEST_PATH else "/"


def _failure(error: str) -> Failure:
    shown = error if re.fullmatch(r"[a-z_]{1,64}", error) else "an error without a name"
    logger.info("the identity provider has not signed a person in: %s", shown)
    return _FAILURES.get(error, "refused")


def _failed(failure: Failure, return_to: str) -> Response:
    path = re.split("[?#]", return_to, maxsplit=1)[0]
    return RedirectResponse(f"{path}?{urlencode({FAILED: failure})}", 303)


def _provider(request: Request) -> "Provider | None":
    provider: Provider | None = request.app.state.services.identity.provider
    return provider


def _configured(request: Request) -> "Provider":
    """Raises `NotFound`."""
    provider = _provider(request)
    if provider is None:
        raise NotFound("No identity provider signs people in here: KAI_AUTH__OIDC__CLIENT_ID is not set.")
    return provider
