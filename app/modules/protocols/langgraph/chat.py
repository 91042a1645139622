"""Messages of a thread, as LangChain's clients read them."""

import json
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from app.modules.analysis.chart.specification import mapping
from app.modules.protocols.messages import MAX_MESSAGE_BYTES, MAX_MESSAGES, ClientMessage, ToolUse
from app.modules.records.steps import CallRecord

LangChainMessage = dict[str, JsonValue]


def langchain_message(message: ClientMessage) -> LangChainMessage:
    """Returns a message as LangChain writes it to JSON."""
    common: LangChainMessage = {
        "type": message.role,
        "id": message.id,
        "content": _content(message),
        "name": message.tool_name,
        "additional_kwargs": {},
        "response_metadata": {},
    }
    match message.role:
        case "human":
            return common
        case "tool":
            status = "error" if message.is_error else "success"
            return {**common, "tool_call_id": message.tool_call_id, "status": status, "artifact": None}
        case "ai":
            calls: list[JsonValue] = [
                {"type": "tool_call", "id": use.id, "name": use.name, "args": use.args}
                for use in message.tool_calls
            ]
            rest = {name: part for name, part in message.found.items() if name != "references"}
            return {
                **common,
                "tool_calls": calls,
                "invalid_tool_calls": [],
                "usage_metadata": None,
                "additional_kwargs": {"kai": rest} if rest else {},
            }


def _content(message: ClientMessage) -> JsonValue:
    """Returns the text; of an answer with references, a content block of LangChain's version 1.

    No metadata name the version: LangChain reads the block without, and its JavaScript would take `content`
    away from the message that a page holds. There is no block for the chart: a graph that has KAI as a node
    sends its messages to its own model, and those of OpenAI, Anthropic and Ollama refuse unknown blocks.
    """
    references = message.found.get("references")
    if not isinstance(references, list) or not references:
        return message.text
    annotations = [_citation(mapping(each)) for each in references]
    return [{"type": "text", "text": message.text, "annotations": annotations}]


def _citation(reference: Mapping[str, JsonValue]) -> JsonValue:
    """Returns what a statement of the text was computed from, as an annotation of it."""
    span = reference.get("span")
    start, end = span if isinstance(span, list) and len(span) == 2 else (0, 0)
    return {
        "type": "citation",
        "start_index": start,
        "end_index": end,
        "title": reference.get("how"),
        "extras": {"kai": {**reference}},
    }


def delta_message(message_id: str, text: str) -> LangChainMessage:
    """Returns a piece of an answer's text. Clients append it to the message of this id."""
    whole = langchain_message(ClientMessage(id=message_id, role="ai", text=text))
    return {**whole, "type": "AIMessageChunk", "tool_call_chunks": []}


def removal_message(message_id: str) -> LangChainMessage:
    """Returns the message by which clients drop the one of this id."""
    return {"type": "remove", "id": message_id, "content": ""}


def tool_call(call_id: str, name: str, arguments: Mapping[str, JsonValue]) -> ClientMessage:
    """Returns the message of an investigation that calls a tool."""
    use = ToolUse(call_id, name, dict(arguments))
    return ClientMessage(id=f"{call_id}-call", role="ai", text="", tool_calls=(use,))


def tool_answer(call_id: str, name: str, text: str, *, is_error: bool) -> ClientMessage:
    """Returns the message with what a call of an investigation has returned."""
    return ClientMessage(
        id=f"{call_id}-result",
        role="tool",
        text=text,
        tool_call_id=call_id,
        tool_name=name,
        is_error=is_error,
    )


def investigation_messages(calls: Sequence[CallRecord]) -> list[ClientMessage]:
    """Returns the messages of the calls of one step, and of what they returned."""
    called = [tool_call(call.id, call.tool, call.used_arguments) for call in calls]
    returned = [
        tool_answer(call.id, call.tool, call.text, is_error=call.is_error) for call in calls if call.has_ended
    ]
    return [*called, *returned]


def latest_turns(turns: Iterable[Sequence[LangChainMessage]]) -> list[LangChainMessage]:
    """Returns the messages of the latest turns, oldest first, within `MAX_MESSAGES` and `MAX_MESSAGE_BYTES`;
    of the last turn, all. A turn is never cut: a call and its answer stay together. `turns` are newest first.
    """
    kept: list[Sequence[LangChainMessage]] = []
    count = 0
    size = 0
    for turn in turns:
        count += len(turn)
        size += sum(len(json.dumps(message)) for message in turn)
        if kept and (count > MAX_MESSAGES or size > MAX_MESSAGE_BYTES):
            break
        kept.append(turn)
    # A question that was asked again, with the same id, stands once.
    return [*{str(message["id"]): message for turn in reversed(kept) for message in turn}.values()]
