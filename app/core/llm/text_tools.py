"""Calls of tools as text, for models without calls of their own: tools are described in the prompt, and a
reply that calls one ends with a block that names it.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from app.core.llm.messages import PromptMessage
from app.core.llm.tool_calls import OfferedTool, ToolCall

_PROMPT = (Path(__file__).parent / "prompts" / "text_tools.md").read_text(encoding="utf-8").strip()
_FENCE = "```tool"
_OPENING = re.compile(r"^```tool[ \t]*\r?\n", re.MULTILINE)
_CLOSING = re.compile(r"\n[ \t]*```")
"""The end of a block. No string of JSON can hold it, because JSON has no line breaks in strings."""
_PIECES_AFTER_BLOCK = 4
"""Pieces of text that a reply may have after its block before it is stopped."""

_NO_JSON = (
    "The tool block does not hold valid JSON. Write one block that begins with ```tool on a line of its own, "
    'holds {"name": ..., "arguments": {...}} and ends with ``` on a line of its own.'
)
_NO_CALL = 'The tool block has to hold {"name": ..., "arguments": {...}} and nothing else.'


def as_text_prompt(messages: Sequence[PromptMessage], tools: Sequence[OfferedTool]) -> list[PromptMessage]:
    """Returns a prompt without calls: those made so far are blocks, and their results are the user's words.

    Messages of the same role in a row are joined: the templates of many models take no others.
    """
    names = {call.id: call.name for message in messages for call in message.calls}
    found: list[PromptMessage] = []
    for message in [_without_calls(each, names) for each in messages]:
        if found and found[-1].role == message.role:
            joined = "\n\n".join(filter(None, [found[-1].content, message.content]))
            found[-1] = PromptMessage(message.role, joined)
        else:
            found.append(message)
    if not tools:
        return found
    description = _PROMPT.replace("{tools}", "\n\n".join(map(_described, tools)))
    if found and found[0].role == "system":
        return [PromptMessage("system", f"{found[0].content}\n\n{description}"), *found[1:]]
    return [PromptMessage("system", description), *found]


def _without_calls(message: PromptMessage, names: dict[str, str]) -> PromptMessage:
    if message.role == "tool":
        name = names.get(message.call_id, "the tool")
        return PromptMessage("user", f"Result of {name}:\n{message.content}")
    blocks = [_block(call) for call in message.calls]
    return PromptMessage(message.role, "\n\n".join(filter(None, [message.content, *blocks])))


def _block(call: ToolCall) -> str:
    return f'{_FENCE}\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments or "{}"}}}\n```'


def _described(tool: OfferedTool) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    said = " ".join(tool.description.split())  # others may have written it: no line of it is a heading
    escape = "\\" if said.startswith("#") else ""
    return f"### {tool.name}\n{escape}{said}\nArguments (JSON Schema): {schema}"


class TextToolReader:
    """Separates the text of a reply from its tool block while it streams."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._shown: list[str] = []
        self._held = ""
        self._block: str | None = None
        self._pieces_after = 0
        self.is_closed = False
        """True once a block is whole. What a model writes after it is invented: no tool has run yet."""

    @property
    def runs_on(self) -> bool:
        """True if the model writes on after its block."""
        return self._pieces_after > _PIECES_AFTER_BLOCK

    @property
    def text(self) -> str:
        """The text before the block."""
        return "".join(self._shown).strip()

    def feed(self, piece: str) -> None:
        """Take a piece of the reply, and pass on what is certain to be text."""
        if self.is_closed:
            self._pieces_after += 1
            return
        if self._block is not None:
            self._extend(piece)
            return
        self._held += piece
        opening = self._opening()
        if opening is not None:
            self._show(self._held[: opening.start()])
            rest = self._held[opening.end() :]
            self._held = ""
            self._block = "\n"
            self._extend(rest)
            return
        keep = self._text_before_fence(self._held)
        self._show(self._held[:keep])
        self._held = self._held[keep:]

    def end(self) -> tuple[ToolCall | None, str]:
        """Returns the call, and what is wrong with the block. Neither, if the reply has no block."""
        if self._block is None:
            self._show(self._held)
            self._held = ""
            return None, ""
        return _read(self._block if self.is_closed else self._block.rstrip().removesuffix("```"))

    def _extend(self, piece: str) -> None:
        block = (self._block or "") + piece
        closing = _CLOSING.search(block, max(len(block) - len(piece) - len(_FENCE), 0))
        self.is_closed = closing is not None
        self._block = block if closing is None else block[: closing.start()]

    def _opening(self) -> re.Match[str] | None:
        found = _OPENING.finditer(self._held)
        return next((each for each in found if each.start() > 0 or self._is_at_line_start()), None)

    def _is_at_line_start(self) -> bool:
        return not self._shown or self._shown[-1].endswith("\n")

    def _text_before_fence(self, text: str) -> int:
        """Returns the number of characters before what could begin a block."""
        line = text.rfind("\n") + 1
        if line == 0 and not self._is_at_line_start():
            return len(text)
        last = text[line:]
        may_open = _FENCE.startswith(last) or re.fullmatch(r"```tool[ \t]*\r?", last) is not None
        return line if may_open else len(text)

    def _show(self, text: str) -> None:
        if text:
            self._shown.append(text)
            self._on_text(text)


def _read(block: str) -> tuple[ToolCall | None, str]:
    try:
        read: JsonValue = json.loads(block)
    except (ValueError, RecursionError):
        return None, _NO_JSON
    if not isinstance(read, dict) or not {"name"} <= read.keys() <= {"name", "arguments"}:
        return None, _NO_CALL
    name = read["name"]
    if not isinstance(name, str):
        return None, _NO_CALL
    return ToolCall("0", name, json.dumps(read.get("arguments", {}))), ""
