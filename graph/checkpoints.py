"""What a checkpointer of KAI can do, and that of the embedded store: LangGraph's SQLite saver."""

import asyncio
import sqlite3
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeAlias, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from typing_extensions import override

from graph.errors import CheckpointsUnavailable, CheckpointUnreadable

_GO_ON = "or go on in a new session: the messages of this one stay readable."
_DAMAGED = f"The state of this conversation is damaged. Restore a backup of KAI's store, {_GO_ON}"
_OTHER_KEY = (
    "The state of this conversation cannot be decrypted: it was written with another encryption key, or it "
    f"is damaged. Start KAI with that key (KAI_ENCRYPTION_KEY, or secret.key of the data folder), {_GO_ON}"
)
_FILE_DAMAGED = (
    "{path} is damaged, or is no database. Restore it from a backup, or move it away: conversations then go "
    "on without what they remember, and their messages stay readable."
)
_DAMAGE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    NotImplementedError,
    sqlite3.DatabaseError,
    zlib.error,
)
"""Errors of LangGraph's savers and serializers for what they did not write like that."""
P = ParamSpec("P")
Found = TypeVar("Found")

ReadCheckpoint: TypeAlias = Callable[[], Awaitable[CheckpointTuple]]
"""Reads a checkpoint that was found."""

_PARTS = {"id", "channel_values", "channel_versions", "versions_seen"}


