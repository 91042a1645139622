"""What an OpenID Connect issuer publishes, found by discovery: signing keys, and where people sign in.

It is cached, and rarely requested.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx
import jwt
from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.errors import Problem
from app.core.settings import is_loopback

_TIMEOUT_SECONDS = 5
"""Timeout of both requests together."""
_FRESH_SECONDS = 600
_ASK_AGAIN_SECONDS = 10
"""Shortest pause between two requests to the issuer, whatever tokens arrive."""


class IssuerUnavailable(Problem):
    """The issuer does not answer, and what it has published before does not suffice."""

    problem = "issuer-unavailable"
    title = "Sign-in is unavailable"
    status = 503
    cure = (
        "Sign in again in a moment. If it stays so, the operator looks at KAI_AUTH__OIDC__ISSUER and the way "
        "to it."
    )
    retryable = True


class _Discovery(BaseModel):
    issuer: str
    jwks_uri: str
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


@dataclass(frozen=True)
class Endpoints:
    """Where people sign in, where KAI exchanges their codes, and whether it sends its secret in the form.

    `end_session` is where people sign out. None if the issuer names no address that can be trusted.
    """

    authorization: str
    token: str
    secret_in_form: bool
    end_session: str | None


class _Key(BaseModel):
    """A key in the form of RFC 7517. Its numbers depend on its kind."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kid: str | None = None
    use: str | None = None
    alg: str | None = None

    def for_algorithm(self, algorithm: str) -> jwt.PyJWK:
        """Raises `jwt.PyJWTError` if the key is not for this algorithm."""
        if self.alg not in (None, algorithm) or self.use not in (None, "sig"):
            raise jwt.InvalidKeyError
        return jwt.PyJWK(self.model_dump(exclude_none=True), algorithm)


class _KeySet(BaseModel):
    keys: list[_Key]


@dataclass(frozen=True)
class _Published:
    keys: Mapping[str, _Key]
    endpoints: Endpoints | None
    at: float


class SigningKeys:
    """The issuer's keys by their ids, and its endpoints. While the issuer is unavailable, those read last
    remain valid.
    """

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._published = _Published({}, None, float("-inf"))
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def get(self, key_id: str, algorithm: str) -> jwt.PyJWK:
        """Raises `IssuerUnavailable`, and `jwt.PyJWTError` for a key that the issuer does not have."""
        if key_id not in self._published.keys or self._stale():
            failed = await self._ask()
            if failed and key_id not in self._published.keys:
                raise IssuerUnavailable("The issuer of the tokens does not answer; try again in a moment.")
        if key_id not in self._published.keys:
            raise jwt.InvalidKeyError
        return self._published.keys[key_id].for_algorithm(algorithm)

    async def endpoints(self) -> Endpoints:
        """Raises `IssuerUnavailable`, also if the issuer names no endpoints that can be trusted."""
        if self._stale():
            await self._ask()
        if self._published.endpoints is None:
            raise IssuerUnavailable("The identity provider does not answer; try again in a moment.")
        return self._published.endpoints

    def _stale(self) -> bool:
        return self._clock() - self._published.at >= _FRESH_SECONDS

    async def _ask(self) -> bool:
        """Request what is published, unless that was done just now. Returns true if the latest request
        failed.
        """
        async with self._asking:
            if self._clock() - self._asked_at >= _ASK_AGAIN_SECONDS:
                self._asked_at = self._clock()
                try:
                    self._published = await _fetch(self._issuer, self._asked_at)
                except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValidationError, _NotTrusted):
                    return True
            return self._published.at != self._asked_at


class _NotTrusted(ValueError):
    """The issuer's description names another issuer, or an address for keys that others could forge."""


async def _fetch(issuer: str, at: float) -> _Published:
    """Redirects are not followed, so that the configured address stays in force."""
    async with asyncio.timeout(_TIMEOUT_SECONDS), httpx.AsyncClient(timeout=_TIMEOUT_SECONDS) as http:
        address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        found = _Discovery.model_validate_json((await http.get(address)).raise_for_status().content)
        if found.issuer != issuer or not _is_safe(found.jwks_uri):
            raise _NotTrusted
        answer = (await http.get(found.jwks_uri)).raise_for_status().content
    keys = {key.kid: key for key in _KeySet.model_validate_json(answer).keys if key.kid is not None}
    return _Published(keys, _endpoints(found), at)


def _endpoints(found: _Discovery) -> Endpoints | None:
    """Returns None if one is missing or others could read along."""
    authorization, token = found.authorization_endpoint, found.token_endpoint
    if authorization is None or token is None or not (_is_safe(authorization) and _is_safe(token)):
        return None
    in_form = "client_secret_basic" not in found.token_endpoint_auth_methods_supported
    end_session = found.end_session_endpoint
    if end_session is not None and not _is_safe(end_session):
        end_session = None
    return Endpoints(authorization, token, in_form, end_session)


def _is_safe(address: str) -> bool:
    url = httpx.URL(address)
    return url.scheme == "https" or is_loopback(url.host)
