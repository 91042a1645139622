"""`kai mcp`: KAI as an MCP server over stdio. Nothing but the protocol goes to stdout."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from app.bootstrap import Services, open_services, open_services_for_once
from app.commands.databases import register
from app.core.auth.caller import LOCAL_CALLER
from app.core.errors import CannotRun
from app.core.exclusive import FolderInUse
from app.core.logs.start import start_logs
from app.core.settings import read_settings
from app.modules.protocols.mcp.server import mcp_server
from app.terminal.console import command_settings


async def serve_folder(data_dir: Path | None) -> None:
    """Serve what the data folder holds, for the local owner. Raises `CannotRun` while another KAI uses it."""
    settings = command_settings(data_dir)
    start_logs(settings, access_log=False)
    try:
        await _serve(open_services(settings))
    except FolderInUse as error:
        raise CannotRun(
            f"{error} Or use the KAI that serves there: kai mcp --url http://127.0.0.1:{settings.port}"
        ) from error


async def serve_database(database: str) -> None:
    """Serve one database. Nothing is kept."""
    settings = read_settings()
    start_logs(settings, access_log=False)
    await _serve(open_services_for_once(settings), database)


async def _serve(opening: AbstractAsyncContextManager[Services], database: str | None = None) -> None:
    async with opening as services:
        if database is not None:
            await register(services, database, Path(database).stem or "database")
        await mcp_server(replace(services.mcp, local=LOCAL_CALLER)).run_stdio_async()
