"""The checkpointer: LangGraph's checkpoint interface on one Typesense collection."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any
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

from typesense_checkpoint.collection import TypesenseCollection, searches_by_id
from typesense_checkpoint.filters import checkpoints_in_scope, config_of, is_in_scope, location_of
from typesense_checkpoint.group_commit import GroupCommit
from typesense_checkpoint.pruning import NO_RUN, earlier_runs, latest_with_ancestors
from typesense_checkpoint.queries import (
    LIST_PAGE,
    find_ancestors,
    find_heads,
    find_page,
    find_record,
    find_thread,
    find_values_and_writes,
    span_of,
)
from typesense_checkpoint.records import (
    FIELDS,
    CheckpointDocument,
    CheckpointRecord,
    Document,
    ValueRecord,
    Write,
    WritesRecord,
    hash_run,
    hash_thread,
    is_inline,
    metadata_tag,
)
from typesense_checkpoint.sync import SynchronousCheckpointer


class CheckpointIncomplete(Exception):
    """A channel value of a checkpoint is missing, although the checkpoint itself is stored.

    A checkpoint that is deleted while it is read counts as deleted instead.
    """


class TypesenseCheckpointer(SynchronousCheckpointer):
    """LangGraph checkpointer that stores checkpoints in one Typesense collection.

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

    A superstep costs one request, shared with other writes of the same moment. A checkpoint is written
    after its channel values, so no reader sees it without them. The latest state of a thread costs two
    requests. A channel value is written once per version. Thread ids that differ only in case, accents or
    punctuation are different threads. Every write can be repeated: document ids are derived from what is
    written.

    **Fencing.** Two processes may work on one thread by mistake, for example when the first was considered
    dead. Give each process that takes over a greater integer as `configurable["fence"]`. The latest
    checkpoint is the newest one with the greatest fence, so later writes of an earlier process and its
    clock do not matter.

    **Serialization.** `serde` is a LangGraph serializer. The default constructs known safe types and the
    types of the graph's state only, so a tampered document cannot run code. An `EncryptedSerializer`
    encrypts values, writes and metadata. Ids of threads, checkpoints, runs and tasks and the names of
    channels and namespaces stay readable, and metadata scalars are searchable by their hashes.

    **Errors.** Checkpoint ids must be UUIDs, as LangGraph makes them: `ValueError` otherwise. Every method
    raises `typesense.exceptions.TypesenseClientError` when Typesense refuses a request, and
    `httpx.HTTPError` when the server is unavailable. Nothing is retried beyond the client's own retries.

    **Without an event loop.** Each asynchronous method has LangGraph's synchronous counterpart (`setup`,
    `put`, `get_tuple`, ...). Use one instance either synchronously or asynchronously:

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
        """Makes no request; call `setup` before the first use.

        Args:
            client: A client that no other event loop uses. The caller closes it.
            collection: Name of the collection. Nothing else may write to it.
            serde: Serializer of checkpoints, metadata and values. The default is LangGraph's, without
                arbitrary types.
        """
        super().__init__(serde=serde or JsonPlusSerializer(allowed_msgpack_modules=None))
        self._collection: TypesenseCollection[Document] = TypesenseCollection(client, collection)
        self._group_commit = GroupCommit(self._collection)

    async def asetup(self) -> None:
        """Create the collection. An existing one is left unchanged.

        Raises:
            TypesenseClientError: Typesense refused the request, for example because of a wrong key.
            httpx.HTTPError: The server is unavailable.
        """
        await self._collection.create_if_missing(FIELDS)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Make the version that follows a channel's current one.

        Versions are unique, so two forks of a thread never share one. They sort as text, together with the
        versions that LangGraph's own checkpointers make.

        Args:
            current: The current version; None for a channel without a value.
            channel: Unused; LangGraph passes None.

        Returns:
            The next version, greater than `current`.
        """
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{uuid4().hex[:12]}"

    # Writing

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint with its channel values. Returns when all of it is durable.

        Values are written before their checkpoint. The same checkpoint saved again replaces the first.

        Args:
            config: `thread_id`, `checkpoint_ns` (default: the root namespace), `checkpoint_id` of the
                parent (default: none) and `fence` (default: 0) in `configurable`.
            checkpoint: The checkpoint to save.
            metadata: Its metadata. Scalars of the config's `metadata` and `configurable` are added.
            new_versions: Versions of the channels that changed. Other values are already stored.

        Returns:
            The config that identifies the saved checkpoint.

        Raises:
            KeyError: The config has no `thread_id`.
            ValueError: The checkpoint id is not a UUID.
            TypesenseClientError: Typesense refused the request, or a document of it (`DocumentsRefused`).
            httpx.HTTPError: The server is unavailable. The checkpoint may or may not be stored.
        """
        location = location_of(config)
        values = checkpoint["channel_values"]
        versions = {name: each for name, each in checkpoint["channel_versions"].items() if name in values}
        separate = {name: version for name, version in versions.items() if not is_inline(values[name])}
        inline = {name: values[name] for name in versions.keys() - separate.keys()}
        new_values = [
            ValueRecord(
                location=location,
                channel=channel,
                version=version,
                value=self.serde.dumps_typed(values[channel]),
            ).to_document()
            for channel, version in separate.items()
            if channel in new_versions
        ]
        full_metadata = get_serializable_checkpoint_metadata(config, metadata)
        record = CheckpointRecord(
            location=location,
            id=checkpoint["id"],
            parent_id=get_checkpoint_id(config),
            checkpoint=self.serde.dumps_typed({**checkpoint, "channel_values": inline}),
            metadata=self.serde.dumps_typed(full_metadata),
            separate=separate,
            fence=int(config["configurable"].get("fence", 0)),
        )
        documents: list[Document] = [*new_values, _to_document(record, full_metadata)]
        if not all(await self._group_commit.create_now(documents)):
            await self._collection.write(documents, "upsert")  # saved before: replace it
        return config_of(location, checkpoint["id"])

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save the writes of a task, pending at a checkpoint. Returns when they are durable.

        A repeated write of a task leaves the first unchanged. Errors, interrupts and resume values replace
        what the task wrote before. The checkpoint itself may be saved later.

        Args:
            config: `thread_id`, `checkpoint_ns` (default: the root namespace) and `checkpoint_id` in
                `configurable`.
            writes: Pairs of channel and value, in the order in which they are applied.
            task_id: Id of the task.
            task_path: Path of the task. Writes are applied in the order of path, task id and position.

        Raises:
            KeyError: The config has no `thread_id` or no `checkpoint_id`.
            TypesenseClientError: Typesense refused the request, or a document of it (`DocumentsRefused`).
            httpx.HTTPError: The server is unavailable. Some writes may be stored.
        """
        location = location_of(config)
        checkpoint_id: str = config["configurable"]["checkpoint_id"]
        record = WritesRecord(
            location=location,
            checkpoint_id=checkpoint_id,
            task_path=task_path,
            task_id=task_id,
            writes=[
                Write(WRITES_IDX_MAP.get(channel, position), channel, self.serde.dumps_typed(value))
                for position, (channel, value) in enumerate(writes)
            ],
        )
        # LangGraph gives errors, interrupts and resume values negative indices; these may change.
        changing = [record.only(write) for write in record.writes if write.index < 0]
        final = [write for write in record.writes if write.index >= 0]
        if final:
            await self._save_final(replace(record, writes=final))
        await self._collection.write([each.to_document(alone=True) for each in changing], "upsert")

    async def _save_final(self, record: WritesRecord) -> None:
        """Create one document of all writes. If the task has saved before, only add writes that it lacks."""
        (created,) = await self._group_commit.create_soon([record.to_document()])
        if created:
            return
        (found,) = await self._collection.find({"filter_by": f"id:={record.key}"})
        saved = {write.index for each in found for write in WritesRecord.from_document(each).writes}
        added = [record.only(write) for write in record.writes if write.index not in saved]
        await self._group_commit.create_soon([each.to_document(alone=True) for each in added])

    # Reading

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint with its channel values, metadata, parent and pending writes.

        Args:
            config: `thread_id`, `checkpoint_ns` (default: the root namespace) and `checkpoint_id` (default:
                the latest) in `configurable`.

        Returns:
            The checkpoint of the id, or the latest: the newest of those with the greatest fence. None if
            there is none. Pending writes are in the order in which a superstep applies them.

        Raises:
            KeyError: The config has no `thread_id`.
            CheckpointIncomplete: A value of the checkpoint is missing.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable.
        """
        record = await self.afind_record(config)
        if record is None:
            return None
        try:
            return await self.aread_record(record)
        except CheckpointIncomplete:  # deleted since, unless it is still there
            record = await self.afind_record(config)
            return None if record is None else await self.aread_record(record)

    async def afind_record(self, config: RunnableConfig) -> CheckpointRecord | None:
        """Find the checkpoint that `aget_tuple` returns, without its values: the first of its two requests.

        Searches of the same moment share a request, so a caller that has other searches to make can make the
        two requests with them, by this method and `aread_record`.

        Args:
            config: As for `aget_tuple`.

        Returns:
            The record of the checkpoint. None if there is none.

        Raises:
            KeyError: The config has no `thread_id`.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable.
        """
        return await find_record(self._collection, location_of(config), get_checkpoint_id(config))

    async def aread_record(self, record: CheckpointRecord) -> CheckpointTuple:
        """Read a checkpoint that was just found.

        Args:
            record: What `afind_record` returned.

        Returns:
            The checkpoint as `aget_tuple` returns it.

        Raises:
            CheckpointIncomplete: A value of the checkpoint is missing, or was deleted since.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable.
        """
        (found,) = await self._tuples([record])
        return found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, newest first: in descending order of their ids, whatever their fences.

        Pages of fifty are read on demand, at the same cost at any depth. A checkpoint saved or deleted
        meanwhile causes no gap and no repeat.

        Args:
            config: `thread_id`, and optionally `checkpoint_ns` and `checkpoint_id`, in `configurable`.
                Without `checkpoint_ns` all namespaces of the thread are listed; without a config all threads.
            filter: Metadata entries that a checkpoint must have, compared for equality.
            before: Lists only checkpoints older than its `checkpoint_id`.
            limit: The most checkpoints to list; None for all.

        Yields:
            Each checkpoint as `aget_tuple` returns it.

        Raises:
            KeyError: The config has no `thread_id`.
            ValueError: A `checkpoint_id` is not a UUID.
            CheckpointIncomplete: A value of a checkpoint is missing.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable.
        """
        entries = filter or {}
        in_scope = checkpoints_in_scope(config, entries)
        older_than = get_checkpoint_id(before) if before else None
        remaining = limit
        while remaining is None or remaining > 0:
            records = await find_page(self._collection, in_scope, older_than)
            matching = [
                record
                for record in records
                if is_in_scope(record.location, config) and self._has_metadata(record, entries)
            ][:remaining]
            for found in await self._existing_tuples(matching):
                yield found
            if len(records) < LIST_PAGE:
                return
            older_than = records[-1].id
            remaining = None if remaining is None else remaining - len(matching)

    def _has_metadata(self, record: CheckpointRecord, entries: Mapping[str, object]) -> bool:
        metadata = self._metadata(record)
        return all(metadata.get(name) == value for name, value in entries.items())

    async def _existing_tuples(self, records: Sequence[CheckpointRecord]) -> list[CheckpointTuple]:
        """Returns complete checkpoints, without those that have been deleted since they were found."""
        try:
            return await self._tuples(records)
        except CheckpointIncomplete:
            found = await self._collection.find(*searches_by_id([record.key for record in records]))
            existing = {document["id"] for document in chain.from_iterable(found)}
            return await self._tuples([record for record in records if record.key in existing])

    async def _tuples(self, records: Sequence[CheckpointRecord]) -> list[CheckpointTuple]:
        """Returns complete checkpoints; one request reads the values and writes of all of them."""
        if not records:
            return []
        keys = [key for record in records for key in record.value_keys().values()]
        values, writes = await find_values_and_writes(self._collection, keys, records)
        return [self._tuple(record, values, writes[record.key]) for record in records]

    def _tuple(
        self, record: CheckpointRecord, values: Mapping[str, ValueRecord], writes: Sequence[tuple[str, Write]]
    ) -> CheckpointTuple:
        checkpoint: Checkpoint = self.serde.loads_typed(record.checkpoint)
        inline = checkpoint["channel_values"]
        checkpoint["channel_values"] = {
            channel: inline[channel] if channel in inline else self._value(record, channel, values)
            for channel in sorted({*inline, *record.separate})
        }
        return CheckpointTuple(
            config=config_of(record.location, record.id),
            checkpoint=checkpoint,
            metadata=self.serde.loads_typed(record.metadata),
            parent_config=config_of(record.location, record.parent_id) if record.parent_id else None,
            pending_writes=[self._pending(*each) for each in writes],
        )

    def _value(self, record: CheckpointRecord, channel: str, values: Mapping[str, ValueRecord]) -> object:
        if channel not in record.separate:
            return self._inline(record)[channel]
        found = values.get(record.value_keys()[channel])
        if found is None:
            raise CheckpointIncomplete(
                f"The checkpoint {record.id} has lost its value of {channel!r}. If its thread is being "
                "deleted or pruned, read it again."
            )
        return self.serde.loads_typed(found.value)

    def _inline(self, record: CheckpointRecord) -> Mapping[str, object]:
        checkpoint: Checkpoint = self.serde.loads_typed(record.checkpoint)
        return checkpoint["channel_values"]

    def _channels(self, record: CheckpointRecord) -> set[str]:
        return {*self._inline(record), *record.separate}

    def _pending(self, task_id: str, write: Write) -> PendingWrite:
        return task_id, write.channel, self.serde.loads_typed(write.value)

    # History of delta channels

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what the values of delta channels are rebuilt from, along the parents of a checkpoint.

        Costs three requests for a hundred ancestors; LangGraph's default costs two for each ancestor.

        Args:
            config: The checkpoint, as in `aget_tuple`. Its own writes are not part of the history.
            channels: Names of the channels.

        Returns:
            For each channel: `seed`, the value of the nearest ancestor that has one (absent if none has),
            and `writes`, the pending writes of the ancestors from that one on, oldest first.

        Raises:
            KeyError: The config has no `thread_id`.
            CheckpointIncomplete: The thread was deleted or pruned during the read.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable.
        """
        if not channels:
            return {}
        target = await find_record(self._collection, location_of(config), get_checkpoint_id(config))
        ancestors = (
            await find_ancestors(self._collection, target, channels, channels_of=self._channels)
            if target
            else []
        )
        spans = {channel: span_of(ancestors, channel, self._channels) for channel in channels}
        longest = max(spans.values(), key=len, default=[])
        if not longest:
            return {channel: {"writes": []} for channel in channels}
        seeds = {
            channel: span[-1]
            for channel, span in spans.items()
            if span and channel in self._channels(span[-1])
        }
        keys = [seed.value_keys()[channel] for channel, seed in seeds.items() if channel in seed.separate]
        values, writes = await find_values_and_writes(self._collection, keys, longest)
        histories: dict[str, DeltaChannelHistory] = {}
        for channel, span in spans.items():
            oldest_first = chain.from_iterable(writes[record.key] for record in reversed(span))
            history: DeltaChannelHistory = {
                "writes": [self._pending(*each) for each in oldest_first if each[1].channel == channel]
            }
            if channel in seeds:
                history["seed"] = self._value(seeds[channel], channel, values)
            histories[channel] = history
        return histories

    # Deleting and copying

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints, values and writes of a thread. An unknown thread is no error.

        Args:
            thread_id: Id of the thread, compared exactly.

        Raises:
            TypesenseClientError: Typesense refused the request.
            httpx.HTTPError: The server is unavailable. Call it again.
        """
        await self._collection.delete(f"thread:={hash_thread(thread_id)}")

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, with their values and writes, in all threads.

        A remaining checkpoint whose parent was deleted has no parent then. Delta channels that depend on a
        deleted checkpoint lose its part of their history.

        Args:
            run_ids: The `run_id` metadata entries of the checkpoints to delete.

        Raises:
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable. Call it again.
        """
        hashes = sorted({hash_run(run_id) for run_id in run_ids})
        found = await self._collection.export_any("run", hashes)
        deleted = {document["id"] for document in found}
        for thread_id in {CheckpointRecord.from_document(document).location.thread_id for document in found}:
            records = await find_thread(self._collection, thread_id)
            await self._keep_only([record for record in records if record.key not in deleted], records)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints, values and writes of a thread to another one, with their ids.

        Values and writes are copied before checkpoints. Checkpoints of the target with other ids stay.

        Args:
            source_thread_id: Id of the thread to copy. An unknown thread is no error.
            target_thread_id: Id of the copy.

        Raises:
            TypesenseClientError: Typesense refused a request, or a document of it (`DocumentsRefused`).
            httpx.HTTPError: The server is unavailable. Call it again.
        """
        parts: list[Document] = []
        checkpoints: list[Document] = []
        for document in await self._collection.export(f"thread:={hash_thread(source_thread_id)}"):
            match document["kind"]:
                case "value":
                    value = ValueRecord.from_document(document)
                    copied_value = replace(value, location=value.location.in_thread(target_thread_id))
                    parts.append(copied_value.to_document())
                case "write":
                    writes = WritesRecord.from_document(document)
                    copied_writes = replace(writes, location=writes.location.in_thread(target_thread_id))
                    alone = document["id"] != writes.key
                    parts.append(copied_writes.to_document(alone=alone))
                case "checkpoint":
                    record = CheckpointRecord.from_document(document)
                    copied = replace(record, location=record.location.in_thread(target_thread_id))
                    checkpoints.append(self._to_document(copied))
        await self._collection.write([*parts, *checkpoints], "upsert")

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the past of threads.

        Args:
            thread_ids: Ids of the threads. An unknown thread is no error.
            strategy: `keep_latest` keeps the latest checkpoint of each namespace and the ancestors that its
                delta channels are rebuilt from. `delete` deletes the threads.

        Raises:
            ValueError: The strategy is unknown.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable. Call it again.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"The strategy must be 'keep_latest' or 'delete', not {strategy!r}.")
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
            else:
                records = await find_thread(self._collection, thread_id)
                await self._keep_only(
                    latest_with_ancestors(records, self._delta_channels, self._channels), records
                )

    async def aprune_runs(self, thread_id: str, *, keep_runs: int, ended_run_id: str | None = None) -> None:
        """Delete the checkpoints of all runs of a thread but the latest, while the thread is used.

        Runs are distinguished by the `run_id` of their metadata and ordered by their latest checkpoints.
        Checkpoints without one count as one run. The latest checkpoint of each namespace is always kept,
        with the ancestors that its delta channels are rebuilt from. Several calls at once do no harm.

        Args:
            thread_id: Id of the thread. An unknown thread is no error.
            keep_runs: Number of runs to keep, at least 1.
            ended_run_id: The latest run that counts: all later ones are kept, too. The default is the
                latest run of the thread.

        Raises:
            ValueError: `keep_runs` is less than 1.
            TypesenseClientError: Typesense refused a request.
            httpx.HTTPError: The server is unavailable. Call it again.
        """
        if keep_runs < 1:
            raise ValueError(f"At least one run must be kept, not {keep_runs}.")
        heads = await find_heads(self._collection, thread_id)
        runs = earlier_runs(heads, keep_runs=keep_runs, ended_run_id=ended_run_id)
        earlier = {document["id"] for document in heads if document.get("run", NO_RUN) in runs}
        if not earlier:
            return
        records = await find_thread(self._collection, thread_id)
        latest = latest_with_ancestors(records, self._delta_channels, self._channels)
        needed = {record.key for record in latest}
        kept = [record for record in records if record.key not in earlier or record.key in needed]
        await self._keep_only(kept, records)

    def _metadata(self, record: CheckpointRecord) -> CheckpointMetadata:
        metadata: CheckpointMetadata = self.serde.loads_typed(record.metadata)
        return metadata

    def _delta_channels(self, record: CheckpointRecord) -> Collection[str]:
        metadata = self._metadata(record)
        return metadata.get("counters_since_delta_snapshot", {}).keys()

    async def _keep_only(self, kept: Sequence[CheckpointRecord], records: Sequence[CheckpointRecord]) -> None:
        """Delete the other records of a thread. Checkpoints go before their values, so none is incomplete."""
        kept_keys = {record.key for record in kept}
        deleted = [record for record in records if record.key not in kept_keys]
        orphans = [
            replace(record, parent_id=None)
            for record in kept
            if record.parent_key is not None and record.parent_key not in kept_keys
        ]
        # An update, because another process may be deleting the same checkpoints and have gone further.
        await self._collection.write([self._to_document(record) for record in orphans], "update")
        deleted_keys = [record.key for record in deleted]
        await self._collection.delete_any("checkpoint", deleted_keys)
        await self._collection.delete_any("id", deleted_keys)
        needed = {key for record in kept for key in record.value_keys().values()}
        unneeded = {key for record in deleted for key in record.value_keys().values()} - needed
        await self._collection.delete_any("id", sorted(unneeded))

    def _to_document(self, record: CheckpointRecord) -> CheckpointDocument:
        return _to_document(record, self._metadata(record))


def _to_document(record: CheckpointRecord, metadata: Mapping[str, object]) -> CheckpointDocument:
    run_id = metadata.get("run_id")
    if not isinstance(run_id, str):
        run_id = None
    others = {name: value for name, value in metadata.items() if name != "run_id" or run_id is None}
    tags = [tag for name, value in others.items() if (tag := metadata_tag(name, value)) is not None]
    return record.to_document(run_id, tags)
