"""PostgreSQL servers, by psycopg."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import psycopg
from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, text

from app.modules.database_connection.engines.catalogs import Listing
from app.modules.database_connection.engines.databases import EncryptionRefused
from app.modules.database_connection.engines.postgres.catalog import has_tables, list_tables, schema_names
from app.modules.database_connection.engines.postgres.estimate import estimate_rows
from app.modules.database_connection.engines.postgres.role import (
    missing_right,
    rights_beyond_reading,
    roles_beyond_policies,
)
from app.modules.database_connection.engines.postgres.session import (
    PostgresConnection,
    PostgresSession,
    cancel,
    load_times_as_text,
)
from app.modules.database_connection.engines.watching import cancelled_when_due
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

_SESSION: Mapping[str, str] = {
    "default_transaction_read_only": "on",
    "search_path": "public",
    "standard_conforming_strings": "on",  # as the guard parses text
    "cursor_tuple_fraction": "1",  # plan for all rows, as without a cursor
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "120s",
    "DateStyle": "ISO",
}
_NO_ENCRYPTION = "no agreement on encryption was reached; see the parameter sslmode"
# Parts of the driver's error messages while connecting, and the texts for users. The first match counts.
_CAUSES: Sequence[tuple[str, str]] = (
    ("password", "the user name or the password is wrong"),
    ("role ", "the user name or the password is wrong"),
    ("no pg_hba.conf entry", "the server does not let this user in from here"),
    (
        "permission denied for database",
        "the account may not connect to it; GRANT CONNECT ON DATABASE its name TO the account allows it",
    ),
    ("database ", "the server has no database of this name"),
    ("connection refused", "nothing listens at this host and port"),
    ("timeout", "it did not answer in time"),
    ("timed out", "it did not answer in time"),
    ("unreachable", "there is no way to the host"),
    ("too many", "it has no connection left"),
    ("starting up", "it is starting up"),
    ("shutting down", "it is shutting down"),
    ("ssl", _NO_ENCRYPTION),
)

_IS_ENCRYPTED = "SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()"
_NO_FILE = f"{os.devnull}/none"
"""A path that cannot exist: libpq warns on stderr of one that is no plain file, such as the null device."""


@dataclass(frozen=True, kw_only=True)
class PostgresDatabase:
    """One database of a server; `options` are URL parameters, each known to be harmless."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    name: str
    options: tuple[tuple[str, str], ...] = ()
    access: Access = field(default=ONE_USER, repr=False)
    dialect: Literal["postgres"] = "postgres"
    role: str | None = None
    """The role that statements of sessions run as, in place of the user."""

    @property
    def url(self) -> str:
        url = self._without_secrets().set(password=self.password)
        return url.update_query_dict(dict(self.options)).render_as_string(hide_password=False)

    @property
    def masked_url(self) -> str:
        return self._without_secrets().render_as_string()

    def _without_secrets(self) -> URL:
        return URL.create(
            "postgresql", username=self.user, host=self.host, port=self.port, database=self.name
        )

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        with self.engine(stop, connect_seconds) as engine, engine.connect() as connection:
            return rights_beyond_reading(connection)

    def missing_right(self, connection: Connection) -> str:
        return missing_right(connection)

    def schema_names(self, connection: Connection) -> list[str]:
        return schema_names(connection)

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        return has_tables(connection, schemas)

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        return list_tables(connection, schemas)

    def estimate_rows(self, connection: Connection, sql: str) -> int | None:
        if self.role is not None:
            connection.execute(text("SELECT set_config('role', :role, false)"), {"role": self.role})
        return estimate_rows(connection, sql)

    def is_encrypted(self, connection: Connection) -> bool:
        return connection.scalar(text(_IS_ENCRYPTED)) is True

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator[PostgresSession]:
        with (
            closing(self._connect(connect_seconds)) as connection,
            cancelled_when_due(partial(cancel, connection), stop),
            connection.cursor("kai", scrollable=False) as cursor,
        ):
            yield PostgresSession(connection, cursor, stop, self.role)

    def acting_as(self, role: str) -> "PostgresDatabase":
        return replace(self, role=role)

    def roles_beyond_policies(self, roles: Collection[str], stop: Stop, connect_seconds: float) -> list[str]:
        with self.engine(stop, connect_seconds) as engine, engine.connect() as connection:
            return roles_beyond_policies(connection, roles)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with (
            closing(self._connect(connect_seconds)) as connection,
            cancelled_when_due(partial(cancel, connection), stop),
        ):
            yield create_engine(
                "postgresql+psycopg://",
                creator=lambda: connection,
                poolclass=StaticPool,
                isolation_level="AUTOCOMMIT",
            )

    def _connect(self, seconds: float) -> PostgresConnection:
        """Open a read-only connection to a checked address. Raises `DatabaseUnavailable`."""
        options = dict(self.options)
        addresses = self.access.addresses(self.host, self.port)
        try:
            connection: PostgresConnection = psycopg.connect(
                host=",".join([self.host] * len(addresses)),
                hostaddr=",".join(addresses),
                port=self.port,
                user=self.user,
                password=self.password,
                dbname=self.name,
                passfile=_NO_FILE,  # ignore the process's own password file
                options=" ".join(f"-c {name}={value}" for name, value in _SESSION.items()),
                prepare_threshold=None,
                connect_timeout=options.get("connect_timeout", int(seconds)),
                sslmode=options.get("sslmode", "prefer"),
                application_name=options.get("application_name", "kai"),
                tcp_user_timeout=15_000,  # and the keepalives: notice a dead server
                keepalives_idle=10,
                keepalives_interval=5,
            )
        except psycopg.Error as error:
            cause = _cause(str(error))
            kind = EncryptionRefused if cause == _NO_ENCRYPTION else DatabaseUnavailable
            raise kind(f"The database cannot be used: {cause}.") from None
        connection.read_only = True
        load_times_as_text(connection)
        return connection


def _cause(said: str) -> str:
    said = said.lower()
    return next((cause for words, cause in _CAUSES if words in said), "the server refused the connection")
