"""Which messages are background tasks of chat clients."""

import pytest

from app.modules.protocols.openai.schemas import CompletionMessage, Role
from app.modules.protocols.openai.tasks import reply_to_task

LONG = "How many customers are there per country, and which of these countries has grown fastest?"


def reply(*texts: str, system: str = "Be brief.") -> str | None:
    roles: tuple[Role, Role] = ("user", "assistant")
    messages = [CompletionMessage(role=roles[place % 2], content=each) for place, each in enumerate(texts)]
    return reply_to_task([CompletionMessage(role="system", content=system), *messages])


@pytest.mark.parametrize(
    "question",
    [
        "How many customers?",
        "### Task: count the customers",
        "Show a concise title list: User: count by AI: score",
        "Which tags has the task with the title 'Plum'?",
        'Return { "tags": [] } for customers',
    ],
)
def test_a_question_is_no_task(question: str) -> None:
    assert reply(question) is None


def test_a_task_that_is_quoted_in_a_chat_is_a_question() -> None:
    assert reply("Hello", "Hi", '### Task:\nJSON format: { "title": "x" }') is None


def test_a_title_is_the_first_question_in_one_short_line() -> None:
    history = f"<chat_history>\nUSER: {LONG}\nASSISTANT: 3\n</chat_history>"
    said = reply(f'### Task:\nJSON format: {{ "title": "x" }}\n{history}')
    assert said == '{"title": "How many customers are there per country, and which of thes…"}'


def test_what_the_chat_quotes_decides_nothing() -> None:
    history = '<chat_history>\nUSER: { "tags": [1] }\nASSISTANT: 3\n</chat_history>'
    said = reply(f'### Task:\nTitle?\n{history}\nJSON: {{ "title": "x" }}')
    assert said == '{"title": "{ \\"tags\\": [1] }"}'


def test_a_choice_of_tools_chooses_none() -> None:
    assert reply("Query: History:\nUSER: Hi\nQuery: Hi", system="Available Tools: []") == '{"tool_calls": []}'


@pytest.mark.parametrize("chat", ["User: Sales?\nAI: 3", '||>User:\n"Sales?"\n||>Response:\n"3"'])
def test_a_title_of_librechat_is_text(chat: str) -> None:
    assert reply(f"Generate a concise, 5-word-or-less title for the conversation.\n\n{chat}") == "Sales?"
