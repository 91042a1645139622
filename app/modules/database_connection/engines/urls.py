"""Reads database URLs. Unknown kinds of databases and unknown options are refused."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.sqlite import SqliteDatabase
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import ONE_USER, Access

_SUPPORTED = (
    "Supported are sqlite:///path/to/file, duckdb:///path/to/file, parquet:///path/to/folder, "
    "postgresql://user:password@host:port/database, mysql://user:password@host:port/database and "
    "clickhouse://user:password@host:port/database."
)
_SSL_MODES = {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
_TLS_PORTS = {443, 8443}
_NEEDS_WAREHOUSES = (
    "KAI has no driver for {} here. Install its warehouses: .venv/bin/pip install -e '.[warehouses]'."
)
_DUCKDB_OWN_NAMES = {"main", "system", "temp"}
_CONNECT_SECONDS = [str(seconds) for seconds in range(1, 11)]


def read_url(text: str, access: Access = ONE_USER) -> Database:
    """Returns the database of a URL. Raises `UrlNotSupported`, whose text never repeats the URL."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UrlNotSupported(f"This is not a database URL. {_SUPPORTED}") from None
    if url.drivername in _SERVERS and _begins_early(url):
        raise UrlNotSupported(
            "The user or the password contains one of @ : / ? #, which a URL writes as %40 %3A %2F %3F %23."
        )
    read = _KINDS.get(url.drivername)
    if read is None:
        raise UrlNotSupported(f"KAI has no driver for this kind of database. {_SUPPORTED}")
    return read(url, access)


def absolute_path_hint(kind: str, path: str) -> str:
    """Returns a sentence, after a space, on how the URL of a file names an absolute path. Empty for one."""
    return (
        ""
        if Path(path).is_absolute()
        else f" For an absolute path it has four slashes: {kind}:////path/to/file"
    )


def _begins_early(url: URL) -> bool:
    """True if the host begins at an @ of the password, so that another @ follows in it or behind it."""
    return "@" in (url.host or "") or re.search("@.*/", url.database or "") is not None


def with_kept_secrets(text: str, stored: str) -> str:
    """Returns a URL with the password and the parameters of a stored one, as far as it leaves them out.

    Only a URL of the same server and user takes them over: no password is sent to another server. A URL with
    parameters of its own keeps no password either, since they may turn encryption off.
    """
    try:
        url, kept = make_url(text), make_url(stored)
    except (ArgumentError, ValueError):
        return text
    if url.query or not url.host or _account(url) != _account(kept):
        return text
    password = kept.password if url.password is None else url.password
    return url.set(password=password, query=kept.query).render_as_string(hide_password=False)


def _account(url: URL) -> tuple[str, str | None, int, str | None]:
    engine, port = _SERVERS.get(url.drivername, (url.drivername, 0))
    return engine, url.host, url.port or port, url.username


def database_name(dialect: str, masked_url: str) -> str:
    """Returns a database's own name in SQL, from its masked URL: for DuckDB the name of its file."""
    match dialect:
        case "postgres" | "mysql" | "clickhouse":
            return make_url(masked_url).database or ""
        case "duckdb":
            name = masked_url.split(".", maxsplit=1)[0]
            return f"{name}_db" if name in _DUCKDB_OWN_NAMES else name
        case _:
            return ""


def _sqlite(url: URL, access: Access) -> Database:
    return SqliteDatabase(_file(url, access))


