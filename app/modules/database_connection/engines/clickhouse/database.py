"""ClickHouse servers, by clickhouse-connect over HTTP."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast
from uuid import uuid4

from clickhouse_connect.dbapi.connection import Connection as ClickhouseConnection
from clickhouse_connect.driver.exceptions import ClickHouseError
from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, text
from urllib3 import BaseHTTPResponse, PoolManager, Timeout

from app.modules.database_connection.engines.catalogs import Listing, inspected_schemas
from app.modules.database_connection.engines.clickhouse.catalog import has_tables, list_tables
from app.modules.database_connection.engines.clickhouse.estimate import estimate_rows
from app.modules.database_connection.engines.clickhouse.session import (
    ClickhouseSession,
    cause,
    has_failed_encryption,
)
from app.modules.database_connection.engines.databases import EncryptionRefused
from app.modules.database_connection.engines.watching import cancelled_when_due
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from clickhouse_connect.driver.httpclient import HttpClient

# The driver logs a traceback of each server that does not answer. What is raised says why.
logging.getLogger("clickhouse_connect").setLevel(logging.ERROR)

_SILENCE_SECONDS = 900.0  # for dead servers; slow statements are stopped earlier
_KILL_SECONDS = 2.0
_KILL = "KILL QUERY WHERE Settings['log_comment'] = %(tag)s ASYNC"
_SESSION: Mapping[str, str | int] = {
    "readonly": 2,  # reads, and settings; this one cannot be changed again
    "cancel_http_readonly_queries_on_client_close": 1,
    # As other databases read the same SQL; the guard and the sources of a result count on the first.
    "prefer_column_name_to_alias": 1,
    "cast_keep_nullable": 1,
    "join_use_nulls": 1,
}
_CONDITION_CACHE = "use_query_condition_cache"
"""A setting that older servers lack. In 26.9, rows are missing after a join of a filtered table: the cache
takes what the join has skipped for what does not meet the condition.
"""
_READING = {
    "CHECK",
    "SELECT",
    "SHOW",
    "SHOW COLUMNS",
    "SHOW DATABASES",
    "SHOW DICTIONARIES",
    "SHOW TABLES",
    "dictGet",
}
_GRANT = re.compile(r"GRANT (?P<rights>.+?) ON ")
_COLUMNS = re.compile(r"\([^)]*\)")
_CURE = "Register the database again with an account that may only SELECT (docs/security.md says how)."


class _Opened(NamedTuple):
    """A read-only connection, and a function that stops its statement."""

    connection: ClickhouseConnection
    cancel: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class ClickhouseDatabase:
    """One database of a server, and those beside it that the account may read."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    name: str
    secure: bool
    max_bytes_to_read: int | None = None
    """The server refuses a statement that reads more. None: only the account's own limit holds."""
    max_rows_to_read: int | None = None
    """The same in rows, by the connection's own bound."""
    access: Access = field(default=ONE_USER, repr=False)
    dialect: Literal["clickhouse"] = "clickhouse"

    @property
    def url(self) -> str:
        query = {"secure": str(self.secure).lower()}
        if self.max_bytes_to_read is not None:
            query["max_bytes_to_read"] = str(self.max_bytes_to_read)
        url = self._without_secrets().set(password=self.password)
        return url.update_query_dict(query).render_as_string(hide_password=False)

    @property
    def masked_url(self) -> str:
        return self._without_secrets().render_as_string()

    def _without_secrets(self) -> URL:
        return URL.create(
            "clickhouse", username=self.user, host=self.host, port=self.port, database=self.name
        )

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """Returns a sentence that names the rights, with advice. Roles of the account are not examined."""
        with self.engine(stop, connect_seconds) as engine, engine.connect() as connection:
            beyond = sorted(_rights(connection) - _READING)
        if not beyond:
            return ()
        shown = ", ".join(beyond[:5]) + (" and more" if len(beyond) > 5 else "")
        return [f"This account may do more than read: {shown}. {_CURE}"]

    def missing_right(self, connection: Connection) -> str:
        tables = text("SELECT count() FROM system.tables WHERE database = currentDatabase()")
        if connection.scalar(tables) or not _READING.isdisjoint(_rights(connection)):
            return ""
        return (
            f"KAI's account {self.user} may read no table of the database {self.name}. An administrator "
            f"allows it: GRANT SELECT ON {self.name}.* TO {self.user}; Then try again."
        )

    def schema_names(self, connection: Connection) -> list[str]:
        return inspected_schemas(connection)

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        return has_tables(connection, schemas)

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        return list_tables(connection, schemas)

    def limit_reads(self, rows: int) -> "ClickhouseDatabase":
        return replace(self, max_rows_to_read=rows)

    def estimate_rows(self, connection: Connection, sql: str) -> int | None:
        return estimate_rows(connection, sql)

    def is_encrypted(self, connection: Connection) -> bool:
        return self.secure

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator[ClickhouseSession]:
        with self._opened(stop, connect_seconds) as opened:
            session = ClickhouseSession(client=opened.connection.client, stop=stop)
            try:
                yield session
            finally:
                session.abandon(opened.cancel)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with self._opened(stop, connect_seconds) as opened:
            yield create_engine("clickhousedb://", creator=lambda: opened.connection, poolclass=StaticPool)

    @contextmanager
    def _opened(self, stop: Stop, seconds: float) -> Iterator[_Opened]:
        tag = f"kai {uuid4()}"
        limit: dict[str, int] = {}
        if self.max_bytes_to_read is not None:
            limit["max_bytes_to_read"] = self.max_bytes_to_read
        if self.max_rows_to_read is not None:
            limit["max_rows_to_read"] = self.max_rows_to_read
        cancel = partial(self._kill, tag)
        with (
            self._connected(seconds, {**_SESSION, **limit, "log_comment": tag}) as connection,
            cancelled_when_due(cancel, stop),
        ):
            yield _Opened(connection, cancel)

    def _kill(self, tag: str) -> None:
        """Ask the server to stop the statements with this comment. Does not raise if that fails."""
        with (
            suppress(DatabaseUnavailable, ClickHouseError),
            self._connected(_KILL_SECONDS, {}) as connection,
        ):
            connection.client.command(_KILL, parameters={"tag": tag})

    @contextmanager
    def _connected(self, seconds: float, settings: Mapping[str, str | int]) -> Iterator[ClickhouseConnection]:
        """Open a connection to a checked address; the name could resolve to another one later.

        Raises `DatabaseUnavailable`.
        """
        failure = ClickHouseError()
        for address in self.access.addresses(self.host, self.port):
            with self._pool() as pool:
                try:
                    connection = self._connect(address, pool, seconds=seconds, settings=settings)
                except ClickHouseError as error:
                    failure = error
                    continue
                cast("HttpClient", connection.client).timeout = Timeout(
                    connect=seconds, read=_SILENCE_SECONDS
                )
                yield connection
                return
        kind = EncryptionRefused if has_failed_encryption(failure) else DatabaseUnavailable
        raise kind(f"The database cannot be used: {cause(failure)}.")

    def _connect(
        self, address: str, pool: PoolManager, *, seconds: float, settings: Mapping[str, str | int]
    ) -> ClickhouseConnection:
        """Returns a connection whose first answers came within these seconds. Raises `ClickHouseError`."""
        changed: dict[str, Any] = {f"ch_{name}": value for name, value in settings.items()}
        connection = ClickhouseConnection(
            host=address,
            port=self.port,
            username=self.user,
            password=self.password,
            database=self.name,
            interface="https" if self.secure else "http",
            server_host_name=self.host if self.secure else None,
            pool_mgr=pool,
            **changed,
            compress=False,
            connect_timeout=max(int(seconds), 1),
            send_receive_timeout=max(int(seconds), 1),
            query_retries=0,
            autogenerate_session_id=False,
            show_clickhouse_errors="scrub",
        )
        if _CONDITION_CACHE in connection.client.server_settings:
            connection.client.set_client_setting(_CONDITION_CACHE, "0")
        return connection

    def _pool(self) -> PoolManager:
        """Returns connections of one session, without the proxies of this process."""
        name: dict[str, Any] = (
            {"assert_hostname": self.host, "server_hostname": self.host} if self.secure else {}
        )
        return _WithoutRedirects(maxsize=2, cert_reqs="CERT_REQUIRED", **name)


class _WithoutRedirects(PoolManager):
    """Connections to the checked address alone: a server could redirect to one that is not allowed."""

    def urlopen(self, method: str, url: str, *_: Any, **options: Any) -> BaseHTTPResponse:
        options.pop("redirect", None)
        return super().urlopen(method, url, redirect=False, **options)


def _rights(connection: Connection) -> set[str]:
    """Returns the rights that are granted to the account itself, on anything."""
    found: set[str] = set()
    for line in connection.scalars(text("SHOW GRANTS")):
        for granted in map(_GRANT.match, str(line).splitlines()):
            if granted:
                found |= {right.strip() for right in _COLUMNS.sub("", granted["rights"]).split(",")}
    return found
