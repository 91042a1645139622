"""Authentication of credentials: API keys and tokens."""

from typing import TYPE_CHECKING

from app.core.auth.api_keys import KEY_BEGINS, ApiKeys
from app.core.auth.attempt import Attempts
from app.core.auth.caller import LOCAL_CALLER, Caller, unknown_credential
from app.core.errors import Unauthenticated
from app.core.settings import AuthSettings, OidcSettings
from app.core.storage.port import Storage

if TYPE_CHECKING:  # only for those who have an issuer
    from app.core.auth.provider import Provider
    from app.core.auth.tokens import Tokens

_CURE = (
    "Send an API key or a token, as in `Authorization: Bearer kai_...`, or a key in the header X-API-Key. "
    "`kai keys create` makes a key."
)


class Identity:
    """If no login is required, a request without a credential acts for the local owner. An API key and a
    token of the configured issuer are always checked.
    """

    def __init__(
        self,
        keys: ApiKeys,
        tokens: "Tokens | None",
        *,
        login_required: bool,
        provider: "Provider | None" = None,
    ) -> None:
        self.keys = keys
        self.provider = provider
        """The issuer as the one that people sign in to the page by, if it is."""
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

    async def browser(self, key: str) -> Caller:
        """Returns the caller of a browser's key. Raises `Unauthenticated` or `StorageUnavailable`."""
        return await self.keys.browser(key, issuer=self.issuer)


def identity(
    storage: Storage, settings: AuthSettings, *, login_required: bool, sealing_key: bytes
) -> Identity:
    """Opens the authentication that the settings ask for. The issuer is not asked before the first
    token arrives or the first person signs in there. `sealing_key` is a Fernet key.
    """
    tokens, provider = _issuer(settings.oidc, sealing_key)
    return Identity(ApiKeys(storage), tokens, login_required=login_required, provider=provider)


def _issuer(settings: OidcSettings, sealing_key: bytes) -> "tuple[Tokens | None, Provider | None]":
    if not settings.issuer:
        return None, None
    from app.core.auth.signing_keys import SigningKeys  # noqa: PLC0415 - only for those who have an issuer
    from app.core.auth.tokens import Tokens  # noqa: PLC0415

    published = SigningKeys(settings.issuer)
    tokens = Tokens(settings, published)
    if settings.client_id is None:
        return tokens, None
    from app.core.auth.provider import Provider  # noqa: PLC0415

    return tokens, Provider(settings, published, tokens, attempts=Attempts(sealing_key))
