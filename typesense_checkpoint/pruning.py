"""Selection of the checkpoints that a pruned thread keeps."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from typesense_checkpoint.records import CheckpointRecord, ThreadNamespace


def latest_with_ancestors(
    records: Sequence[CheckpointRecord], delta_channels: Callable[[CheckpointRecord], Iterable[str]]
) -> list[CheckpointRecord]:
    """Returns the latest checkpoint of each namespace, and the ancestors its delta channels depend on.

    A delta channel is stored whole only now and then. Between those checkpoints its value is rebuilt from
    the writes since, so every ancestor back to the nearest whole value is needed.
    """
    by_key = {record.key: record for record in records}
    latest: dict[ThreadNamespace, CheckpointRecord] = {}
    for record in sorted(records, key=lambda each: each.sort_key):
        latest[record.location] = record
    needed: list[CheckpointRecord] = []
    for record in latest.values():
        missing = set(delta_channels(record)) - record.channels
        needed.append(record)
        for ancestor in _ancestors(record, by_key):
            if not missing:
                break
            needed.append(ancestor)
            missing -= ancestor.channels
    return needed


def _ancestors(
    record: CheckpointRecord, by_key: Mapping[str, CheckpointRecord]
) -> Iterator[CheckpointRecord]:
    """Yields parent, grandparent and so on."""
    while record.parent_key is not None and (parent := by_key.get(record.parent_key)):
        record = parent
        yield record
