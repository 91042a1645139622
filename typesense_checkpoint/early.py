"""Converts threads from the layout before 22 November 2026, whose ids had 32 digits and whose documents held
inline values apart, and each write by itself.
"""

from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint

from typesense_checkpoint.collection import TypesenseCollection
from typesense_checkpoint.records import FIELDS, Document, hash_names, unpack
from typesense_checkpoint.saver import TypesenseCheckpointer

_DIGITS = 32
_KINDS = ("checkpoint", "value", "write")


class EarlyThreads:
    """Threads of a collection that may have the early layout."""

    def __init__(self, saver: TypesenseCheckpointer, collection: TypesenseCollection[Document]) -> None:
        self._saver = saver
        self._collection = collection

    async def prepare(self) -> None:
        """Add the fields that the first collections did not have."""
        await self._collection.add_fields(FIELDS)

    async def convert(self, thread_id: str) -> None:
        """Save what is stored of a thread in the present layout, and delete the rest. Can be repeated.

        Raises what `aput` raises.
        """
        of_thread = f"thread:={hash_names('thread', thread_id, digits=_DIGITS)}"
        packed: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _KINDS}
        for document in await self._collection.export(of_thread):
            packed[document["kind"]].append(unpack(document))
        values = {_value_key(each): each["value"] for each in packed["value"]}
        for each in sorted(packed["checkpoint"], key=itemgetter("id")):
            await self._put(each, values)
        writes = defaultdict(list)
        for each in packed["write"]:
            writes[each["namespace"], each["checkpoint_id"], each["task_id"]].append(each)
        for (namespace, checkpoint_id, task_id), of_task in writes.items():
            of_task.sort(key=itemgetter("index"))
            await self._saver.aput_writes(
                _config(thread_id, namespace, checkpoint_id),
                [(each["channel"], self._saver.serde.loads_typed(tuple(each["value"]))) for each in of_task],
                task_id,
                of_task[0]["task_path"],
            )
        if any(packed.values()):
            await self._collection.delete(of_thread)

    async def _put(self, packed: Mapping[str, Any], values: Mapping[tuple[Any, ...], Any]) -> None:
        load = self._saver.serde.loads_typed
        separate = packed["separate"] if "separate" in packed else packed["apart"]
        typed = {
            **packed["inline"],
            **{
                channel: values[packed["namespace"], channel, version]
                for channel, version in separate.items()
            },
        }
        checkpoint: Checkpoint = load(tuple(packed["checkpoint"]))
        checkpoint["channel_values"] = {name: load(tuple(value)) for name, value in typed.items()}
        config = _config(packed["thread_id"], packed["namespace"], packed["parent_id"])
        config["configurable"]["fence"] = packed["fence"]
        await self._saver.aput(
            config, checkpoint, load(tuple(packed["metadata"])), checkpoint["channel_versions"]
        )


def _value_key(packed: Mapping[str, Any]) -> tuple[Any, ...]:
    return packed["namespace"], packed["channel"], packed["version"]


def _config(thread_id: str, namespace: str, checkpoint_id: str | None) -> RunnableConfig:
    named = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, **named}}
