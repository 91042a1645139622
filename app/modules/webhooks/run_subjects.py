"""What deliveries say of runs."""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import JsonValue

from app.modules.database_connection.repository import ConnectionRepository
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import Message, Run
from app.modules.records.repository import SessionRepository
from app.modules.records.steps import cut_text
from app.modules.webhooks.model import WebhookContent

_ROWS = 20
_MOST_CHARACTERS = 64 * 1024
"""Of a statement and of a text. The rows of a message are bounded where they are kept."""


class RunSubjects:
    """Runs that events tell of."""

    def __init__(self, sessions: SessionRepository, connections: ConnectionRepository) -> None:
        self._sessions = sessions
        self._connections = connections

    async def data(self, subject_id: str, content: WebhookContent) -> dict[str, JsonValue] | None:
        """Returns the ids and the metadata of a run, and with `answer` its answer. Returns None if it was
        deleted.
        """
        run = await self._sessions.find_run(subject_id)
        if run is None:
            return None
        ids: dict[str, JsonValue] = {
            "run_id": run.id,
            "session_id": run.session_id,
            "message_id": run.message_id,
            "metadata": run.metadata,
        }
        return ids if content == "ids" else {**ids, **await self._answer(run)}

    async def _answer(self, run: Run) -> dict[str, JsonValue]:
        """What its owner may no longer see, as policies have changed since it was asked, is left out."""
        message: Message | None = None
        with suppress(SessionUnknown):  # it was deleted
            session = await self._sessions.get(run.owner, run.session_id)
            connections = {session.connection_id, *session.further_ids}
            if not await self._connections.policies_changed(run.owner, connections, run.created_at):
                message = await self._sessions.find_answer(session, run.message_id)
        if message is None:
            return {"query": run.question, "sql": None, "analysis": None, "columns": [], "rows": []}
        rows: Sequence[JsonValue] = message.rows_head[:_ROWS]
        return {
            "query": run.question,
            "sql": _cut(message.sql),
            "analysis": _cut(message.analysis),
            "columns": [{"name": each["name"], "type": each["type"]} for each in message.columns or []],
            "rows": [*rows],
            "row_count": message.row_count,
            "error": None if message.error is None else message.error.model_dump(mode="json"),
        }


def _cut(text: str | None) -> str | None:
    return None if text is None else cut_text(text, _MOST_CHARACTERS)
