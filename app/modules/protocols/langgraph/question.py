"""The question in a run's input."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.http.routes import is_storable
from app.modules.protocols.langgraph.errors import ValueUnsupported
from app.modules.protocols.questions import question_of

_HUMAN = ("human", "user")
_AI = ("ai", "assistant", "AIMessageChunk")
_TOOL = ("tool", "function")
_MAX_ID_CHARACTERS = 100


@dataclass(frozen=True)
class ClientQuestion:
    """A question, the client's id of its message, and the messages that came before it."""

    text: str
    client_message_id: str | None
    earlier: Sequence[Mapping[str, JsonValue]]

    def check_earlier(self, known: Collection[str]) -> None:
        """KAI keeps the conversation itself. Raises `ValueUnsupported` for an earlier message that is not
        part of it. Answers of a client's own tools are ignored.
        """
        for message in self.earlier:
            role = _role_of(message)
            if message.get("id") in known or role in _TOOL:
                continue
            if role in _HUMAN or role in _AI:
                raise ValueUnsupported(
                    "input.messages holds an earlier message that is not part of this thread. KAI keeps the "
                    "conversation itself: send only the new question, with the id of its thread."
                )
            raise ValueUnsupported(
                f"input.messages holds a message of type {role[:50]!r}. Instructions to the model come from "
                "the owner of the database: leave it out."
            )


def asked_in(given: Mapping[str, JsonValue] | None) -> ClientQuestion:
    """Returns the question of an input. Raises `ValueUnsupported`, or what `question_of` raises."""
    fields = {key: value for key, value in (given or {}).items() if value is not None}
    messages = fields.pop("messages", None)
    if fields:
        raise ValueUnsupported(
            f"The input has fields that KAI does not take: {', '.join(map(repr, sorted(fields)))[:200]}. "
            'Send {"messages": [...]} with the question as the last message.'
        )
    if isinstance(messages, str | dict):
        messages = [messages]
    if not isinstance(messages, list) or not messages:
        raise ValueUnsupported('The input must be {"messages": [...]} with the question as the last message.')
    *earlier, last = map(_message_of, messages)
    if _role_of(last) not in _HUMAN:
        raise ValueUnsupported("The last message of the input must be the user's question.")
    message_id = last.get("id")
    if message_id is not None and (
        not isinstance(message_id, str)
        or not 0 < len(message_id) <= _MAX_ID_CHARACTERS
        or not is_storable(message_id)
    ):
        raise ValueUnsupported(
            f"The id of a message must be a text of 1 to {_MAX_ID_CHARACTERS} characters, without NUL and "
            "half surrogate pairs."
        )
    return ClientQuestion(question_of(last.get("content")), message_id, earlier)


def _message_of(given: JsonValue) -> Mapping[str, JsonValue]:
    match given:
        case str():
            return {"type": "human", "content": given}
        case [str() as role, content]:
            return {"type": role, "content": content}
        case {"lc": _, "kwargs": dict() as fields, "id": [*_, str() as name]}:
            return {"type": name.removesuffix("Message").removesuffix("Chunk").lower(), **fields}
        case dict():
            return given
        case _:
            raise ValueUnsupported("Every message of the input must be a message object.")


def _role_of(message: Mapping[str, JsonValue]) -> str:
    role = message.get("type")
    if role is None or role == "message":
        role = message.get("role")
    return role if isinstance(role, str) else ""
