"""How checkpoints, channel values and writes become Typesense documents, and back.

Typesense compares text loosely (case, accents and punctuation do not count), so nothing of a caller is
ever filtered by: every name is hashed to lower-case hexadecimal, and what comes back is compared again.
What must come back exactly is packed in one field that Typesense keeps but does not index:

    checkpoint   one a superstep, with its small channel values inside
    value        a larger channel value, once a version, as LangGraph's Postgres saver has it
    write        a pending write of a task
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast
from uuid import UUID

import ormsgpack

TypedBytes: TypeAlias = tuple[str, bytes]
Version: TypeAlias = "str | int | float"
Document: TypeAlias = dict[str, "str | int | list[str]"]

FIELDS: list[dict[str, "str | bool"]] = [
    {"name": "kind", "type": "string"},
    {"name": "thread", "type": "string"},
    {"name": "lane", "type": "string", "optional": True},
    {"name": "fence", "type": "int64", "optional": True, "sort": True},
    {"name": "newer", "type": "int64", "optional": True, "sort": True},
    {"name": "newer_still", "type": "int64", "optional": True, "sort": True},
    {"name": "run", "type": "string", "optional": True},
    {"name": "tags", "type": "string[]", "optional": True},
    {"name": "checkpoint", "type": "string", "optional": True},
    {"name": "data", "type": "string", "index": False, "optional": True},
]

_INLINE_CHARACTERS = 100  # a document of its own takes more than this beside its value


@dataclass(frozen=True)
class Lane:
    """The checkpoints of one namespace of a thread; the root namespace is the empty text."""

    thread_id: str
    namespace: str

    @property
    def key(self) -> str:
        return key("lane", self.thread_id, self.namespace)

    def of_thread(self, thread_id: str) -> "Lane":
        return Lane(thread_id, self.namespace)

    def checkpoint_key(self, checkpoint_id: str) -> str:
        return key("checkpoint", self.thread_id, self.namespace, checkpoint_id)

    def value_key(self, channel: str, version: Version) -> str:
        return key("value", self.thread_id, self.namespace, channel, json.dumps(version))


@dataclass(frozen=True)
class CheckpointRecord:
    """A checkpoint with its `inline` values, and the versions of those kept `apart`, by channel."""

    lane: Lane
    id: str
    parent_id: str | None
    checkpoint: TypedBytes
    metadata: TypedBytes
    inline: Mapping[str, TypedBytes]
    apart: Mapping[str, Version]
    fence: int = 0

    @property
    def key(self) -> str:
        return self.lane.checkpoint_key(self.id)

    @property
    def age(self) -> tuple[int, int, int]:
        """Of a lane's checkpoints the one with the greatest is the latest."""
        return (self.fence, *order(self.id))

    @property
    def channels(self) -> set[str]:
        """The channels that have a value here."""
        return {*self.inline, *self.apart}

    def value_keys(self) -> dict[str, str]:
        """The ids of the documents that hold the values kept apart, by channel."""
        return {channel: self.lane.value_key(channel, version) for channel, version in self.apart.items()}

    def document(self, run_id: str | None, tags: list[str]) -> Document:
        newer, newer_still = order(self.id)
        document: Document = {
            "id": self.key,
            "kind": "checkpoint",
            "thread": thread_key(self.lane.thread_id),
            "lane": self.lane.key,
            "fence": self.fence,
            "newer": newer,
            "newer_still": newer_still,
            "tags": tags,
            "data": _pack(
                self.lane,
                {
                    "id": self.id,
                    "parent_id": self.parent_id,
                    "checkpoint": self.checkpoint,
                    "metadata": self.metadata,
                    "inline": self.inline,
                    "apart": self.apart,
                    "fence": self.fence,
                },
            ),
        }
        return document if run_id is None else {**document, "run": run_key(run_id)}

    @classmethod
    def of(cls, document: Mapping[str, object]) -> "CheckpointRecord":
        packed = _unpack(document)
        return cls(
            lane=_lane(packed),
            id=cast("str", packed["id"]),
            parent_id=cast("str | None", packed["parent_id"]),
            checkpoint=_typed(packed["checkpoint"]),
            metadata=_typed(packed["metadata"]),
            inline={
                name: _typed(value) for name, value in cast("dict[str, object]", packed["inline"]).items()
            },
            apart=cast("dict[str, Version]", packed["apart"]),
            fence=cast("int", packed["fence"]),
        )


