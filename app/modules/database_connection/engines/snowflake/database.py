"""Snowflake, by its own driver."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal

from snowflake.connector.errors import Error
from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, text

from app.modules.database_connection.engines.catalogs import Listing
from app.modules.database_connection.engines.databases import EncryptionRefused
from app.modules.database_connection.engines.snowflake.catalog import (
    granted_rights,
    has_tables,
    list_tables,
    schema_names,
)
from app.modules.database_connection.engines.snowflake.session import (
    NO_ENCRYPTION,
    SnowflakeSession,
    StoppableConnection,
    cause,
)
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

_READING = {"MONITOR", "REFERENCES", "SELECT", "USAGE"}
_SESSION: Mapping[str, str | int | bool] = {
    "QUERY_TAG": "kai",
    "WEEK_START": 1,  # Monday, as in other databases
    "CLIENT_TELEMETRY_ENABLED": False,
}
_CURE = "Register the database again with a role that may only SELECT (docs/security.md says how)."
_HTTPS = 443
_CONTEXT = "SELECT CURRENT_DATABASE(), CURRENT_WAREHOUSE()"


@dataclass(frozen=True, kw_only=True)
class SnowflakeDatabase:
    """One database of an account, with what its role may read. One of the three secrets is not empty."""

    account: str
    host: str
    port: int
    user: str
    name: str
    warehouse: str
    role: str
    password: str = field(repr=False)
    private_key: str = field(repr=False)
    """Text of a PEM file."""
    token: str = field(repr=False)
    """Programmatic access token."""
    access: Access = field(default=ONE_USER, repr=False)
    dialect: Literal["snowflake"] = "snowflake"

    @property
    def url(self) -> str:
        options = {"warehouse": self.warehouse, "role": self.role}
        secrets = {"private_key": self.private_key, "token": self.token}
        url = self._without_secrets().set(password=self.password or None)
        query = {name: value for name, value in {**options, **secrets}.items() if value}
        return url.set(query=query).render_as_string(hide_password=False)

    @property
    def masked_url(self) -> str:
        return self._without_secrets().render_as_string()

    def _without_secrets(self) -> URL:
        port = None if self.port == _HTTPS else self.port
        return URL.create("snowflake", username=self.user, host=self.account, port=port, database=self.name)

    @property
    def _is_address(self) -> bool:
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """Returns a sentence that names the rights, with advice. Roles that the role has are not examined."""
        with self.engine(stop, connect_seconds) as engine, engine.connect() as connection:
            beyond = sorted({right for right, _ in _rights(connection)} - _READING)
        if not beyond:
            return ()
        shown = ", ".join(beyond[:5]) + (" and more" if len(beyond) > 5 else "")
        return [f"This role may do more than read: {shown}. {_CURE}"]

    def missing_right(self, connection: Connection) -> str:
        if has_tables(connection, schema_names(connection)):
            return ""
        rights = {right for right, _ in _rights(connection)}
        if rights & {"SELECT", "OWNERSHIP"}:
            return ""
        role = _role(connection)
        return (
            f"KAI's role {role} sees no table of the database {self.name}. An administrator allows it: "
            f"GRANT USAGE ON DATABASE {self.name} TO ROLE {role}; GRANT USAGE ON ALL SCHEMAS IN DATABASE "
            f"{self.name} TO ROLE {role}; GRANT SELECT ON ALL TABLES IN DATABASE {self.name} TO ROLE {role}; "
            "Then try again."
        )

    def schema_names(self, connection: Connection) -> list[str]:
        return schema_names(connection)

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        return has_tables(connection, schemas)

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        return list_tables(connection, schemas)

    def is_encrypted(self, connection: Connection) -> bool:
        return not self._is_address

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator[SnowflakeSession]:
        with closing(self._connect(stop, connect_seconds)) as connection:
            yield SnowflakeSession(connection, stop, self._secret)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with closing(self._connect(stop, connect_seconds)) as connection:
            yield create_engine("snowflake://", creator=lambda: connection, poolclass=StaticPool)

    @property
    def _secret(self) -> str:
        if self.private_key:
            return "private_key"
        return "token" if self.token else "password"

    def _credentials(self) -> dict[str, str]:
        match self._secret:
            case "private_key":
                return {"authenticator": "SNOWFLAKE_JWT", "private_key": self.private_key}
            case "token":
                return {"authenticator": "PROGRAMMATIC_ACCESS_TOKEN", "token": self.token}
            case _:
                return {"password": self.password}

    def _connect(self, stop: Stop, seconds: float) -> StoppableConnection:
        """Open a connection in the database and with a warehouse. Raises `DatabaseUnavailable`."""
        self.access.addresses(self.host, self.port)
        options: dict[str, Any] = {
            name: value for name, value in (("warehouse", self.warehouse), ("role", self.role)) if value
        }
        try:
            connection = StoppableConnection(
                stop,
                account=self.account.split(".", maxsplit=1)[0],
                host=self.host,
                port=self.port,
                protocol="http" if self._is_address else "https",
                user=self.user,
                database=self.name,
                application="kai",
                session_parameters=_SESSION,
                login_timeout=max(int(seconds), 1),
                connect_timeout=max(int(seconds), 1),
                retry_max_attempts=2,
                use_proxy_env=False,
                client_store_temporary_credential=False,
                server_session_keep_alive=False,
                enable_server_session_keep_alive_auto_detection=False,
                auto_cleanup=False,
                **self._credentials(),
                **options,
            )
        except Error as error:
            said = cause(error, self._secret)
            kind = EncryptionRefused if said == NO_ENCRYPTION else DatabaseUnavailable
            raise kind(f"The database cannot be used: {said}.") from None
        if missing := self._find_missing(connection):
            connection.close()
            raise DatabaseUnavailable(f"The database cannot be used: {missing}.")
        return connection

    def _find_missing(self, connection: StoppableConnection) -> str:
        """Returns what the session lacks: Snowflake signs in to a database that does not exist, too."""
        try:
            with connection.cursor() as cursor:
                database, warehouse = cursor.execute(_CONTEXT).fetchone() or (None, None)
        except Error as error:
            return cause(error, self._secret)
        if database is None:
            return "the account has no database of this name that the role may use"
        if warehouse is None:
            return (
                "the role may use no warehouse of this name; GRANT USAGE ON WAREHOUSE its name TO ROLE the "
                "role allows it"
            )
        return ""


def _role(connection: Connection) -> str:
    return str(connection.scalar(text("SELECT CURRENT_ROLE()")))


def _rights(connection: Connection) -> set[tuple[str, str]]:
    return granted_rights(connection, _role(connection))
