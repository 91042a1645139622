"""LangChain's client of OpenAI's chat protocol, with additions. The import takes a second, so it is late."""

from langchain_core.messages import AIMessageChunk, BaseMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from pydantic import JsonValue

REFUSAL = "refusal"
"""Key of a model's refusal text in the additional fields of a chunk."""


class ChatClient(ChatOpenAI):
    """Keeps refusals of streamed chunks, and tool calls without an index, which some services send."""

    def _convert_chunk_to_generation_chunk(
        self,
        chunk: dict[str, JsonValue],
        default_chunk_class: type[BaseMessageChunk],
        base_generation_info: dict[str, JsonValue] | None,
    ) -> ChatGenerationChunk | None:
        delta = _delta(chunk)
        _number_tool_calls(delta)
        generation = super()._convert_chunk_to_generation_chunk(
            chunk, default_chunk_class, base_generation_info
        )
        refusal = delta.get(REFUSAL)
        if generation is not None and isinstance(generation.message, AIMessageChunk) and refusal:
            generation.message.additional_kwargs[REFUSAL] = refusal
        return generation


def _delta(chunk: dict[str, JsonValue]) -> dict[str, JsonValue]:
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    delta = first.get("delta") if isinstance(first, dict) else None
    return delta if isinstance(delta, dict) else {}


def _number_tool_calls(delta: dict[str, JsonValue]) -> None:
    calls = delta.get("tool_calls")
    for position, call in enumerate(calls if isinstance(calls, list) else []):
        if isinstance(call, dict) and call.get("index") is None:
            call["index"] = position
