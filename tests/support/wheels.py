"""Wheels of their own: built, and installed into an empty environment."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Returns what a command prints."""
    ran = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=280, env=os.environ | environment
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def built_wheel(package: Path, folder: Path) -> Path:
    """Returns the wheel of a package, built without a network."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=package)
    return next(folder.glob("*.whl"))


def make_environment(folder: Path, *install: str | Path) -> Path:
    """Returns the interpreter of a new environment with these packages, in the versions that KAI is tested
    with.

    uv, which `make test` installs, takes a fraction of pip's time.
    """
    environment = folder / "environment"
    interpreter = environment / "bin/python"
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():
        run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
        pip: list[str | Path] = [uv, "pip", "install", "--system-certs", "--python", interpreter]
    else:
        run(sys.executable, "-m", "venv", environment, cwd=folder)
        pip = [interpreter, "-m", "pip", "install"]
    pins = re.findall(r"^\S+==[^\\\n]+", (ROOT / "requirements/test.txt").read_text(), re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    run(*pip, "--quiet", "-c", constraints, *install, cwd=folder)
    return interpreter
