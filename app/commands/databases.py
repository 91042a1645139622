"""Databases of the commands that work for once: named by a URL, or by a file."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from app.bootstrap import Services
from app.core.auth.caller import LOCAL_OWNER
from app.core.errors import Invalid
from app.modules.database_connection.model import Connection
from app.modules.database_connection.uploads.formats import has_file_ending
from app.terminal.console import database_url

_BLOCK_BYTES = 1024 * 1024


async def register(services: Services, database: str, name: str) -> tuple[Connection, list[str]]:
    """Returns a new connection and sentences about it. CSV, Excel and Parquet files become databases.

    Raises `Invalid` for a file that is not there, and what registration and reading a file raise.
    """
    if "://" in database or not has_file_ending(database):
        connection = await services.database_connections.register(
            LOCAL_OWNER, database_url(database), name, description=""
        )
        return connection, list(connection.warnings)
    path = _file(database)
    connection, reading = await services.file_connections.create(
        LOCAL_OWNER, path.name, _content(path), name=name
    )
    lost = [
        f"{table.name}.{column.name}: {column.not_fitting} of {column.cells} cells are no {column.type} and "
        "became NULL."
        for table in reading.tables
        for column in table.columns
        if column.not_fitting
    ]
    return connection, [*reading.notes, *lost]


def _file(text: str) -> Path:
    path = Path(text).expanduser()
    if path.is_dir():
        raise Invalid(f"{path} is a folder. Name a file in it.")
    if not path.is_file():
        raise Invalid(f"There is no file {path}.")
    return path


async def _content(path: Path) -> AsyncGenerator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while block := await asyncio.to_thread(file.read, _BLOCK_BYTES):
            yield block
