"""The secrets that the store holds: whether they can be read, and encrypting them with the first key."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from uuid import UUID

from pydantic import JsonValue

from app.core.secrets import SecretBox, SecretUnreadable
from app.core.storage.documents import all_documents
from app.core.storage.port import Document, DocumentExists, Query, Storage

INSTANCE_KEYS = "instance_keys"
_ID = str(UUID(int=1))
_AT_ONCE = 200
_PLACES: Sequence[tuple[str, str | None, Sequence[str]]] = (
    ("database_connections", None, ("encrypted_url", "encrypted_hash_key")),
    ("schedules", "webhook", ("url", "secret")),
    ("schedules", "targets", ("url",)),
    ("webhooks", "receiver", ("url", "secret")),
    ("webhooks", "previous", ("url", "secret")),
    (INSTANCE_KEYS, None, ("encrypted",)),
)
"""Collection, object or list of objects in its documents (None: the document itself), and the encrypted
fields, which may be null.
"""
_SHORT_LIVED: Sequence[tuple[str, str | None, Sequence[str]]] = (("keyed_requests", None, ("response",)),)
"""Encrypted again with the others. They end by themselves, so that health checks do not read them."""


@dataclass(frozen=True)
class SecretsFound:
    """Numbers of stored secrets."""

    readable: int
    unreadable: int

    @property
    def explanation(self) -> str:
        return (
            f"{self.unreadable} of {self.readable + self.unreadable} stored secrets (database URLs, "
            "webhooks, chats) were encrypted with another key. Add that key to KAI_ENCRYPTION_KEY, or to "
            "secret.key in the data folder, behind the first."
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
        async for document in _documents(storage, collection):
            for secret in _secrets(document, holder, fields):
                try:
                    box.decrypt(secret)
                    readable += 1
                except SecretUnreadable:
                    unreadable += 1
    return SecretsFound(readable, unreadable)


async def encrypt_again(storage: Storage, box: SecretBox) -> SecretsFound:
    """Encrypt all stored secrets with the first key. Those that no key reads stay as they are."""
    readable = unreadable = 0
    for collection, holder, fields in (*_PLACES, *_SHORT_LIVED):
        async for document in _documents(storage, collection):
            number = len(_secrets(document, holder, fields))
            if number == 0:
                continue
            try:
                changes = _rotated(document, holder, fields, box=box)
            except SecretUnreadable:
                unreadable += number
                continue
            await storage.patch(collection, str(document["id"]), changes)
            readable += number
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


def _documents(storage: Storage, collection: str) -> AsyncGenerator[Document]:
    return all_documents(storage, collection, Query(limit=_AT_ONCE))


def _holders(document: Document, holder: str | None) -> list[Document]:
    """Returns the objects of a document that have the fields."""
    found = document if holder is None else document.get(holder)
    several = found if isinstance(found, list) else [found]
    return [each for each in several if isinstance(each, dict)]


def _secrets(document: Document, holder: str | None, fields: Sequence[str]) -> list[str]:
    holders = _holders(document, holder)
    return [str(each[field]) for each in holders for field in fields if each.get(field) is not None]


def _rotated(document: Document, holder: str | None, fields: Sequence[str], *, box: SecretBox) -> Document:
    """Returns the changes of a document. Raises `SecretUnreadable`."""

    def rotate(found: Document) -> Document:
        return {name: box.rotate(str(found[name])) for name in fields if found.get(name) is not None}

    if holder is None:
        return rotate(document)
    again: list[JsonValue] = [{**each, **rotate(each)} for each in _holders(document, holder)]
    return {holder: again if isinstance(document[holder], list) else again[0]}
