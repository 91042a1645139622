"""The conversation in the messages of a request. Pure: only texts of the user count, because clients change
the answers.
"""

from collections.abc import Sequence

from pydantic import JsonValue

from app.modules.protocols.openai.errors import WrongMessages
from app.modules.protocols.openai.schemas import CompletionMessage
from app.modules.protocols.questions import ContentUnsupported, question_of


def questions_of(messages: Sequence[CompletionMessage]) -> tuple[list[str], str]:
    """Returns the earlier texts of the user, and the question.

    Raises `WrongMessages` if the last message is not the user's, or if a message of the user is no text.
    """
    if messages[-1].role != "user":
        raise WrongMessages("The last message must have the role `user`: it is the question.")
    users = [(place, each.content) for place, each in enumerate(messages) if each.role == "user"]
    earlier = [text_of(content, place) for place, content in users[:-1]]
    place, content = users[-1]
    try:
        return earlier, question_of(content)
    except ContentUnsupported as error:
        raise WrongMessages(error.detail, _param(place)) from error


def text_of(content: JsonValue, place: int) -> str:
    """Returns the text of a message, which may be longer than a question. Raises `WrongMessages`."""
    parts = content if isinstance(content, list) else [content]
    texts = [_text_of_part(part, place) for part in parts]
    return "\n".join(texts).strip()


def _text_of_part(part: JsonValue, place: int) -> str:
    text = part
    if isinstance(part, dict):
        text = part.get("text") if part.get("type") == "text" else None
    if isinstance(text, str):
        return text
    raise WrongMessages(
        "Only text can be asked. This message has an image, audio or a file: begin a new chat without it.",
        _param(place),
    )


def _param(place: int) -> str:
    return f"messages.{place}.content"
