"""Chunks of OpenAI's streaming chat protocol as plain data, in the dialects of its providers.

Dialects differ in the names of reasoning and cached tokens, in how they number tool calls and in how they
report errors. `tests/support/dialects` holds a stream of each that is supported.
"""

import json
from dataclasses import dataclass

from pydantic import JsonValue

_Object = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of a request, as the provider counts them.

    `cached_tokens` are the input tokens that the provider read from its prefix cache; None if it does not
    report them.
    """

    input_tokens: int
    total_tokens: int
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call.

    `index` numbers the calls of a reply from 0, whatever the provider sends. `id` and `name` stand in a
    call's first piece and are empty in later ones. `arguments` of all pieces together are a JSON object.
    """

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyChunk:
    """The contents of one chunk. `usage` counts the whole request so far; the last one received counts."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    finish_reason: str | None = None
    usage: TokenUsage | None = None


class ErrorInStream(Exception):
    """The service reports an error within the stream. Holds the service's own text."""


class NoChunk(ValueError):
    """Data that is no chunk."""


class ChunkReader:
    """Reads the chunks of one reply, in order."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[int, str]] = {}
        """Number and id of the latest tool call by the provider's index."""
        self._count = 0

    def read(self, data: bytes) -> ReplyChunk:
        """Returns the contents of an event's data.

        Raises `ErrorInStream` for an error of the service, `ValueError` or `RecursionError` for data that
        is no chunk.
        """
        body: JsonValue = json.loads(data.decode())
        if not isinstance(body, dict):
            raise NoChunk("not an object")
        error = body.get("error")
        if error or body.get("object") == "error":
            raise ErrorInStream(_error_text(error or body))
        choices = body.get("choices")
        choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
        delta = _object(choice.get("delta"))
        text, reasoning = _contents(delta.get("content"))
        calls = delta.get("tool_calls")
        finish_reason = choice.get("finish_reason")
        return ReplyChunk(
            text=text,
            reasoning=reasoning or _text(delta.get("reasoning_content")) or _text(delta.get("reasoning")),
            refusal=_text(delta.get("refusal")),
            tool_calls=self._tool_calls(calls) if isinstance(calls, list) else (),
            finish_reason=finish_reason if isinstance(finish_reason, str) and finish_reason else None,
            usage=_usage(body),
        )

    def _tool_calls(self, calls: list[JsonValue]) -> tuple[ToolCallDelta, ...]:
        return tuple(self._tool_call(_object(call), position) for position, call in enumerate(calls))

    def _tool_call(self, call: _Object, position: int) -> ToolCallDelta:
        """A new id with a name begins a new call: some providers send no index, or 0 for every call."""
        sent = call.get("index")
        key = sent if isinstance(sent, int) else position
        function = _object(call.get("function"))
        id_ = _text(call.get("id"))
        name = _text(function.get("name"))
        known = self._calls.get(key)
        arguments = function.get("arguments")
        pieces = arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
        if known is not None and not (id_ and name and id_ != known[1]):
            return ToolCallDelta(known[0], "", "", pieces)
        number = self._count
        self._count += 1
        self._calls[key] = (number, id_)
        return ToolCallDelta(number, id_, name, pieces)


def _contents(content: JsonValue) -> tuple[str, str]:
    """Returns text and reasoning. Mistral's reasoning models send a list of parts."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        raise NoChunk("content is neither text nor parts")
    text = reasoning = ""
    for part in map(_object, content):
        text += _text(part.get("text"))
        thinking = part.get("thinking")
        if isinstance(thinking, list):
            reasoning += "".join(_text(_object(each).get("text")) for each in thinking)
        else:
            reasoning += _text(thinking)
    return text, reasoning


def _usage(body: _Object) -> TokenUsage | None:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    read = _count(usage.get("prompt_tokens")) or 0
    total = _count(usage.get("total_tokens"))
    if total is None:
        total = read + (_count(usage.get("completion_tokens")) or 0)
    return TokenUsage(read, max(total, read), _cached_tokens(usage, _object(body.get("timings"))))


def _cached_tokens(usage: _Object, timings: _Object) -> int | None:
    """Returns the count as OpenAI and most others, DeepSeek, Moonshot or llama.cpp report it."""
    counts = (
        _object(usage.get("prompt_tokens_details")).get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
        timings.get("cache_n"),
    )
    return next((count for each in counts if (count := _count(each)) is not None), None)


def _error_text(error: JsonValue) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(error)


def _object(value: JsonValue) -> _Object:
    """Returns the object; an empty one for null. Raises `NoChunk` for anything else."""
    if isinstance(value, dict):
        return value
    if value is None:
        return {}
    raise NoChunk("not an object")


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _count(value: JsonValue) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count and isinstance(value, int) else None
