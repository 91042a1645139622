"""A browser's attempt to sign in at the identity provider, which it carries sealed in a cookie meanwhile."""

import base64
import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from typing import Literal

from cryptography.fernet import Fernet, InvalidToken
from pydantic import TypeAdapter

ATTEMPT_SECONDS = 600
_RANDOM_BYTES = 32

Failure = Literal["denied", "expired", "refused", "busy", "unavailable"]
"""Why an attempt failed. `denied`: the provider did not sign the person in. `expired`: the attempt is too
old, is another browser's, or was used before. `refused`: the provider's answer does not stand the checks.
`busy`: too many attempts of this address failed. `unavailable`: the provider or the store does not answer."""


@dataclass(frozen=True, kw_only=True)
class SignInAttempt:
    """What must come back as it went out, and where the browser goes after that."""

    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    return_to: str

    @property
    def challenge(self) -> str:
        """The digest of the verifier (RFC 7636, S256)."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


_ATTEMPT = TypeAdapter(SignInAttempt)


def new_attempt(redirect_uri: str, return_to: str) -> SignInAttempt:
    state, nonce, verifier = (secrets.token_urlsafe(_RANDOM_BYTES) for _ in range(3))
    return SignInAttempt(
        state=state, nonce=nonce, verifier=verifier, redirect_uri=redirect_uri, return_to=return_to
    )


class AttemptLost(ValueError):
    """The text is no attempt that KAI has sealed, or one that is too old."""


class Attempts:
    """Seals attempts with a Fernet key. Every process that has the key can open them, for ten minutes."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    def seal(self, attempt: SignInAttempt) -> str:
        return self._fernet.encrypt(json.dumps(asdict(attempt)).encode()).decode("ascii")

    def open(self, sealed: str) -> SignInAttempt:
        """Raises `AttemptLost`."""
        try:
            return _ATTEMPT.validate_json(self._fernet.decrypt(sealed.encode(), ttl=ATTEMPT_SECONDS))
        except (InvalidToken, ValueError):
            raise AttemptLost from None
