"""URLs of MySQL and MariaDB."""

from typing import get_args

from sqlalchemy import URL

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import parameters, server_kind, server_parts
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import Access

_PORT = 3306


def _read(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.mysql.database import MysqlDatabase, SslMode  # noqa: PLC0415 - slow to load

    user, host, name = server_parts(url)
    asked = parameters(url, allowed=("ssl_mode",)).get("ssl_mode", "preferred")
    mode: SslMode | None = next((each for each in get_args(SslMode) if each == asked), None)
    if mode is None:
        raise UrlNotSupported(f"ssl_mode is one of {', '.join(get_args(SslMode))}.")
    return MysqlDatabase(
        host=host,
        port=url.port or _PORT,
        user=user,
        password=url.password or "",
        name=name,
        ssl_mode=mode,
        access=access,
    )


KINDS = [
    server_kind(("mysql", "mysql+pymysql"), "mysql", port=_PORT, read=_read),
    server_kind(("mariadb", "mariadb+pymysql"), "mysql", port=_PORT, read=_read),
]
