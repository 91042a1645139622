"""LangGraph checkpoints in Typesense, for any LangGraph project."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from typesense import AsyncClient

from typesense_checkpoint.collection import MOST_FOUND, Document, TypesenseCollection, by_ids
from typesense_checkpoint.group_commit import GroupCommit
from typesense_checkpoint.pruning import latest_and_their_past
from typesense_checkpoint.records import (
    FIELDS,
    CheckpointRecord,
    Lane,
    ValueRecord,
    WriteRecord,
    is_small,
    order,
    run_key,
    tag,
    thread_key,
)
from typesense_checkpoint.sync import SynchronousCheckpointer

_NEWEST_FIRST = "newer:desc,newer_still:desc"
_LATEST_FIRST = f"fence:desc,{_NEWEST_FIRST}"
_LISTED_AT_ONCE = 50
_WALKED_AT_ONCE = 100


class CheckpointIncomplete(Exception):
    """A value of the checkpoint is gone, as when its thread is deleted while it is being read."""


class TypesenseCheckpointer(SynchronousCheckpointer):
    """Keeps checkpoints in one Typesense collection (server 0.24 or newer).

        from typesense import AsyncClient

        client = AsyncClient(
            {
                "api_key": "xyz",
                "nodes": [{"host": "localhost", "port": 8108, "protocol": "http"}],
                "connection_timeout_seconds": 5,
            }
        )
        checkpointer = TypesenseCheckpointer(client)
        await checkpointer.setup()
        graph = builder.compile(checkpointer=checkpointer)
        await graph.ainvoke(inputs, {"configurable": {"thread_id": "1"}})

    A superstep is one request, together with whatever else is written just then; its checkpoint comes
    last, so that a reader never sees one without its values. The latest state of a thread is read by two.
    A channel's value is written once a version. Threads whose ids differ only in case, accents or
    punctuation are different threads. Every write may be repeated: ids that follow from what is written
    make that harmless.

    Where several processes may work on one thread by mistake (one was thought dead and is not), give
    each that takes over a greater number as `configurable["fence"]`: the latest checkpoint is the newest of
    those with the greatest fence, whatever an earlier holder still writes and whatever its clock says.

    `serde` is LangGraph's. The default constructs only what is known to be safe (and the types of the
    graph's own state), whatever a tampered document asks for; give an `EncryptedSerializer` to encrypt
    everything but the hashes that are searched by.

    Checkpoint ids must be UUIDs, as LangGraph makes them: `ValueError` refuses others. All other failures
    are the client's: `TypesenseClientError` and `httpx.HTTPError`.

    Beside each method below there is LangGraph's synchronous one (`setup`, `put`, `get_tuple`, ...), for use
    without an event loop, with the same client:

        checkpointer = TypesenseCheckpointer(client)
        checkpointer.setup()
        graph = builder.compile(checkpointer=checkpointer)
        graph.invoke(inputs, {"configurable": {"thread_id": "1"}})
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        collection: str = "langgraph_checkpoints",
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde or JsonPlusSerializer(allowed_msgpack_modules=None))
        self._kept = TypesenseCollection(client, collection)
        self._created = GroupCommit(self._kept)

    async def asetup(self) -> None:
        """Make the collection unless it is there."""
        await self._kept.make(FIELDS)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A greater version, and one that two forks of a thread never give to different values.

        Versions are compared as texts; of this form, they are in order with those of LangGraph's savers.
        """
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{uuid4().hex[:16]}"

    # Writing

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        lane = _lane(config)
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        kept = {channel: version for channel, version in versions.items() if channel in values}
        apart = {channel: version for channel, version in kept.items() if not is_small(values[channel])}
        inline = {channel: self.serde.dumps_typed(values[channel]) for channel in kept.keys() - apart.keys()}
        new = [
            ValueRecord(lane, channel, version, self.serde.dumps_typed(values[channel])).document()
            for channel, version in apart.items()
            if channel in new_versions
        ]
        full_metadata = get_serializable_checkpoint_metadata(config, metadata)
        record = CheckpointRecord(
            lane=lane,
            id=checkpoint["id"],
            parent_id=get_checkpoint_id(config),
            checkpoint=self.serde.dumps_typed({**checkpoint, "channel_values": {}}),
            metadata=self.serde.dumps_typed(full_metadata),
            inline=inline,
            apart=apart,
            fence=int(config["configurable"].get("fence", 0)),
        )
        documents = [*new, _document(record, full_metadata)]
        if not all(await self._created.create(documents, urgent=True)):
            await self._kept.write(documents, "upsert")  # put again: the later one counts
        return _config(lane, checkpoint["id"])

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        lane, checkpoint_id = _lane(config), cast("str", get_checkpoint_id(config))
        records = [
            WriteRecord(
                lane=lane,
                checkpoint_id=checkpoint_id,
                task_path=task_path,
                task_id=task_id,
                index=WRITES_IDX_MAP.get(channel, position),
                channel=channel,
                value=self.serde.dumps_typed(value),
            )
            for position, (channel, value) in enumerate(writes)
        ]
        # A task's own write stays as it was first said; errors, interrupts and the answers to them change.
        said = [record.document() for record in records if record.index >= 0]
        changing = [record.document() for record in records if record.index < 0]
        await self._created.create(said, urgent=False)
        await self._kept.write(changing, "upsert")

    # Reading

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        tuples = await self._tuples(await self._records(_lane(config), get_checkpoint_id(config)))
        return tuples[0] if tuples else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  (the name is LangGraph's)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        where = _where(config, filter or {})
        older_than = get_checkpoint_id(before) if before else None
        left = limit
        while left is None or left > 0:
            conditions = where if older_than is None else f"{where} && {_older(older_than)}"
            records = await self._page(conditions, where)
            matching = [each for each in records if self._matches(each, config, filter or {})][:left]
            for found in await self._tuples(matching):
                yield found
            if len(records) < _LISTED_AT_ONCE:
                return
            older_than = records[-1].id
            left = None if left is None else left - len(matching)

    async def _page(self, conditions: str, where: str) -> list[CheckpointRecord]:
        """The newest checkpoints, with all of the last one's id: threads that were copied share ids."""
        search = {"filter_by": conditions, "sort_by": _NEWEST_FIRST, "per_page": _LISTED_AT_ONCE}
        (found,) = await self._kept.find(search)
        if len(found) == _LISTED_AT_ONCE:
            last = CheckpointRecord.of(found[-1])
            newer, newer_still = order(last.id)
            same = f"{where} && newer:={newer} && newer_still:={newer_still}"
            listed = {document["id"] for document in found}
            found += [
                each for each in await self._kept.find_all({"filter_by": same}) if each["id"] not in listed
            ]
        return [CheckpointRecord.of(document) for document in found]

    def _matches(
        self, record: CheckpointRecord, config: RunnableConfig | None, wanted: Mapping[str, object]
    ) -> bool:
        if config is not None:
            configurable = config["configurable"]
            same_thread = record.lane.thread_id == configurable["thread_id"]
            if not same_thread or record.lane.namespace != configurable.get(
                "checkpoint_ns", record.lane.namespace
            ):
                return False
        metadata = self.serde.loads_typed(record.metadata)
        return all(metadata.get(name) == value for name, value in wanted.items())

    async def _records(self, lane: Lane, checkpoint_id: str | None) -> list[CheckpointRecord]:
        """The one of this id, or else the latest; none when there is no such checkpoint."""
        if checkpoint_id is None:
            search = {"filter_by": f"lane:={lane.key}", "sort_by": _LATEST_FIRST, "per_page": 1}
        else:
            search = {"filter_by": f"id:={lane.checkpoint_key(checkpoint_id)}"}
        (found,) = await self._kept.find(search)
        return [record for record in map(CheckpointRecord.of, found) if record.lane == lane]

    async def _tuples(self, records: Sequence[CheckpointRecord]) -> list[CheckpointTuple]:
        """These checkpoints whole; the values and writes of all of them come by one request."""
        if not records:
            return []
        keys = [key for record in records for key in record.value_keys().values()]
        values, writes = await self._values_and_writes(keys, records)
        return [self._tuple(record, values, writes[record.key]) for record in records]

    async def _values_and_writes(
        self, value_keys: Sequence[str], records: Sequence[CheckpointRecord]
    ) -> tuple[dict[str, ValueRecord], dict[str, list[WriteRecord]]]:
        """Values by their key, and the writes pending at each checkpoint in the order they are applied."""
        pending = {"filter_by": f"checkpoint:=[{','.join(record.key for record in records)}]"}
        *found, written = await self._kept.find(*by_ids(value_keys), pending)
        if len(written) == MOST_FOUND:
            written = await self._kept.find_all(pending)
        values = {value.key: value for value in map(ValueRecord.of, chain.from_iterable(found))}
        writes: dict[str, list[WriteRecord]] = {record.key: [] for record in records}
        for write in sorted(map(WriteRecord.of, written), key=lambda each: each.order):
            if (key := write.lane.checkpoint_key(write.checkpoint_id)) in writes:
                writes[key].append(write)
        return values, writes

    def _tuple(
        self, record: CheckpointRecord, values: Mapping[str, ValueRecord], writes: Sequence[WriteRecord]
    ) -> CheckpointTuple:
        checkpoint: Checkpoint = self.serde.loads_typed(record.checkpoint)
        checkpoint["channel_values"] = {
            channel: self._value(record, channel, values) for channel in sorted(record.channels)
        }
        return CheckpointTuple(
            config=_config(record.lane, record.id),
            checkpoint=checkpoint,
            metadata=self.serde.loads_typed(record.metadata),
            parent_config=_config(record.lane, record.parent_id) if record.parent_id else None,
            pending_writes=[self._pending(write) for write in writes],
        )

    def _value(self, record: CheckpointRecord, channel: str, values: Mapping[str, ValueRecord]) -> object:
        if channel in record.inline:
            return self.serde.loads_typed(record.inline[channel])
        found = values.get(record.value_keys()[channel])
        if found is None:
            raise CheckpointIncomplete(
                f"The checkpoint {record.id} lacks its value of {channel!r}: it was deleted meanwhile."
            )
        return self.serde.loads_typed(found.value)

    def _pending(self, write: WriteRecord) -> PendingWrite:
        return write.task_id, write.channel, self.serde.loads_typed(write.value)

    # The past of delta channels

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Three requests for a hundred ancestors, where LangGraph's default makes two for each."""
        if not channels:
            return {}
        path = await self._ancestors(config, channels)
        spans = {channel: _span(path, channel) for channel in channels}
        longest = max(spans.values(), key=len, default=[])
        seeds = {
            channel: span[-1] for channel, span in spans.items() if span and channel in span[-1].channels
        }
        keys = [seed.value_keys()[channel] for channel, seed in seeds.items() if channel in seed.apart]
        if not longest:
            return {channel: {"writes": []} for channel in channels}
        values, writes = await self._values_and_writes(keys, longest)
        histories: dict[str, DeltaChannelHistory] = {}
        for channel, span in spans.items():
            oldest_first = chain.from_iterable(writes[record.key] for record in reversed(span))
            history: DeltaChannelHistory = {
                "writes": [self._pending(write) for write in oldest_first if write.channel == channel]
            }
            if channel in seeds:
                history["seed"] = self._value(seeds[channel], channel, values)
            histories[channel] = history
        return histories

    async def _ancestors(self, config: RunnableConfig, channels: Sequence[str]) -> list[CheckpointRecord]:
        """Parent, grandparent and so on, until each channel has had a value."""
        lane = _lane(config)
        target = await self._records(lane, get_checkpoint_id(config))
        path: list[CheckpointRecord] = []
        unseen = set(channels)
        wanted = target[0].parent_id if target else None
        older_than = target[0].id if target else ""
        while wanted is not None and unseen:
            search = {
                "filter_by": f"lane:={lane.key} && {_older(older_than)}",
                "sort_by": _NEWEST_FIRST,
                "per_page": _WALKED_AT_ONCE,
            }
            (found,) = await self._kept.find(search)
            for record in map(CheckpointRecord.of, found):
                if record.id == wanted and unseen:
                    path.append(record)
                    unseen -= record.channels
                    wanted = record.parent_id
                older_than = record.id
            if len(found) < _WALKED_AT_ONCE:
                break
        return path

    # Deleting and copying

    async def adelete_thread(self, thread_id: str) -> None:
        await self._kept.delete(f"thread:={thread_key(thread_id)}")

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of these runs; a child that stays has no parent then."""
        runs = {run_key(run_id) for run_id in run_ids}
        found = await self._kept.export_any("run", sorted(runs))
        threads = {CheckpointRecord.of(document).lane.thread_id for document in found}
        gone = {document["id"] for document in found}
        for thread_id in threads:
            records = await self._thread(thread_id)
            await self._keep_only([record for record in records if record.key not in gone], records)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        values: list[Document] = []
        writes: list[Document] = []
        checkpoints: list[Document] = []
        for document in await self._kept.export(f"thread:={thread_key(source_thread_id)}"):
            match document["kind"]:
                case "value":
                    value = ValueRecord.of(document)
                    values.append(replace(value, lane=value.lane.of_thread(target_thread_id)).document())
                case "write":
                    write = WriteRecord.of(document)
                    writes.append(replace(write, lane=write.lane.of_thread(target_thread_id)).document())
                case _:
                    record = CheckpointRecord.of(document)
                    copied = replace(record, lane=record.lane.of_thread(target_thread_id))
                    checkpoints.append(self._document(copied))
        await self._kept.write([*values, *writes, *checkpoints], "upsert")

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`keep_latest` keeps what delta channels of the latest checkpoints are rebuilt from, too."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"strategy must be 'keep_latest' or 'delete', not {strategy!r}")
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
            else:
                records = await self._thread(thread_id)
                await self._keep_only(latest_and_their_past(records, self._delta_channels), records)

    def _delta_channels(self, record: CheckpointRecord) -> Collection[str]:
        metadata = self.serde.loads_typed(record.metadata)
        return cast("Mapping[str, object]", metadata.get("counters_since_delta_snapshot") or {}).keys()

    async def _thread(self, thread_id: str) -> list[CheckpointRecord]:
        found = await self._kept.export(f"thread:={thread_key(thread_id)} && kind:=checkpoint")
        return [record for record in map(CheckpointRecord.of, found) if record.lane.thread_id == thread_id]

    async def _keep_only(self, kept: Sequence[CheckpointRecord], records: Sequence[CheckpointRecord]) -> None:
        """Delete a thread's other records; checkpoints first, so that none is ever without its values."""
        staying = {record.key for record in kept}
        gone = [record for record in records if record.key not in staying]
        orphans = [
            replace(record, parent_id=None)
            for record in kept
            if record.parent_id and record.lane.checkpoint_key(record.parent_id) not in staying
        ]
        await self._kept.write([self._document(record) for record in orphans], "upsert")
        await self._kept.delete_any("id", [record.key for record in gone])
        await self._kept.delete_any("checkpoint", [record.key for record in gone])
        needed = {key for record in kept for key in record.value_keys().values()}
        unneeded = {key for record in gone for key in record.value_keys().values()} - needed
        await self._kept.delete_any("id", sorted(unneeded))

    def _document(self, record: CheckpointRecord) -> Document:
        return _document(record, self.serde.loads_typed(record.metadata))


