"""The question and the texts before it, in the messages of a chat."""

import pytest
from pydantic import JsonValue

from app.modules.protocols.openai.errors import WrongMessages
from app.modules.protocols.openai.schemas import CompletionMessage
from app.modules.protocols.openai.transcript import questions_of


def messages(*given: tuple[str, JsonValue]) -> list[CompletionMessage]:
    return [CompletionMessage.model_validate({"role": role, "content": content}) for role, content in given]


def test_only_texts_of_the_user_count() -> None:
    chat = messages(
        ("system", "Be brief."),
        ("user", " How many customers? "),
        ("assistant", "Changed."),
        ("tool", {"any": "thing"}),
        ("user", [{"type": "text", "text": "And"}, {"type": "text", "text": "orders?"}]),
    )
    assert questions_of(chat) == (["How many customers?"], "And\norders?")


def test_an_earlier_text_may_be_longer_than_a_question() -> None:
    earlier, _ = questions_of(messages(("user", "x" * 10_000), ("user", "And now?")))
    assert len(earlier[0]) == 10_000


@pytest.mark.parametrize(
    ("last", "param"),
    [
        (("assistant", "Hello"), "messages"),
        (("user", ""), "messages.1.content"),
        (("user", None), "messages.1.content"),
        (("user", "x" * 8_001), "messages.1.content"),
        (("user", [{"type": "image_url", "image_url": {"url": "x"}}]), "messages.1.content"),
    ],
)
def test_the_last_message_must_be_a_question(last: tuple[str, JsonValue], param: str) -> None:
    with pytest.raises(WrongMessages) as refused:
        questions_of(messages(("user", "How many?"), last))
    assert refused.value.members["param"] == param


def test_an_image_of_an_earlier_message_is_refused_too() -> None:
    with pytest.raises(WrongMessages, match="begin a new chat") as refused:
        questions_of(messages(("user", [{"type": "input_audio"}]), ("user", "And now?")))
    assert refused.value.members["param"] == "messages.0.content"
