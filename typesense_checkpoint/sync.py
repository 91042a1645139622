"""LangGraph's synchronous methods for a checkpointer whose methods are asynchronous."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Coroutine, Generator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

Result = TypeVar("Result")


class BackgroundLoop:
    """An event loop in a daemon thread. The first use starts it; it ends with the process."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the loop and block until its result. Raises what the coroutine raises."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="checkpoints", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class SynchronousCheckpointer(BaseCheckpointSaver[str]):
    """Implements each synchronous method by its asynchronous one, in a background thread.

    An HTTP client belongs to the event loop that first uses it. So one checkpointer is used either
    synchronously or asynchronously, its setup included.
    """

    def __init__(self, *, serde: SerializerProtocol) -> None:
        super().__init__(serde=serde)
        self._background = BackgroundLoop()

    async def asetup(self) -> None:
        """Create what the checkpointer needs in its store."""
        raise NotImplementedError

    def setup(self) -> Awaitable[None]:
        """Run `asetup` at once where no event loop runs. In an event loop, `await` the result."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._background.run(self.asetup())
            return _Completed()
        return self.asetup()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Blocking form of `aget_tuple`: same arguments, result and errors."""
        return self._background.run(self.aget_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Blocking form of `alist`: same arguments, order and errors."""
        listed = self.alist(config, filter=filter, before=before, limit=limit)
        while (found := self._background.run(_next(listed))) is not None:
            yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Blocking form of `aput`: same arguments, result and errors."""
        return self._background.run(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Blocking form of `aput_writes`: same arguments and errors."""
        self._background.run(self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Blocking form of `adelete_thread`: same arguments and errors."""
        self._background.run(self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Blocking form of `adelete_for_runs`: same arguments and errors."""
        self._background.run(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Blocking form of `acopy_thread`: same arguments and errors."""
        self._background.run(self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Blocking form of `aprune`: same arguments and errors."""
        self._background.run(self.aprune(thread_ids, strategy=strategy))

    async def aprune_runs(self, thread_id: str, *, keep_runs: int, ended_run_id: str | None = None) -> None:
        """Delete the checkpoints of all runs of a thread but the latest."""
        raise NotImplementedError

    def prune_runs(self, thread_id: str, *, keep_runs: int, ended_run_id: str | None = None) -> None:
        """Blocking form of `aprune_runs`: same arguments and errors."""
        self._background.run(self.aprune_runs(thread_id, keep_runs=keep_runs, ended_run_id=ended_run_id))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Blocking form of `aget_delta_channel_history`: same arguments, order and errors."""
        return self._background.run(self._history(config, channels))

    async def _history(
        self, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self.aget_delta_channel_history(config=config, channels=channels)


class _Completed:
    """An awaitable that is done."""

    def __await__(self) -> Generator[None]:
        yield from ()


async def _next(listed: AsyncIterator[CheckpointTuple]) -> CheckpointTuple | None:
    return await anext(listed, None)
