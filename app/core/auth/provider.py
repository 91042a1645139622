"""Sign-in at the identity provider: the authorization code flow of OpenID Connect with PKCE."""

import asyncio
import logging
from dataclasses import replace
from urllib.parse import quote_plus

import httpx
from pydantic import BaseModel, ValidationError

from app.core.auth.attempt import Attempts, SignInAttempt
from app.core.auth.caller import unknown_credential
from app.core.auth.signing_keys import IssuerUnavailable, SigningKeys
from app.core.auth.tokens import SignedIn, Tokens
from app.core.clock import now_ms
from app.core.settings import OidcSettings

_TIMEOUT_SECONDS = 10
_HOUR_MS = 3_600_000

logger = logging.getLogger(__name__)


class _Exchanged(BaseModel):
    id_token: str


class Provider:
    """The issuer as the one that people sign in at. KAI keeps none of its tokens."""

    def __init__(
        self, settings: OidcSettings, keys: SigningKeys, tokens: Tokens, *, attempts: Attempts
    ) -> None:
        self.name = settings.shown_name
        self.issuer = str(settings.issuer)
        self.attempts = attempts
        self._settings = settings
        self._keys = keys
        self._tokens = tokens

    async def page(self, attempt: SignInAttempt) -> str:
        """Returns the address of the provider that the browser has to open. Raises `IssuerUnavailable`."""
        endpoints = await self._keys.endpoints()
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": attempt.redirect_uri,
            "scope": self._settings.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return str(httpx.URL(endpoints.authorization).copy_merge_params(asked))

    async def signed_in(self, attempt: SignInAttempt, code: str) -> SignedIn:
        """Exchange the code that the browser has brought; says how long it is signed in. Raises
        `Unauthenticated` or `IssuerUnavailable`.
        """
        endpoints = await self._keys.endpoints()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        login = self._login(form, in_form=endpoints.secret_in_form)
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS), httpx.AsyncClient(timeout=_TIMEOUT_SECONDS) as http:
                answer = await http.post(endpoints.token, data=form, auth=login)
        except (httpx.HTTPError, TimeoutError) as error:
            raise IssuerUnavailable(
                "The identity provider does not answer; try again in a moment."
            ) from error
        if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise IssuerUnavailable("The identity provider has a fault; try again in a moment.")
        try:
            token = _Exchanged.model_validate_json(answer.content).id_token
        except ValidationError:  # its text has the answer in it
            logger.warning("the identity provider gives no ID token for a code (%s)", answer.status_code)
            raise unknown_credential() from None
        signed_in = await self._tokens.signed_in(token, attempt.nonce)
        if self._settings.session_hours is None:
            return signed_in
        return replace(signed_in, expires_at=now_ms() + round(self._settings.session_hours * _HOUR_MS))

    async def page_to_sign_out(self, return_to: str) -> str | None:
        """Returns the address of the provider that ends the sign-in there and leads back to `return_to`.

        None if that is not wanted, or the provider names no such address or does not answer.
        """
        if not self._settings.sign_out_at_issuer:
            return None
        try:
            end_session = (await self._keys.endpoints()).end_session
        except IssuerUnavailable:
            return None
        if end_session is None:
            return None
        asked = {"client_id": self._settings.client_id, "post_logout_redirect_uri": return_to}
        return str(httpx.URL(end_session).copy_merge_params(asked))

    def _login(self, form: dict[str, str], *, in_form: bool) -> httpx.Auth:
        """KAI's own credentials: a header, or further fields of the form (RFC 6749, 2.3.1)."""
        client_id, secret = str(self._settings.client_id), self._settings.client_secret
        if secret is not None and not in_form:
            return httpx.BasicAuth(quote_plus(client_id), quote_plus(secret.get_secret_value()))
        form["client_id"] = client_id
        if secret is not None:
            form["client_secret"] = secret.get_secret_value()
        return httpx.Auth()
