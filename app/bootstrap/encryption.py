"""The secrets that the store holds: whether they can be read, and encrypting them with the first key."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import cast
from uuid import UUID

from app.core.secrets import SecretBox, SecretUnreadable
from app.core.storage.port import Document, DocumentExists, Storage

INSTANCE_KEYS = "instance_keys"
_ID = str(UUID(int=1))
_AT_ONCE = 200
_PLACES: Sequence[tuple[str, str | None, Sequence[str]]] = (
    ("database_connections", None, ("encrypted_url",)),
    ("schedules", "webhook", ("url", "secret")),
    (INSTANCE_KEYS, None, ("encrypted",)),
)
"""Collection, object in its documents (None: the document itself), and the encrypted fields."""


@dataclass(frozen=True)
class SecretsFound:
    """Numbers of stored secrets."""

    readable: int
    unreadable: int

    @property
    def explanation(self) -> str:
        return (
            f"{self.unreadable} of {self.readable + self.unreadable} stored secrets (database URLs, "
            "webhooks) were encrypted with another key. Add that key to KAI_ENCRYPTION_KEY, or to secret.key "
            "in the data folder, behind the first."
        )


@dataclass(frozen=True)
class StoredSecrets:
    """Whether stored secrets can be read, for `/readyz`."""

    storage: Storage
    box: SecretBox

    async def check(self) -> None:
        """Raises `SecretUnreadable` if there are secrets and none can be read."""
        found = await find_secrets(self.storage, self.box)
        if found.unreadable and not found.readable:
            raise SecretUnreadable(found.explanation)

    async def describe(self) -> Mapping[str, int]:
        return asdict(await find_secrets(self.storage, self.box))


async def find_secrets(storage: Storage, box: SecretBox) -> SecretsFound:
    """Try all stored secrets."""
    readable = unreadable = 0
    for collection, holder, fields in _PLACES:
        async for _, secrets in _documents(storage, collection, holder):
            for field in fields:
                try:
                    box.decrypt(str(secrets[field]))
                    readable += 1
                except SecretUnreadable:
                    unreadable += 1
    return SecretsFound(readable, unreadable)


async def encrypt_again(storage: Storage, box: SecretBox) -> SecretsFound:
    """Encrypt all stored secrets with the first key. Those that no key reads stay as they are."""
    readable = unreadable = 0
    for collection, holder, fields in _PLACES:
        async for document_id, secrets in _documents(storage, collection, holder):
            try:
                again = {field: box.rotate(str(secrets[field])) for field in fields}
            except SecretUnreadable:
                unreadable += len(fields)
                continue
            changes = again if holder is None else {holder: {**secrets, **again}}
            await storage.patch(collection, document_id, cast("Document", changes))
            readable += len(fields)
    return SecretsFound(readable, unreadable)


async def instance_key(storage: Storage, box: SecretBox, oldest_key: bytes) -> bytes:
    """Returns the key by which this installation names groups and itself: its oldest encryption key.

    It is stored, encrypted, so that it outlives a rotation. It is not stored while there are secrets that
    cannot be read, because then the key is perhaps a wrong one.
    """
    while (kept := await storage.get(INSTANCE_KEYS, _ID)) is None:
        if (await find_secrets(storage, box)).unreadable:
            return oldest_key
        with suppress(DocumentExists):
            encrypted = box.encrypt(oldest_key.decode())
            await storage.create(INSTANCE_KEYS, {"id": _ID, "encrypted": encrypted})
    try:
        return box.decrypt(str(kept["encrypted"])).encode()
    except SecretUnreadable:
        return oldest_key


async def _documents(
    storage: Storage, collection: str, holder: str | None
) -> AsyncGenerator[tuple[str, Mapping[str, object]]]:
    cursor: str | None = None
    while True:
        page = await storage.query(collection, [], limit=_AT_ONCE, cursor=cursor)
        for document in page.items:
            secrets = document if holder is None else document.get(holder)
            if isinstance(secrets, dict):
                yield str(document["id"]), secrets
        if (cursor := page.next_cursor) is None:
            return
