"""Connections made of uploaded files."""

import asyncio
import logging
import shutil
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from pydantic import TypeAdapter

from app.core.keyed_ids import created_id, is_repeat
from app.modules.database_connection.errors import as_problems
from app.modules.database_connection.lookup import all_connections
from app.modules.database_connection.model import Connection, Upload
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.uploads.errors import (
    FileNotReadable,
    NoUploadedFile,
    UploadQuotaReached,
    UploadsOff,
    UploadUnderWay,
)
from app.modules.database_connection.uploads.folder import (
    READING,
    SOURCE,
    UploadFolder,
    database_file_name,
)
from app.modules.database_connection.uploads.formats import HEAD_BYTES, base_name, read_format
from app.modules.database_connection.uploads.importing import MEMORY_BYTES, import_file
from app.modules.database_connection.uploads.model import ImportReport, ImportRequest, TableCorrection

logger = logging.getLogger(__name__)

_READING = TypeAdapter(ImportReport)
_WRITE_BYTES = 1024 * 1024
_AT_ONCE = 8
_IMPORTS_AT_ONCE = 2
_UNPACKED = 10
"""No file of an import may be larger than the largest upload times this."""
_UNPACKED_WORKBOOK = 5
"""The parts of a workbook together may be as large as the largest upload times this."""


@dataclass(frozen=True, kw_only=True)
class UploadLimits:
    """`max_bytes` of a file, `owner_bytes` of all files of an owner, seconds of an import."""

    max_bytes: int
    owner_bytes: int
    import_seconds: float


async def _never() -> bool:
    return False


