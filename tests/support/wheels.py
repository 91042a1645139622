"""Wheels of their own: built, and installed into an empty environment."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_UV = Path(sys.executable).with_name("uv")


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


def make_environment(folder: Path, *packages: str | Path) -> Path:
    """Returns the interpreter of a new environment with these packages, in the versions that KAI is tested
    with.
    """
    environment = folder / "environment"
    without_pip = ["--without-pip"] if _UV.exists() else []
    run(sys.executable, "-m", "venv", *without_pip, environment, cwd=folder)
    interpreter = environment / "bin/python"
    install(interpreter, *packages)
    return interpreter


def install(interpreter: Path, *packages: str | Path) -> None:
    """uv, which `make test` installs, takes a fraction of pip's time."""
    pip: list[str | Path] = [interpreter, "-m", "pip", "install"]
    if _UV.exists():
        pip = [_UV, "pip", "install", "--system-certs", "--python", interpreter]
    pins = re.findall(r"^\S+==[^\\\n]+", (ROOT / "requirements/test.txt").read_text(), re.MULTILINE)
    folder = interpreter.parents[1]
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    run(*pip, "--quiet", "-c", constraints, *packages, cwd=folder)
