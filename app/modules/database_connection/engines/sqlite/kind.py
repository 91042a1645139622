"""URLs of SQLite."""

from sqlalchemy import URL

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import file_kind, file_path
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.network import Access


def _read(url: URL, access: Access) -> Database:
    return SqliteDatabase(file_path(url, access))


KINDS = [file_kind("sqlite", "sqlite", read=_read)]
