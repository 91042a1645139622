"""What a scripted model says, and what it was asked."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Literal, cast

from pydantic import JsonValue

Ending = Literal["whole", "unfinished", "cut", "malformed"]
"""How a stream ends: properly, early but politely, with the connection, or with what is not JSON."""

EMPTY_CHOICES = '{"choices": []}'
TOOL_CALL = (
    '{"choices": [{"index": 0, "finish_reason": null, "delta": {"tool_calls": [{"index": 0, "id": "call_1",'
    ' "type": "function", "function": {"name": "run", "arguments": "{}"}}]}}]}'
)


@dataclass(frozen=True)
class Scripted:
    """One reply. `hold_after` tokens are sent, then it waits for its release; 0 holds before the first.

    A token is a word with the blanks before it; `events_before` are sent as they stand before the first.
    `delay_seconds` pass before each token. With another status than 200, the body is an error that
    repeats the request's key, as unkind services do, and says `error` and `code`. With `tool`, the text
    comes as the arguments of a call of that tool. `recorded` is sent as it stands instead of all else,
    `piece_bytes` at a time.
    """

    text: str = ""
    status: int = 200
    error: str = "scripted"
    code: str | None = None
    retry_after: str | None = None
    delay_seconds: float = 0
    hold_after: int | None = None
    events_before: tuple[str, ...] = ()
    ending: Ending = "whole"
    finish_reason: str = "stop"
    usage: bool = True
    tool: str | None = None
    cached_tokens: int | None = None
    """Of the prompt's tokens, as the usage reports them."""
    recorded: bytes = b""
    piece_bytes: int = 65_536
    calls: tuple[tuple[str, str], ...] = ()
    """Calls of tools after the text: name and arguments. Their ids are empty, as some providers send them."""

    @property
    def tokens(self) -> list[str]:
        return re.findall(r"\s*\S+|\s+$", self.text)

    @property
    def counted(self) -> dict[str, JsonValue]:
        """The usage: a hundred tokens of prompt, and a token a word."""
        written = len(self.tokens)
        counted: dict[str, JsonValue] = {
            "prompt_tokens": 100,
            "completion_tokens": written,
            "total_tokens": 100 + written,
        }
        if self.cached_tokens is not None:
            counted["prompt_tokens_details"] = {"cached_tokens": self.cached_tokens}
        return counted


@dataclass
class Asked:
    """A request as it came, and how far its reply is."""

    body: dict[str, JsonValue]
    headers: dict[str, str]
    """Their names are in lower case."""
    on_hold: bool = False
    disconnected: bool = False
    """Whether the client left before the reply was whole."""
    released: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Of the server's event loop."""

    @property
    def messages(self) -> list[dict[str, str]]:
        return cast("list[dict[str, str]]", self.body["messages"])

    @property
    def text(self) -> str:
        """The whole prompt."""
        contents: list[object] = [message["content"] for message in self.messages]
        return "\n".join(_text_of(each) for each in contents)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are offered."""
        offered = cast("list[dict[str, dict[str, str]]]", self.body.get("tools", []))
        return [each["function"]["name"] for each in offered]


def _text_of(content: object) -> str:
    """The text of a message; of one in parts, the texts of all, and no other part may be among them."""
    if isinstance(content, list):
        return "\n".join(str(each["text"]) for each in content)
    return str(content or "")
