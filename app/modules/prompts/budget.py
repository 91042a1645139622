"""Budget of a prompt: what a model's window leaves for it, and who gets it first."""

from collections.abc import Mapping, Sequence
from math import ceil

from app.core.llm.messages import PromptMessage
from app.core.llm.tokens import approximate_tokens

_MARGIN_PART = 10
"""A tenth of the window stays free, because tokens are estimated."""
_MESSAGE_TOKENS = 4
_CALL_TOKENS = 10
_CHARACTER_TOKENS = 3
"""No character counts for more tokens."""
_LEAST = 40
"""Tokens that each section may have whatever the ones before it need: enough for the line that it was cut."""
QUESTION_LEAST = 200
"""Tokens that a question may have, whatever the rules need and however small the window is."""


def prompt_room(window_tokens: int, *, output_tokens: int, tools_tokens: int = 0) -> int:
    """Returns the tokens that the messages of a prompt may fill: the window without the reply, the tools and
    a tenth. A reply takes at most half of the window.
    """
    reply = min(output_tokens, window_tokens // 2)
    return max(window_tokens - reply - tools_tokens - ceil(window_tokens / _MARGIN_PART), 0)


def prompt_tokens(messages: Sequence[PromptMessage]) -> int:
    """Returns about the number of tokens of messages with their calls."""
    return sum(_message_tokens(message) for message in messages)


def has_room_for(messages: Sequence[PromptMessage], room: int) -> bool:
    """True if messages fit. Counts tokens only if the number of characters does not tell."""
    characters = sum(
        len(message.content) + sum(len(call.name) + len(call.arguments) + 1 for call in message.calls)
        for message in messages
    )
    calls = sum(len(message.calls) for message in messages)
    most = characters * _CHARACTER_TOKENS + len(messages) * _MESSAGE_TOKENS + calls * _CALL_TOKENS
    return most <= room or prompt_tokens(messages) <= room


def granted(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """Returns the tokens of each section, together at most `room`. `wanted` is in the order of rights.

    An earlier section gets what it wants before a later one gets more than a line. Only a section named
    `question` has more than a line for certain.
    """
    leasts = {
        name: min(tokens, QUESTION_LEAST if name == "question" else _LEAST) for name, tokens in wanted.items()
    }
    grants: dict[str, int] = {}
    left = max(room, 0)
    reserved = sum(leasts.values())
    for name, tokens in wanted.items():
        reserved -= leasts[name]
        grants[name] = min(tokens, left, max(left - reserved, leasts[name]))
        left -= grants[name]
    return grants


def cut(text: str, tokens: int, what: str) -> str:
    """Returns a text of at most `tokens`, cut from its end with a line that names `what` was cut.

    Returns an empty text if there is no room for the line.
    """
    if approximate_tokens(text) <= tokens:
        return text
    line = f"(cut: there is no room for the rest of {what})"
    left = tokens - approximate_tokens(line)
    if left < 0:
        return ""
    kept = _beginning(text, left)
    while kept and approximate_tokens(f"{kept}\n{line}") > tokens:
        kept = kept[: len(kept) * 9 // 10]
    return f"{kept}\n{line}" if kept else line


def _beginning(text: str, tokens: int) -> str:
    """Returns the first lines that fit. If they are less than half of what fits, words of the next, too."""
    kept: list[str] = []
    spent = 0
    for line in text.split("\n"):
        needed = approximate_tokens(line) + 1
        if spent + needed > tokens:
            if spent < tokens // 2:
                kept.append(_words(line, tokens - spent))
            break
        spent += needed
        kept.append(line)
    return "\n".join(kept).rstrip()


def _words(line: str, tokens: int) -> str:
    """Returns the beginning of a line, to the end of a word if it has more than one."""
    low = 0
    high = len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if approximate_tokens(line[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    beginning = line[:low]
    return beginning.rpartition(" ")[0] or beginning


def _message_tokens(message: PromptMessage) -> int:
    calls = sum(approximate_tokens(f"{call.name} {call.arguments}") + _CALL_TOKENS for call in message.calls)
    return approximate_tokens(message.content) + calls + _MESSAGE_TOKENS
