"""URLs of PostgreSQL."""

from sqlalchemy import URL

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import parameters, server_kind, server_parts
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import Access

_PORT = 5432
_SSL_MODES = {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
_CONNECT_SECONDS = [str(seconds) for seconds in range(1, 11)]


def _read(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.postgres.database import PostgresDatabase  # noqa: PLC0415 - slow to load

    user, host, name = server_parts(url)
    return PostgresDatabase(
        host=host,
        port=url.port or _PORT,
        user=user,
        password=url.password or "",
        name=name,
        options=tuple(sorted(_options(url).items())),
        access=access,
    )


def _options(url: URL) -> dict[str, str]:
    options = parameters(url, allowed=("application_name", "connect_timeout", "sslmode"))
    if options.get("sslmode", "prefer") not in _SSL_MODES:
        raise UrlNotSupported(f"sslmode is one of {', '.join(sorted(_SSL_MODES))}.")
    if options.get("connect_timeout", "1") not in _CONNECT_SECONDS:
        raise UrlNotSupported(f"connect_timeout is a whole number of seconds, 1 to {len(_CONNECT_SECONDS)}.")
    return options


KINDS = [server_kind(("postgresql", "postgres", "postgresql+psycopg"), "postgres", port=_PORT, read=_read)]
