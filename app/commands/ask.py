"""`kai ask`: ask one question about a database, decide its calls that ask, and show the answer."""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from app.bootstrap import Services, open_services_for_once
from app.commands.databases import register
from app.core.auth.caller import LOCAL_CALLER, LOCAL_OWNER
from app.core.errors import CannotRun, reason
from app.core.pictures import NoPicture
from app.core.settings import read_settings
from app.modules.analysis.chart.pictures import PictureFormat
from app.modules.records.model import Message, MessageFields, Mode, NewQuestion, Run, Session
from app.modules.run.messages import next_run_id
from app.modules.session.confirmations import Verdict
from app.modules.session.errors import ConfirmationOver
from app.terminal.console import event_of, say
from app.terminal.transcript import Transcript
from graph.answer import Answer
from graph.events import Confirmation

WAITING = 3
"""Exit code of a question whose calls wait for an approval that cannot be asked for here."""
_NO_TERMINAL = (
    "kai: Nothing of this was done: there is no terminal to ask for the approval. Run it in a terminal, or "
    "ask a KAI that serves: there the page, or POST /api/v1/sessions/{id}/confirmations/{id}, decides.\n"
)


@dataclass(frozen=True, kw_only=True)
class AskOutput:
    """What a question leaves besides the transcript."""

    chart: Path | None = None
    """Where the chart is written, as SVG or PNG by the file's ending."""
    as_json: bool = False
    """The answer goes to standard output as JSON, the transcript to standard error."""


async def ask(question: str, database: str, mode: Mode, *, output: AskOutput) -> int:
    """Returns the exit code: 0 when the question was answered, `WAITING`, or 1. Raises `CannotRun` if the
    chart cannot be written.
    """
    async with open_services_for_once(read_settings()) as services:
        connection, warnings = await register(services, database, "asked")
        for warning in warnings:
            sys.stderr.write(f"kai: {warning}\n")
        session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode=mode, metadata={})
        session, run = await services.sessions.ask(LOCAL_OWNER, session.id, NewQuestion(question))
        while True:
            transcript = await _follow(services, session, run, output=output)
            if not transcript.waiting:
                await _put_out(services, session, run, output=output)
                return transcript.exit_code
            if not sys.stdin.isatty():
                sys.stderr.write(_NO_TERMINAL)
                return WAITING
            for card in transcript.waiting:
                await _decide(services, session, card)
            session, run = await services.sessions.run(LOCAL_OWNER, session.id, next_run_id(run.id))


async def _put_out(services: Services, session: Session, run: Run, *, output: AskOutput) -> None:
    if output.chart is None and not output.as_json:
        return
    message = await services.sessions.repository.get_answer(session, run.message_id)
    if output.as_json:
        rows = (
            await services.sessions.rows.read(message.id, 0, message.row_count) if message.row_count else []
        )
        fields = {*Answer.model_fields, *MessageFields.model_fields}
        answer = {**message.model_dump(mode="json", include=fields), "rows": rows}
        say(json.dumps(answer, ensure_ascii=False, indent=2))
    if output.chart is not None:
        await _write_chart(services, message, output.chart)


async def _write_chart(services: Services, message: Message, path: Path) -> None:
    if message.shown_chart is None:
        raise CannotRun("The answer has no chart, so none was written.")
    try:
        file = await services.pictures.file(message.shown_chart, picture_format_of(path))
        await asyncio.to_thread(path.write_bytes, file)
    except NoPicture as failed:
        raise CannotRun(failed.detail) from failed
    except OSError as error:
        raise CannotRun(f"{path} cannot be written ({reason(error)}).") from error


def picture_format_of(path: Path) -> PictureFormat:
    """Raises `ValueError` for a file that is to be no picture."""
    match path.suffix.lower():
        case ".svg":
            return "svg"
        case ".png":
            return "png"
    raise ValueError("--chart writes files that end in .svg or .png.")


async def _follow(services: Services, session: Session, run: Run, *, output: AskOutput) -> Transcript:
    console = Console(highlight=False, stderr=True) if output.as_json else None
    with Transcript(console) as transcript:
        async for entry in services.sessions.follower.events(run):
            transcript.show(event_of(entry.data))
    return transcript


async def _decide(services: Services, session: Session, card: Confirmation) -> None:
    """Ask for the decision of a call. The calls of other runs, and its time, go on meanwhile."""
    verdict, reason = await asyncio.to_thread(_ask_person, card)
    try:
        await services.confirmations.decide(
            LOCAL_CALLER,
            session.id,
            card.confirmation_id,
            verdict=verdict,
            call_hash=card.call_hash,
            reason=reason or None,
        )
    except ConfirmationOver as over:
        sys.stderr.write(f"kai: {over.detail}\n")


def _ask_person(card: Confirmation) -> tuple[Verdict, str]:
    if typer.confirm(f"Approve {card.tool_name}?", default=False, err=True):
        return "approve", ""
    reason: str = typer.prompt("Reason, for the model", default="", show_default=False, err=True)
    return "deny", reason
