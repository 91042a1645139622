"""LangGraph's synchronous methods for a checkpointer that is written asynchronously."""

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

Answer = TypeVar("Answer")


class BackgroundLoop:
    """An event loop in a thread of its own, started by its first use, that ends with the process."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="checkpoints", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class SynchronousCheckpointer(BaseCheckpointSaver[str]):
    """Runs each asynchronous method to its end, without an event loop of the caller's.

    An HTTP client belongs to the event loop it was first used in, so one checkpointer is used either
    synchronously or asynchronously, its setup included.
    """

    def __init__(self, *, serde: SerializerProtocol) -> None:
        super().__init__(serde=serde)
        self._background = BackgroundLoop()

    async def asetup(self) -> None:
        """Make the store ready."""
        raise NotImplementedError

    def setup(self) -> Awaitable[None]:
        """Make the store ready: at once where no event loop runs, else when it is awaited."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._background.run(self.asetup())
            return _Ready()
        return self.asetup()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._background.run(self.aget_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  (the name is LangGraph's)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
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
        return self._background.run(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self._background.run(self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._background.run(self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._background.run(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._background.run(self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self._background.run(self.aprune(thread_ids, strategy=strategy))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self._background.run(self._history(config, channels))

    async def _history(
        self, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self.aget_delta_channel_history(config=config, channels=channels)


class _Ready:
    """Nothing to wait for."""

    def __await__(self) -> Generator[None]:
        yield from ()


async def _next(listed: AsyncIterator[CheckpointTuple]) -> CheckpointTuple | None:
    return await anext(listed, None)
