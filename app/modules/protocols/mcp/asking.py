"""Whether a client can ask its user in the middle of a call of a tool, and what the others read."""

from mcp_types import ClientCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

WAITS = "The answer waits for the approval of a call. Decide on it in KAI, and ask again."


def can_ask_user(protocol_version: str | None, capabilities: ClientCapabilities | None) -> bool:
    """Returns True for a client that shows forms and speaks a revision that has requests for input."""
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    return elicitation.form is not None or elicitation.url is None  # neither is named: forms