class FileConnections:
    """Every method names the caller as `owner`; only the owner of a connection sees or changes its file."""

    def __init__(self, connections: DatabaseConnections, folder: UploadFolder, limits: UploadLimits) -> None:
        self._connections = connections
        self._folder = folder
        self._limits = limits
        self._owners: set[str] = set()
        self._imports = asyncio.Semaphore(_IMPORTS_AT_ONCE)

    @property
    def max_bytes(self) -> int:
        return self._limits.max_bytes

    async def create(
        self,
        owner: str,
        file_name: str,
        content: AsyncIterable[bytes],
        *,
        name: str | None = None,
        description: str = "",
        corrections: Sequence[TableCorrection] = (),
        is_abandoned: Callable[[], Awaitable[bool]] = _never,
    ) -> tuple[Connection, ImportReport]:
        """Receive a file, read its tables and store a connection to them, or leave nothing behind.

        Raises `UploadsOff`, `UploadUnderWay`, `UploadQuotaReached` or `FileNotReadable`.
        """
        if self._limits.max_bytes == 0:
            raise UploadsOff
        file_name = base_name(file_name)
        with self._only_one(owner), self._folder.incoming() as incoming:
            free = self._limits.owner_bytes - await self._bytes_of(owner)
            size = await self._receive(content, incoming / SOURCE, free)
            reading = await self._import(incoming, file_name, incoming / SOURCE, corrections=corrections)
            if await is_abandoned():
                raise FileNotReadable("The upload was given up.")
            connection_id = created_id()
            connection = await self._connections.register_upload(
                owner,
                connection_id,
                Upload(file_name, size),
                name=name or file_name,
                description=description,
            )
            if is_repeat():
                self._folder.delete(connection_id)  # of an interrupted try
            self._folder.keep(incoming, connection_id)
        logger.info(
            "file %s of %d bytes became the connection %s", PurePath(file_name).suffix, size, connection_id
        )
        return connection, reading

    async def read(self, owner: str, connection_id: str) -> tuple[Connection, ImportReport]:
        """How the file of a connection was read. Raises `NoUploadedFile`."""
        connection = await self._own(owner, connection_id)
        try:
            text = await asyncio.to_thread((self._folder.of(connection_id) / READING).read_bytes)
        except FileNotFoundError:
            raise NoUploadedFile(
                "The uploaded file is not in this machine's folder of uploads (KAI_UPLOADS__FOLDER)."
            ) from None
        return connection, _READING.validate_json(text)

    async def correct(
        self, owner: str, connection_id: str, corrections: Sequence[TableCorrection]
    ) -> tuple[Connection, ImportReport]:
        """Read the file again with these types, and scan the tables again.

        Raises `NoUploadedFile`, `UploadUnderWay` or `FileNotReadable`; the database is then as it was.
        """
        connection, reading = await self.read(owner, connection_id)
        _check_tables(reading, corrections)
        upload = connection.upload
        if upload is None:
            raise NoUploadedFile(_BY_URL)
        with self._only_one(owner), self._folder.incoming() as incoming:
            source = self._folder.of(connection_id) / SOURCE
            corrected = await self._import(incoming, upload.file_name, source, corrections=corrections)
            connection = await self._connections.repository.edit(connection, {})
            try:
                self._folder.replace(incoming, connection_id, upload.file_name)
            except FileNotFoundError:
                raise NoUploadedFile("The connection was deleted meanwhile.") from None
        with as_problems():
            self._connections.start_scan_of_replaced(connection)
        return connection, corrected

    async def _own(self, owner: str, connection_id: str) -> Connection:
        connection = await self._connections.repository.own(owner, connection_id)
        if connection.upload is None:
            raise NoUploadedFile(_BY_URL)
        return connection

    @contextmanager
    def _only_one(self, owner: str) -> Generator[None]:
        """One file of an owner at a time, so that together they stay within the owner's room."""
        if owner in self._owners:
            raise UploadUnderWay("Another file of yours is being read. Try again when it is done.")
        if len(self._owners) >= _AT_ONCE:
            raise UploadUnderWay("KAI is reading other files. Try again in a moment.", retry_after_seconds=5)
        self._owners.add(owner)
        try:
            yield
        finally:
            self._owners.discard(owner)

    async def _bytes_of(self, owner: str) -> int:
        found = all_connections(self._connections, owner)
        return sum([each.upload.bytes async for each in found if each.owner == owner and each.upload])

    async def _receive(self, content: AsyncIterable[bytes], path: Path, free: int) -> int:
        size = 0
        async for block in _blocks(content):
            size += len(block)
            if size > self._limits.max_bytes:
                raise FileNotReadable(f"The file is larger than {self._limits.max_bytes:,} bytes.")
            if size > free:
                raise UploadQuotaReached(
                    f"Your files may take {self._limits.owner_bytes:,} bytes together. Delete connections of "
                    "files that you no longer need."
                )
            await asyncio.to_thread(_append, path, block)
        return size

    async def _import(
        self, folder: Path, file_name: str, source: Path, *, corrections: Sequence[TableCorrection]
    ) -> ImportReport:
        """Write the database and the reading of a file into a folder."""
        head = await asyncio.to_thread(_head, source)
        work = folder / "work"
        work.mkdir()
        local = work / SOURCE
        await asyncio.to_thread(_link, source, local)
        request = ImportRequest(
            source=str(local),
            target=str(work / database_file_name(file_name)),
            folder=str(work),
            title=PurePath(file_name).stem,
            format=read_format(file_name, head),
            max_file_bytes=_UNPACKED * self._limits.max_bytes,
            max_unpacked_bytes=_UNPACKED_WORKBOOK * self._limits.max_bytes,
            memory_bytes=MEMORY_BYTES,
            corrections=corrections,
        )
        async with self._imports:
            reading = await import_file(request, self._limits.import_seconds)
        await asyncio.to_thread(_finish, work, folder, reading)
        return reading


_BY_URL = "This database was registered by its URL and is not made of a file."


def _check_tables(reading: ImportReport, corrections: Sequence[TableCorrection]) -> None:
    known = {table.name for table in reading.tables}
    for each in corrections:
        if each.name not in known:
            raise FileNotReadable(f"The file has no table {each.name}.")


async def _blocks(content: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """Gathers small pieces, so that few writes are made."""
    gathered = bytearray()
    async for piece in content:
        gathered += piece
        if len(gathered) >= _WRITE_BYTES:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


def _append(path: Path, block: bytes) -> None:
    with path.open("ab") as file:
        file.write(block)


def _link(source: Path, target: Path) -> None:
    """The child reads files of its own folder only, and DuckDB follows no symbolic link out of it."""
    if not source.exists():
        return  # nothing was sent
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def _head(source: Path) -> bytes:
    if not source.exists():
        return b""
    with source.open("rb") as file:
        return file.read(HEAD_BYTES)


def _finish(work: Path, folder: Path, reading: ImportReport) -> None:
    """Keep the database and the reading only."""
    (database,) = (each for each in work.glob("*.duckdb") if each.name != "raw.duckdb")
    database.rename(folder / database.name)
    (folder / READING).write_bytes(_READING.dump_json(reading))
    for left in sorted(work.rglob("*"), reverse=True):
        left.rmdir() if left.is_dir() else left.unlink()
    work.rmdir()
