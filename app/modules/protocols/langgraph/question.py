"""The question in a run's input, and what a parent graph sends beside it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from pydantic import JsonValue

from app.core.llm.tokens import approximate_tokens
from app.http.routes import is_storable
from app.modules.prompts.budget import cut
from app.modules.protocols.langgraph.errors import ValueUnsupported
from app.modules.protocols.options import named_fields
from app.modules.protocols.questions import question_of, texts_of
from app.modules.records.model import MAX_CLIENT_ID_CHARACTERS, QuotedMessage

_HUMAN = ("human", "user", "HumanMessageChunk")
_AI = ("ai", "assistant", "AIMessageChunk")
_QUOTED = 6
_QUOTED_TOKENS = 2_000
_QUOTED_CHARACTERS = 8_000
"""Of one message: more is not counted in tokens."""


@dataclass(frozen=True)
class ClientQuestion:
    """A question, the client's id of its message, and the other messages and fields of the input."""

    text: str
    client_message_id: str | None
    others: Sequence[Mapping[str, JsonValue]]
    fields: Sequence[str]
    """Names of the fields of the state that are no messages."""

    def context(self, known: Collection[str]) -> tuple[QuotedMessage, ...]:
        """Returns the latest messages of people and models that are not part of the thread, oldest first: at
        most six, of 2,000 tokens together. `known` are the ids of the thread's messages.
        """
        unknown = (each for each in reversed(self.others) if each.get("id") not in known)
        quoted: list[QuotedMessage] = []
        left = _QUOTED_TOKENS
        for role, text in islice(_spoken(unknown), _QUOTED):
            shown = cut(text, left, "this message")
            if not shown:
                break
            left -= approximate_tokens(shown)
            quoted.append(QuotedMessage(role=role, text=shown))
        return tuple(reversed(quoted))

    def ignored(self, known: Collection[str]) -> list[str]:
        """Returns the names of what is not read: fields of the state, and roles of messages."""
        roles = [
            _role_of(each)
            for each in self.others
            if each.get("id") not in known and _role_of(each) not in (*_HUMAN, *_AI)
        ]
        return [*self.fields, *dict.fromkeys(role or "message" for role in roles)]


def _spoken(messages: Iterable[Mapping[str, JsonValue]]) -> Iterator[tuple[Literal["human", "ai"], str]]:
    """Yields what people and models have said, without calls of tools."""
    for message in messages:
        role = _role_of(message)
        text = texts_of(message.get("content"))[:_QUOTED_CHARACTERS].strip()
        if text and is_storable(text) and role in (*_HUMAN, *_AI):
            yield ("human" if role in _HUMAN else "ai"), text


def asked_in(given: Mapping[str, JsonValue] | None) -> ClientQuestion:
    """Returns the question of an input: its last message of a person. Parent graphs send all of their state,
    and after a hand-over other messages behind it. Raises `ValueUnsupported`, or what `question_of` raises.
    """
    fields = {key: value for key, value in (given or {}).items() if value is not None}
    messages = fields.pop("messages", None)
    if isinstance(messages, str | dict):
        messages = [messages]
    if not isinstance(messages, list) or not messages:
        raise ValueUnsupported(
            'The input must be {"messages": [...]}. The last message of the user in it is the question.'
        )
    found = [_message_of(each) for each in messages]
    place = next((at for at in reversed(range(len(found))) if _role_of(found[at]) in _HUMAN), None)
    if place is None:
        raise ValueUnsupported(
            "The input has no message of the user, so there is no question. Send one of type `human`."
        )
    question = found.pop(place)
    message_id = question.get("id")
    if message_id is not None and (
        not isinstance(message_id, str)
        or not 0 < len(message_id) <= MAX_CLIENT_ID_CHARACTERS
        or not is_storable(message_id)
    ):
        raise ValueUnsupported(
            f"The id of a message must be a text of 1 to {MAX_CLIENT_ID_CHARACTERS} characters, without NUL "
            "and half surrogate pairs."
        )
    text = question_of(question.get("content"))
    return ClientQuestion(text, message_id, found, named_fields(fields, "input"))


def _message_of(given: JsonValue) -> Mapping[str, JsonValue]:
    match given:
        case str():
            return {"type": "human", "content": given}
        case [str() as role, content]:
            return {"type": role, "content": content}
        case {"lc": _, "kwargs": dict() as fields, "id": [*_, str() as name]}:
            return {"type": name.removesuffix("Chunk").removesuffix("Message").lower(), **fields}
        case dict():
            return given
        case _:
            raise ValueUnsupported("Every message of the input must be a message object.")


def _role_of(message: Mapping[str, JsonValue]) -> str:
    role = message.get("type")
    if role is None or role == "message":
        role = message.get("role")
    return role if isinstance(role, str) else ""
