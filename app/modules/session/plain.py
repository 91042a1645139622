"""A message in words alone, as chats know it."""

from typing import Literal

from app.modules.session.model import Message


def plain_role(message: Message) -> Literal["user", "assistant"]:
    return "user" if message.role == "human" else "assistant"


def plain_id(message: Message, name: str) -> str:
    """`name` is the key that its run was asked with (a chatMessageId), or the id of the run."""
    return f"{name}_{plain_role(message)}"


def plain_content(message: Message) -> str:
    """What was asked or answered; of an answer without words, why it has none."""
    if message.role == "human":
        return message.query
    said = message.analysis or message.clarification or message.explanation
    return said or (message.error.detail if message.error else "")
