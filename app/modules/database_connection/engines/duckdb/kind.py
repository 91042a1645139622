"""URLs of DuckDB: a file of its own, or a folder of Parquet files."""

from pathlib import Path

from sqlalchemy import URL

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.kinds import absolute_path_hint, check_form, file_kind, file_path
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.network import Access

_OWN_NAMES = {"main", "system", "temp"}


def _read(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.duckdb.database import DuckdbDatabase  # noqa: PLC0415 - slow to load

    return DuckdbDatabase(file_path(url, access))


def _read_folder(url: URL, access: Access) -> Database:
    from app.modules.database_connection.engines.duckdb.lake import ParquetFolder  # noqa: PLC0415 - slow to load

    check_form(url)
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


def _name_of_file(masked_url: str) -> str:
    name = masked_url.split(".", maxsplit=1)[0]
    return f"{name}_db" if name in _OWN_NAMES else name


KINDS = [
    file_kind("duckdb", "duckdb", read=_read, name_in_sql=_name_of_file),
    file_kind("parquet", "duckdb", read=_read_folder, name_in_sql=_name_of_file, names="folder"),
]