class Checkpointer(BaseCheckpointSaver[str]):
    """Saver that can delete earlier turns. Its reads raise `CheckpointUnreadable` for any damage."""

    unavailable: ClassVar[tuple[type[Exception], ...]]
    """Errors of a store that is unavailable, slow or full, or refuses a request."""

    async def aprune_turns(self, thread_id: str, *, keep_turns: int, ended_run_id: str | None) -> None:
        """Delete the checkpoints of all turns but the latest; each turn is a run.

        Turns after that of `ended_run_id` are kept, too, and do not count. Several calls at once do no harm.
        """
        raise NotImplementedError

    async def afind_latest(self, config: RunnableConfig) -> ReadCheckpoint | None:
        """Find the latest checkpoint of a thread. Returns a call that reads it.

        Returns None without a checkpoint, and if finding and reading it are one step.
        """
        return None

    async def aencrypt_again(self, thread_id: str, encrypt: Callable[[bytes], bytes]) -> None:
        """Replace what is encrypted of a thread by what `encrypt` makes of it."""
        raise NotImplementedError

    async def aconvert_early(self, thread_ids: AsyncIterator[str]) -> None:
        """Convert threads from an earlier layout, where the store has had one. Can be repeated."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with translated_damage():
            found = await super().aget_tuple(config)
            return None if found is None else checked(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        with translated_damage():
            async for found in super().alist(config, filter=filter, before=before, limit=limit):
                yield checked(found)


class _SaverInThread(SqliteSaver):
    """LangGraph's SQLite saver for asynchronous callers: each call switches to its one thread once.

    LangGraph's own asynchronous saver switches for each cursor, statement, row and commit, and a caller that
    is cancelled leaves a transaction open. Here a call is finished even if its caller is cancelled.
    """

    def __init__(self, connection: sqlite3.Connection, serde: SerializerProtocol) -> None:
        super().__init__(connection, serde=serde)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")

    async def in_thread(self, work: Callable[P, Found], *args: P.args, **kwargs: P.kwargs) -> Found:
        call = partial(work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def prepare(self) -> None:
        self.setup()
        self.conn.execute("PRAGMA synchronous=NORMAL")
        self.conn.execute("PRAGMA secure_delete=ON")

    def close(self) -> None:
        """Close the file after running calls have finished."""
        self._thread.shutdown()
        self.conn.close()

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self.in_thread(self.get_tuple, config)

    @override
    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        def read() -> Sequence[CheckpointTuple]:
            return [*self.list(config, filter=filter, before=before, limit=limit)]

        for found in await self.in_thread(read):
            yield found

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self.in_thread(self.put, config, checkpoint, metadata, new_versions)

    @override
    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self.in_thread(self.put_writes, config, writes, task_id, task_path)

    @override
    async def adelete_thread(self, thread_id: str) -> None:
        await self.in_thread(self.delete_thread, thread_id)


_ENCRYPTED = (
    (
        "SELECT rowid, checkpoint FROM checkpoints WHERE thread_id = ? AND type LIKE '%+fernet'",
        "UPDATE checkpoints SET checkpoint = ? WHERE rowid = ? AND checkpoint = ?",
    ),
    (
        "SELECT rowid, value FROM writes WHERE thread_id = ? AND type LIKE '%+fernet'",
        "UPDATE writes SET value = ? WHERE rowid = ? AND value = ?",
    ),
)
"""Statements that read what is encrypted of a thread, and replace one such value."""


class SqliteCheckpointer(Checkpointer, _SaverInThread):
    """LangGraph's SQLite saver with pruning, which it lacks."""

    unavailable = (sqlite3.OperationalError,)

    @override
    async def aencrypt_again(self, thread_id: str, encrypt: Callable[[bytes], bytes]) -> None:
        await self.in_thread(self._encrypt_again, thread_id, encrypt)

    def _encrypt_again(self, thread_id: str, encrypt: Callable[[bytes], bytes]) -> None:
        for read, write in _ENCRYPTED:
            with self.cursor() as cursor:
                rows = cursor.execute(read, (thread_id,)).fetchall()
                cursor.executemany(write, [(encrypt(value), row, value) for row, value in rows])

    def delete_thread(self, thread_id: str) -> None:
        """Also empties the write-ahead log, where earlier pages stay otherwise."""
        super().delete_thread(thread_id)
        with self.cursor(transaction=False) as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all checkpoints of the threads but the latest of each namespace, or (`delete`) all of them.

        KAI's graphs have no delta channels, which would need earlier checkpoints.
        """
        await self.in_thread(self._prune, thread_ids, _PRUNING[strategy])

    def _prune(self, thread_ids: Sequence[str], pruning: str) -> None:
        with self.cursor() as cursor:
            for thread_id in thread_ids:
                for table in ("writes", "checkpoints"):
                    cursor.execute(pruning.format(table=table), {"thread_id": thread_id})

    async def aprune_turns(self, thread_id: str, *, keep_turns: int, ended_run_id: str | None) -> None:
        await self.in_thread(self._prune_turns, thread_id, keep_turns, ended_run_id)

    def _prune_turns(self, thread_id: str, keep_turns: int, ended_run_id: str | None) -> None:
        of_thread = {"thread_id": thread_id}
        with self.cursor() as cursor:
            latest_first = [str(run) for (run,) in cursor.execute(_RUNS, of_thread)]
            later = latest_first.index(ended_run_id) if ended_run_id in latest_first else 0
            for run_id in latest_first[later + keep_turns :]:
                for table in ("writes", "checkpoints"):
                    cursor.execute(_PRUNING_RUN.format(table=table), {**of_thread, "run_id": run_id})


_RUNS = """
    SELECT coalesce(json_extract(CAST(metadata AS TEXT), '$.run_id'), '') AS run_id FROM checkpoints
    WHERE thread_id = :thread_id GROUP BY run_id ORDER BY max(checkpoint_id) DESC"""
_PRUNING_RUN = """
    DELETE FROM {table} WHERE thread_id = :thread_id AND (checkpoint_ns, checkpoint_id) IN (
        SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = :thread_id
        AND coalesce(json_extract(CAST(metadata AS TEXT), '$.run_id'), '') = :run_id
        EXCEPT SELECT checkpoint_ns, max(checkpoint_id) FROM checkpoints
        WHERE thread_id = :thread_id GROUP BY checkpoint_ns)"""
_PRUNING = {
    "delete": "DELETE FROM {table} WHERE thread_id = :thread_id",
    "keep_latest": """
        DELETE FROM {table} WHERE thread_id = :thread_id AND (checkpoint_ns, checkpoint_id) NOT IN (
            SELECT checkpoint_ns, max(checkpoint_id) FROM checkpoints
            WHERE thread_id = :thread_id GROUP BY checkpoint_ns)""",
}


@asynccontextmanager
async def sqlite_checkpointer(path: Path, cipher: CipherProtocol) -> AsyncGenerator[SqliteCheckpointer]:
    """Open the checkpointer of a file, which is created if missing.

    Checkpoints survive a crash of the process. The latest may be lost in a power failure. Raises
    `CheckpointUnreadable` when the file is damaged, and `OSError` when it cannot be written, as on a
    full disk.
    """
    connection = await asyncio.to_thread(sqlite3.connect, path, check_same_thread=False)
    saver = SqliteCheckpointer(connection, serializer(cipher))
    try:
        try:
            await saver.in_thread(saver.prepare)
        except sqlite3.OperationalError as error:
            raise OSError(None, str(error), str(path)) from error
        except sqlite3.DatabaseError as error:
            raise CheckpointUnreadable(_FILE_DAMAGED.format(path=path)) from error
        yield saver
    finally:
        await asyncio.to_thread(saver.close)


def serializer(cipher: CipherProtocol) -> SerializerProtocol:
    # Only plain values are constructed, so a tampered checkpoint cannot run code.
    return EncryptedSerializer(_ClearlyFailing(cipher), JsonPlusSerializer(allowed_msgpack_modules=None))


@dataclass(frozen=True)
class _ClearlyFailing:
    """A cipher that raises `CheckpointUnreadable` where the other raises `ValueError`."""

    cipher: CipherProtocol

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return self.cipher.encrypt(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        try:
            return self.cipher.decrypt(ciphername, ciphertext)
        except ValueError as error:
            raise CheckpointUnreadable(_OTHER_KEY) from error


@contextmanager
def translated_damage() -> Generator[None]:
    try:
        yield
    except sqlite3.OperationalError:
        raise  # the store is unavailable
    except _DAMAGE as error:
        raise CheckpointUnreadable(_DAMAGED) from error


def checked(found: CheckpointTuple) -> CheckpointTuple:
    """Raises `TypeError` for a checkpoint that was read and cannot be one."""
    if not _is_mapping(found.metadata) or not set(found.checkpoint) >= _PARTS:
        raise TypeError
    return found


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


@contextmanager
def translated_errors(checkpointer: Checkpointer) -> Generator[None]:
    """Raises `CheckpointsUnavailable` when the store is unavailable, slow or full, or refuses a request."""
    try:
        yield
    except checkpointer.unavailable as error:
        raise CheckpointsUnavailable(
            "The store does not answer, so the conversation cannot continue now. Ask again."
        ) from error
