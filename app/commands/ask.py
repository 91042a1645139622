"""`kai ask`: ask one question about a database, decide its calls that ask, and show the answer."""

import asyncio
import sys

import typer

from app.bootstrap import Services, open_services_for_once
from app.commands.databases import register
from app.core.auth.caller import LOCAL_CALLER, LOCAL_OWNER
from app.core.settings import read_settings
from app.modules.run.messages import next_run_id
from app.modules.session.confirmations import Verdict
from app.modules.session.errors import ConfirmationOver
from app.modules.session.model import Mode, Run, Session
from app.terminal import event_of
from app.transcript import Transcript
from graph.events import Confirmation

WAITING = 3
"""Exit code of a question whose calls wait for an approval that cannot be asked for here."""
_NO_TERMINAL = (
    "kai: Nothing of this was done: there is no terminal to ask for the approval. Run it in a terminal, or "
    "ask a KAI that serves: there the page, or POST /api/v1/sessions/{id}/confirmations/{id}, decides.\n"
)


async def ask(question: str, database: str, mode: Mode) -> int:
    """Returns the exit code: 0 when the question was answered, `WAITING`, or 1."""
    async with open_services_for_once(read_settings()) as services:
        connection, warnings = await register(services, database, "asked")
        for warning in warnings:
            sys.stderr.write(f"kai: {warning}\n")
        session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode=mode, metadata={})
        session, run = await services.sessions.ask(
            LOCAL_OWNER, session.id, question, on_busy="reject", idempotency_key=None
        )
        while True:
            transcript = await _follow(services, session, run)
            if not transcript.waiting:
                return transcript.exit_code
            if not sys.stdin.isatty():
                sys.stderr.write(_NO_TERMINAL)
                return WAITING
            for card in transcript.waiting:
                await _decide(services, session, card)
            session, run = await services.sessions.run(LOCAL_OWNER, session.id, next_run_id(run.id))


async def _follow(services: Services, session: Session, run: Run) -> Transcript:
    with Transcript() as transcript:
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
