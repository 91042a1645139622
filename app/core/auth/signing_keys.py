"""Signing keys of an OpenID Connect issuer: found by discovery, cached, and rarely requested."""

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
    """The issuer's keys were never read, or a new one cannot be read now."""

    problem = "issuer-unavailable"
    title = "Sign-in is unavailable"
    status = 503


class _Discovery(BaseModel):
    issuer: str
    jwks_uri: str


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
    at: float


class SigningKeys:
    """The issuer's keys by their ids. While the issuer is unavailable, the keys read last remain valid."""

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._published = _Published({}, float("-inf"))
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def get(self, key_id: str, algorithm: str) -> jwt.PyJWK:
        """Raises `IssuerUnavailable`, and `jwt.PyJWTError` for a key that the issuer does not have."""
        if key_id not in self._published.keys or self._clock() - self._published.at >= _FRESH_SECONDS:
            failed = await self._ask()
            if failed and key_id not in self._published.keys:
                raise IssuerUnavailable("The issuer of the tokens does not answer; try again in a moment.")
        if key_id not in self._published.keys:
            raise jwt.InvalidKeyError
        return self._published.keys[key_id].for_algorithm(algorithm)

    async def _ask(self) -> bool:
        """Request the keys, unless that was done just now. Returns true if the latest request failed."""
        async with self._asking:
            if self._clock() - self._asked_at >= _ASK_AGAIN_SECONDS:
                self._asked_at = self._clock()
                try:
                    self._published = _Published(await _fetch(self._issuer), self._asked_at)
                except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValidationError, _NotTrusted):
                    return True
            return self._published.at != self._asked_at


class _NotTrusted(ValueError):
    """The issuer's description names another issuer, or an address for keys that others could forge."""


async def _fetch(issuer: str) -> Mapping[str, _Key]:
    """Redirects are not followed, so that the configured address stays in force."""
    async with asyncio.timeout(_TIMEOUT_SECONDS), httpx.AsyncClient(timeout=_TIMEOUT_SECONDS) as http:
        address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        found = _Discovery.model_validate_json((await http.get(address)).raise_for_status().content)
        keys_at = httpx.URL(found.jwks_uri)
        if found.issuer != issuer or (keys_at.scheme != "https" and not is_loopback(keys_at.host)):
            raise _NotTrusted
        answer = (await http.get(keys_at)).raise_for_status().content
    return {key.kid: key for key in _KeySet.model_validate_json(answer).keys if key.kid is not None}
