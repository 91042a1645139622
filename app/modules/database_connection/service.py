"""Registered databases. All access to them goes through this service."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, ParamSpec, Protocol, TypeAlias, TypeVar

from cachetools import LRUCache, TTLCache
from sqlalchemy.exc import DBAPIError

from app.core.auth.caller import current_attributes, current_database_claim, current_owner
from app.core.bounded_threads import BoundedThreads, WorkTimedOut
from app.core.clock import now_ms
from app.core.cursor import cursor_position, position_cursor
from app.core.keyed_ids import created_id
from app.core.llm.calls import uncharged
from app.core.llm.embedding import EmbeddingModel
from app.core.secrets import SecretBox, SecretUnreadable
from app.core.storage.port import Storage
from app.modules.database_connection.connection_steps import ConnectionStep, take_steps
from app.modules.database_connection.engines.databases import (
    Database,
    EstimatingDatabase,
    ReadLimitingDatabase,
    RoleDatabase,
)
from app.modules.database_connection.engines.duckdb.memory import MemoryTable, open_tables
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url, with_kept_secrets
from app.modules.database_connection.errors import (
    DatabaseBytesSpent,
    DatabaseDown,
    DatabaseUnreachable,
    PersonUnknown,
    RolesRefused,
    TableNotFound,
    UrlNotSupported,
    as_problems,
)
from app.modules.database_connection.guard.check import checked
from app.modules.database_connection.guard.inspection import (
    InspectedStatement,
    inspect,
    sample_statement,
    sampled,
)
from app.modules.database_connection.guard.running import CheckedStatement
from app.modules.database_connection.guard.secrets import find_secret_outputs, without_values
from app.modules.database_connection.guard.statement_text import check_length
from app.modules.database_connection.joining.keys import unlike_keys_note, unlike_keys_query
from app.modules.database_connection.joining.plan import JoinPlan
from app.modules.database_connection.limited_schemas import LimitedSchemas
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.model import Address, Connection, ConnectionEdit, Upload
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.database_connection.results import ResultSet, collect
from app.modules.database_connection.roles import DatabaseRoleMissing, Roles
from app.modules.database_connection.scan.progress import ScanProgress
from app.modules.database_connection.scan.scanned import ScannedSchema, ScannedSchemas
from app.modules.database_connection.scan.schemas import chosen_schemas, read_schemas
from app.modules.database_connection.scan.table_vectors import TableVectors
from app.modules.database_connection.scans import Scan, Scans
from app.modules.database_connection.schema import ColumnEdit, Schema, Table
from app.modules.database_connection.statement_audit import Asker, Purpose, StatementRecords
from app.modules.database_connection.threads import DatabaseThreads, Stop
from app.modules.database_connection.uploads.folder import UploadFolder, database_file_name
from app.modules.policies.model import read_policies
from app.modules.policies.rights import Person, fingerprint_of
from app.modules.sql.engine_data import DATABASE_NAMES
from app.modules.sql.provenance.secret_outputs import SecretOutputs
from app.modules.usage.errors import BytesSpent
from app.modules.usage.service import Allowances
from graph.errors import (
    DatabaseSecretUnreadable,
    DatabaseUnavailable,
    StatementFailed,
    StatementNeedsApproval,
    StatementReadsTooMuch,
    StatementRefused,
    StatementTimedOut,
)

_KnownStatement: TypeAlias = tuple[str, str | None, str]
"""The connection's encrypted address, the role it acts as, and the checked text."""

P = ParamSpec("P")
T = TypeVar("T")


class Rewritten(Protocol):
    """What became of a statement that is to run next: `sql`."""

    @property
    def sql(self) -> str: ...


R = TypeVar("R", bound=Rewritten)


class _Checked(NamedTuple):
    """The statement to run, and which columns of its result are secret."""

    statement: CheckedStatement
    secret: SecretOutputs | None


class _Passed(NamedTuple):
    """What the guard returned for a statement and this schema."""

    schema: Schema
    checked: _Checked


_MOST_PASSED = 64
"""Most statements that have passed the guard and are yet to run: those of this moment."""
_MOST_TIMED_OUT = 1_000
_TIMED_OUT_SECONDS = 300.0
"""So long a statement that timed out is not run again."""
_HASH_KEY_BYTES = 32
_NO_ESTIMATE = (
    "{database} does not estimate the rows of a statement, so that none can wait or be refused by them. "
    "PostgreSQL, MySQL, MariaDB and ClickHouse do."
)
_EMPTY = "This database has no tables that KAI can read, so there is nothing to ask about yet."
_PROGRESS_IS_STALE_AFTER = timedelta(minutes=1)
"""A running scan stores its progress far more often than this."""


@dataclass(frozen=True)
class DatabaseSchema:
    """A schema of a database. `table_count` as of the latest scan, None if that did not read it."""

    name: str
    is_read: bool
    table_count: int | None


@dataclass(frozen=True)
class CheckedDatabase:
    """A database that was opened; `warnings` as of a connection."""

    dialect: str
    masked_url: str
    warnings: tuple[str, ...]


CheckNames: TypeAlias = Callable[[str], Awaitable[None]]
"""A check of the names in a statement, before the guard's. Raises `StatementRefused`."""


