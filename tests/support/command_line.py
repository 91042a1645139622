"""The `kai` command as a process of its own, in an environment without settings of this machine."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.support.kai_process import start_kai

_SECONDS = 120


def kai(*arguments: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it in the folder `data`, which is also where it keeps everything."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    environment = {**clean, "KAI_DATA_DIR": str(data), "COLUMNS": "200", "NO_COLOR": "1", **variables}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = start_kai(
            arguments, environment=environment, folder=data, stdout=output.fileno(), stderr=errors.fileno()
        )
        try:
            code = process.wait(_SECONDS)
        finally:
            process.send_signal(signal.SIGKILL)
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())
