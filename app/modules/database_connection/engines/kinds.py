"""Kinds of databases: how the URL of one is written, asked for and read. Each engine's folder has its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import Access


@dataclass(frozen=True)
class AskedField:
    """A part of a URL that people are asked for. A secret is not shown while it is typed.

    `default` is the answer of people who give none; None for a part that is needed.
    """

    name: str
    label: str
    default: str | None = None
    is_secret: bool = False


@dataclass(frozen=True, kw_only=True)
class EngineKind:
    """Kind of a database, by the schemes of its URLs; the first scheme is the one that is shown."""

    schemes: Sequence[str]
    form: str
    """The URL with its parts by their names, for users."""
    dialect: str
    port: int | None
    """Usual port. None for a file or a folder."""
    read: Callable[[URL, Access], Database]
    """Returns the database of a URL. Raises `UrlNotSupported`, whose text never repeats the URL."""
    name_in_sql: Callable[[str], str]
    """Returns the database's own name in SQL, from its masked URL. Empty if statements write none."""
    fields: Sequence[AskedField]
    write: Callable[[Mapping[str, str]], str]
    """Returns the URL of answers by the names of the fields. Raises `UrlNotSupported`."""
    secret_parameters: Sequence[str] = ()
    """Parameters of a URL that sign in, in place of a password."""


def server_kind(
    schemes: Sequence[str], dialect: str, *, port: int, read: Callable[[URL, Access], Database]
) -> EngineKind:
    """Returns the kind of a server that people sign in to by a user and a password."""
    scheme = schemes[0]

    def write(answers: Mapping[str, str]) -> str:
        asked = answers["port"]
        if not asked.isdecimal():
            raise UrlNotSupported("The port is a number.")
        return URL.create(
            scheme,
            host=answers["host"],
            port=int(asked),
            database=answers["database"],
            username=answers["user"],
            password=answers["password"],
        ).render_as_string(hide_password=False)

    return EngineKind(
        schemes=schemes,
        form=f"{scheme}://user:password@host:port/database",
        dialect=dialect,
        port=port,
        read=read,
        name_in_sql=database_of,
        fields=[
            AskedField("host", "Host", "localhost"),
            AskedField("port", "Port", str(port)),
            AskedField("database", "Database"),
            AskedField("user", "User"),
            AskedField("password", "Password", is_secret=True),
        ],
        write=write,
    )


def file_kind(
    scheme: str,
    dialect: str,
    *,
    read: Callable[[URL, Access], Database],
    name_in_sql: Callable[[str], str] = lambda _: "",
    names: str = "file",
) -> EngineKind:
    """Returns the kind of a file, or of what `names` says. Only an absolute path is asked for."""
    return EngineKind(
        schemes=[scheme],
        form=f"{scheme}:///path/to/{names}",
        dialect=dialect,
        port=None,
        read=read,
        name_in_sql=name_in_sql,
        fields=[AskedField("path", "Path")],
        write=lambda answers: f"{scheme}:///{Path(answers['path']).expanduser().resolve()}",
    )


def database_of(masked_url: str) -> str:
    """Returns the database that a URL of a server names."""
    return make_url(masked_url).database or ""


def server_parts(url: URL) -> tuple[str, str, str]:
    """Returns user, host and database. Raises `UrlNotSupported`."""
    if not (url.host and url.username and url.database):
        raise UrlNotSupported("The URL must name a user, a host and a database.")
    if "/" in url.host or "," in url.host:
        raise UrlNotSupported("The host must be one name or one address.")
    return url.username, url.host, url.database


def parameters(url: URL, allowed: Sequence[str]) -> dict[str, str]:
    """Returns the parameters of a URL. Raises `UrlNotSupported` for one that is not allowed, or is given
    twice.
    """
    found: dict[str, str] = {}
    for name, value in url.query.items():
        if name not in allowed or not isinstance(value, str):
            can = (
                f"may have the parameters {', '.join(allowed)}, each once" if allowed else "has no parameters"
            )
            raise UrlNotSupported(f"This kind of URL {can}.")
        found[name] = value
    return found


def check_form(url: URL) -> None:
    """Raises `UrlNotSupported` unless the URL has nothing but a path."""
    parameters(url, allowed=())
    if url.host or url.username or url.password:
        raise UrlNotSupported(f"The URL has three slashes before the path: {url.drivername}:///path/to/file")


def file_path(url: URL, access: Access) -> Path:
    """Returns the path of the file, with links resolved. Raises `UrlNotSupported`."""
    check_form(url)
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


def absolute_path_hint(kind: str, path: str) -> str:
    """Returns a sentence, after a space, on how the URL of a file names an absolute path. Empty for one."""
    return (
        ""
        if Path(path).is_absolute()
        else f" For an absolute path it has four slashes: {kind}:////path/to/file"
    )


def driver_missing(database: str) -> UrlNotSupported:
    """Returns the error of a database whose driver is in an extra that is not installed."""
    return UrlNotSupported(
        f"KAI has no driver for {database} here. Install its warehouses: "
        ".venv/bin/pip install -e '.[warehouses]'."
    )
