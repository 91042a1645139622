"""Messages of a thread, as LangChain's clients read them."""

import json
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from app.modules.agent.records import CallRecord
from app.modules.protocols.messages import MAX_MESSAGE_BYTES, MAX_MESSAGES, ChatMessage, ToolUse

LangChainMessage = dict[str, JsonValue]


def langchain_message(message: ChatMessage) -> LangChainMessage:
    """Returns a message as LangChain writes it to JSON."""
    common: LangChainMessage = {
        "type": message.role,
        "id": message.id,
        "content": message.text,
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
            return {
                **common,
                "tool_calls": calls,
                "invalid_tool_calls": [],
                "usage_metadata": None,
                "additional_kwargs": {"kai": message.found} if message.found else {},
            }


def delta_message(message_id: str, text: str) -> LangChainMessage:
    """Returns a piece of an answer's text. Clients append it to the message of this id."""
    whole = langchain_message(ChatMessage(id=message_id, role="ai", text=text))
    return {**whole, "type": "AIMessageChunk", "tool_call_chunks": []}


def removal_message(message_id: str) -> LangChainMessage:
    """Returns the message by which clients drop the one of this id."""
    return {"type": "remove", "id": message_id, "content": ""}


def tool_call(call_id: str, name: str, arguments: Mapping[str, JsonValue]) -> ChatMessage:
    """Returns the message of an investigation that calls a tool."""
    use = ToolUse(call_id, name, dict(arguments))
    return ChatMessage(id=f"{call_id}-call", role="ai", text="", tool_calls=(use,))


def tool_answer(call_id: str, name: str, text: str, *, is_error: bool) -> ChatMessage:
    """Returns the message with what a call of an investigation has returned."""
    return ChatMessage(
        id=f"{call_id}-result",
        role="tool",
        text=text,
        tool_call_id=call_id,
        tool_name=name,
        is_error=is_error,
    )


def investigation_messages(calls: Sequence[CallRecord]) -> list[ChatMessage]:
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
    return [message for turn in reversed(kept) for message in turn]
