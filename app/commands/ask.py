"""`kai ask`: ask one question about a database and show the answer in the terminal."""

import sys

from app.bootstrap import open_services_for_once
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import read_settings
from app.terminal import database_url, event_of
from app.transcript import Transcript


async def ask(question: str, database: str) -> int:
    """Returns the exit code: 0 when the question was answered."""
    async with open_services_for_once(read_settings()) as services:
        connection = await services.database_connections.register(
            LOCAL_OWNER, database_url(database), "asked", description=""
        )
        for warning in connection.warnings:
            sys.stderr.write(f"kai: {warning}\n")
        session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode="ask", metadata={})
        asked = await services.sessions.ask(
            LOCAL_OWNER, session.id, question, on_busy="reject", idempotency_key=None
        )
        with Transcript() as transcript:
            async for entry in services.sessions.follower.events(*asked):
                transcript.show(event_of(entry.data))
        return transcript.exit_code