def _duckdb(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.duckdb.database import DuckdbDatabase  # noqa: PLC0415 - slow to load

    return DuckdbDatabase(_file(url, access))


def _parquet(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.duckdb.lake import ParquetFolder  # noqa: PLC0415 - slow to load

    _check_form(url)
    if not url.database:
        raise UrlNotSupported("The URL must name a folder: parquet:///path/to/folder")
    try:
        path = Path(url.database).resolve()
        if not path.is_dir():
            raise UrlNotSupported(
                f"The URL names no existing folder.{absolute_path_hint('parquet', url.database)}"
            )
        access.check_folder(path)
    except (OSError, ValueError):
        raise UrlNotSupported("The URL names a folder that KAI may not read.") from None
    return ParquetFolder(path)


def _check_form(url: URL) -> None:
    _options(url, allowed=())
    if url.host or url.username or url.password:
        raise UrlNotSupported(f"The URL has three slashes before the path: {url.drivername}:///path/to/file")


def _file(url: URL, access: Access) -> Path:
    """Returns the path of the file, with links resolved."""
    _check_form(url)
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UrlNotSupported(f"The URL must name a file: {url.drivername}:///path/to/file")
    try:
        path = Path(url.database).resolve()
        if not path.is_file():
            raise UrlNotSupported(
                f"The URL names no existing file.{absolute_path_hint(url.drivername, url.database)}"
            )
        access.check_file(path)
    except (OSError, ValueError):
        raise UrlNotSupported("The URL names a file that KAI may not read.") from None
    return path


def _postgres(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.postgres.database import PostgresDatabase  # noqa: PLC0415 - slow to load

    user, host, name = _server(url)
    return PostgresDatabase(
        host=host,
        port=url.port or 5432,
        user=user,
        password=url.password or "",
        name=name,
        options=tuple(sorted(_postgres_options(url).items())),
        access=access,
    )


def _postgres_options(url: URL) -> dict[str, str]:
    options = _options(url, allowed=("application_name", "connect_timeout", "sslmode"))
    if options.get("sslmode", "prefer") not in _SSL_MODES:
        raise UrlNotSupported(f"sslmode is one of {', '.join(sorted(_SSL_MODES))}.")
    if options.get("connect_timeout", "1") not in _CONNECT_SECONDS:
        raise UrlNotSupported(f"connect_timeout is a whole number of seconds, 1 to {len(_CONNECT_SECONDS)}.")
    return options


def _mysql(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.mysql.database import MysqlDatabase, SslMode  # noqa: PLC0415 - slow to load

    user, host, name = _server(url)
    asked = _options(url, allowed=("ssl_mode",)).get("ssl_mode", "preferred")
    mode: SslMode | None = next((each for each in get_args(SslMode) if each == asked), None)
    if mode is None:
        raise UrlNotSupported(f"ssl_mode is one of {', '.join(get_args(SslMode))}.")
    return MysqlDatabase(
        host=host,
        port=url.port or 3306,
        user=user,
        password=url.password or "",
        name=name,
        ssl_mode=mode,
        access=access,
    )


def _clickhouse(url: URL, access: Access) -> Database:
    try:
        from app.modules.database_connection.engines.clickhouse.database import ClickhouseDatabase  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise UrlNotSupported(_NEEDS_WAREHOUSES.format("ClickHouse")) from None

    user, host, name = _server(url)
    options = _options(url, allowed=("secure", "max_bytes_to_read"))
    port = url.port or (8443 if options.get("secure") == "true" else 8123)
    secure = options.get("secure", "true" if port in _TLS_PORTS else "false")
    if secure not in {"true", "false"}:
        raise UrlNotSupported("secure is true or false.")
    most = options.get("max_bytes_to_read")
    if most is not None and (not most.isdecimal() or not 0 < int(most) < 2**63):
        raise UrlNotSupported("max_bytes_to_read is a whole number of bytes, 1 or more.")
    return ClickhouseDatabase(
        host=host,
        port=port,
        user=user,
        password=url.password or "",
        name=name,
        secure=secure == "true",
        max_bytes_to_read=None if most is None else int(most),
        access=access,
    )


def _server(url: URL) -> tuple[str, str, str]:
    """Returns user, host and database. Raises `UrlNotSupported`."""
    if not (url.host and url.username and url.database):
        raise UrlNotSupported("The URL must name a user, a host and a database.")
    if "/" in url.host or "," in url.host:
        raise UrlNotSupported("The host must be one name or one address.")
    return url.username, url.host, url.database


def _options(url: URL, allowed: tuple[str, ...]) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in url.query.items():
        if name not in allowed or not isinstance(value, str):
            can = (
                f"may have the parameters {', '.join(allowed)}, each once" if allowed else "has no parameters"
            )
            raise UrlNotSupported(f"This kind of URL {can}.")
        options[name] = value
    return options


_SERVERS: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(("clickhouse", "clickhousedb"), ("clickhouse", 8123)),
    **dict.fromkeys(("mariadb", "mariadb+pymysql", "mysql", "mysql+pymysql"), ("mysql", 3306)),
    **dict.fromkeys(("postgres", "postgresql", "postgresql+psycopg"), ("postgresql", 5432)),
}
"""Engines and usual ports by the kinds of URLs."""

_KINDS: Mapping[str, Callable[[URL, Access], Database]] = {
    "clickhouse": _clickhouse,
    "clickhousedb": _clickhouse,
    "duckdb": _duckdb,
    "mariadb": _mysql,
    "mariadb+pymysql": _mysql,
    "mysql": _mysql,
    "mysql+pymysql": _mysql,
    "parquet": _parquet,
    "postgres": _postgres,
    "postgresql": _postgres,
    "postgresql+psycopg": _postgres,
    "sqlite": _sqlite,
}
