"""Messages as LangChain's clients read them."""

from typing import Any


def text_of(message: Any) -> str:
    """The text of a message, as LangChain's `message.text` has it."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")