@dataclass(frozen=True)
class ValueRecord:
    """A channel's value at one of its versions."""

    lane: Lane
    channel: str
    version: Version
    value: TypedBytes

    @property
    def key(self) -> str:
        return self.lane.value_key(self.channel, self.version)

    def document(self) -> Document:
        return {
            "id": self.key,
            "kind": "value",
            "thread": thread_key(self.lane.thread_id),
            "data": _pack(
                self.lane,
                {
                    "channel": self.channel,
                    "version": self.version,
                    "value": self.value,
                },
            ),
        }

    @classmethod
    def of(cls, document: Mapping[str, object]) -> "ValueRecord":
        packed = _unpack(document)
        return cls(
            lane=_lane(packed),
            channel=cast("str", packed["channel"]),
            version=cast("Version", packed["version"]),
            value=_typed(packed["value"]),
        )


@dataclass(frozen=True)
class WriteRecord:
    """One write of a task, pending at a checkpoint (which may not be there yet)."""

    lane: Lane
    checkpoint_id: str
    task_path: str
    task_id: str
    index: int
    channel: str
    value: TypedBytes

    @property
    def order(self) -> tuple[str, str, int]:
        """The order in which a superstep applies its writes."""
        return (self.task_path, self.task_id, self.index)

    def document(self) -> Document:
        checkpoint = self.lane.checkpoint_key(self.checkpoint_id)
        return {
            "id": key("write", checkpoint, self.task_id, str(self.index)),
            "kind": "write",
            "thread": thread_key(self.lane.thread_id),
            "checkpoint": checkpoint,
            "data": _pack(
                self.lane,
                {
                    "checkpoint_id": self.checkpoint_id,
                    "task_path": self.task_path,
                    "task_id": self.task_id,
                    "index": self.index,
                    "channel": self.channel,
                    "value": self.value,
                },
            ),
        }

    @classmethod
    def of(cls, document: Mapping[str, object]) -> "WriteRecord":
        packed = _unpack(document)
        return cls(
            lane=_lane(packed),
            checkpoint_id=cast("str", packed["checkpoint_id"]),
            task_path=cast("str", packed["task_path"]),
            task_id=cast("str", packed["task_id"]),
            index=cast("int", packed["index"]),
            channel=cast("str", packed["channel"]),
            value=_typed(packed["value"]),
        )


def is_small(value: object) -> bool:
    """Whether a channel's value is kept inside its checkpoints rather than once, beside them."""
    if isinstance(value, str):
        return len(value) <= _INLINE_CHARACTERS
    if isinstance(value, list | dict):
        return not value
    return value is None or isinstance(value, bool | int | float)


def key(*parts: str) -> str:
    """32 hexadecimal digits for these texts, in this order and division; no two are alike to Typesense."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:32]


def thread_key(thread_id: str) -> str:
    return key("thread", thread_id)


def run_key(run_id: str) -> str:
    return key("run", run_id)


def tag(name: str, value: object) -> str | None:
    """What a metadata entry can be searched by; None for lists and objects, which are only compared.

    Numbers that are equal to Python have the same tag.
    """
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return key("tag", name, str(int(value)))
    if value is None or isinstance(value, str | float):
        return key("tag", name, json.dumps(value))
    return None


def order(checkpoint_id: str) -> tuple[int, int]:
    """Two 64-bit numbers in the order of checkpoint ids, which LangGraph makes as time-ordered UUIDs.

    Raises `ValueError` for another kind of id: its order could not be kept.
    """
    number = UUID(checkpoint_id).int
    if str(UUID(int=number)) != checkpoint_id:
        raise ValueError(f"{checkpoint_id!r} is not a UUID in its usual form")
    return (number >> 64) - 2**63, (number & (2**64 - 1)) - 2**63


def _typed(packed: object) -> TypedBytes:
    kind, value = cast("list[object]", packed)
    return cast("str", kind), cast("bytes", value)


def _pack(lane: Lane, record: Mapping[str, object]) -> str:
    packed = ormsgpack.packb({"thread_id": lane.thread_id, "namespace": lane.namespace, **record})
    return base64.b64encode(zlib.compress(packed, 1)).decode()


def _lane(packed: Mapping[str, object]) -> Lane:
    return Lane(cast("str", packed["thread_id"]), cast("str", packed["namespace"]))


def _unpack(document: Mapping[str, object]) -> dict[str, object]:
    packed = zlib.decompress(base64.b64decode(cast("str", document["data"])))
    return cast("dict[str, object]", ormsgpack.unpackb(packed))
