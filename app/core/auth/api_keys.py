"""API keys: shown once, stored as digests, revoked in every process within seconds."""

import hashlib
import secrets
import string
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hmac import compare_digest

from cachetools import TTLCache

from app.core.auth.caller import (
    LOCAL_OWNER,
    SCOPES_OF_ROLE,
    Attribute,
    Attributes,
    Caller,
    Role,
    Scope,
    checked_owner,
    unknown_credential,
)
from app.core.clock import now_ms
from app.core.errors import Invalid, NotFound
from app.core.ids import new_id
from app.core.keyed_ids import created_id
from app.core.storage.documents import Documents
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Condition, Equals, Query, Storage, StorageUnavailable

COLLECTION = "api_keys"
KEY_BEGINS = "kai_"
_SECRET_BYTES = 32
_PREFIX_CHARACTERS = string.ascii_lowercase + string.digits
_PREFIX_LENGTH = 8
_REMEMBERED = 10_000
_REVOKED_WITHIN_SECONDS = 3
"""The longest that a process trusts a key that another process has revoked."""
_USE_STORED_EVERY_SECONDS = 60
_PAGE = 200
BROWSER_SECONDS = 30 * 24 * 60 * 60
_MOST_BROWSERS = 20
"""Browsers of an owner that are signed in at a time."""


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A stored key. Of its secret it holds only the SHA-256, which is enough for 256 random bits.

    Times are epoch milliseconds; `last_used_at` is a minute late at most.
    """

    id: str
    prefix: str
    digest: str = field(repr=False)
    owner: str
    name: str
    role: Role
    scopes: tuple[Scope, ...]
    created_at: int
    expires_at: int | None = None
    last_used_at: int | None = None
    revoked_at: int | None = None
    of: str | None = None
    """Id of the key that a browser was signed in with. This one is then the browser's, kept in a cookie that
    no script reads; it counts only there, and only while the other does."""
    issuer: str | None = None
    """Issuer that a browser was signed in by, likewise. The key counts while KAI trusts the issuer."""
    database_claim: str | None = None
    """As in the token (`Caller.database_claim`)."""
    attributes: dict[str, Attribute] = field(default_factory=dict, repr=False)
    """As of the caller (`Caller.attributes`)."""

    @property
    def of_browser(self) -> bool:
        return self.of is not None or self.issuer is not None

    def usable(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now_ms() < self.expires_at)

    def caller(self) -> Caller:
        return Caller(
            owner=self.owner,
            role=self.role,
            scopes=frozenset(self.scopes),
            signed_in_by="api_key" if self.issuer is None else "oidc",
            credential=f"key {self.prefix}",
            key_id=self.id,
            database_claim=self.database_claim,
            attributes=self.attributes,
        )


class KeyUnknown(NotFound):
    """There is no API key with this id."""

    sentence = "There is no API key with this id."


@dataclass(frozen=True, kw_only=True)
class NewKey:
    """A key to create. `expires_at`: epoch milliseconds, None for never. No `scopes`: all of the role
    but `approve`.
    """

    owner: str
    name: str
    role: Role
    scopes: frozenset[Scope]
    expires_at: int | None
    attributes: Attributes = field(default_factory=dict)


class ApiKeys:
    """All keys of a store. Every method raises `StorageUnavailable` if the store is unavailable."""

    def __init__(self, storage: Storage) -> None:
        self._keys = Documents(storage, COLLECTION, ApiKey)
        self._trusted: TTLCache[str, ApiKey] = TTLCache(_REMEMBERED, _REVOKED_WITHIN_SECONDS)
        self._use_stored: TTLCache[str, None] = TTLCache(_REMEMBERED, _USE_STORED_EVERY_SECONDS)

    async def create(self, wanted: NewKey) -> tuple[ApiKey, str]:
        """Returns the stored key and its text, which is not stored. Raises `Invalid`."""
        prefix, text = _new_text()
        key = ApiKey(
            id=created_id(),
            prefix=prefix,
            digest=_digest(text),
            owner=_owner(wanted.owner),
            name=wanted.name,
            role=wanted.role,
            scopes=_scopes(wanted.role, wanted.scopes),
            attributes=dict(wanted.attributes),
            created_at=now_ms(),
            expires_at=wanted.expires_at,
        )
        await self._keys.put(key)  # in place of one whose text an interrupted request has not answered
        return key, text

    async def caller(self, text: str) -> Caller:
        """Returns the caller that a key authenticates. Raises `Unauthenticated`, also for a browser's key."""
        key = await self._known(text)
        if key.of_browser:
            raise unknown_credential()
        return key.caller()

    async def browser(self, text: str, *, issuer: str | None) -> Caller:
        """Returns the caller that a browser's key authenticates. Raises `Unauthenticated` for any other, and
        for one of another issuer than `issuer`.
        """
        key = await self._known(text)
        if not key.of_browser or key.issuer not in (None, issuer):
            raise unknown_credential()
        return key.caller()

    async def sign_in(self, key_id: str) -> tuple[ApiKey, str]:
        """Make a browser's key of an API key, with the same rights. Returns it and its text, which is not
        stored. Raises `KeyUnknown`.

        Browsers of an owner that were signed in longest ago are signed out beyond the most of them.
        """
        key = await self._keys.get(key_id)
        if key is None:
            raise KeyUnknown
        await self._drop_oldest(key.owner)
        prefix, text = _new_text()
        latest = _last_of_browser()
        browser = replace(
            key,
            id=new_id(),
            prefix=prefix,
            digest=_digest(text),
            name=f"browser, signed in by {key.prefix}",
            created_at=now_ms(),
            expires_at=latest if key.expires_at is None else min(latest, key.expires_at),
            last_used_at=None,
            of=key.id,
        )
        await self._keys.create(browser)
        return browser, text

    async def sign_in_by_issuer(self, caller: Caller, issuer: str, *, expires_at: int) -> tuple[ApiKey, str]:
        """As `sign_in`, for a caller whom the issuer has named, until `expires_at` (epoch milliseconds)."""
        await self._drop_oldest(caller.owner)
        prefix, text = _new_text()
        browser = ApiKey(
            id=new_id(),
            prefix=prefix,
            digest=_digest(text),
            owner=caller.owner,
            name="browser, signed in by the identity provider",
            role=caller.role,
            scopes=tuple(sorted(caller.scopes)),
            created_at=now_ms(),
            expires_at=min(_last_of_browser(), expires_at),
            issuer=issuer,
            database_claim=caller.database_claim,
            attributes=dict(caller.attributes),
        )
        await self._keys.create(browser)
        return browser, text

    async def sign_out(self, key_id: str) -> None:
        """Delete a browser's key; within three seconds every process refuses it."""
        key = await self._keys.get(key_id)
        if key is not None and key.of_browser:
            await self._keys.delete(Equals("id", key_id))
            self._trusted.pop(key.digest, None)

    async def _drop_oldest(self, owner: str) -> None:
        of_browsers = [each for each in await self._of_owner(owner) if each.of_browser]
        for each in of_browsers[_MOST_BROWSERS - 1 :]:
            await self.sign_out(each.id)

    async def _of_owner(self, owner: str) -> list[ApiKey]:
        """Newest first."""
        own = Query([Equals("owner", owner)], descending=True, limit=_PAGE)
        return [key async for key in self._keys.all(own)]

    async def _known(self, text: str) -> ApiKey:
        """Returns a usable key. Raises `Unauthenticated`."""
        digest = _digest(text)
        key = self._trusted.get(digest) or await self._find(text, digest)
        if not key.usable():
            raise unknown_credential()
        self._trusted.setdefault(digest, key)
        await self._store_use(key)
        return key

    async def page(self, wanted: ListRequest) -> Listed[ApiKey]:
        """Keys of all owners."""
        return await self._keys.list_page([], wanted)

    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key permanently. A second call changes nothing. Raises `KeyUnknown`."""
        not_yet: list[Condition] = [Equals("revoked_at", None)]
        await self._keys.change(key_id, {"revoked_at": now_ms()}, not_yet)
        key = await self._keys.get(key_id)
        if key is None:
            raise KeyUnknown
        self._trusted.pop(key.digest, None)
        return key

    async def usable(self, where: Sequence[Condition] = ()) -> list[ApiKey]:
        """Keys that are neither expired nor revoked, without those of browsers."""
        unrevoked = self._keys.all(Query([Equals("revoked_at", None), *where], limit=_PAGE))
        return [key async for key in unrevoked if key.usable() and not key.of_browser]

    async def attributes_of(self, owner: str) -> list[Attributes]:
        """Returns what the usable keys of an owner say of them, those of browsers among them. Newest first,
        none twice.
        """
        found: list[Attributes] = []
        for key in await self._of_owner(owner):
            if key.usable() and key.attributes not in found and await self._counts(key):
                found.append(key.attributes)
        return found

    async def known_attributes(self, owner: str) -> Attributes | None:
        """Returns what is known of an owner who is not signed in now. None if no usable key of theirs says
        it, or if their keys differ.
        """
        if owner == LOCAL_OWNER:
            return {}
        found = await self.attributes_of(owner)
        return found[0] if len(found) == 1 else None

    async def _find(self, text: str, digest: str) -> ApiKey:
        prefix = text.removeprefix(KEY_BEGINS).split("_", 1)[0]
        if len(prefix) != _PREFIX_LENGTH or not set(prefix) <= set(_PREFIX_CHARACTERS):
            raise unknown_credential()
        for key in await self._keys.first(Query([Equals("prefix", prefix)])):
            if compare_digest(key.digest, digest) and await self._counts(key):
                return key
        raise unknown_credential()

    async def _counts(self, key: ApiKey) -> bool:
        """False for a browser's key whose own key was revoked or deleted."""
        if key.of is None:
            return True
        found = await self._keys.get(key.of)
        return found is not None and found.usable()

    async def _store_use(self, key: ApiKey) -> None:
        """Best-effort: a store that cannot be written to must not lock readers out."""
        if key.id in self._use_stored:
            return
        self._use_stored[key.id] = None
        with suppress(StorageUnavailable):
            await self._keys.change(key.id, {"last_used_at": now_ms()})


def _new_text() -> tuple[str, str]:
    """Returns the prefix and the text of a new key."""
    prefix = "".join(secrets.choice(_PREFIX_CHARACTERS) for _ in range(_PREFIX_LENGTH))
    return prefix, f"{KEY_BEGINS}{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def _last_of_browser() -> int:
    """Returns the end of a browser's key that is made now, in epoch milliseconds."""
    return now_ms() + BROWSER_SECONDS * 1000


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _owner(owner: str) -> str:
    try:
        return checked_owner(owner)
    except ValueError as error:
        raise Invalid(f"The owner {owner!r} cannot have a key: {error}.") from error


def _scopes(role: Role, wanted: frozenset[Scope]) -> tuple[Scope, ...]:
    """Returns the scopes of a key. Raises `Invalid` for a scope that the role does not have."""
    of_role = SCOPES_OF_ROLE[role]
    if more := wanted - of_role:
        raise Invalid(
            f"The role {role} does not have the scope {', '.join(sorted(more))}. Leave it out, or make the "
            "key of the role admin."
        )
    return tuple(sorted(wanted or of_role - {"approve"}))
