"""Background scans, one at a time per connection, with stored progress.

Results are stored and usable as soon as they are found: first all tables, then their profiles, some at a
time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from app.core.clock import now_ms
from app.core.errors import Problem
from app.core.storage.port import StorageUnavailable
from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.database_connection.scan.order import ReadingOrder
from app.modules.database_connection.scan.progress import ScanChanges, ScanProgress, ScanState
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.scan.scanned import ScannedSchema, ScannedSchemas
from app.modules.database_connection.scan.table_vectors import TableVectors
from app.modules.database_connection.schema import Table, TableProfile
from app.modules.database_connection.statement_audit import StatementRecords
from app.modules.database_connection.threads import DatabaseThreads
from graph.errors import TurnError

logger = logging.getLogger(__name__)

_STOPPED = "The scan was stopped. The next one begins with the tables whose values it has not read."


class Scan:
    """A scan that runs or has just ended. Its events are set at the end, also when it fails."""

    def __init__(self) -> None:
        now = now_ms()
        self.progress = ScanProgress(state="running", started_at=now, updated_at=now)
        self.order = ReadingOrder()
        self.tables_known = asyncio.Event()
        self.ended = asyncio.Event()

    def found_tables(self, count: int, changes: ScanChanges | None) -> None:
        self.progress = replace(self.progress, updated_at=now_ms(), tables_total=count, changes=changes)
        self.tables_known.set()

    def looked_at(self, tables: int) -> None:
        done = self.progress.tables_done + tables
        self.progress = replace(self.progress, updated_at=now_ms(), tables_done=done)

    def end(self, error: str | None) -> None:
        state: ScanState = "complete" if error is None else "failed"
        self.progress = replace(self.progress, state=state, updated_at=now_ms(), error=error)


class Scans:
    """The scans of this process, each in a task of its own. `close` cancels them."""

    def __init__(
        self,
        repository: ConnectionRepository,
        schemas: ScannedSchemas,
        threads: DatabaseThreads,
        *,
        limits: ConnectionLimits,
        vectors: TableVectors | None,
        records: StatementRecords,
        tell: Callable[[Connection], Awaitable[None]],
    ) -> None:
        """`tell` is called with the connection of each complete scan."""
        self._repository = repository
        self._schemas = schemas
        self._threads = threads
        self._limits = limits
        self._vectors = vectors
        self._records = records
        self._tell = tell
        self._scans: dict[str, Scan] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def running(self, connection_id: str) -> Scan | None:
        return self._scans.get(connection_id)

    def start(self, connection: Connection, database: Database) -> Scan:
        """Start a scan of a connection that has no running scan."""
        begun = Scan()
        self._scans[connection.id] = begun
        task = asyncio.create_task(
            self._see_through(connection, database, begun), name=f"connection {connection.id}: scan"
        )
        self._tasks[connection.id] = task
        task.add_done_callback(lambda _: self._over(connection.id, begun))
        return begun

    async def stop(self, connection_id: str) -> None:
        """Cancel the scan of a connection, if there is one, and wait for its end."""
        task = self._tasks.get(connection_id)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def stop_early(self, connection: Connection) -> bool:
        """Stop the scan of a connection, if there is one, and store that it was stopped."""
        running = self._scans.get(connection.id)
        if running is None:
            return False
        await self.stop(connection.id)
        if running.progress.state == "running":
            running.end(_STOPPED)
            await self._repository.keep_progress(connection, running.progress)
        return True

    async def close(self) -> None:
        for connection_id in tuple(self._tasks):
            await self.stop(connection_id)

    def _over(self, connection_id: str, scan: Scan) -> None:
        """Called also for a scan that was stopped before it began."""
        del self._scans[connection_id], self._tasks[connection_id]
        scan.tables_known.set()
        scan.ended.set()

    async def _see_through(self, connection: Connection, database: Database, begun: Scan) -> None:
        try:
            begun.end(await self._outcome(connection, database, begun))
        finally:
            self._records.scanned(connection, begun.progress)
        with suppress(StorageUnavailable):
            await self._repository.keep_progress(connection, begun.progress)
            if begun.progress.state == "complete":
                await self._tell(connection)

    async def _outcome(self, connection: Connection, database: Database, begun: Scan) -> str | None:
        """Returns the error, without secrets; None if there is none."""
        try:
            await self._repository.keep_progress(connection, begun.progress)
            await self._scan(connection, database, begun)
            await self._embed(connection)
        except (TurnError, Problem) as error:
            return error.detail
        except StorageUnavailable:
            return "KAI's own store did not answer. Scan again."
        except Exception:
            logger.exception("connection %s: the scan failed", connection.id)
            return "The scan failed because of a defect in KAI. The log has the details."
        return None

    async def _scan(self, connection: Connection, database: Database, begun: Scan) -> None:
        found: asyncio.Queue[Sequence[TableProfile] | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(some: Sequence[TableProfile]) -> None:
            loop.call_soon_threadsafe(found.put_nowait, some)

        # Where rows belong to people, values of some are not for the prompts of others.
        limits = self._limits if connection.roles is None else replace(self._limits, profile_seconds=0)
        if connection.scanned_at is not None:
            known = await self._known(connection)
            begun.order = ReadingOrder(
                {table.name for table in known.schema.tables if table.row_count is not None}
            )
        reading = asyncio.create_task(
            self._threads.run(
                lambda stop: scan(
                    database, limits, stop, schemas=connection.schemas, order=begun.order, tell=tell
                )
            ),
            name=f"connection {connection.id}: read the schema",
        )
        reading.add_done_callback(lambda _: found.put_nowait(None))
        try:
            while (some := await found.get()) is not None:
                if begun.progress.tables_total is None:
                    tables = [each.table for each in some]
                    changes = await self._take_catalog(connection, database.dialect, tables)
                    begun.found_tables(len(some), changes)
                else:
                    await self._take_profiles(connection, some)
                    begun.looked_at(len(some))
                await self._repository.keep_progress(connection, begun.progress)
            await reading
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError, TurnError):
                await reading

    async def _embed(self, connection: Connection) -> None:
        if self._vectors is not None:
            scanned = await self._known(connection)
            self._vectors.refresh(connection.owner, connection.id, scanned.visible.schema.tables)

    async def _known(self, connection: Connection) -> ScannedSchema:
        return self._schemas.get(connection.encrypted_url) or await self._repository.scanned_schema(
            connection
        )

    async def _take_catalog(
        self, connection: Connection, dialect: str, tables: Sequence[Table]
    ) -> ScanChanges | None:
        """Returns the changes since the scan before, None if that read another address, or there is none."""
        async with self._schemas.lock(connection.id):
            before = await self._known(connection)
            is_first = connection.scanned_at is None
            if is_first:  # what is stored was read at an earlier address
                before = before.without_profiles()
            scanned = ScannedSchema(replace(before.schema, dialect=dialect), before.texts).replace_catalog(
                tables, now_ms()
            )
            await self._repository.keep_catalog(connection, scanned.schema, replacing=before.schema)
            self._schemas.remember(connection.encrypted_url, scanned)
            return None if is_first else before.changes_in(tables)

    async def _take_profiles(self, connection: Connection, profiles: Sequence[TableProfile]) -> None:
        async with self._schemas.lock(connection.id):
            before = await self._known(connection)
            scanned = before.add_profiles(profiles)
            await self._repository.keep_profiles(connection, scanned, [each.table.name for each in profiles])
            self._schemas.remember(connection.encrypted_url, scanned)
