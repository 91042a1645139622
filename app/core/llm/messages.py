"""Prompts, and requests for replies, in no provider's form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from app.core.llm.capabilities import ReplyFormat
from app.core.llm.reply_schema import ReplySchema
from app.core.llm.tool_calls import OfferedTool, ToolCall
from app.core.redaction.text import redacted


@dataclass(frozen=True)
class PromptMessage:
    """A part of a prompt. `calls` are those that the assistant made; each is answered by a message of role
    `tool` with its `call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: Sequence[ToolCall] = ()
    call_id: str = ""

    def as_request(self) -> dict[str, JsonValue]:
        """Returns the message as OpenAI's chat protocol has it."""
        message: dict[str, JsonValue] = {"role": self.role, "content": self.content}
        if self.calls:
            message["content"] = self.content or None
            message["tool_calls"] = [call.as_request() for call in self.calls]
        if self.role == "tool":
            message["tool_call_id"] = self.call_id
        return message

    def redacted(self) -> "PromptMessage":
        """Returns the message without secrets."""
        content = redacted(self.content)
        calls = [call.redacted() for call in self.calls]
        if content == self.content and calls == [*self.calls]:
            return self
        return replace(self, content=content, calls=calls)


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A request for one reply, as a stream."""

    messages: Sequence[PromptMessage]
    tools: Sequence[OfferedTool] = ()
    """Tools that the reply may call."""
    schema: ReplySchema | None = None
    reply_format: ReplyFormat = "text"
    """Format of a reply with a schema."""
    max_tokens: int | None = None
    """None for the model's configured limit."""
    temperature: float | None = None
    """None for the configured temperature."""
    counts_usage: bool = True
    """Ask for a count of tokens at the end of the stream."""

    def redacted(self) -> "ChatRequest":
        """Returns the request without secrets."""
        messages = [message.redacted() for message in self.messages]
        return replace(self, messages=messages, tools=[tool.redacted for tool in self.tools])
