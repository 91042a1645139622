"""The `kai` command as a process of its own, in an environment without settings of this machine."""

import os
import subprocess
import sys
from pathlib import Path


def kai(*arguments: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it in the folder `data`, which is also where it keeps everything."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    environment = {**clean, "KAI_DATA_DIR": str(data), "COLUMNS": "200", "NO_COLOR": "1", **variables}
    command = [sys.executable, "-c", "from app.cli import main; main()", *arguments]
    return subprocess.run(
        command, cwd=data, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
