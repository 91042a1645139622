"""The `kai` command or another one as a process of its own, without settings of this machine."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.kai_process import start_kai

_SECONDS = 120


def kai(*arguments: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it in the folder `data`, which is also where it keeps everything."""
    own = {"KAI_DATA_DIR": str(data), **variables}
    return run_main("app.cli", arguments, folder=data, seconds=_SECONDS, variables=own)


def run_main(
    module: str,
    arguments: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    variables: Mapping[str, str] | None = None,
    stdin: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a module's `main`. It is killed after the seconds, with `TimeoutError`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    environment = {**clean, "COLUMNS": "200", "NO_COLOR": "1", **(variables or {})}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = start_kai(
            arguments,
            environment=environment,
            folder=folder,
            stdout=output.fileno(),
            stderr=errors.fileno(),
            stdin=stdin,
            module=module,
        )
        try:
            code = process.wait(seconds)
        finally:
            process.send_signal(signal.SIGKILL)
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())
