"""Bodies of callers and API keys. A key's text is only in the answer to its creation."""

from datetime import timedelta
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from app.core.auth.api_keys import NewKey
from app.core.auth.caller import Role, Scope, SignIn, checked_owner
from app.core.clock import now_ms
from app.http.routes import Body, ResponseBody, Time, storable

MAX_DAYS = 3_650
_MILLISECONDS = timedelta(milliseconds=1)


AttributeName = Annotated[str, StringConstraints(pattern=r"^\w{1,100}$")]
_AttributeText = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(storable)]
_AttributeValue: TypeAlias = _AttributeText | bool | int | float
KeyAttribute: TypeAlias = _AttributeValue | Annotated[list[_AttributeValue], Field(max_length=1_000)]


class MeBody(ResponseBody):
    """The authenticated caller."""

    owner: str
    """Owner that the request acts for."""
    role: Role
    """Role of the caller."""
    scopes: Annotated[list[Scope], AfterValidator(sorted)]
    """Scopes of the caller; `admin` implies the others but `approve`."""
    signed_in_by: SignIn
    """Kind of the credential; `local` if no login is required."""


class NewApiKey(Body):
    """An API key to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"owner": "ada@example.com", "name": "Notebook", "days": 90}]}
    )

    owner: Annotated[str, AfterValidator(storable), AfterValidator(checked_owner)]
    """Owner that the key acts for."""
    name: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(storable)
    ] = ""
    """Name of the key, to recognize it in lists."""
    role: Role = "user"
    """Role of the key."""
    scopes: frozenset[Scope] = frozenset()
    """Scopes of the key, some of its role's. Empty for all of them but `approve`."""
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] | None
    """Days until the key expires. Null for a key that does not expire."""

    attributes: Annotated[dict[AttributeName, KeyAttribute], Field(max_length=50)] = Field(
        default_factory=dict
    )
    """What policies of databases know of the owner, such as `region` or `roles`."""

    def wanted(self) -> NewKey:
        return NewKey(
            owner=self.owner,
            name=self.name,
            role=self.role,
            scopes=self.scopes,
            expires_at=expires_in(self.days),
            attributes=self.attributes,
        )


def expires_in(days: int | None) -> int | None:
    """Returns the time of expiry in epoch milliseconds. None means never."""
    return None if days is None else now_ms() + timedelta(days=days) // _MILLISECONDS


class ApiKeyBody(ResponseBody):
    """An API key without its secret."""

    id: str
    """Id of the key."""
    prefix: str
    """Beginning of the key's text, to recognize it."""
    owner: str
    """Owner that the key acts for."""
    name: str
    """Name of the key."""
    role: Role
    """Role of the key."""
    scopes: list[Scope]
    """Scopes of the key."""
    created_at: Time
    """Time of creation."""
    expires_at: Time | None
    """Time of expiry. Null if the key does not expire."""
    last_used_at: Time | None
    """Time of the latest use, at most a minute late. Null if the key was not used."""
    revoked_at: Time | None
    """Time of revocation. Null if the key is not revoked."""


class NewApiKeyBody(ApiKeyBody):
    """A new API key with its text."""

    key: str
    """The key's text. No later answer holds it."""
