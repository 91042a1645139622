"""Records of checkpoints, channel values and writes, and the Typesense documents that store them.

Typesense compares text loosely: case, accents and punctuation do not count. So no text of a caller is
ever part of a filter. Each name is stored as a hexadecimal hash, and each document found is compared with
the original name. The record itself is packed into `data`, a field that Typesense stores without
indexing it. There are three kinds of documents:

    checkpoint   one for each superstep; holds its small channel values
    value        one for each version of a larger channel value
    write        the pending writes that a task has saved at once
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
from uuid import UUID

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from typesense_checkpoint.collection import Field

TypedBytes: TypeAlias = tuple[str, bytes]
"""A serialized value as LangGraph's serializers return it: the name of the encoding, and the bytes."""

Version: TypeAlias = "str | int | float"

FIELDS: list[Field] = [
    {"name": "kind", "type": "string"},
    {"name": "thread", "type": "string"},
    {"name": "namespace", "type": "string", "optional": True},
    {"name": "fence", "type": "int64", "optional": True, "sort": True},
    {"name": "id_high", "type": "int64", "optional": True, "sort": True},
    {"name": "id_low", "type": "int64", "optional": True, "sort": True},
    {"name": "run", "type": "string", "optional": True},
    {"name": "tags", "type": "string[]", "optional": True},
    {"name": "checkpoint", "type": "string", "optional": True},
    {"name": "data", "type": "string", "index": False, "optional": True},
]

_PACKING = JsonPlusSerializer(allowed_msgpack_modules=None)
_INLINE_CHARACTERS = 100  # a document of its own costs more than this beside its value
_TAG_DIGITS = 12  # what a tag finds is compared
_COMMON = (
    b"\xc0\xc2\xc3\xa4type\xa7content\xa4name\xa4role\xa8messages\xa6source\xa5input\xa4step\xff"
    b"\x86\xa9thread_id\xd9$\xa9namespace\xa0\xadcheckpoint_id\xd9$1f1e64b4-4\xa9task_path"
    b"\xb2~__pregel_pull, \xa7task_id\xd9$\xa6writes\x91\x93\x00"
    b"\xa7channel\xa7version\xa5value\x92\xa7msgpack\xc4"
    b"\x88\xa9thread_id\xa9namespace\xa0\xa2id\xd9$1f1e64b4-4\xa9parent_id\xd9$1f1e64b4-4"
    b"\xaacheckpoint\x92\xa7msgpack\xc5\x04\x87\xa1v\x04\xa2ts\xd9 2026-11-22T08:03:56.374426+00:00"
    b"\xa2id\xd9$1f1e64b4-4\xaechannel_values\x80\xb0channel_versions\xde\x00"
    b"\xa9__start__\xd9-00000000000000000000000000000057.\xadversions_seen\x88\xa9__input__\x80"
    b"\xa9__start__\x81\xa9__start__\xd9-00000000000000000000000000000058.\xa2n0\x81\xacbranch:to:"
    b"\xd9-00000000000000000000000000000059.\xb0updated_channels\x91\xa8metadata\x92\xa7msgpack\xc4\x1c\x83"
    b"\xa6source\xa4loop\xa4step\xa7parents\x80\xa6run_id\xd9$\xa5fence\xa8separate\x81\xa5fence\x00"
)
"""Preset dictionary of the compression: bytes that most records contain. Changing it makes stored documents
unreadable.
"""


class CheckpointDocument(TypedDict):
    """`id_high` and `id_low` are the halves of the checkpoint's UUID; the texts besides `data` are hashes."""

    id: str
    kind: Literal["checkpoint"]
    thread: str
    namespace: str
    fence: int
    id_high: int
    id_low: int
    run: NotRequired[str]
    tags: list[str]
    data: str


class ValueDocument(TypedDict):
    """A channel value at one version."""

    id: str
    kind: Literal["value"]
    thread: str
    data: str


class WritesDocument(TypedDict):
    """Pending writes of a task; `checkpoint` is the id of the document of their checkpoint."""

    id: str
    kind: Literal["write"]
    thread: str
    checkpoint: str
    data: str


Document: TypeAlias = CheckpointDocument | ValueDocument | WritesDocument


class _PackedNamespace(TypedDict):
    thread_id: str
    namespace: str


class _PackedCheckpoint(_PackedNamespace):
    id: str
    parent_id: str | None
    checkpoint: TypedBytes
    metadata: TypedBytes
    separate: Mapping[str, Version]
    fence: int


class _PackedValue(_PackedNamespace):
    channel: str
    version: Version
    value: TypedBytes


class _PackedWrites(_PackedNamespace):
    checkpoint_id: str
    task_path: str
    task_id: str
    writes: Sequence[tuple[int, str, TypedBytes]]


