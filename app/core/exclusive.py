"""One process per data folder: an embedded KAI takes up what the folder's last process left undone."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.core.errors import CannotRun


class FolderInUse(CannotRun):
    """Another KAI works in this data folder. Stop it, or choose another folder by KAI_DATA_DIR."""


@contextmanager
def exclusive_folder(folder: Path) -> Generator[None]:
    """Makes the folder and holds it while open; the lock ends with the process, however it ends.

    Raises `CannotRun`: `FolderInUse`, or where no folder can be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CannotRun(
            f"The data folder {folder} cannot be made ({error.strerror}). Set KAI_DATA_DIR to another."
        ) from error
    try:
        with FileLock(folder / "lock", timeout=0):
            yield
    except Timeout as error:
        raise FolderInUse(
            f"Another KAI works in {folder}. Stop it, or set KAI_DATA_DIR to another folder."
        ) from error
