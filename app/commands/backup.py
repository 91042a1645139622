"""`kai backup` and `kai restore`: copy all of KAI's data to a folder, and back."""

import asyncio
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from app.bootstrap.typesense import typesense_address
from app.core.errors import Invalid
from app.core.exclusive import exclusive_folder
from app.core.storage.typesense_client import translated_errors, typesense_client
from app.terminal.console import command_settings, say

_DATABASES = ("kai.db", "checkpoints.db")
_KEY = "secret.key"
_UPLOADS = "uploads"


async def backup(folder: Path, data_dir: Path | None = None) -> None:
    """Copy the store. KAI may be running. Raises `Invalid`."""
    settings = command_settings(data_dir)
    with _new_folder(folder) as folder:
        if settings.store == "sqlite":
            await asyncio.to_thread(_copy_databases, settings.data_dir, folder)
        else:
            # The server writes it, all collections of one moment, to its own disk.
            with translated_errors():
                async with typesense_client(typesense_address(settings.typesense)) as client:
                    await client.operations.perform("snapshot", {"snapshot_path": str(folder / "typesense")})
        await asyncio.to_thread(_copy_key, settings.data_dir, folder)
        await asyncio.to_thread(_copy_uploads, settings.upload_folder, folder / _UPLOADS)
        said = f"Backed up to {folder}."
        if (folder / _KEY).is_file():
            said += " It holds the key to the database passwords: keep it as safe as those."
    say(said)


async def restore(folder: Path, data_dir: Path | None = None) -> None:
    """Replace the content of the data folder by a backup. Raises `Invalid` or `FolderInUse`."""
    settings = command_settings(data_dir)
    if settings.store == "typesense":
        raise Invalid(
            f"A Typesense is restored where it runs: stop it, put {folder / 'typesense'} in the place of "
            f"its data folder, start it; and put {folder / _KEY} into {settings.data_dir}."
        )
    with exclusive_folder(settings.data_dir):
        await asyncio.to_thread(_check_databases, folder, settings.data_dir)
        await asyncio.to_thread(_replace_databases, folder, settings.data_dir)
        await asyncio.to_thread(_copy_key, folder, settings.data_dir)
        await asyncio.to_thread(_copy_uploads, folder / _UPLOADS, settings.upload_folder)
    say(f"Restored from {folder} into {settings.data_dir}.")


@contextmanager
def _new_folder(folder: Path) -> Generator[Path]:
    """Create a folder, and remove it if the backup fails. So every backup is complete, and the name can be
    used again.
    """
    if folder.exists():
        raise Invalid(f"{folder} exists already. Name a new folder, so that no backup is overwritten.")
    folder.mkdir(parents=True, mode=0o700)
    try:
        yield folder.resolve()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _copy_databases(source: Path, folder: Path) -> None:
    """Copy a file by SQLite's own backup, which is consistent also during writes."""
    for name in _DATABASES:
        if not (source / name).is_file():
            raise Invalid(
                f"There is nothing to back up: there is no file {source / name}. Name the folder that KAI "
                "keeps everything in by --data-dir or KAI_DATA_DIR."
            )
        _copy_database(source / name, folder / name)


def _copy_database(source: Path, target: Path) -> None:
    """Merge the write-ahead log, which a copy of the file alone would lose."""
    try:
        with closing(sqlite3.connect(source)) as kept, closing(sqlite3.connect(target)) as copy:
            kept.backup(copy)
    except sqlite3.DatabaseError as error:
        raise Invalid(f"{source} cannot be copied ({error}).") from error


def _copy_uploads(source: Path, target: Path) -> None:
    """Copy uploaded files, over those of the same connections."""
    if source.is_dir():
        unfinished = shutil.ignore_patterns(".incoming-*")
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=unfinished)


def _check_databases(folder: Path, data_dir: Path) -> None:
    if folder.resolve() == data_dir.resolve():
        raise Invalid(f"{folder} is the data folder of KAI. Name the folder of a backup.")
    for name in _DATABASES:
        if not (folder / name).is_file():
            raise Invalid(f"{folder} is no backup of an embedded store: it has no {name}.")
        address = f"{(folder / name).absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as opened:
                ((verdict,),) = opened.execute("PRAGMA integrity_check(1)").fetchall()
        except sqlite3.DatabaseError as error:
            verdict = str(error)
        if verdict != "ok":
            raise Invalid(f"{folder / name} is damaged ({verdict}). Nothing has been changed.")


def _replace_databases(folder: Path, data_dir: Path) -> None:
    for name in _DATABASES:
        draft = data_dir / f"{name}.restored"
        draft.unlink(missing_ok=True)
        _copy_database(folder / name, draft)
        for log in data_dir.glob(f"{name}-*"):  # of the old one: it must not be applied to the new one
            log.unlink()
        draft.replace(data_dir / name)


def _copy_key(source: Path, target: Path) -> None:
    if (source / _KEY).is_file():
        (target / _KEY).touch(mode=0o600)
        shutil.copyfile(source / _KEY, target / _KEY)
