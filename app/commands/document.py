"""`kai document`: the documentation of a database, as Markdown."""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from app.bootstrap import Services, open_services_for_once
from app.commands.databases import register
from app.core.auth.caller import LOCAL_OWNER
from app.core.errors import CannotRun
from app.core.settings import read_settings
from app.modules.records.model import NewQuestion, Run, Session
from app.terminal.console import event_of, say
from graph.events import AnalysisChunk, ClarificationChunk, Failure, Progress, Status


class _Followed:
    """What a run has said: the document, or the estimate with the words that accept it."""

    def __init__(self) -> None:
        self.document: str | None = None
        self.estimate: str | None = None
        self.go_on = ""
        self.failure: str | None = None

    async def follow(self, services: Services, session: Session, run: Run) -> None:
        async for entry in services.sessions.follower.events(run):
            match event_of(entry.data):
                case AnalysisChunk(content=content):
                    self.document = content
                case ClarificationChunk(content=content, options=options):
                    self.estimate = content
                    self.go_on = options[0]["question"] if options else ""
                case Failure(title=title, detail=detail):
                    self.failure = f"{title}: {detail}"
                case Progress(tool_call_id=None, message=message):
                    _note(message)
                case Status(step="investigating", message=message):
                    _note(message)
                case _:
                    pass


async def document(database: str, out: Path | None, tables: Sequence[str], *, yes: bool) -> int:
    """Returns the exit code: 0 when the document was written."""
    _check_folder(out)
    async with open_services_for_once(read_settings()) as services:
        if not services.capabilities.generating.on:
            raise CannotRun(f"A documentation needs a model. {services.capabilities.generating.reason}")
        connection, warnings = await register(services, database, _name_of(database))
        for warning in warnings:
            _note(warning)
        session, run = await services.documents.begin(LOCAL_OWNER, connection.id, tables, accepted=yes)
        said = _Followed()
        await said.follow(services, session, run)
        if said.estimate is not None:
            if not _is_accepted(said.estimate):
                return 1
            asked = await services.sessions.ask(LOCAL_OWNER, session.id, NewQuestion(said.go_on))
            await said.follow(services, *asked)
    if said.document is None:
        raise CannotRun(said.failure or "No document was written.")
    _write(said.document, out)
    return 0


def _check_folder(out: Path | None) -> None:
    """Raises `CannotRun` before anything is spent on a document that cannot be written."""
    folder = None if out is None else out.expanduser().resolve().parent
    if folder is not None and not folder.is_dir():
        raise CannotRun(f"There is no folder {folder}.")


def _write(text: str, out: Path | None) -> None:
    if out is None:
        say(text)
    else:
        out.expanduser().write_text(f"{text}\n", encoding="utf-8")
        _note(f"Written to {out}.")


def _is_accepted(estimate: str) -> bool:
    if not sys.stdin.isatty():
        _note(f"{estimate} Add --yes to begin.")
        return False
    return typer.confirm(estimate, err=True)


def _name_of(database: str) -> str:
    """Returns a name without credentials: that of the file, or of the database on its server."""
    return Path(database.partition("?")[0].rstrip("/")).stem.rpartition("@")[2] or "database"


def _note(text: str) -> None:
    sys.stderr.write(f"kai: {text}\n")
