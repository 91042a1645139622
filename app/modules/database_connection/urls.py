"""Which databases may be opened, and with which options: everything not named here is refused."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.modules.database_connection.databases import Database
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.sqlite import SqliteDatabase

_SUPPORTED = "Supported are sqlite:///path/to/file and postgresql://user:password@host:port/database."
_POSTGRES = {"postgresql", "postgres", "postgresql+psycopg"}
_SSL_MODES = {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
_CONNECT_SECONDS = [str(seconds) for seconds in range(1, 11)]


def read_url(text: str) -> Database:
    """The database a URL names. Raises `UrlNotSupported`, whose words never repeat the URL."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UrlNotSupported(f"This is not a database URL. {_SUPPORTED}") from None
    if url.drivername == "sqlite":
        return _sqlite(url)
    if url.drivername in _POSTGRES:
        return _postgres(url)
    raise UrlNotSupported(f"KAI has no driver for this kind of database. {_SUPPORTED}")


def _sqlite(url: URL) -> SqliteDatabase:
    _options(url, allowed=())
    if url.host or url.username or url.password:
        raise UrlNotSupported("A SQLite URL has three slashes before the path: sqlite:///path/to/file")
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UrlNotSupported("A SQLite URL has to name a file: sqlite:///path/to/file")
    path = Path(url.database).resolve()
    if not path.is_file():
        raise UrlNotSupported("The SQLite URL names no existing file.")
    return SqliteDatabase(path)


def _postgres(url: URL) -> Database:
    try:
        from app.modules.database_connection.postgres import PostgresDatabase  # noqa: PLC0415 - optional
    except ImportError:
        raise UrlNotSupported(
            "PostgreSQL needs a driver that is not installed here: pip install 'kai[postgres]'"
        ) from None
    if not (url.host and url.username and url.database):
        raise UrlNotSupported("A PostgreSQL URL has to name a user, a host and a database.")
    if "/" in url.host or "," in url.host:
        raise UrlNotSupported("The host has to be one name or one address.")
    return PostgresDatabase(
        host=url.host,
        port=url.port or 5432,
        user=url.username,
        password=url.password or "",
        name=url.database,
        options=tuple(sorted(_postgres_options(url).items())),
    )


def _postgres_options(url: URL) -> dict[str, str]:
    options = _options(url, allowed=("application_name", "connect_timeout", "sslmode"))
    if options.get("sslmode", "prefer") not in _SSL_MODES:
        raise UrlNotSupported(f"sslmode is one of {', '.join(sorted(_SSL_MODES))}.")
    if options.get("connect_timeout", "1") not in _CONNECT_SECONDS:
        raise UrlNotSupported(f"connect_timeout is a whole number of seconds, 1 to {len(_CONNECT_SECONDS)}.")
    return options


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
