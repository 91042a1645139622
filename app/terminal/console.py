"""Shared by the commands: settings, database URLs, and the reading of events."""

import re
import sys
from pathlib import Path

from pydantic import TypeAdapter

from app.core.errors import Invalid
from app.core.settings import Settings, read_settings
from graph import SessionEvent

_EVENT: TypeAdapter[SessionEvent] = TypeAdapter(SessionEvent)


_FILE_URL = re.compile(r"(?P<kind>sqlite|duckdb):///(?P<path>[^?#]+)")
_DEMO_FOLDER = Path(".kai")
"""The data folder of `make demo`."""


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a command's output


def make_inert(text: str) -> str:
    """Returns text that is safe for a terminal: users and models write it. What does not print is a space."""
    return "".join(character if character.isprintable() else " " for character in text)


def server_settings(data_dir: Path | None) -> Settings:
    """The settings of a command that serves, as `command_settings` returns them.

    Servers share an environment with those of a newer version, which may have further settings. So without a
    terminal, names that are no settings are logged (`start_logs`) and do not stop a server.
    """
    return command_settings(data_dir, pass_unknown=not sys.stderr.isatty())


def command_settings(data_dir: Path | None, *, pass_unknown: bool = False) -> Settings:
    """The settings of a command: its --data-dir goes before KAI_DATA_DIR, and that before ~/.kai.

    Where neither is given and ~/.kai holds no store, the demo's folder is used if there is one here.
    Raises what `read_settings` raises.
    """
    settings = read_settings(pass_unknown=pass_unknown)
    if data_dir is not None:
        return settings.model_copy(update={"data_dir": data_dir.expanduser()})
    if "data_dir" in settings.model_fields_set or not _holds_store(_DEMO_FOLDER):
        return settings
    if _holds_store(settings.data_dir):
        sys.stderr.write(f"kai: Working in {settings.data_dir}; for the demo's store, add --data-dir .kai\n")
        return settings
    sys.stderr.write("kai: Working in .kai, the demo's folder here; --data-dir names another.\n")
    return settings.model_copy(update={"data_dir": _DEMO_FOLDER})


def check_store_exists(settings: Settings) -> None:
    """Raises `Invalid` when the data folder holds no embedded store; a Typesense answers for itself."""
    if settings.store == "sqlite" and not (settings.data_dir / "kai.db").is_file():
        raise Invalid(
            f"{settings.data_dir} holds no store of KAI. Name the folder that does by --data-dir or "
            "KAI_DATA_DIR."
        )


def _holds_store(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("kai.db", "secret.key"))


def database_url(text: str) -> str:
    """The URL of a database named on the command line: by its URL, or by the path of a SQLite file.

    Raises `Invalid` when there is no such file, and for text that cannot be stored.
    """
    from app.http.routes import is_storable  # noqa: PLC0415 - slow

    if not is_storable(text):
        raise Invalid("The URL or path of the database has a character that cannot be stored.")
    url = _FILE_URL.fullmatch(text)
    if "://" in text and url is None:
        return text
    path = Path(url["path"] if url else text).expanduser().resolve()
    if not path.exists():
        from app.modules.database_connection.engines.kinds import absolute_path_hint  # noqa: PLC0415 - slow

        hint = absolute_path_hint(url["kind"], url["path"]) if url else ""
        raise Invalid(f"There is no file {path}.{hint}")
    if path.is_dir():
        raise Invalid(f"{path} is a folder. Name a database file in it.")
    return f"{url['kind'] if url else 'sqlite'}:///{path}"


def event_of(data: str) -> SessionEvent:
    """An event as it stands in a run's log."""
    return _EVENT.validate_json(data)
