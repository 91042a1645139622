"""Callers and API keys on the wire; the text of a key goes out once, in the answer to its making."""

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from app.core.auth.api_keys import NewKey
from app.core.auth.caller import Role, Scope, SignIn, checked_owner
from app.core.clock import now_ms
from app.http.routes import Body, Time, storable

MAX_DAYS = 3_650
_MILLISECONDS = timedelta(milliseconds=1)


class MeBody(BaseModel):
    """Who asks, and what he may do."""

    model_config = ConfigDict(from_attributes=True)

    owner: str
    role: Role
    scopes: Annotated[list[Scope], AfterValidator(sorted)]
    signed_in_by: SignIn


class NewApiKey(Body):
    """A key for somebody; `days` null never expires, and no `scopes` are all that the role may."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"owner": "ada@example.com", "name": "Notebook", "days": 90}]}
    )

    owner: Annotated[str, AfterValidator(storable), AfterValidator(checked_owner)]
    name: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(storable)
    ] = ""
    role: Role = "user"
    scopes: frozenset[Scope] = frozenset()
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] | None

    def wanted(self) -> NewKey:
        return NewKey(self.owner, self.name, self.role, self.scopes, expires_in(self.days))


def expires_in(days: int | None) -> int | None:
    """In epoch milliseconds; None is never."""
    return None if days is None else now_ms() + timedelta(days=days) // _MILLISECONDS


class ApiKeyBody(BaseModel):
    """A key without its secret; `last_used_at` is a minute late at most."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    prefix: str
    owner: str
    name: str
    role: Role
    scopes: list[Scope]
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None
    revoked_at: Time | None


class NewApiKeyBody(ApiKeyBody):
    """A key just made; `key` is its text, which nobody can tell again."""

    key: str
