"""Runs the steps of a Dockerfile in a folder, where no container engine is needed.

uv takes pip's place: it installs the same pinned packages from its cache, which the project's own
installation has filled, so that a slow registry cannot hold the tests up.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_STEP_SECONDS = 280
_OF_ALL = ("build-all", "all")
"""Stages of the tag that holds all drivers."""
_PIP = re.compile(r"(\S+)/bin/pip install --no-cache-dir")
_UV = f"{Path(sys.executable).with_name('uv')} pip install --quiet"
_INSTALL = f'#!/bin/sh\n{_UV} --offline --python "$@" || {_UV} --system-certs --python "$@"\n'


class BuiltImage:
    """A folder that stands for the root of the image's file system, and the environment of its processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command: list[str] = []
        self.environment = dict(os.environ)
        self._place = folder
        programs = folder / "usr/bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(sys.executable)
        install = programs / "install-by-uv"
        install.write_text(_INSTALL)
        install.chmod(0o755)
        self.environment["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"

    def build(self, source: Path) -> None:
        """Raises `AssertionError` if a step fails, or is of a kind that is not known here."""
        for stage, word, rest in _instructions((source / "Dockerfile").read_text()):
            if stage not in _OF_ALL:
                self._take(source, word, rest)

    def build_all(self, source: Path) -> None:
        """Add what the tag of all drivers has, after `build`. Raises what that raises."""
        for stage, word, rest in _instructions((source / "Dockerfile").read_text()):
            if stage in _OF_ALL:
                self._take(source, word, rest)

    def _take(self, source: Path, word: str, rest: str) -> None:
        ignored = (source / ".dockerignore").read_text().split()
        match word:
            case "WORKDIR":
                self._place = self._inside(rest)
                self._place.mkdir(parents=True)
            case "COPY" if rest.startswith("--from=build"):
                copied, target = rest.split()[1:]
                assert copied == target
                assert self._inside(copied).exists()
            case "COPY":
                *names, target = rest.split()
                for name in names:
                    _copy(source, name, self._place / target, ignored=ignored)
            case "RUN" if rest.startswith("useradd "):  # needs a machine of its own
                pass
            case "RUN":
                step = _PIP.sub(r"install-by-uv \1/bin/python", rest)
                self.run("sh", "-ec", step.replace("/opt/", f"{self.folder}/opt/"), cwd=self._place)
            case "ENV":
                for name, value in (each.split("=", 1) for each in rest.split()):
                    self._set(name, value)
            case "CMD":
                self.command = json.loads(rest)
            case "FROM" | "USER" | "VOLUME" | "EXPOSE" | "HEALTHCHECK" | "STOPSIGNAL":
                pass
            case _:
                raise AssertionError(f"{word} is not known to this test")

    def run(self, *command: str, cwd: Path) -> str:
        """Returns what a command prints. Ends it and what it started after 280 seconds."""
        with subprocess.Popen(
            command,
            cwd=cwd,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                said, errors = running.communicate(timeout=_STEP_SECONDS)
            finally:
                if running.poll() is None:
                    os.killpg(running.pid, signal.SIGKILL)
        assert running.returncode == 0, said[-4000:] + errors[-4000:]
        return said

    def _set(self, name: str, value: str) -> None:
        expanded = value.replace("$PATH", self.environment["PATH"])
        self.environment[name] = expanded.replace("/opt/", f"{self.folder}/opt/")
        if value.startswith("/") and name != "PATH":
            self.environment[name] = str(self._inside(value))

    def _inside(self, path: str) -> Path:
        return self.folder / path.removeprefix("/")


def _instructions(text: str) -> Iterator[tuple[str, str, str]]:
    """Returns the stage, the word and the rest of each instruction."""
    stage = ""
    without_comments = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    for line in re.sub(r"\\\n\s*", "", without_comments).splitlines():
        if line.strip():
            word, rest = line.split(maxsplit=1)
            if word == "FROM":
                stage = rest.partition(" AS ")[2]
            yield stage, word, rest


def _copy(source: Path, name: str, target: Path, *, ignored: list[str]) -> None:
    """Copies a file into a folder, or the content of a folder, as a Dockerfile does."""

    def leave_out(folder: str, names: list[str]) -> set[str]:
        """Names that a line of .dockerignore matches: a path, or with `**/` before it a name anywhere."""
        within = Path(folder).relative_to(source)
        return {each for each in names if f"**/{each}" in ignored or (within / each).as_posix() in ignored}

    if (source / name).is_dir():
        shutil.copytree(source / name, target, ignore=leave_out)
    else:
        shutil.copy(source / name, target)
