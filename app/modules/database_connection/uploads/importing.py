"""Runs the importing child, which reads one file under limits of time, memory and disk."""

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import asdict

from pydantic import TypeAdapter

from app.modules.database_connection.limits import STATEMENT_MEMORY_BYTES
from app.modules.database_connection.uploads.errors import FileNotReadable
from app.modules.database_connection.uploads.model import ImportReport, ImportRequest, ImportResult

MEMORY_BYTES = 2 * STATEMENT_MEMORY_BYTES
_RESULT = TypeAdapter(ImportResult)


async def import_file(request: ImportRequest, seconds: float) -> ImportReport:
    """Returns how the file was read. Raises `FileNotReadable`. Cancellation kills the child."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "app.modules.database_connection.uploads.child"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env={},
    )
    try:
        async with asyncio.timeout(seconds):
            written, _ = await child.communicate(json.dumps(asdict(request)).encode())
    except TimeoutError:
        raise FileNotReadable(
            f"Reading the file took more than {seconds:g} seconds. Upload a smaller part of it, or load it "
            "into a database and register that."
        ) from None
    finally:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
    if child.returncode != 0:
        raise FileNotReadable("The file could not be read within the memory that an upload may have.")
    result = _RESULT.validate_json(written)
    if result.reading is None:
        raise FileNotReadable(result.refused or "The file cannot be read.")
    return result.reading
