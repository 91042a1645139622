"""Messages as plain text, as the chat routes return them."""

from typing import Literal

from app.modules.records.model import Message


def plain_role(message: Message) -> Literal["user", "assistant"]:
    return "user" if message.role == "human" else "assistant"


def plain_id(message: Message, name: str) -> str:
    """`name` is the key that its run was asked with (a chatMessageId), or the id of the run."""
    return f"{name}_{plain_role(message)}"


def plain_content(message: Message) -> str:
    """Returns the text of a question or an answer; for an answer without text, the error of its run."""
    if message.role == "human":
        return message.query
    said = message.analysis or message.clarification or message.explanation
    return said or (message.error.detail if message.error else "")
