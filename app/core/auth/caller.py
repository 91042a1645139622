"""Callers: owner, role and scopes."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from app.core.errors import Forbidden, Unauthenticated

Role = Literal["user", "admin"]
Scope = Literal["read", "ask", "approve", "manage", "admin"]
"""`read`: read everything of one's own. `ask`: sessions, runs, feedback. `approve`: decide about calls of
tools that wait. `manage`: databases and their context store. `admin`: API keys; it implies the others but
`approve`."""
Attribute: TypeAlias = str | bool | int | float | Sequence[str | bool | int | float]
"""Value of an attribute of a caller."""
Attributes: TypeAlias = Mapping[str, Attribute]

SignIn = Literal["local", "api_key", "oidc"]

LOCAL_OWNER = "local"
"""Owner of everything if no login is required. No credential authenticates as this owner."""
MAX_OWNER_CHARACTERS = 255

SCOPES_OF_ROLE: dict[Role, frozenset[Scope]] = {
    "user": frozenset({"read", "ask", "approve"}),
    "admin": frozenset({"read", "ask", "approve", "manage", "admin"}),
}
"""People who are signed in have all scopes of their role. An API key has `approve` only if it was made with
it, so that no integration approves what its own agent proposes."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The caller of a request. Everything stored for the caller names the same owner."""

    owner: str
    role: Role
    scopes: frozenset[Scope]
    signed_in_by: SignIn
    credential: str = ""
    """Names the credential in the audit log. It is no secret."""
    key_id: str | None = None
    """The API key that the caller is authenticated by, if any."""
    database_claim: str | None = None
    """The value of the token's claim that chooses a role in databases (`DATABASE_CLAIM`)."""
    attributes: Attributes = field(default_factory=dict, repr=False)
    """What policies of databases know of the caller: claims of the token, or what the key was made with."""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or (scope != "approve" and "admin" in self.scopes)


_database_claim: ContextVar[str | None] = ContextVar("kai_database_claim", default=None)
_owner: ContextVar[str] = ContextVar("kai_owner", default="")
_attributes: ContextVar[Attributes | None] = ContextVar("kai_attributes", default=None)


@contextmanager
def calling(caller: Caller) -> Generator[None]:
    """The block answers this caller's request."""
    token = _database_claim.set(caller.database_claim)
    try:
        with acting_for(caller.owner, caller.attributes):
            yield
    finally:
        _database_claim.reset(token)


@contextmanager
def acting_for(owner: str, attributes: Attributes | None) -> Generator[None]:
    """The block does work of this owner. Without attributes it reads no database that has policies."""
    token = _owner.set(owner)
    of_person = _attributes.set(attributes)
    try:
        yield
    finally:
        _attributes.reset(of_person)
        _owner.reset(token)


def current_owner() -> str:
    """The owner whose work is being done; empty for work of KAI's own."""
    return _owner.get()


def current_attributes() -> Attributes | None:
    """The attributes of the person whose work is being done; None where it is not known who asks."""
    return _attributes.get()


def current_database_claim() -> str | None:
    """The database claim of the caller whose request is being answered; None outside of requests."""
    return _database_claim.get()


LOCAL_CALLER = Caller(
    owner=LOCAL_OWNER,
    role="admin",
    scopes=SCOPES_OF_ROLE["admin"],
    signed_in_by="local",
    credential="local",
)


class ScopeMissing(Forbidden):
    """The credential is valid, but lacks a scope."""

    def __init__(self, caller: Caller, scope: Scope) -> None:
        held = ", ".join(sorted(caller.scopes))
        super().__init__(
            f"This needs the scope {scope}, and you have {held}. Ask an administrator for a key that has it.",
            missing_scope=scope,
        )


def checked_owner(owner: str) -> str:
    """Returns the owner of a credential. Raises `ValueError` with a reason if the name is not allowed."""
    if not 0 < len(owner) <= MAX_OWNER_CHARACTERS or not owner.isprintable() or owner != owner.strip():
        raise ValueError(
            f"an owner has 1 to {MAX_OWNER_CHARACTERS} printable characters, without spaces at its ends"
        )
    if owner.casefold() == LOCAL_OWNER:
        raise ValueError(f"{LOCAL_OWNER!r} is the owner of requests without a login; choose another name")
    return owner


def unknown_credential() -> Unauthenticated:
    """Returns the error for every invalid credential. It is the same for all, so guessing reveals nothing."""
    return Unauthenticated(
        "The API key or token is not valid: unknown, expired, revoked or meant for another service. "
        "`kai keys create` makes a new key."
    )
