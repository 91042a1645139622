"""Lock of the data folder: one process at a time, which continues the runs of the last one."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.core.errors import CannotRun, reason

_CURE = "Name another by --data-dir or KAI_DATA_DIR."


class FolderInUse(CannotRun):
    """Another KAI works in this data folder. Stop it, or choose another folder."""


def make_folder(folder: Path) -> None:
    """Create the data folder with mode 0700. Raises `CannotRun`."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CannotRun(f"The data folder {folder} cannot be created ({reason(error)}). {_CURE}") from error


@contextmanager
def exclusive_folder(folder: Path) -> Generator[None]:
    """Create the folder and lock it for the block; the lock also ends with the process.

    Raises `CannotRun`: `FolderInUse`, or when the folder cannot be made or written to.
    """
    make_folder(folder)
    try:
        lock = FileLock(folder / "lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise FolderInUse(
            f"Another KAI uses {folder}. Stop it, or name another folder with --data-dir or KAI_DATA_DIR."
        ) from error
    except OSError as error:
        raise CannotRun(
            f"The data folder {folder} cannot be written to ({reason(error)}). {_CURE}"
        ) from error
    try:
        yield
    finally:
        lock.release()