class DatabaseConnections:
    """Every method names the caller as `owner`. It raises `ConnectionNotFound` for a connection of another
    owner that is not shared; methods that change a connection raise `NotTheOwner` for one that is only
    shared.
    """

    def __init__(
        self,
        storage: Storage,
        secrets: SecretBox,
        limits: ConnectionLimits,
        *,
        records: StatementRecords,
        access: Access = ONE_USER,
        uploads: UploadFolder | None = None,
        embedding: EmbeddingModel | None = None,
        allowances: Allowances | None = None,
    ) -> None:
        """`allowances` of owners; None: their usage is neither limited nor counted."""
        self.repository = ConnectionRepository(storage)
        self.get = self.repository.get
        self.page = self.repository.page
        self.oldest = self.repository.oldest
        self._secrets = secrets
        self._limits = limits
        self._records = records
        self._access = access
        self._uploads = uploads
        self._threads = DatabaseThreads(limits.max_threads)
        self._checks = BoundedThreads(limits.max_checks, limits.check_seconds, "statement check")
        self._passed: LRUCache[str, _Passed] = LRUCache(_MOST_PASSED)
        self._timed_out: TTLCache[_KnownStatement, bool] = TTLCache(_MOST_TIMED_OUT, _TIMED_OUT_SECONDS)
        records.watch_abandoned_checks(lambda: self._checks.abandoned)
        self._schemas = ScannedSchemas(limits.max_cached_schemas)
        self._limited = LimitedSchemas(limits.max_cached_schemas)
        self._forgetting: list[Callable[[str], Awaitable[None]]] = []
        self._following: list[Callable[[Connection], Awaitable[None]]] = []
        self._allowances = allowances
        charge = uncharged if allowances is None else allowances.charged
        self._vectors = TableVectors(storage, embedding, charge) if embedding else None
        self._scans = Scans(
            self.repository,
            self._schemas,
            self._threads,
            limits=limits,
            vectors=self._vectors,
            records=records,
            tell=self._tell_changed,
        )

    def when_deleted(self, forget: Callable[[str], Awaitable[None]]) -> None:
        """Call `forget` with the id of each connection that is deleted, before and after. It deletes what
        other modules keep of the connection."""
        self._forgetting.append(forget)

    def when_changed(self, follow: Callable[[Connection], Awaitable[None]]) -> None:
        """Call `follow` with each connection that was scanned, or whose roles, tables or columns the owner
        has changed."""
        self._following.append(follow)

    async def _tell_changed(self, connection: Connection) -> None:
        for follow in self._following:
            await follow(connection)

    async def _forget(self, connection_id: str) -> None:
        for forget in self._forgetting:
            await forget(connection_id)

    async def close(self) -> None:
        """Stop the scans. The next use of their tables starts them again."""
        await self._scans.close()
        self._checks.close()
        self._threads.close()
        if self._vectors is not None:
            await self._vectors.close()

    async def register(
        self,
        owner: str,
        url: str,
        name: str,
        *,
        description: str,
        shared: bool = False,
        roles: Roles | None = None,
        schemas: Sequence[str] = (),
    ) -> Connection:
        """Test a database and store its URL, encrypted, with warnings of what its account may do.

        `schemas` are patterns of the schemas to read; none reads all.

        Raises `UrlNotSupported`, `DatabaseUnreachable` or `RolesRefused`, without secrets in their texts.
        """
        database = await asyncio.to_thread(read_url, url, self._access)
        warnings = await self._tried(database, roles, schemas)
        connection = Connection(
            id=created_id(),
            owner=owner,
            name=name,
            description=description,
            dialect=database.dialect,
            masked_url=database.masked_url,
            encrypted_url=self._secrets.encrypt(database.url),
            created_at=now_ms(),
            warnings=warnings,
            shared=shared,
            roles=roles,
            schemas=tuple(schemas),
        )
        await self.repository.save(connection)
        return connection

    async def test(self, owner: str, url: str, connection_id: str | None) -> CheckedDatabase:
        """Open a database and store nothing. With a connection of the owner's, as its new address.

        Raises `UrlNotSupported`, `DatabaseUnreachable` or `RolesRefused`, without secrets in their texts.
        """
        if connection_id is None:
            database = await asyncio.to_thread(read_url, url, self._access)
            warnings = await self._tried(database, None, ())
        else:
            connection = await self.repository.own(owner, connection_id)
            database = await self._new_address(connection, url)
            warnings = await self._tried(database, connection.roles, connection.schemas)
        return CheckedDatabase(database.dialect, database.masked_url, warnings)

    async def test_steps(
        self, owner: str, url: str | None, connection_id: str | None = None, *, schemas: Sequence[str] = ()
    ) -> list[ConnectionStep]:
        """Open a database step by step and store nothing. With a connection of the owner's, as its new
        address, or without a URL as the one that it has.
        """
        try:
            if connection_id is None:
                database = await asyncio.to_thread(read_url, url or "", self._access)
            else:
                connection = await self.repository.own(owner, connection_id)
                schemas = connection.schemas
                database = await (
                    asyncio.to_thread(self._database, connection)
                    if url is None
                    else self._new_address(connection, url)
                )
        except (UrlNotSupported, DatabaseUnavailable) as error:
            return [ConnectionStep("address", "failed", error.detail)]
        return await self._threads.run(lambda stop: take_steps(database, self._limits, stop, schemas=schemas))

    async def change(
        self, owner: str, connection_id: str, edit: ConnectionEdit, *, url: str | None = None
    ) -> Connection:
        """Change a connection, all fields or none. A new URL, and new patterns of schemas, are tested first,
        and scanned afterwards.

        Raises `UrlNotSupported`, `DatabaseUnreachable` or `RolesRefused`, without secrets in their texts, and
        `DatabaseDown`.
        """
        connection = await self.repository.own(owner, connection_id)
        if "roles" in edit:
            _check_has_roles(connection)
        roles = edit.get("roles")
        schemas = edit.get("schemas", connection.schemas)
        database = None if url is None else await self._new_address(connection, url)
        masked_url = connection.masked_url if database is None else database.masked_url
        if database is None and (roles is not None or "schemas" in edit):
            with as_problems():
                known = await asyncio.to_thread(self._database, connection)
                if roles is not None:
                    await self._try_roles(known, roles)
            # Its address is encrypted again: no process knows tables any more that are not to be read now.
            database = known if "schemas" in edit else None
        if database is not None:
            edit["address"] = Address(
                masked_url=masked_url,
                encrypted_url=self._secrets.encrypt(database.url),
                warnings=await self._tried(database, roles or connection.roles, schemas),
            )
        bounds = (edit.get("ask_above_rows"), edit.get("refuse_above_rows"))
        if any(bounds):
            with as_problems():
                bounded = database or await asyncio.to_thread(self._database, connection)
            if not isinstance(bounded, EstimatingDatabase):
                raise UrlNotSupported(_NO_ESTIMATE.format(database=DATABASE_NAMES[connection.dialect]))
        changed = await self.repository.edit(connection, edit)
        self._records.changed(changed, [name for name in edit if name != "address" or url is not None])
        if "roles" in edit:
            await self._tell_changed(changed)
        if database is not None:
            await self._scans.stop(connection.id)
            self._scans.start(changed, database)
        return changed

    async def database_schemas(self, owner: str, connection_id: str) -> list[DatabaseSchema]:
        """Returns the schemas that the account may use, by name. Raises `DatabaseDown`."""
        connection = await self.repository.own(owner, connection_id)
        with as_problems():
            database = await asyncio.to_thread(self._database, connection)
            names = await self._threads.run(partial(_usable_schemas, database, self._limits))
            scanned = await self._known(connection)
        known = None if scanned is None else scanned.schema.names
        counts = Counter() if known is None else Counter(map(known.schema_of, known))
        chosen = set(chosen_schemas(names, connection.schemas))
        return [
            DatabaseSchema(name, name in chosen, None if known is None else counts.get(name))
            for name in names
        ]

    async def _new_address(self, connection: Connection, url: str) -> Database:
        """Raises `UrlNotSupported`."""
        if connection.upload is not None:
            raise UrlNotSupported("This database is made of an uploaded file. Upload the new file instead.")
        with suppress(SecretUnreadable):
            url = await asyncio.to_thread(
                with_kept_secrets, url, self._secrets.decrypt(connection.encrypted_url)
            )
        database = await asyncio.to_thread(read_url, url, self._access)
        if database.dialect != connection.dialect:
            raise UrlNotSupported(
                f"The examples and pins of this connection are SQL for {connection.dialect}, and the URL "
                f"names a database of {database.dialect}. Register that one as a connection of its own."
            )
        return database

    async def _tried(
        self, database: Database, roles: Roles | None, schemas: Sequence[str]
    ) -> tuple[str, ...]:
        """Open a database. Returns warnings; raises `DatabaseUnreachable` or `RolesRefused`."""
        try:
            warnings = await self._threads.run(
                lambda stop: _try(database, self._limits, stop, schemas=schemas)
            )
            more = [] if roles is None else await self._try_roles(database, roles)
        except DatabaseUnavailable as error:
            raise DatabaseUnreachable(error.detail) from None
        return (*warnings, *more)

    async def register_upload(
        self, owner: str, connection_id: str, upload: Upload, *, name: str, description: str
    ) -> Connection:
        """Store a connection to the database that was made of an uploaded file."""
        masked_url = database_file_name(upload.file_name)
        connection = Connection(
            id=connection_id,
            owner=owner,
            name=name,
            description=description,
            dialect="duckdb",
            masked_url=masked_url,
            encrypted_url=self._secrets.encrypt(f"duckdb:///{masked_url}"),
            created_at=now_ms(),
            upload=upload,
        )
        await self.repository.save(connection)
        return connection

    def start_scan_of_replaced(self, connection: Connection) -> None:
        """Read the schema of a database whose file was replaced. Raises `DatabaseUnavailable`."""
        self._schemas.forget(connection.encrypted_url)
        self._start_scan(connection)

    async def _try_roles(self, database: Database, roles: Roles) -> list[str]:
        """Warnings of roles that no policy binds. Raises `RolesRefused` or `DatabaseUnavailable`."""
        if not isinstance(database, RoleDatabase):
            raise RolesRefused("Only a PostgreSQL database has roles that statements can run as.")
        for role in sorted(roles.all):
            try:
                await self._threads.run(partial(_open, database.acting_as(role), self._limits))
            except DatabaseRoleMissing as error:
                raise RolesRefused(error.detail) from None
        connect_seconds = self._limits.connect_seconds
        unbound = await self._threads.run(
            lambda stop: database.roles_beyond_policies(roles.all, stop, connect_seconds)
        )
        return [f"Row-level security does not bind the role {role}: it sees all rows." for role in unbound]

    async def delete(self, owner: str, connection_id: str) -> None:
        """Delete a connection and its tables. Its sessions stay readable."""
        connection = await self.repository.own(owner, connection_id)
        await self._forget(connection.id)
        if connection.upload is not None and self._uploads is not None:
            await asyncio.to_thread(self._uploads.delete, connection.id)
        await self.repository.delete(connection)
        await self._scans.stop(connection.id)
        if self._vectors is not None:
            await self._vectors.stop(connection.id)
        await self.repository.delete_parts(connection)  # those that the scan has found meanwhile
        await self._forget(connection.id)
        self._schemas.forget(connection.encrypted_url)

    async def start_scan(self, owner: str, connection_id: str) -> ScanProgress:
        """Start to read the schema in the background. Descriptions by users are kept.

        The previous schema is used until then. Raises `DatabaseDown` if the stored URL cannot be used.
        """
        connection = await self.repository.own(owner, connection_id)
        with as_problems():
            return self._start_scan(connection).progress

    async def stop_scan(self, owner: str, connection_id: str) -> ScanProgress:
        """Stop a running scan. What it has read is kept."""
        connection = await self.repository.own(owner, connection_id)
        await self._scans.stop_early(connection)
        return await self.scan_progress(owner, connection_id)

    def want_values(self, connection: Connection, tables: Sequence[str]) -> None:
        """Have a running scan read the values of these tables next."""
        if (running := self._scans.running(connection.id)) is not None:
            running.order.want(tables)

    async def scan(self, owner: str, connection_id: str) -> Connection:
        """Start a scan and wait for its end. Raises `DatabaseDown`."""
        connection = await self.repository.own(owner, connection_id)
        with as_problems():
            scan = self._start_scan(connection)
        await scan.ended.wait()
        scanned = await self.repository.get(owner, connection_id)
        if scan.progress.state == "failed":
            raise DatabaseDown(scan.progress.error or "The scan was interrupted.")
        return scanned

    async def scan_progress(self, owner: str, connection_id: str) -> ScanProgress:
        """Progress of the latest scan. A scan that its process left unfinished has failed."""
        connection = await self.repository.get(owner, connection_id)
        running = self._scans.running(connection.id)
        if running is not None:
            return running.progress
        return _if_alive(await self.repository.progress(connection))

    async def tables(
        self, owner: str, connection_id: str, limit: int, *, cursor: str | None
    ) -> tuple[list[Table], str | None]:
        """Returns a page of the scanned tables without hidden columns, and the cursor of the next."""
        connection = await self.repository.get(owner, connection_id)
        if connection.policies is not None:
            known = await self.known_schema(connection)
            tables = [] if known is None else known.tables
            start = cursor_position(cursor)
            more = len(tables) > start + limit
            return list(tables[start : start + limit]), position_cursor(start + limit) if more else None
        tables, next_cursor = await self.repository.tables(connection, limit, cursor)
        return [table.without_hidden() for table in tables], next_cursor

    async def editable_tables(
        self, owner: str, connection_id: str, limit: int, *, cursor: str | None
    ) -> tuple[list[Table], str | None]:
        """Returns what `tables` returns, for the owner of the connection with hidden columns."""
        connection = await self.repository.get(owner, connection_id)
        if connection.owner != owner:
            return await self.tables(owner, connection_id, limit, cursor=cursor)
        return await self.repository.tables(connection, limit, cursor)

    async def describe_table(
        self,
        owner: str,
        connection_id: str,
        table_name: str,
        *,
        description: str | None = None,
        columns: Mapping[str, ColumnEdit] = MappingProxyType({}),
    ) -> Table:
        """Change what users have written of a table and of these columns.

        Raises `TableNotFound`, also for a column that it has not.
        """
        connection = await self.repository.own(owner, connection_id)
        async with self._schemas.lock(connection.id):
            scanned = self._schemas.get(connection.encrypted_url) or await self.repository.scanned_schema(
                connection
            )
            found = scanned.table(table_name)
            if found is None:
                raise TableNotFound("The scanned schema has no table of this name.")
            if unknown := columns.keys() - {each.name for each in found.columns}:
                raise TableNotFound(f"The table has no column {min(unknown)!r}.")
            edited = [
                replace(each, **columns[each.name]) if each.name in columns else each
                for each in found.columns
            ]
            described = replace(found, columns=edited)
            if description is not None:
                described = replace(described, description=description)
            described = await self.repository.edit_table(connection, described)
            self._remember(connection, scanned.with_table(described))
        self._records.described(connection, table_name, list(columns))
        if columns:
            await self._tell_changed(connection)
        return described

    async def sample(self, owner: str, connection_id: str, table_name: str) -> ResultSet:
        """Returns the first rows of a table, `truncated` if there are more.

        Raises `TableNotFound`, `StatementNotRun` or `DatabaseDown`.
        """
        connection, schema = await self._with_schema(owner, connection_id)
        table = next((each for each in schema.tables if each.name == table_name), None)
        if table is None:
            raise TableNotFound("The scanned schema has no table of this name.")
        with as_problems():
            found = await self.run(
                connection,
                sample_statement(table, schema.dialect),
                Asker(owner=owner, purpose="preview", claim=current_database_claim()),
            )
        return sampled(found)

    async def inspect(self, owner: str, connection_id: str, sql: str) -> InspectedStatement:
        """Check a statement without running it. Raises `StatementNotRun` or `DatabaseDown`."""
        self.refuse_long(sql)
        _, schema = await self._with_schema(owner, connection_id)
        with as_problems():
            return await self.examine(
                sql, partial(inspect, sql, schema, self._limits.statement.max_characters)
            )

    def refuse_long(self, sql: str) -> None:
        """Refuse a statement for its length alone. Raises `StatementNotRun`."""
        with as_problems():
            check_length(sql, self._limits.statement.max_characters)

    @property
    def max_statement_characters(self) -> int:
        return self._limits.statement.max_characters

    async def examine(self, sql: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what parses a statement in a thread, and wait for it only so long.

        Raises `StatementRefused` for a statement that is too long or takes too long, and
        `DatabaseUnavailable` when other statements take all threads, or those of the same owner take the
        owner's half.
        """
        check_length(sql, self._limits.statement.max_characters)
        try:
            return await self._checks.run(current_owner(), work, *args, **kwargs)
        except RecursionError:
            raise StatementRefused("The statement is nested too deeply; simplify it.", "nesting") from None
        except WorkTimedOut as late:
            if not late.started:
                others = "your other statements" if late.own else "other statements"
                raise DatabaseUnavailable(f"KAI is still checking {others}. Ask again in a moment.") from None
            raise StatementRefused(
                f"The statement could not be checked within {self._limits.check_seconds:g} s; make it "
                "shorter or simpler.",
                "check-time",
            ) from None

    async def examine_to_run(self, sql: str, schema: Schema, rewrite: Callable[[str], R]) -> R:
        """Rewrite a statement that is to run next, and check what it becomes, in one visit of a thread.

        `run` does not check it again, unless the schema is another one by then. What the guard refuses here
        is left to `run`, which records it. Raises what `examine` raises.
        """
        rewritten, checked = await self.examine(
            sql, _rewritten_and_checked, rewrite, sql, schema=schema, limits=self._limits.statement
        )
        if checked is not None:
            self._passed[rewritten.sql] = _Passed(schema, checked)
        return rewritten

    async def _checked(self, sql: str, schema: Schema) -> _Checked:
        """Raises what `examine` and the guard raise."""
        passed = self._passed.pop(sql, None)
        if passed is not None and passed.schema is schema:
            return passed.checked
        return await self.examine(sql, _checked, sql, schema, self._limits.statement.max_characters)

    async def _with_schema(self, owner: str, connection_id: str) -> tuple[Connection, Schema]:
        """Returns a connection with its schema. Raises `DatabaseDown` if a first scan fails."""
        connection = await self.repository.get(owner, connection_id)
        with as_problems():
            return connection, await self.schema(connection)

    async def schema(self, connection: Connection) -> Schema:
        """Returns the schema of the scanned tables. Raises `DatabaseUnavailable`."""
        return (await self.scanned_schema(connection)).schema

    async def scanned_schema(self, connection: Connection) -> ScannedSchema:
        """Returns the tables found so far with the profiles of their values. Raises `DatabaseUnavailable`.

        The first call starts a scan and waits for all tables, but only a moment for their values.
        """
        return await self._limit_to_person(connection, await self.whole_schema(connection))

    async def whole_schema(self, connection: Connection) -> ScannedSchema:
        """Returns all tables with all columns, for the owner of a connection. Raises what `scanned_schema`
        raises.
        """
        scanned = self._schemas.get(connection.encrypted_url)
        if scanned is None:
            await self._learn(connection)
            scanned = self._schemas.get(connection.encrypted_url) or await self.repository.scanned_schema(
                connection
            )
        return scanned

    async def edit_policies(
        self, connection: Connection, policies: str | None, tables: Sequence[Table]
    ) -> Connection:
        """Store the policies of a connection, which were written for these tables. Views among them that have
        no definition yet are scanned again.
        """
        found_at = max((table.found_at for table in tables), default=0)
        edit: ConnectionEdit = {"policies": policies, "policies_found_at": found_at}
        if connection.encrypted_hash_key is None:
            edit["encrypted_hash_key"] = self._secrets.encrypt(secrets.token_urlsafe(_HASH_KEY_BYTES))
        changed = await self.repository.edit(connection, edit)
        self._records.changed(changed, ["policies"])
        await self._tell_changed(changed)
        if any(table.kind == "view" and not table.definition for table in tables):
            with as_problems():
                self._start_scan(changed)
        return changed

    async def known_schema(self, connection: Connection) -> Schema | None:
        """Returns the tables that the last scan found, without starting one. None before the first scan.

        Raises `PersonUnknown`.
        """
        scanned = await self._known(connection)
        return None if scanned is None else (await self._limit_to_person(connection, scanned)).schema

    async def _known(self, connection: Connection) -> ScannedSchema | None:
        scanned = self._schemas.get(connection.encrypted_url)
        if scanned is None and connection.scanned_at is not None:
            scanned = await self.repository.scanned_schema(connection)
        return scanned

    async def _limit_to_person(self, connection: Connection, scanned: ScannedSchema) -> ScannedSchema:
        """Returns what the person whose work is being done knows of a schema. Raises `PersonUnknown`."""
        if connection.policies is None:
            return scanned.visible
        person = _current_person(connection)
        key = self._secret(connection.encrypted_hash_key or "")
        return await self._limited.get(
            scanned, connection.policies, person, found_at=connection.policies_found_at, key=key
        )

    def rights_on(self, connection: Connection) -> str | None:
        """Returns the fingerprint of what the person whose work is being done may see. None if everyone sees
        the same. Raises `PersonUnknown`.
        """
        if connection.policies is None:
            return None
        return fingerprint_of(read_policies(connection.policies), _current_person(connection))

    async def nearest_tables(self, connection: Connection, text: str) -> list[str]:
        """The few tables whose descriptions are nearest to the text, nearest first.

        Empty without an embedding model, or if it fails. Some may no longer be in the schema.
        """
        return [] if self._vectors is None else await self._vectors.nearest(connection.id, text)

    async def check(self, connection: Connection, sql: str) -> None:
        """Check that a statement may run. Raises `StatementFailed` or `DatabaseUnavailable`."""
        await self._checked(sql, await self.schema(connection))

    async def row_policies(self, connection: Connection, sql: str) -> Sequence[str]:
        """Returns the names of policies that limit the rows of a statement. Raises what `check` raises."""
        schema = await self.schema(connection)
        return () if schema.limiter is None else (await self._checked(sql, schema)).statement.row_policies

    async def run(
        self,
        connection: Connection,
        sql: str,
        asker: Asker,
        *,
        check_names: CheckNames | None = None,
        is_approved: bool = False,
        bounds: StatementLimits | None = None,
    ) -> ResultSet:
        """Check a statement and run it read-only under limits. Cancellation stops it in the database.

        Every statement is recorded, however it ends, also when `check_names` refuses it. `is_approved`: a
        person has approved what it reads. `bounds` of rows and bytes, in place of those of every result.
        Raises `StatementFailed`, `DatabaseRoleMissing` or `DatabaseUnavailable`.
        """
        schema = await self.schema(connection)
        limits = self._limits
        if bounds is not None:
            statement_limits = replace(limits.statement, max_rows=bounds.max_rows, max_bytes=bounds.max_bytes)
            limits = replace(limits, statement=statement_limits)
        with self._records.record(connection, sql, asker) as record:
            if check_names is not None:
                await check_names(sql)
            _check_asker(connection, asker)
            await self._check_bytes(asker.owner)
            database, record.database_role = self._database_for(connection, asker)
            statement = UncheckedStatement(
                sql=sql,
                schema=schema,
                database=database,
                limits=limits.statement,
                connect_seconds=limits.connect_seconds,
            )
            to_run, secret = await self._checked(sql, schema)
            record.policies = to_run.policies
            known_as = (connection.encrypted_url, record.database_role, to_run.sql)
            self._refuse_slow(known_as)
            most = await self._check_estimate(connection, statement, to_run.sql, is_approved=is_approved)
            limited = replace(statement, database=_limit_reads(database, most))
            try:
                result = await self._run_checked(limited, to_run.sql)
            except StatementTimedOut:
                self._timed_out[known_as] = True
                raise
            record.gave(result)
            if self._allowances is not None:
                await self._allowances.read(asker.owner, result.bytes_read)
            result = replace(result, row_policies=to_run.row_policies)
            if secret is None:
                return result
            return replace(result, are_secret=secret.among([column.name for column in result.columns]))

    async def _run_checked(self, statement: UncheckedStatement, to_run: str) -> ResultSet:
        """Run what stands for a checked statement. Raises `StatementFailed` without what the database quotes
        of values, or of what ran in place of the statement, and `DatabaseUnavailable`.
        """
        try:
            return await self._threads.run(lambda stop: statement.run_checked(to_run, stop))
        except StatementTimedOut:
            raise
        except StatementFailed as failed:
            said = await self.examine(
                statement.sql, partial(without_values, failed.detail, statement.sql, statement.schema)
            )
            if said == failed.detail:
                raise
            raise StatementFailed(said) from None

    async def run_over(self, tables: Sequence[MemoryTable], plan: JoinPlan) -> tuple[ResultSet, list[str]]:
        """Run a planned statement over the rows of its parts, in memory, under the limits of any statement.

        Returns its result, and sentences on keys of text that join nothing. Raises `StatementFailed` or
        `DatabaseUnavailable`.
        """
        run = partial(_run_over, tables, plan, limits=self._limits.statement)
        try:
            result, notes = await self._threads.run(run)
        except StatementFailed as failed:
            said = await self.examine(plan.sql, partial(without_values, failed.detail, plan.sql, plan.schema))
            raise StatementFailed(said) from None
        if plan.secret is not None:
            secrets = plan.secret.among([column.name for column in result.columns])
            result = replace(result, are_secret=secrets)
        return result, notes

    async def find_approval(self, connection: Connection, sql: str, asker: Asker) -> str:
        """Returns why a person has to approve a statement before it runs.

        Empty if none has to, and for a statement that would fail.
        """
        if connection.ask_above_rows is None:
            return ""
        database, _ = self._database_for(connection, asker)
        try:
            schema = await self.schema(connection)
            to_run, _ = await self._checked(sql, schema)
            statement = UncheckedStatement(
                sql=sql,
                schema=schema,
                database=database,
                limits=self._limits.statement,
                connect_seconds=self._limits.connect_seconds,
            )
            await self._check_estimate(connection, statement, to_run.sql, is_approved=False)
        except StatementNeedsApproval as needed:
            return needed.why
        except (StatementFailed, DatabaseUnavailable):
            return ""
        return ""

    async def _check_estimate(
        self, connection: Connection, statement: UncheckedStatement, sql: str, *, is_approved: bool
    ) -> int | None:
        """Returns the rows at which the database is to stop the statement itself, where it can. None if there
        is no bound.

        Raises `StatementReadsTooMuch` and `StatementNeedsApproval`, by the bounds of the connection, and
        `StatementFailed` for a statement that the database cannot plan.
        """
        ask = None if is_approved else connection.ask_above_rows
        refuse = connection.refuse_above_rows
        database = statement.database
        if (ask is None and refuse is None) or not isinstance(database, EstimatingDatabase):
            return refuse
        if sql.startswith("EXPLAIN"):
            return refuse  # it reads no rows
        rows = await self._threads.run(lambda stop: _estimate_rows(database, sql, stop, limits=self._limits))
        if rows is None and isinstance(database, ReadLimitingDatabase):
            return min(each for each in (ask, refuse) if each is not None)
        if rows is None:
            await self._run_checked(statement, f"EXPLAIN {sql}")  # says why
            raise StatementReadsTooMuch(
                "The database does not say how many rows it expects to go through for this statement, and "
                "its owner has bounded them. Ask in other words, or have the owner remove the bound."
            )
        # An estimate counts rows that policies hide.
        count = f"about {rows:,}" if connection.policies is None else "many"
        if refuse is not None and rows > refuse:
            raise StatementReadsTooMuch(
                f"The database expects to go through {count} rows for this statement, and its owner "
                f"allows at most {refuse:,}. Make it cheaper: add filters, or join fewer tables."
            )
        if ask is not None and rows > ask:
            raise StatementNeedsApproval(
                f"The database expects to go through {count} rows for this statement, and above "
                f"{ask:,} a person has to approve it."
            )
        return refuse

    def _database_for(self, connection: Connection, asker: Asker) -> tuple[Database, str | None]:
        """Returns the database as a statement of this person reads it, and the role that it runs as."""
        database = self._database(connection)
        if connection.roles is None:
            return database, None
        role = connection.roles.role_of(asker.owner, asker.claim)
        return _acting_as(database, role), role

    async def _check_bytes(self, owner: str) -> None:
        """Raises `DatabaseBytesSpent`."""
        try:
            if self._allowances is not None:
                await self._allowances.check_bytes(owner)
        except BytesSpent as spent:
            raise DatabaseBytesSpent(spent) from None

    def _refuse_slow(self, statement: "_KnownStatement") -> None:
        """Raises `StatementTimedOut` for a statement that timed out a short time ago."""
        if statement in self._timed_out:
            raise StatementTimedOut(
                f"The same statement was stopped after {self._limits.statement.timeout_seconds:g} s a short "
                "time ago, so it is not run again now. Make it cheaper: add filters, check that every join "
                "has a condition, aggregate in the database."
            )

    def _database(self, connection: Connection) -> Database:
        """Raises `DatabaseUnavailable` if the stored URL can no longer be used."""
        if connection.upload is not None:
            if self._uploads is None:
                raise DatabaseUnavailable("This KAI has no folder of uploaded files.")
            return self._uploads.database(connection.id, connection.upload.file_name)
        try:
            return read_url(self._secret(connection.encrypted_url), self._access)
        except UrlNotSupported as error:
            raise DatabaseUnavailable(error.detail) from None

    def _secret(self, encrypted: str) -> str:
        """Raises `DatabaseSecretUnreadable`."""
        try:
            return self._secrets.decrypt(encrypted)
        except SecretUnreadable:
            raise DatabaseSecretUnreadable(
                "The URL of this connection was encrypted with another key. Add that key to "
                "KAI_ENCRYPTION_KEY, behind the first, or register the database again."
            ) from None

    async def _learn(self, connection: Connection) -> None:
        now = await self.repository.get(connection.owner, connection.id)
        if now.scanned_at is None:
            await self._first_tables(self._start_scan(now))
            return
        async with self._schemas.lock(now.id):
            if self._schemas.get(now.encrypted_url) is None:
                self._remember(now, await self.repository.scanned_schema(now))
        if (await self.repository.progress(now)).state in ("never", "running"):
            self._start_scan(now)  # never profiled, or another process was interrupted

    def _remember(self, connection: Connection, scanned: ScannedSchema) -> None:
        self._schemas.remember(connection.encrypted_url, scanned)
        if self._vectors is not None:
            self._vectors.refresh(connection.owner, connection.id, scanned.visible.schema.tables)

    async def _first_tables(self, scan: Scan) -> None:
        await scan.tables_known.wait()
        if scan.progress.tables_total is None:
            raise DatabaseUnavailable(scan.progress.error or "The scan of the database was interrupted.")
        with suppress(TimeoutError):
            await asyncio.wait_for(scan.ended.wait(), self._limits.first_profile_seconds)

    def _start_scan(self, connection: Connection) -> Scan:
        """Raises `DatabaseUnavailable`."""
        running = self._scans.running(connection.id)
        return running or self._scans.start(connection, self._database(connection))


def _checked(sql: str, schema: Schema, max_characters: int) -> _Checked:
    return _Checked(checked(sql, schema, max_characters), find_secret_outputs(sql, schema))


def _run_over(
    tables: Sequence[MemoryTable], plan: JoinPlan, stop: Stop, *, limits: StatementLimits
) -> tuple[ResultSet, list[str]]:
    notes = []
    stop.after(limits.timeout_seconds)
    with open_tables(tables, stop) as session:
        for keys in plan.keys:
            counted = list(session.execute(unlike_keys_query(keys)).rows)
            if count := int(str(counted[0][0])):
                notes.append(unlike_keys_note(keys, count))
        return collect(session.execute(plan.sql), limits), notes


def _rewritten_and_checked(
    rewrite: Callable[[str], R], sql: str, *, schema: Schema, limits: StatementLimits
) -> tuple[R, _Checked | None]:
    """Returns the rewritten statement, and what the guard returns for it: None if it refuses it."""
    rewritten = rewrite(sql)
    try:
        return rewritten, _checked(rewritten.sql, schema, limits.max_characters)
    except StatementRefused:
        return rewritten, None


_NOT_LIMITED: Mapping[Purpose, str] = {
    "evaluation": "Evaluations run when no one has signed in",
}
"""Purposes whose rows could reach another person than the one who asks."""


def _current_person(connection: Connection) -> Person:
    """Returns the person whose work is being done. Raises `PersonUnknown`."""
    attributes = current_attributes()
    if attributes is None or not current_owner():
        raise PersonUnknown(
            f"The database {connection.name} shows each person what its policies let them see, and this is "
            "done for no one who has signed in. Ask in a session, or by the API."
        )
    return Person(current_owner(), attributes)


def _check_asker(connection: Connection, asker: Asker) -> None:
    """Raises `PersonUnknown` where rows belong to people, and those of this statement may reach others."""
    if connection.policies is None:
        return
    why = _NOT_LIMITED.get(asker.purpose)
    if why is None and asker.owner != current_owner():
        why = "The statement is another person's"
    if why is not None:
        raise PersonUnknown(
            f"{why}, and the database {connection.name} shows each person what its policies let them see. "
            "Ask in a session."
        )


def _if_alive(progress: ScanProgress) -> ScanProgress:
    stored_ago = timedelta(milliseconds=now_ms() - (progress.updated_at or 0))
    if progress.state == "running" and stored_ago > _PROGRESS_IS_STALE_AFTER:
        return replace(progress, state="failed", error="The server was stopped meanwhile. Scan again.")
    return progress


def _check_has_roles(connection: Connection) -> None:
    """Raises `RolesRefused`."""
    if connection.roles is None:
        raise RolesRefused(
            "This database was registered without roles, and its scan has read values that not every "
            "role may see. Register it again with roles."
        )


def _try(
    database: Database, limits: ConnectionLimits, stop: Stop, *, schemas: Sequence[str]
) -> Sequence[str]:
    """Returns warnings: what the account may do besides reading, and that there are no tables. Raises
    `DatabaseUnavailable`.
    """
    _open(database, limits, stop)
    try:
        warnings = database.warnings(stop, limits.connect_seconds)
    except DBAPIError:
        warnings = ["KAI could not find out what this account may do besides reading."]
    return warnings if _has_tables(database, limits, stop, schemas=schemas) else [*warnings, _EMPTY]


def _open(database: Database, limits: ConnectionLimits, stop: Stop) -> None:
    stop.after(limits.connect_seconds)
    with database.session(stop, limits.connect_seconds) as session:
        list(session.execute("SELECT 1").rows)


def _estimate_rows(
    database: EstimatingDatabase, sql: str, stop: Stop, *, limits: ConnectionLimits
) -> int | None:
    """Returns None for a statement that the database cannot plan.

    Raises `DatabaseUnavailable`.
    """
    stop.after(limits.statement.timeout_seconds)
    try:
        with database.engine(stop, limits.connect_seconds) as engine, engine.connect() as connection:
            return database.estimate_rows(connection, sql)
    except DBAPIError:
        return None


def _limit_reads(database: Database, rows: int | None) -> Database:
    """Returns the database that itself stops statements that read more rows, where it can."""
    if rows is None or not isinstance(database, ReadLimitingDatabase):
        return database
    return database.limit_reads(rows)


def _acting_as(database: Database, role: str) -> Database:
    """Raises `DatabaseUnavailable` for a database without roles, which none was registered with."""
    if not isinstance(database, RoleDatabase):
        raise DatabaseUnavailable("This database has no roles that statements can run as.")
    return database.acting_as(role)


def _usable_schemas(database: Database, limits: ConnectionLimits, stop: Stop) -> list[str]:
    """Raises `DatabaseUnavailable`."""
    stop.after(limits.connect_seconds)
    try:
        with database.engine(stop, limits.connect_seconds) as engine, engine.connect() as connection:
            return database.schema_names(connection)
    except DBAPIError:
        raise DatabaseUnavailable("The schemas of the database could not be read.") from None


def _has_tables(database: Database, limits: ConnectionLimits, stop: Stop, *, schemas: Sequence[str]) -> bool:
    """True also if that cannot be determined: the scan will report why.

    Raises `DatabaseUnavailable` if the account may read none, or a pattern of schemas fits none.
    """
    try:
        with database.engine(stop, limits.connect_seconds) as engine, engine.connect() as connection:
            if missing := database.missing_right(connection):
                raise DatabaseUnavailable(missing)
            return database.has_tables(connection, read_schemas(database, connection, schemas))
    except DBAPIError:
        return True
