"""MySQL and MariaDB servers, by PyMySQL."""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import pymysql
from pymysql.cursors import Cursor, SSCursor
from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, text

from app.modules.database_connection.engines.catalogs import Listing, inspected_schemas
from app.modules.database_connection.engines.databases import EncryptionRefused
from app.modules.database_connection.engines.mysql.account import missing_right, rights_beyond_reading
from app.modules.database_connection.engines.mysql.catalog import has_tables, list_tables
from app.modules.database_connection.engines.mysql.estimate import estimate_rows
from app.modules.database_connection.engines.mysql.session import (
    MysqlConnection,
    MysqlSession,
    Server,
    restrict,
)
from app.modules.database_connection.engines.mysql.values import CONVERSIONS
from app.modules.database_connection.engines.watching import cancelled_when_due
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

SslMode = Literal["disabled", "preferred", "required", "verify_identity"]

_KILL_SECONDS = 2.0
_PATIENCE = 10  # tries of KILL QUERY, about a second, before KILL CONNECTION
_SILENCE_SECONDS = 900.0  # read timeout, for dead servers; slow statements are stopped earlier
_NO_ENCRYPTION = 2026
# Error codes of the server or driver while connecting, and the sentence for users.
_CAUSES: Mapping[int, str] = {
    1040: "it has no connection left",
    1044: "it has no database of this name that the user may read; GRANT SELECT ON the database's tables TO "
    "the user allows it",
    1045: "the user name or the password is wrong",
    1049: "the server has no database of this name",
    1129: "the server has locked this machine out",
    1130: "the server does not let this machine in",
    1698: "the user name or the password is wrong",
    2003: "nothing listens at this host and port, or it did not answer in time",
    2013: "the server broke the connection off",
    _NO_ENCRYPTION: "no agreement on encryption was reached; see the parameter ssl_mode",
}


class _Opened(NamedTuple):
    """A read-only connection, and a function that stops its statement."""

    connection: MysqlConnection
    server: Server
    cancel: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class MysqlDatabase:
    """One database of a server."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    name: str
    ssl_mode: SslMode = "preferred"
    access: Access = field(default=ONE_USER, repr=False)
    dialect: Literal["mysql"] = "mysql"

    @property
    def url(self) -> str:
        url = self._without_secrets().set(password=self.password)
        return url.update_query_dict({"ssl_mode": self.ssl_mode}).render_as_string(hide_password=False)

    @property
    def masked_url(self) -> str:
        return self._without_secrets().render_as_string()

    def _without_secrets(self) -> URL:
        return URL.create("mysql", username=self.user, host=self.host, port=self.port, database=self.name)

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        with self.engine(stop, connect_seconds) as engine, engine.connect() as connection:
            return rights_beyond_reading(connection)

    def missing_right(self, connection: Connection) -> str:
        return missing_right(connection)

    def schema_names(self, connection: Connection) -> list[str]:
        return inspected_schemas(connection)

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        return has_tables(connection, schemas)

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        return list_tables(connection, schemas)

    def estimate_rows(self, connection: Connection, sql: str) -> int:
        return estimate_rows(connection, sql)

    def is_encrypted(self, connection: Connection) -> bool:
        found = connection.execute(text("SHOW SESSION STATUS LIKE 'Ssl_cipher'")).first()
        return found is not None and bool(found[1])

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator[MysqlSession]:
        with self._opened(SSCursor, stop, connect_seconds) as opened:
            session = MysqlSession(
                connection=opened.connection,
                cursor=opened.connection.cursor(),
                server=opened.server,
                stop=stop,
            )
            try:
                yield session
            finally:
                session.abandon(opened.cancel)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with self._opened(Cursor, stop, connect_seconds) as opened:
            yield create_engine(
                "mysql+pymysql://",
                creator=lambda: opened.connection,
                poolclass=StaticPool,
                isolation_level="AUTOCOMMIT",
            )

    @contextmanager
    def _opened(self, cursors: type[Cursor], stop: Stop, seconds: float) -> Iterator[_Opened]:
        with closing(self.connect(cursors, seconds)) as connection:
            server = restrict(connection)
            cancel = _Cancel(self, server.thread_id)
            with cancelled_when_due(cancel, stop):
                yield _Opened(connection, server, cancel)

    def connect(self, cursors: type[Cursor], seconds: float) -> MysqlConnection:
        """Open a connection that is not yet read-only. Raises `DatabaseUnavailable`."""
        connection: MysqlConnection = pymysql.Connection(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password.encode(),  # text would be sent as Latin-1
            database=self.name,
            charset="utf8mb4",
            conv=CONVERSIONS,
            cursorclass=cursors,
            autocommit=True,
            local_infile=False,
            client_flag=0,  # no multi-statements
            connect_timeout=seconds,
            read_timeout=_SILENCE_SECONDS,
            write_timeout=seconds,
            program_name="kai",
            ssl_disabled=self.ssl_mode == "disabled",
            ssl=_encryption(self.ssl_mode),
            defer_connect=True,
        )
        try:
            wire = self._socket(seconds)
            with _greeted_within(seconds, wire):
                connection.connect(wire)
        except (pymysql.Error, OSError, ssl.SSLError) as error:
            cause = _cause(error)
            kind = EncryptionRefused if cause == _CAUSES[_NO_ENCRYPTION] else DatabaseUnavailable
            raise kind(f"The database cannot be used: {cause}.") from None
        return connection

    def _socket(self, seconds: float) -> socket.socket:
        """Connect to a checked address; the name could resolve to another one later. Raises `OSError`."""
        refused: OSError = OSError()
        for address in self.access.addresses(self.host, self.port):
            try:
                opened = socket.create_connection((address, self.port), timeout=seconds)
            except OSError as error:
                refused = error
            else:
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                return opened
        raise refused


@contextmanager
def _greeted_within(seconds: float, wire: socket.socket) -> Iterator[None]:
    """Raises `TimeoutError` when the handshake takes longer.

    The driver itself would wait as long as for a slow statement. A server of another kind may never greet.
    """
    stop = Stop()
    stop.after(seconds)
    with closing(wire.dup()) as same, cancelled_when_due(partial(_break_off, same), stop):
        try:
            yield
        except pymysql.Error:
            if stop.due:
                raise TimeoutError from None
            raise


def _break_off(wire: socket.socket) -> None:
    with suppress(OSError):  # closed already
        wire.shutdown(socket.SHUT_RDWR)


@dataclass
class _Cancel:
    """Asks the server to stop a statement, and after some tries to close its connection.

    The server's own time limit applies, too. The server does not interrupt a function call, but KAI
    continues once the connection is closed.
    """

    database: MysqlDatabase
    thread_id: int
    asked: int = 0

    def __call__(self) -> None:
        self.asked += 1
        kill = "KILL QUERY %s" if self.asked <= _PATIENCE else "KILL CONNECTION %s"
        with (
            suppress(DatabaseUnavailable, pymysql.Error),
            closing(self.database.connect(Cursor, _KILL_SECONDS)) as connection,
        ):
            connection.cursor().execute(kill, (self.thread_id,))


def _encryption(mode: SslMode) -> ssl.SSLContext | None:
    """Returns the encryption for the driver. None: encrypted if the server supports it."""
    if mode in {"disabled", "preferred"}:
        return None
    context = ssl.create_default_context()
    if mode == "required":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _cause(error: Exception) -> str:
    if isinstance(error, pymysql.Error) and error.args:
        return _CAUSES.get(error.args[0], "the server refused the connection")
    if isinstance(error, ssl.SSLError):
        return _CAUSES[_NO_ENCRYPTION]
    return _CAUSES[2003]