@dataclass(frozen=True)
class ThreadNamespace:
    """One checkpoint namespace of a thread. The root namespace is the empty string."""

    thread_id: str
    namespace: str

    @property
    def key(self) -> str:
        """The hash by which the checkpoints of this namespace are searched."""
        return hash_names("namespace", self.thread_id, self.namespace)

    def in_thread(self, thread_id: str) -> "ThreadNamespace":
        """Returns the same namespace of another thread."""
        return ThreadNamespace(thread_id, self.namespace)

    def checkpoint_key(self, checkpoint_id: str) -> str:
        """Returns the id of a checkpoint's document."""
        return hash_names("checkpoint", self.thread_id, self.namespace, checkpoint_id)

    def value_key(self, channel: str, version: Version) -> str:
        """Returns the id of a value's document."""
        return hash_names("value", self.thread_id, self.namespace, channel, json.dumps(version))


@dataclass(frozen=True, kw_only=True)
class CheckpointRecord:
    """A checkpoint without its larger channel values.

    `checkpoint` has the small values. `separate` holds the versions of the larger ones by channel; each is a
    `ValueRecord`.
    """

    location: ThreadNamespace
    id: str
    parent_id: str | None
    checkpoint: TypedBytes
    metadata: TypedBytes
    separate: Mapping[str, Version]
    fence: int = 0

    @property
    def key(self) -> str:
        return self.location.checkpoint_key(self.id)

    @property
    def parent_key(self) -> str | None:
        return self.location.checkpoint_key(self.parent_id) if self.parent_id else None

    @property
    def sort_key(self) -> tuple[int, int, int]:
        """Fence and id. The latest checkpoint of a namespace has the greatest sort key."""
        return (self.fence, *split_id(self.id))

    def value_keys(self) -> dict[str, str]:
        """Returns the ids of the value documents by channel."""
        return {
            channel: self.location.value_key(channel, version) for channel, version in self.separate.items()
        }

    def to_document(self, run_id: str | None, tags: list[str]) -> CheckpointDocument:
        """Returns the document. `tags` are made by `metadata_tag`, except of the run's id."""
        high, low = split_id(self.id)
        packed: _PackedCheckpoint = {
            "thread_id": self.location.thread_id,
            "namespace": self.location.namespace,
            "id": self.id,
            "parent_id": self.parent_id,
            "checkpoint": self.checkpoint,
            "metadata": self.metadata,
            "separate": self.separate,
            "fence": self.fence,
        }
        document: CheckpointDocument = {
            "id": self.key,
            "kind": "checkpoint",
            "thread": hash_thread(self.location.thread_id),
            "namespace": self.location.key,
            "fence": self.fence,
            "id_high": high,
            "id_low": low,
            "tags": tags,
            "data": _pack(packed),
        }
        if run_id is not None:
            document["run"] = hash_run(run_id)
        return document

    @classmethod
    def from_document(cls, document: Document) -> "CheckpointRecord":
        packed: _PackedCheckpoint = _PACKING.loads_typed(_packed(document))
        return cls(
            location=_location(packed),
            id=packed["id"],
            parent_id=packed["parent_id"],
            checkpoint=_pair(packed["checkpoint"]),
            metadata=_pair(packed["metadata"]),
            separate=packed["separate"],
            fence=packed["fence"],
        )


ChannelsOf: TypeAlias = Callable[[CheckpointRecord], Set[str]]
"""Returns the channels that have a value in a checkpoint."""


@dataclass(frozen=True, kw_only=True)
class ValueRecord:
    """A channel value at one version."""

    location: ThreadNamespace
    channel: str
    version: Version
    value: TypedBytes

    @property
    def key(self) -> str:
        return self.location.value_key(self.channel, self.version)

    def to_document(self) -> ValueDocument:
        packed: _PackedValue = {
            "thread_id": self.location.thread_id,
            "namespace": self.location.namespace,
            "channel": self.channel,
            "version": self.version,
            "value": self.value,
        }
        return {
            "id": self.key,
            "kind": "value",
            "thread": hash_thread(self.location.thread_id),
            "data": _pack(packed),
        }

    @classmethod
    def from_document(cls, document: Document) -> "ValueRecord":
        packed: _PackedValue = _PACKING.loads_typed(_packed(document))
        return cls(
            location=_location(packed),
            channel=packed["channel"],
            version=packed["version"],
            value=_pair(packed["value"]),
        )


@dataclass(frozen=True)
class Write:
    """One write of a task. `index` is its position, or LangGraph's negative index of a special channel."""

    index: int
    channel: str
    value: TypedBytes


