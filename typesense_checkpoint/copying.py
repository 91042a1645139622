"""Copying threads from one checkpointer to another."""

from collections import defaultdict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, CheckpointTuple


class ThreadDiffers(Exception):
    """The copy of a thread is not what was copied: it was written to meanwhile. Copy again."""


async def copy_thread(
    source: BaseCheckpointSaver[str], target: BaseCheckpointSaver[str], thread_id: str
) -> int:
    """Copy what is missing of a thread, oldest first, and compare; returns how many checkpoints it has.

    Raises `ThreadDiffers`.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    originals = [each async for each in source.alist(config)]
    there = {_key(each): each async for each in target.alist(config)}
    written: dict[tuple[str, str], ChannelVersions] = {}
    for original in reversed(originals):
        if not _same(original, there.get(_key(original))):
            await _put(target, original, written)
        written[_key(original)] = original.checkpoint["channel_versions"]
    copies = {_key(each): each async for each in target.alist(config)}
    if len(copies) != len(originals) or not all(_same(each, copies.get(_key(each))) for each in originals):
        raise ThreadDiffers(
            f"The conversation {thread_id} was written to meanwhile, or its copy was used since."
        )
    return len(copies)


async def _put(
    target: BaseCheckpointSaver[str],
    original: CheckpointTuple,
    written: dict[tuple[str, str], ChannelVersions],
) -> None:
    configurable = original.config["configurable"]
    parent = original.parent_config
    base: RunnableConfig = {
        "configurable": {
            "thread_id": configurable["thread_id"],
            "checkpoint_ns": configurable["checkpoint_ns"],
            **({"checkpoint_id": parent["configurable"]["checkpoint_id"]} if parent else {}),
        }
    }
    versions = original.checkpoint["channel_versions"]
    before = written.get((configurable["checkpoint_ns"], str(base["configurable"].get("checkpoint_id"))), {})
    new = {channel: version for channel, version in versions.items() if before.get(channel) != version}
    await target.aput(base, original.checkpoint, original.metadata, new)
    by_task: defaultdict[str, list[tuple[str, object]]] = defaultdict(list)
    for task_id, channel, value in original.pending_writes or []:
        by_task[task_id].append((channel, value))
    for task_id, writes in by_task.items():
        await target.aput_writes(original.config, writes, task_id)


def _key(found: CheckpointTuple) -> tuple[str, str]:
    configurable = found.config["configurable"]
    return configurable["checkpoint_ns"], configurable["checkpoint_id"]


def _same(original: CheckpointTuple, copy: CheckpointTuple | None) -> bool:
    return copy is not None and (
        original.checkpoint == copy.checkpoint
        and original.metadata == copy.metadata
        and original.parent_config == copy.parent_config
        and sorted(map(repr, original.pending_writes or [])) == sorted(map(repr, copy.pending_writes or []))
    )
