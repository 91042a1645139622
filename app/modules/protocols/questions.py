"""Questions in the messages of clients."""

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.core.errors import Invalid
from app.modules.records.model import MAX_QUERY_CHARACTERS
from app.modules.session.schemas import QuestionText

_QUESTION: TypeAdapter[str] = TypeAdapter(QuestionText)


class ContentUnsupported(Invalid):
    """The content of a client's message is no question in words."""

    problem = "content-unsupported"
    title = "Only text can be asked"


def question_of(content: JsonValue) -> str:
    """Returns the question in the content of a client's message: a text, or blocks of type `text`.

    Raises `ContentUnsupported` for other blocks, for no text, and for text that cannot be asked.
    """
    try:
        return _QUESTION.validate_python(_text_of(content))
    except ValidationError as error:
        raise ContentUnsupported(
            f"The question must have 1 to {MAX_QUERY_CHARACTERS:,} characters of text, without NUL and half "
            "surrogate pairs."
        ) from error


def texts_of(content: JsonValue) -> str:
    """Returns the texts of a message, without its images, files and calls."""
    blocks = content if isinstance(content, list) else [content]
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return "\n".join(text for text in texts if isinstance(text, str))


def _text_of(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ContentUnsupported("The content of a message must be a text, or a list of text blocks.")
    return "\n".join(_text_of_block(each) for each in content)


def _text_of_block(block: JsonValue) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    if not isinstance(text, str):
        raise ContentUnsupported("Only blocks of type `text` can be asked. Images and files cannot.")
    return text