def _document(record: CheckpointRecord, metadata: Mapping[str, object]) -> Document:
    tags = [made for name, value in metadata.items() if (made := tag(name, value)) is not None]
    run_id = metadata.get("run_id")
    return record.document(run_id if isinstance(run_id, str) else None, tags)


def _lane(config: RunnableConfig) -> Lane:
    configurable = config["configurable"]
    return Lane(str(configurable["thread_id"]), str(configurable.get("checkpoint_ns", "")))


def _config(lane: Lane, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": lane.thread_id,
            "checkpoint_ns": lane.namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def _span(path: Sequence[CheckpointRecord], channel: str) -> list[CheckpointRecord]:
    """The ancestors back to the first that has a value of the channel, that one included."""
    span: list[CheckpointRecord] = []
    for record in path:
        span.append(record)
        if channel in record.channels:
            break
    return span


def _where(config: RunnableConfig | None, metadata: Mapping[str, object]) -> str:
    """What Typesense can tell apart; lists and objects in the metadata are compared after the reading."""
    conditions = ["kind:=checkpoint"]
    if config is not None and "checkpoint_ns" in config["configurable"]:
        conditions = [f"lane:={_lane(config).key}"]
    elif config is not None:
        conditions.append(f"thread:={thread_key(str(config['configurable']['thread_id']))}")
    if config is not None and (checkpoint_id := get_checkpoint_id(config)) is not None:
        newer, newer_still = order(checkpoint_id)
        conditions.append(f"newer:={newer} && newer_still:={newer_still}")
    tags = (tag(name, value) for name, value in metadata.items())
    return " && ".join([*conditions, *(f"tags:={made}" for made in tags if made is not None)])


def _older(checkpoint_id: str) -> str:
    newer, newer_still = order(checkpoint_id)
    return f"(newer:<{newer} || (newer:={newer} && newer_still:<{newer_still}))"
