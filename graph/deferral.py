"""A checkpointer that writes the checkpoints of several steps as one: the latest of them.

A checkpoint is written when a step before it is worth it, unless a step follows that takes no time. Until
then it waits in memory: a crash repeats the steps since the last checkpoint that was written, which costs
little.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from typing_extensions import override

_TO_STEP = "branch:to:"
_INPUT = "__start__"
_PULLED = "~__pregel_pull, "
"""LangGraph's path of a task that an edge has started, before the step's name."""
_SENT = "~__pregel_push, "
"""LangGraph's path of a task that `Send` has started. It does not name the step."""
SENT_STEP = "__pregel_tasks"
"""Name that steps started by `Send` have for `IsCostly`."""

IsCostly = Callable[[str, frozenset[str]], bool]
"""Tells whether a step is worth a checkpoint, by its name and by the steps that follow."""


_Key: TypeAlias = tuple[str, str, int]
"""Thread, namespace and fence of an attempt."""


@dataclass(frozen=True)
class _Put:
    """A checkpoint that waits. `config` names the last one that was written, its parent."""

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    new_versions: ChannelVersions


@dataclass
class _Attempt:
    """What has not been written of one attempt at a thread."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: _Put | None = None
    writes: list[tuple[RunnableConfig, Sequence[tuple[str, Any]], str, str]] = field(default_factory=list)
    """Writes of the step that has ended last, until the checkpoint follows that contains them."""
    following: frozenset[str] = frozenset()
    """Steps that follow the latest checkpoint, as LangGraph names their channels."""
    ran: set[str] = field(default_factory=set)
    is_costly: bool = False


class DeferringCheckpointer(BaseCheckpointSaver[Any]):
    """Implements a saver by another one, with fewer writes.

    The end of a run, errors, interrupts, and parallel tasks that are costly are written at once, with all
    that waits; every read of a thread first writes what waits of it. If a write fails, it is repeated by the
    next one or by the next read, so no step is lost while the process lives.

    `leave` an attempt when it is over.
    """

    def __init__(
        self, saver: BaseCheckpointSaver[Any], is_costly: IsCostly, instant_steps: frozenset[str]
    ) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self._is_costly = is_costly
        self._instant = frozenset(_TO_STEP + step for step in instant_steps)
        self._attempts: dict[_Key, _Attempt] = {}
        self._read: dict[_Key, CheckpointTuple] = {}
        """Checkpoints with which attempts begin."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self._saver.get_next_version(current, channel)

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, namespace, _ = key = _key(config)
        attempt = self._attempts.setdefault(key, _Attempt())
        async with attempt.lock:
            attempt.following = _following(checkpoint)
            steps = frozenset(each.removeprefix(_TO_STEP) for each in attempt.following)
            attempt.is_costly |= any(self._is_costly(step, steps) for step in attempt.ran)
            attempt.ran.clear()
            attempt.writes.clear()
            attempt.waiting = _merged(attempt.waiting, _Put(config, checkpoint, metadata, new_versions))
            if not attempt.following:
                await self._write(attempt)
                self._attempts.pop(key, None)
            elif attempt.is_costly and not attempt.following <= self._instant:
                await self._write(attempt)
        latest = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}
        return {"configurable": latest}

    @override
    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """LangGraph writes the result of each task as it ends, for those that run beside it. A step alone
        needs none, because its checkpoint follows at once; nor do tasks that cost nothing to repeat.
        """
        attempt = self._attempts.get(_key(config))
        if attempt is None:
            await self._saver.aput_writes(config, writes, task_id, task_path)
            return
        async with attempt.lock:
            is_alone = task_path.startswith(_PULLED) and len(attempt.following) == 1
            is_cheap = task_path.startswith(_SENT) and not self._is_costly(SENT_STEP, frozenset())
            if (is_alone or is_cheap) and not any(channel in WRITES_IDX_MAP for channel, _ in writes):
                if is_alone:
                    attempt.ran.add(task_path.removeprefix(_PULLED))
                attempt.writes.append((config, writes, task_id, task_path))
                return
            await self._write(attempt)
            await self._saver.aput_writes(config, writes, task_id, task_path)

    def write_next(self, config: RunnableConfig) -> None:
        """Have the next checkpoint of an attempt written at once."""
        self._attempts.setdefault(_key(config), _Attempt()).is_costly = True

    async def flush(self, thread_id: str) -> None:
        """Write what waits of a thread."""
        for key, attempt in [*self._attempts.items()]:
            if key[0] == thread_id:
                async with attempt.lock:
                    await self._write(attempt)

    def leave(self, thread_id: str, fence: int) -> None:
        """Drop what waits of an attempt."""
        for kept in (self._attempts, self._read):
            for key in [key for key in kept if (key[0], key[2]) == (thread_id, fence)]:
                del kept[key]

    def forget(self, thread_id: str) -> None:
        """Drop what waits of a thread."""
        for kept in (self._attempts, self._read):
            for key in [key for key in kept if key[0] == thread_id]:
                del kept[key]

    async def _write(self, attempt: _Attempt) -> None:
        if attempt.waiting is not None:
            put = attempt.waiting
            await self._saver.aput(put.config, put.checkpoint, put.metadata, put.new_versions)
            attempt.waiting = None
            attempt.is_costly = False
        while attempt.writes:
            await self._saver.aput_writes(*attempt.writes[0])
            del attempt.writes[0]

    # Reads

    def begin_with(self, config: RunnableConfig, found: CheckpointTuple) -> None:
        """Have the first read of an attempt return what was just read."""
        self._read[_key(config)] = found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if (found := self._read.pop(_key(config), None)) is not None:
            return found
        await self.flush(config["configurable"]["thread_id"])
        return await self._saver.aget_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        if config is not None:
            await self.flush(config["configurable"]["thread_id"])
        async for found in self._saver.alist(config, filter=filter, before=before, limit=limit):
            yield found


def _key(config: RunnableConfig) -> _Key:
    configurable = config["configurable"]
    return (
        str(configurable["thread_id"]),
        str(configurable.get("checkpoint_ns", "")),
        int(configurable.get("fence", 0)),
    )


def _following(checkpoint: Checkpoint) -> frozenset[str]:
    """Returns the channels that start the next steps; none at the end of a run, or where they are unknown."""
    return frozenset(
        channel
        for channel in checkpoint.get("updated_channels") or ()
        if channel.startswith((_TO_STEP, "__"))
    )


def _merged(earlier: _Put | None, later: _Put) -> _Put:
    """Returns the later checkpoint as a child of the earlier one's parent, with the new versions of both."""
    if earlier is None:
        return later
    versions = {**earlier.new_versions, **later.new_versions}
    return _Put(earlier.config, later.checkpoint, later.metadata, versions)
