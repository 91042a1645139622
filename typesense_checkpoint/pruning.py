"""Which checkpoints of a thread a pruned thread still needs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from typesense_checkpoint.records import CheckpointRecord, Lane


def latest_and_their_past(
    records: Sequence[CheckpointRecord], delta_channels: Callable[[CheckpointRecord], Iterable[str]]
) -> list[CheckpointRecord]:
    """The latest checkpoint of each namespace, and the ancestors that its delta channels are rebuilt from.

    A delta channel is stored whole only now and then; between, its value follows from the writes since,
    so everything back to the nearest checkpoint that holds it whole has to stay.
    """
    by_key = {record.key: record for record in records}
    latest: dict[Lane, CheckpointRecord] = {}
    for record in sorted(records, key=lambda each: each.age):
        latest[record.lane] = record
    needed: list[CheckpointRecord] = []
    for record in latest.values():
        unseen = set(delta_channels(record)) - record.channels
        needed.append(record)
        for ancestor in _ancestors(record, by_key):
            if not unseen:
                break
            needed.append(ancestor)
            unseen -= ancestor.channels
    return needed


def _ancestors(
    record: CheckpointRecord, by_key: Mapping[str, CheckpointRecord]
) -> Iterator[CheckpointRecord]:
    while record.parent_id and (parent := by_key.get(record.lane.checkpoint_key(record.parent_id))):
        record = parent
        yield record