@dataclass(frozen=True, kw_only=True)
class WritesRecord:
    """Writes that a task has saved at once, pending at a checkpoint. They may be stored before it."""

    location: ThreadNamespace
    checkpoint_id: str
    task_path: str
    task_id: str
    writes: Sequence[Write]

    @property
    def checkpoint_key(self) -> str:
        return self.location.checkpoint_key(self.checkpoint_id)

    @property
    def key(self) -> str:
        """The id of the document of the writes that a task saves first."""
        return hash_names("writes", self.checkpoint_key, self.task_id)

    def only(self, write: Write) -> "WritesRecord":
        """Returns a record of one of the writes."""
        return replace(self, writes=[write])

    def to_document(self, *, alone: bool = False) -> WritesDocument:
        """Returns the document. `alone` gives a single write an id of its own, beside those saved first."""
        packed: _PackedWrites = {
            "thread_id": self.location.thread_id,
            "namespace": self.location.namespace,
            "checkpoint_id": self.checkpoint_id,
            "task_path": self.task_path,
            "task_id": self.task_id,
            "writes": [(write.index, write.channel, write.value) for write in self.writes],
        }
        own_key = hash_names("write", self.checkpoint_key, self.task_id, str(self.writes[0].index))
        return {
            "id": own_key if alone else self.key,
            "kind": "write",
            "thread": hash_thread(self.location.thread_id),
            "checkpoint": self.checkpoint_key,
            "data": _pack(packed),
        }

    @classmethod
    def from_document(cls, document: Document) -> "WritesRecord":
        packed: _PackedWrites = _PACKING.loads_typed(_packed(document))
        return cls(
            location=_location(packed),
            checkpoint_id=packed["checkpoint_id"],
            task_path=packed["task_path"],
            task_id=packed["task_id"],
            writes=[Write(index, channel, _pair(value)) for index, channel, value in packed["writes"]],
        )


def is_inline(value: object) -> bool:
    """True if a channel value is small enough to be repeated in each checkpoint that has it."""
    if isinstance(value, str):
        return len(value) <= _INLINE_CHARACTERS
    if isinstance(value, list | dict):
        return not value
    return value is None or isinstance(value, bool | int | float)


def hash_names(*names: str, digits: int = 24) -> str:
    """Returns hexadecimal digits for a sequence of names; Typesense never confuses two of them."""
    digest = hashlib.sha256()
    for name in names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:digits]


def hash_thread(thread_id: str) -> str:
    return hash_names("thread", thread_id)


def hash_run(run_id: str) -> str:
    return hash_names("run", run_id)


def metadata_tag(name: str, value: object) -> str | None:
    """Returns the hash by which a metadata entry is searched, 12 hexadecimal digits.

    Numbers that Python considers equal have the same tag. Returns None for lists and objects, which are
    compared after the search.
    """
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return hash_names("tag", name, str(int(value)))[:_TAG_DIGITS]
    if value is None or isinstance(value, str | float):
        return hash_names("tag", name, json.dumps(value))[:_TAG_DIGITS]
    return None


def split_id(checkpoint_id: str) -> tuple[int, int]:
    """Returns two signed 64-bit numbers that sort as the checkpoint ids do.

    LangGraph's checkpoint ids are time-ordered UUIDs. Raises `ValueError` for any other id, because
    Typesense could not sort it.
    """
    number = UUID(checkpoint_id).int
    if str(UUID(int=number)) != checkpoint_id:
        raise ValueError(f"The checkpoint id {checkpoint_id!r} is not a UUID in its canonical form.")
    return (number >> 64) - 2**63, (number & (2**64 - 1)) - 2**63


def sort_key_of(document: CheckpointDocument) -> tuple[int, int, int]:
    """Returns the sort key of the document's record, whose `data` may be left out."""
    return document["fence"], document["id_high"], document["id_low"]


def changed(document: Document, change: Callable[[TypedBytes], TypedBytes]) -> Document:
    """Returns a document of the present layout with its serialized values changed."""
    packed = unpack(document)
    for name in {"checkpoint", "metadata", "value"} & packed.keys():
        packed[name] = change(_pair(packed[name]))
    if "writes" in packed:
        packed["writes"] = [(index, name, change(_pair(value))) for index, name, value in packed["writes"]]
    result = document.copy()
    result["data"] = _pack(packed)
    return result


def unpack(document: Document) -> dict[str, Any]:
    """Returns the record of a document of any layout. Raises `zlib.error` for a damaged document."""
    record: dict[str, Any] = _PACKING.loads_typed(_packed(document))
    return record


def _pack(record: Mapping[str, Any]) -> str:
    _, packed = _PACKING.dumps_typed(record)
    compressing = zlib.compressobj(zlib.Z_BEST_COMPRESSION, zdict=_COMMON)
    return base64.b64encode(compressing.compress(packed) + compressing.flush()).decode()


def _packed(document: Document) -> TypedBytes:
    """Raises `zlib.error` for a damaged document."""
    decompressing = zlib.decompressobj(zdict=_COMMON)
    packed = decompressing.decompress(base64.b64decode(document["data"])) + decompressing.flush()
    if not decompressing.eof:
        raise zlib.error("the document is cut")
    return "msgpack", packed


def _location(packed: _PackedNamespace) -> ThreadNamespace:
    return ThreadNamespace(packed["thread_id"], packed["namespace"])


def _pair(unpacked: TypedBytes) -> TypedBytes:
    """Returns the tuple of a pair, which msgpack returns as a list."""
    encoding, value = unpacked
    return encoding, value
