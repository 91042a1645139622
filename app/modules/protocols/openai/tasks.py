"""Background tasks of chat clients: titles, tags, follow-ups and the like of a chat. Pure.

Clients send them to the model of the chat, as requests of their own. They are no questions about data, so
they are recognised by their shape and answered at once, without a session, a run or a language model.
"""

import json
import re
from collections.abc import Sequence

from app.modules.protocols.openai.schemas import CompletionMessage
from app.modules.protocols.openai.transcript import text_of

_TITLE_CHARACTERS = 60
_OPEN_WEBUI = re.compile(r"\s*#{1,3} Task:\s")
_ASKED_KEY = re.compile(r'\{\s*"(\w+)"\s*:\s*(["\[])')
"""The first key of the JSON object that a prompt asks for, and whether it has a text or a list."""
_OPEN_WEBUI_TURN = re.compile(r"^USER: *(.*)$", re.MULTILINE)
_LIBRECHAT = re.compile(
    r"(?P<asked>.*?)^(?:\|\|>)?User:\s*(?P<question>.*?)\s*^(?:AI|\|\|>Response):", re.MULTILINE | re.DOTALL
)
_TITLE = re.compile(r"\b(?:concise|short|brief)\b.{0,80}\btitle\b", re.IGNORECASE | re.DOTALL)
_TEXTS = (
    ("Your task is to reflect the speaker's likely facial expression through a fitting emoji", "🙂"),
    (
        "You have been provided with a set of responses from various models to the latest user query",
        "KAI answers questions about databases only: it does not merge the answers of several models.",
    ),
)
"""Beginnings of prompts of Open WebUI that ask for text, and the replies."""


def reply_to_task(messages: Sequence[CompletionMessage]) -> str | None:
    """Returns the reply to a background task. None if the messages are a chat, whose last one is a question.

    A task is one message, at most with a system message before it; the chat that it is about is quoted in it.
    """
    prompt = task_prompt(messages)
    if prompt is None:
        return None
    if _OPEN_WEBUI.match(prompt):
        return _open_webui_reply(prompt)
    if _is_choice_of_tools(messages, prompt):
        return json.dumps({"tool_calls": []})
    for beginning, reply in _TEXTS:
        if prompt.lstrip().startswith(beginning):
            return reply
    chat = _LIBRECHAT.match(prompt)
    return short_title(chat["question"]) if chat and _TITLE.search(chat["asked"]) else None


def task_prompt(messages: Sequence[CompletionMessage]) -> str | None:
    """Returns the one message of a request, without those of the system. None if it has several."""
    asked = [each for each in messages if each.role not in ("system", "developer")]
    if len(asked) != 1 or asked[0].role != "user":
        return None
    return text_of(asked[0].content, messages.index(asked[0]))


def question_of_librechat(prompt: str) -> str | None:
    """Returns the first question of the chat that a prompt quotes as LibreChat does. None without one."""
    chat = _LIBRECHAT.match(prompt)
    return None if chat is None else chat["question"]


def _open_webui_reply(prompt: str) -> str | None:
    """Returns the JSON that the prompt asks for: a title or an image's prompt of the chat, else nothing."""
    before, found, rest = prompt.partition("<chat_history>")
    history, _, after = rest.rpartition("</chat_history>")
    key = _ASKED_KEY.search(before) or _ASKED_KEY.search(after)
    questions = _OPEN_WEBUI_TURN.findall(history)
    if key is None:
        return short_title(questions[0] if questions else "") if found else None
    if key[2] == "[":
        return json.dumps({key[1]: []})
    texts = {"title": short_title(questions[0]), "prompt": questions[-1]} if questions else {}
    return json.dumps({key[1]: texts.get(key[1], "")}, ensure_ascii=False)


def _is_choice_of_tools(messages: Sequence[CompletionMessage], prompt: str) -> bool:
    first = messages[0].content
    return isinstance(first, str) and first.startswith("Available Tools:") and prompt.startswith("Query:")


def short_title(question: str) -> str:
    """Returns a question in one line of at most 60 characters."""
    line = " ".join(question.strip().strip('"').split())
    return line if len(line) <= _TITLE_CHARACTERS else line[: _TITLE_CHARACTERS - 1].rstrip() + "…"
