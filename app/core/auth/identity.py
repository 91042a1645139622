"""Authentication of credentials: API keys and tokens."""

from typing import TYPE_CHECKING

from app.core.auth.api_keys import KEY_BEGINS, ApiKeys
from app.core.auth.caller import LOCAL_CALLER, Caller, unknown_credential
from app.core.errors import Unauthenticated
from app.core.settings import AuthSettings, OidcSettings
from app.core.storage.port import Storage

if TYPE_CHECKING:  # only for those who have an issuer
    from app.core.auth.tokens import Tokens

_CURE = (
    "Send an API key or a token, as in `Authorization: Bearer kai_...`, or a key in the header X-API-Key. "
    "`kai keys create` makes a key."
)


class Identity:
    """If no login is required, a request without a credential acts for the local owner. An API key and a
    token of the configured issuer are always checked.
    """

    def __init__(self, keys: ApiKeys, tokens: "Tokens | None", *, login_required: bool) -> None:
        self.keys = keys
        self._tokens = tokens
        self._login_required = login_required

    @property
    def accepts_tokens(self) -> bool:
        """True if tokens of an issuer are accepted, too."""
        return self._tokens is not None

    @property
    def issuer(self) -> str | None:
        """The issuer whose tokens are accepted, if any."""
        return None if self._tokens is None else self._tokens.issuer

    def ignores(self, credential: str) -> bool:
        """True if no login is required and the credential is that of another service: clients of OpenAI and
        LangGraph always send one.
        """
        return not self._login_required and self._tokens is None and not credential.startswith(KEY_BEGINS)

    async def caller(self, credential: str | None) -> Caller:
        """Raises `Unauthenticated`, `IssuerUnavailable` or `StorageUnavailable`."""
        if credential is None:
            if self._login_required:
                raise Unauthenticated(_CURE)
            return LOCAL_CALLER
        if credential.startswith(KEY_BEGINS):
            return await self.keys.caller(credential)
        if self._tokens is None:
            raise unknown_credential()
        return await self._tokens.caller(credential)


def identity(storage: Storage, settings: AuthSettings, *, login_required: bool) -> Identity:
    """Opens the authentication that the settings ask for. The issuer is not asked before the first
    token arrives.
    """
    return Identity(ApiKeys(storage), _tokens(settings.oidc), login_required=login_required)


def _tokens(settings: OidcSettings) -> "Tokens | None":
    if not settings.issuer:
        return None
    from app.core.auth.signing_keys import SigningKeys  # noqa: PLC0415 - only for those who have an issuer
    from app.core.auth.tokens import Tokens  # noqa: PLC0415

    return Tokens(settings, SigningKeys(settings.issuer))
