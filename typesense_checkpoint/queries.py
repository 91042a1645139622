"""Reads of records from the collection. Nothing here deserializes a checkpoint or value."""

from collections.abc import Sequence
from itertools import chain

from typesense_checkpoint.collection import MAX_HITS, TypesenseCollection, searches_by_id
from typesense_checkpoint.filters import LATEST_FIRST, NEWEST_FIRST, has_id, is_older_than
from typesense_checkpoint.records import (
    ChannelsOf,
    CheckpointDocument,
    CheckpointRecord,
    Document,
    ThreadNamespace,
    ValueRecord,
    Write,
    WritesRecord,
    hash_thread,
)
from typesense_checkpoint.searches import Search

LIST_PAGE = 50
"""Checkpoints per page. A shorter page is the last one."""

_ANCESTOR_PAGE = 100


async def find_record(
    collection: TypesenseCollection[Document], location: ThreadNamespace, checkpoint_id: str | None
) -> CheckpointRecord | None:
    """Returns the checkpoint of the id, or the latest one for None. Returns None if there is none."""
    search: Search = {"filter_by": f"namespace:={location.key}", "sort_by": LATEST_FIRST, "per_page": 1}
    if checkpoint_id is not None:
        search = {"filter_by": f"id:={location.checkpoint_key(checkpoint_id)}"}
    (found,) = await collection.find(search)
    records = map(CheckpointRecord.from_document, found)
    return next((record for record in records if record.location == location), None)


async def find_page(
    collection: TypesenseCollection[Document], in_scope: str, older_than: str | None
) -> list[CheckpointRecord]:
    """Returns the newest checkpoints, and all that share the last one's id, as copied threads do."""
    search: Search = {
        "filter_by": in_scope if older_than is None else f"{in_scope} && {is_older_than(older_than)}",
        "sort_by": NEWEST_FIRST,
        "per_page": LIST_PAGE,
    }
    (found,) = await collection.find(search)
    if len(found) == LIST_PAGE:
        last = CheckpointRecord.from_document(found[-1])
        same_id = await collection.find_all({"filter_by": f"{in_scope} && {has_id(last.id)}"})
        listed = {document["id"] for document in found}
        found += [document for document in same_id if document["id"] not in listed]
    return [CheckpointRecord.from_document(document) for document in found]


async def find_heads(collection: TypesenseCollection[Document], thread_id: str) -> list[CheckpointDocument]:
    """Returns the documents of a thread's checkpoints without their `data`, in no set order."""
    search: Search = {
        "filter_by": f"thread:={hash_thread(thread_id)} && kind:=checkpoint",
        "include_fields": "id,kind,run,fence,id_high,id_low",
    }
    found = await collection.find_all(search)
    return [document for document in found if document["kind"] == "checkpoint"]


async def find_thread(collection: TypesenseCollection[Document], thread_id: str) -> list[CheckpointRecord]:
    """Returns the checkpoints of a thread, in no set order."""
    found = await collection.export(f"thread:={hash_thread(thread_id)} && kind:=checkpoint")
    records = map(CheckpointRecord.from_document, found)
    return [record for record in records if record.location.thread_id == thread_id]


async def find_values_and_writes(
    collection: TypesenseCollection[Document], value_keys: Sequence[str], records: Sequence[CheckpointRecord]
) -> tuple[dict[str, ValueRecord], dict[str, list[tuple[str, Write]]]]:
    """Returns values by their key, and by its key the pending writes of each checkpoint with their task ids.

    Writes are in the order in which a superstep applies them.
    """
    search: Search = {"filter_by": f"checkpoint:=[{','.join(record.key for record in records)}]"}
    *found, written = await collection.find(*searches_by_id(value_keys), search)
    if len(written) == MAX_HITS:
        written = await collection.find_all(search)
    values = {value.key: value for value in map(ValueRecord.from_document, chain.from_iterable(found))}
    writes: dict[str, list[tuple[str, str, int, Write]]] = {record.key: [] for record in records}
    for saved in map(WritesRecord.from_document, written):
        if saved.checkpoint_key in writes:
            writes[saved.checkpoint_key].extend(
                (saved.task_path, saved.task_id, write.index, write) for write in saved.writes
            )
    pending = {
        key: [(task_id, write) for _, task_id, _, write in sorted(each, key=lambda entry: entry[:3])]
        for key, each in writes.items()
    }
    return values, pending


async def find_ancestors(
    collection: TypesenseCollection[Document],
    target: CheckpointRecord,
    channels: Sequence[str],
    *,
    channels_of: ChannelsOf,
) -> list[CheckpointRecord]:
    """Returns parent, grandparent and so on, until each channel has had a value."""
    ancestors: list[CheckpointRecord] = []
    missing = set(channels)
    parent_id = target.parent_id
    older_than = target.id
    while parent_id is not None and missing:
        search: Search = {
            "filter_by": f"namespace:={target.location.key} && {is_older_than(older_than)}",
            "sort_by": NEWEST_FIRST,
            "per_page": _ANCESTOR_PAGE,
        }
        (found,) = await collection.find(search)
        for record in map(CheckpointRecord.from_document, found):
            if record.id == parent_id and missing:
                ancestors.append(record)
                missing -= channels_of(record)
                parent_id = record.parent_id
            older_than = record.id
        if len(found) < _ANCESTOR_PAGE:
            break
    return ancestors


def span_of(
    ancestors: Sequence[CheckpointRecord], channel: str, channels_of: ChannelsOf
) -> list[CheckpointRecord]:
    """Returns the ancestors up to and including the first that has a value of the channel."""
    span: list[CheckpointRecord] = []
    for record in ancestors:
        span.append(record)
        if channel in channels_of(record):
            break
    return span
