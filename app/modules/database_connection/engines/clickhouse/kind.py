"""URLs of ClickHouse."""

from sqlalchemy import URL

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import (
    driver_missing,
    parameters,
    server_kind,
    server_parts,
)
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import Access

_PORT = 8123
_TLS_PORTS = {443, 8443}


def _read(url: URL, access: Access) -> Database:
    try:
        from app.modules.database_connection.engines.clickhouse.database import ClickhouseDatabase  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise driver_missing("ClickHouse") from None

    user, host, name = server_parts(url)
    options = parameters(url, allowed=("secure", "max_bytes_to_read"))
    port = url.port or (8443 if options.get("secure") == "true" else _PORT)
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


KINDS = [server_kind(("clickhouse", "clickhousedb"), "clickhouse", port=_PORT, read=_read)]
