"""Who asks, and what he may do."""

from dataclasses import dataclass
from typing import Literal

from app.core.errors import Forbidden, Unauthenticated

Role = Literal["user", "admin"]
Scope = Literal["read", "ask", "manage", "admin"]
"""`read`: all that is one's own. `ask`: sessions, runs, feedback. `manage`: databases, and what people tell
of them. `admin`: API keys; it implies the others."""
SignIn = Literal["local", "api_key", "oidc"]

LOCAL_OWNER = "local"
"""Owns everything where there is no login; no credential ever speaks for him."""
MAX_OWNER_CHARACTERS = 255

SCOPES_OF_ROLE: dict[Role, frozenset[Scope]] = {
    "user": frozenset({"read", "ask"}),
    "admin": frozenset({"read", "ask", "manage", "admin"}),
}


@dataclass(frozen=True)
class Caller:
    """Whoever a request comes from; all that is kept for him names him as its owner."""

    owner: str
    role: Role
    scopes: frozenset[Scope]
    signed_in_by: SignIn

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes


LOCAL_CALLER = Caller(LOCAL_OWNER, "admin", SCOPES_OF_ROLE["admin"], "local")


class ScopeMissing(Forbidden):
    """The credential is good, but not for this."""

    def __init__(self, caller: Caller, scope: Scope) -> None:
        held = ", ".join(sorted(caller.scopes))
        super().__init__(
            f"This needs the scope {scope}, and you have {held}. Ask an administrator for a key that has it.",
            missing_scope=scope,
        )


def checked_owner(owner: str) -> str:
    """An owner as a credential may name him. Raises `ValueError`, in words, for any other."""
    if not 0 < len(owner) <= MAX_OWNER_CHARACTERS or not owner.isprintable() or owner != owner.strip():
        raise ValueError(
            f"an owner is 1 to {MAX_OWNER_CHARACTERS} printable characters without blanks around them"
        )
    if owner.casefold() == LOCAL_OWNER:
        raise ValueError(f"{LOCAL_OWNER!r} owns what is made without a login; choose another name")
    return owner


def unknown_credential() -> Unauthenticated:
    """The one answer to whatever is no key of ours: it tells a guesser nothing."""
    return Unauthenticated(
        "The API key or token is not valid: unknown, expired, revoked or meant for another service. "
        "`kai keys create` makes a new key."
    )
