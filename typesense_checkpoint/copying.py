"""Copies of threads from one LangGraph checkpointer to another, of any kind."""

from collections import defaultdict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, CheckpointTuple


class ThreadDiffers(Exception):
    """The copy of a thread differs from the thread, because one of them was written meanwhile.

    Stop its writers and copy it again.
    """


async def copy_thread(
    source: BaseCheckpointSaver[str], target: BaseCheckpointSaver[str], thread_id: str
) -> int:
    """Copy all checkpoints and pending writes of a thread, oldest first, and compare the copy.

    Checkpoints that the target already has are not written again, so an interrupted copy can be repeated.
    Returns the number of checkpoints of the thread. Raises `ThreadDiffers` when the copy differs, and what
    the checkpointers raise.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    originals = [each async for each in source.alist(config)]
    existing = {_key(each): each async for each in target.alist(config)}
    versions_by_key: dict[tuple[str, str], ChannelVersions] = {}
    for original in reversed(originals):
        if not _is_equal(original, existing.get(_key(original))):
            await _put(target, original, versions_by_key)
        versions_by_key[_key(original)] = original.checkpoint["channel_versions"]
    copies = {_key(each): each async for each in target.alist(config)}
    if len(copies) != len(originals) or not all(
        _is_equal(each, copies.get(_key(each))) for each in originals
    ):
        raise ThreadDiffers(f"The thread {thread_id} or its copy was written while it was copied.")
    return len(copies)


async def _put(
    target: BaseCheckpointSaver[str],
    original: CheckpointTuple,
    versions_by_key: dict[tuple[str, str], ChannelVersions],
) -> None:
    """Write a checkpoint, with the channel values that its parent does not have, and its writes."""
    namespace: str = original.config["configurable"]["checkpoint_ns"]
    parent_id: str = original.parent_config["configurable"]["checkpoint_id"] if original.parent_config else ""
    base: RunnableConfig = {
        "configurable": {
            "thread_id": original.config["configurable"]["thread_id"],
            "checkpoint_ns": namespace,
            **({"checkpoint_id": parent_id} if parent_id else {}),
        }
    }
    known = versions_by_key.get((namespace, parent_id), {})
    versions = original.checkpoint["channel_versions"]
    new = {channel: version for channel, version in versions.items() if known.get(channel) != version}
    await target.aput(base, original.checkpoint, original.metadata, new)
    by_task: defaultdict[str, list[tuple[str, object]]] = defaultdict(list)
    for task_id, channel, value in original.pending_writes or []:
        by_task[task_id].append((channel, value))
    for task_id, writes in by_task.items():
        await target.aput_writes(original.config, writes, task_id)


def _key(found: CheckpointTuple) -> tuple[str, str]:
    configurable = found.config["configurable"]
    return configurable["checkpoint_ns"], configurable["checkpoint_id"]


def _is_equal(original: CheckpointTuple, copy: CheckpointTuple | None) -> bool:
    return copy is not None and (
        original.checkpoint == copy.checkpoint
        and original.metadata == copy.metadata
        and original.parent_config == copy.parent_config
        and sorted(map(repr, original.pending_writes or [])) == sorted(map(repr, copy.pending_writes or []))
    )
