"""Refusals of what a request may ask of OpenAI and KAI does not do. Pure."""

from pydantic import JsonValue

from app.modules.protocols.openai.errors import Unsupported
from app.modules.protocols.openai.schemas import CompletionRequest

_OWN_TOOLS = "KAI calls its own tools. Leave it out."
_ONLY_EMPTY = {
    "tools": _OWN_TOOLS,
    "functions": _OWN_TOOLS,
    "audio": "KAI answers in text. Leave it out.",
    "prediction": "KAI has no predicted outputs. Leave it out.",
    "moderation": "KAI judges no texts. Leave it out.",
    "web_search_options": "KAI asks databases only. Leave it out.",
}
_ONLY_AUTO = ("tool_choice", "function_call")


def refuse_unsupported(request: CompletionRequest) -> None:
    """Raises `Unsupported` for the first field that asks for something that KAI does not do."""
    for name, cure in _ONLY_EMPTY.items():
        if getattr(request, name):
            raise Unsupported(name, f"`{name}` is not supported: {cure}")
    for name in _ONLY_AUTO:
        if getattr(request, name) not in (None, "none", "auto"):
            raise Unsupported(name, f"`{name}` is not supported: {_OWN_TOOLS}")
    if request.n not in (None, 1):
        raise Unsupported("n", "`n` must be 1: KAI gives one answer.")
    if request.logprobs or request.top_logprobs:
        name = "logprobs" if request.logprobs else "top_logprobs"
        raise Unsupported(name, f"`{name}` is not supported: an answer is not text of one model alone.")
    if _format_of(request.response_format) not in (None, "text"):
        raise Unsupported(
            "response_format",
            "`response_format` must be text. KAI's own API returns statement and rows as JSON: "
            "POST /api/v1/sessions/{session_id}/query/stream.",
        )
    if request.modalities not in (None, [], ["text"]):
        raise Unsupported("modalities", '`modalities` must be ["text"]: KAI answers in text.')


def _format_of(wanted: JsonValue) -> JsonValue:
    return wanted.get("type") if isinstance(wanted, dict) else wanted
