"""Shared by the commands: settings, database URLs, and the events of a run in a terminal."""

import re
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter
from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from app.core.errors import Invalid
from app.core.settings import Settings, read_settings
from app.modules.cuts import cut_sentence
from graph import SessionEvent
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Done,
    Failure,
    ResultsChunk,
    SqlChunk,
    Status,
    SuggestionsChunk,
)
from graph.state import Rows

_EVENT: TypeAdapter[SessionEvent] = TypeAdapter(SessionEvent)
_SHOWN_ROWS = 40
_NUMBERS = ("integer", "number")


_FILE_URL = re.compile(r"(?P<kind>sqlite|duckdb):///(?P<path>[^?#]+)")
_DEMO_FOLDER = Path(".kai")
"""The data folder of `make demo`."""


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a command's output


def command_settings(data_dir: Path | None) -> Settings:
    """The settings of a command: its --data-dir goes before KAI_DATA_DIR, and that before ~/.kai.

    Where neither is given and ~/.kai holds no store, the demo's folder is used if there is one here.
    Raises what `read_settings` raises.
    """
    settings = read_settings()
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


class Transcript:
    """Shows events as they come; the step under way turns below them. Terminal codes in data are inert."""

    def __init__(self) -> None:
        self.exit_code = 1
        self._console = Console(highlight=False)
        self._step = self._console.status("Starting")

    def __enter__(self) -> Self:
        self._step.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step.stop()

    def show(self, said: SessionEvent) -> None:
        match said:
            case Status():
                self._step.update(said.message)
                self._console.print(Text(f"· {said.message}", style="dim"))
            case SqlChunk():
                if said.explanation:
                    self._console.print(Text(f"Understood as: {said.explanation}", style="italic"))
                self._console.print(Syntax(said.content, "sql", word_wrap=True, background_color="default"))
                for correction in said.corrections:
                    self._console.print(Text(f"Corrected: {correction}", style="dim"))
            case ResultsChunk():
                self._console.print(_table(said.content))
            case AnalysisChunk():
                self._console.print(Markdown(said.content, hyperlinks=False))
            case ClarificationChunk():
                self._console.print(Markdown(said.content, hyperlinks=False))
                for number, option in enumerate(said.options, 1):
                    line = f"{number}. {option['label']}: {option['question']}"
                    self._console.print(Text(line, style="cyan"))
            case SuggestionsChunk():
                for suggestion in said.content:
                    self._console.print(Text(f"→ {suggestion}", style="cyan"))
            case Failure():
                self._console.print(Text(f"{said.title}: {said.detail}", style="red"))
            case Done():
                self.exit_code = 0 if said.status == "complete" else 1
                self._console.print(
                    Text(f"{said.elapsed_ms / 1000:.1f} s, {said.tokens_used} tokens", style="dim")
                )
            case _:
                pass


def database_url(text: str) -> str:
    """The URL of a database named on the command line: by its URL, or by the path of a SQLite file.

    Raises `Invalid` when there is no such file.
    """
    url = _FILE_URL.fullmatch(text)
    if "://" in text and url is None:
        return text
    path = Path(url["path"] if url else text).expanduser().resolve()
    if not path.exists():
        raise Invalid(f"There is no file {path}.")
    if path.is_dir():
        raise Invalid(f"{path} is a folder. Name a database file in it.")
    return f"{url['kind'] if url else 'sqlite'}:///{path}"


def event_of(data: str) -> SessionEvent:
    """An event as it stands in a run's log."""
    return _EVENT.validate_json(data)


def _table(rows: Rows) -> Table:
    shown = rows["rows"][:_SHOWN_ROWS]
    of = f"{len(shown)} of {rows['row_count']:,} rows. {cut_sentence(rows)}".strip()
    table = Table(caption=of, caption_justify="left")
    for column in rows["columns"]:
        table.add_column(Text(column["name"]), justify="right" if column["type"] in _NUMBERS else "left")
    for row in shown:
        table.add_row(*(Text("null", style="dim") if cell is None else Text(_inert(cell)) for cell in row))
    return table


def _inert(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.15g}"
    return "".join(character if character.isprintable() else " " for character in str(cell))
