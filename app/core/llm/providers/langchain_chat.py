"""Prompts and replies as LangChain has them, for providers with chat models of their own."""

from collections.abc import Mapping, Sequence

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import JsonValue, TypeAdapter, ValidationError

from app.core.llm.chunks import ReplyChunk, TokenUsage, ToolCallDelta
from app.core.llm.messages import PromptMessage

_ARGUMENTS = TypeAdapter(dict[str, JsonValue])


def as_langchain(messages: Sequence[PromptMessage]) -> list[BaseMessage]:
    """Returns a prompt in LangChain's form."""
    names = {call.id: call.name for message in messages for call in message.calls}
    return [_converted(message, names) for message in messages]


def _converted(message: PromptMessage, names: Mapping[str, str]) -> BaseMessage:
    match message.role:
        case "system":
            return SystemMessage(message.content)
        case "user":
            return HumanMessage(message.content)
        case "tool":
            name = names.get(message.call_id)
            return ToolMessage(message.content, tool_call_id=message.call_id, name=name)
        case "assistant":
            calls = [
                {"id": call.id, "name": call.name, "args": _arguments(call.arguments), "type": "tool_call"}
                for call in message.calls
            ]
            return AIMessage(message.content, tool_calls=calls)


def _arguments(text: str) -> dict[str, JsonValue]:
    try:
        return _ARGUMENTS.validate_json(text)
    except ValidationError:
        return {}


class MessageChunkReader:
    """Reads the chunks of one reply, in order. Nothing that LangChain has parsed of a call is used, only the
    pieces of its text.
    """

    def __init__(self, finish_reasons: Mapping[str, str], *, finish_field: str) -> None:
        """`finish_reasons` are the provider's, with OpenAI's names for them; `finish_field` is the field of
        the response that holds them.
        """
        self._finish_reasons = finish_reasons
        self._finish_field = finish_field
        self._calls: dict[int | str, int] = {}
        self._count = 0
        self._input = 0
        self._total = 0
        self._cached: int | None = None

    def read(self, chunk: AIMessageChunk) -> ReplyChunk:
        """Returns the contents of a chunk."""
        reason = chunk.response_metadata.get(self._finish_field)
        return ReplyChunk(
            text=str(chunk.text),
            tool_calls=tuple(
                self._call(each["index"], each["name"], each["args"]) for each in chunk.tool_call_chunks
            ),
            finish_reason=self._finish_reasons.get(reason, reason) if isinstance(reason, str) else None,
            usage=self._usage(chunk),
        )

    def _call(self, index: int | str | None, name: str | None, arguments: str | None) -> ToolCallDelta:
        """A call without an index is whole."""
        if index is not None and index in self._calls:
            return ToolCallDelta(self._calls[index], "", "", arguments or "")
        number = self._count
        self._count += 1
        if index is not None:
            self._calls[index] = number
        return ToolCallDelta(number, "", name or "", arguments or "")

    def _usage(self, chunk: AIMessageChunk) -> TokenUsage | None:
        """LangChain's counts are of a chunk, KAI's of all so far."""
        usage = chunk.usage_metadata
        if usage is None:
            return None
        self._input += usage["input_tokens"]
        self._total += usage["total_tokens"]
        cached = usage.get("input_token_details", {}).get("cache_read")
        if cached is not None:
            self._cached = (self._cached or 0) + cached
        return TokenUsage(self._input, max(self._total, self._input), self._cached)
