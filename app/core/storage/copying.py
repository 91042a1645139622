"""Copies collections from one store to another and compares the result. A copy can be repeated."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from app.core.errors import CannotRun
from app.core.storage.documents import all_pages
from app.core.storage.port import AnyOf, Document, Query, Storage

Watch = Callable[[int, int], None]
"""Callback with the number of copied documents and the number of all documents."""

CURE = (
    "Stop KAI and run this again; when it comes again, copy to where nothing is yet "
    "(another KAI_TYPESENSE__PREFIX, or a new folder)."
)

_AT_ONCE = 500


@dataclass(frozen=True)
class StoreContents:
    """The number of documents in a collection, and a SHA-256 of all of them in the order of their ids."""

    count: int
    digest: str


class CopyDiffers(CannotRun):
    """The copy differs from the original: one of the stores was written to meanwhile. Copy again."""


async def copy_collection(source: Storage, target: Storage, name: str, *, watch: Watch) -> StoreContents:
    """Copy all documents of a collection that both stores have, except those copied already.

    An interrupted copy continues where it stopped. Raises `CopyDiffers`.
    """
    total = await source.count(name, [])
    done = 0
    async for documents in all_pages(source, name, Query(limit=_AT_ONCE)):
        there = await target.query(
            name, Query([AnyOf("id", [str(each["id"]) for each in documents])], limit=1_000)
        )
        known = {str(each["id"]): _encoded(each) for each in there.items}
        await target.put(name, [each for each in documents if known.get(str(each["id"])) != _encoded(each)])
        done += len(documents)
        watch(done, max(total, done))
    copied = await contents(target, name)
    original = await contents(source, name)
    if copied != original:
        raise CopyDiffers(
            f"The collection {name!r} has {original.count} documents and its copy {copied.count}, or they "
            f"differ: one of the stores was written to meanwhile, or the copy was used since. {CURE}"
        )
    return copied


async def contents(storage: Storage, name: str) -> StoreContents:
    digest = hashlib.sha256()
    count = 0
    async for documents in all_pages(storage, name, Query(limit=_AT_ONCE)):
        count += len(documents)
        for document in documents:
            digest.update(_encoded(document) + b"\n")
    return StoreContents(count, digest.hexdigest())


def _encoded(document: Document) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
