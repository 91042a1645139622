"""Checks tokens of an OpenID Connect issuer: signature, audience, owner and role."""

from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest

import jwt

from app.core.auth.caller import SCOPES_OF_ROLE, Attribute, Caller, Role, checked_owner, unknown_credential
from app.core.auth.signing_keys import SigningKeys
from app.core.errors import Unauthenticated
from app.core.settings import OidcSettings

_REQUIRED = ["aud", "exp", "iat", "iss"]


@dataclass(frozen=True)
class SignedIn:
    """A caller by their ID token, until `expires_at` (epoch milliseconds)."""

    caller: Caller
    expires_at: int


class Tokens:
    """Checks tokens against one issuer, its keys, and the algorithms that the settings allow."""

    def __init__(self, settings: OidcSettings, keys: SigningKeys) -> None:
        self._settings = settings
        self._keys = keys

    @property
    def issuer(self) -> str | None:
        """The issuer, as the tokens name it."""
        return self._settings.issuer

    async def caller(self, token: str) -> Caller:
        """Returns the caller that a token authenticates. Raises `Unauthenticated` or `IssuerUnavailable`."""
        try:
            return self._caller(await self._claims(token, self._settings.audience))
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise unknown_credential() from error

    async def signed_in(self, id_token: str, nonce: str) -> SignedIn:
        """Returns the caller of an ID token that was made for KAI's page and for this sign-in. Raises
        `Unauthenticated` or `IssuerUnavailable`.
        """
        client_id = self._settings.client_id
        try:
            claims = await self._claims(id_token, client_id)
            if not compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
                raise jwt.InvalidTokenError("the nonce is that of another sign-in")
            if claims.get("azp", client_id) != client_id:
                raise jwt.InvalidTokenError("the token was made for another client")
            return SignedIn(self._caller(claims), round(float(str(claims["exp"])) * 1000))
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise unknown_credential() from error

    async def _key(self, token: str) -> jwt.PyJWK:
        """Returns the key, chosen among the issuer's own. Addresses and keys in the token are ignored. Raises
        `jwt.PyJWTError` or `IssuerUnavailable`.
        """
        header = jwt.get_unverified_header(token)
        key_id, algorithm = header.get("kid"), header.get("alg")
        # `crit` lists what a checker has to understand, and there is nothing of that kind here.
        if "crit" in header or algorithm not in self._settings.algorithms or not isinstance(key_id, str):
            raise jwt.InvalidTokenError("its algorithm, its key id or a critical extension is not accepted")
        return await self._keys.get(key_id, algorithm)

    async def _claims(self, token: str, audience: str | None) -> Mapping[str, object]:
        """Raises what `_key` raises. `nbf` is checked if an issuer sends it; every issuer sends `iat`."""
        claims: Mapping[str, object] = jwt.decode(
            token,
            await self._key(token),
            algorithms=list(self._settings.algorithms),
            audience=audience,
            issuer=self._settings.issuer,
            leeway=self._settings.leeway_seconds,
            options={"require": _REQUIRED},
        )
        return claims

    def _caller(self, claims: Mapping[str, object]) -> Caller:
        owner, roles = claims.get(self._settings.owner_claim), claims.get(self._settings.role_claim)
        if not isinstance(owner, str):
            raise Unauthenticated(f"The token has no {self._settings.owner_claim!r}, which names its owner.")
        held = roles if isinstance(roles, list) else [roles]
        role: Role = "admin" if self._settings.admin_value in held else "user"
        claim = claims.get(self._settings.database_claim) if self._settings.database_claim else None
        return Caller(
            owner=checked_owner(owner),
            role=role,
            scopes=SCOPES_OF_ROLE[role],
            signed_in_by="oidc",
            credential=f"token of {owner}",
            database_claim=claim if isinstance(claim, str) else None,
            attributes={
                name: value
                for name, of_claim in self._settings.attribute_claims.items()
                if (value := _attribute(claims.get(of_claim))) is not None
            },
        )


def _attribute(value: object) -> Attribute | None:
    """Returns a claim as an attribute: a text, number, flag, or a list of these. None for others."""
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list) and all(isinstance(each, str | int | float | bool) for each in value):
        return tuple(value)
    return None
