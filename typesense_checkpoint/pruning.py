"""Selection of the checkpoints that a pruned thread keeps."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from typesense_checkpoint.records import (
    ChannelsOf,
    CheckpointDocument,
    CheckpointRecord,
    ThreadNamespace,
    hash_run,
    sort_key_of,
)

NO_RUN = ""
"""The run of checkpoints that name none."""


def earlier_runs(
    documents: Sequence[CheckpointDocument], *, keep_runs: int, ended_run_id: str | None
) -> Collection[str]:
    """Returns the hashes of the runs that are older than the latest `keep_runs`, as `aprune_runs` counts."""
    newest: dict[str, tuple[int, int, int]] = {}
    for document in documents:
        run = document.get("run", NO_RUN)
        newest[run] = max(sort_key_of(document), newest.get(run, sort_key_of(document)))
    latest_first = sorted(newest, key=newest.__getitem__, reverse=True)
    ended = None if ended_run_id is None else hash_run(ended_run_id)
    later = latest_first.index(ended) if ended in latest_first else 0
    return set(latest_first[later + keep_runs :])


def latest_with_ancestors(
    records: Sequence[CheckpointRecord],
    delta_channels: Callable[[CheckpointRecord], Iterable[str]],
    channels_of: ChannelsOf,
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
        missing = set(delta_channels(record)) - channels_of(record)
        needed.append(record)
        for ancestor in _ancestors(record, by_key):
            if not missing:
                break
            needed.append(ancestor)
            missing -= channels_of(ancestor)
    return needed


def _ancestors(
    record: CheckpointRecord, by_key: Mapping[str, CheckpointRecord]
) -> Iterator[CheckpointRecord]:
    """Yields parent, grandparent and so on."""
    while record.parent_key is not None and (parent := by_key.get(record.parent_key)):
        record = parent
        yield record
