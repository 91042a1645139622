"""What a person approves: a digest of exactly what will run, and the sentences around it."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.core.ids import digest
from app.modules.database_connection.model import Connection
from app.modules.records.steps import CallRecord
from app.modules.tools.tool import Tool


def call_hash(
    tool: Tool,
    arguments: Mapping[str, JsonValue],
    connection: Connection,
    *,
    session_id: str,
    message_id: str,
) -> str:
    """Returns the SHA-256 of what a call will do, and where.

    Of the connection's URL it holds the encrypted form, which changes with the URL: from a digest of the URL
    itself a weak password could be guessed.
    """
    return digest(
        {
            "tool": tool.name,
            "fingerprint": tool.fingerprint,
            "arguments": dict(arguments),
            "connection": {"id": connection.id, "url": digest(connection.encrypted_url)},
            "session": session_id,
            "message": message_id,
        }
    )


def unanswered(calls: Sequence[CallRecord]) -> str | None:
    """Returns the answer of a turn in which a call was not decided in time, or was withdrawn.

    Returns None if there is no such call: then the model goes on.
    """
    expired = [call for call in calls if call.status == "expired"]
    withdrawn = [call for call in calls if call.status == "withdrawn"]
    if not expired and not withdrawn:
        return None
    parts = [("Not done, because the approval did not come in time:", expired)]
    parts.append(("Not done, because it was withdrawn:", withdrawn))
    parts.append(("Done:", [call for call in calls if call.status == "done" and call.gate == "asks"]))
    lines = ["\n".join([head, *(f"- {_said(call)}" for call in some)]) for head, some in parts if some]
    return "\n\n".join([*lines, "Ask again to have it proposed again."])


def _said(call: CallRecord) -> str:
    said = call.description or call.tool
    return said if call.edited_arguments is None else f"{said} (with arguments that you changed)"
