"""Tools that a model may call, and the calls of its reply."""

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import JsonValue

from app.core.redaction.names import names_secret
from app.core.redaction.text import HIDDEN, redacted


@dataclass(frozen=True)
class OfferedTool:
    """A tool as a model sees it. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, JsonValue]

    @cached_property
    def redacted(self) -> "OfferedTool":
        """The tool without secrets in its description and its parameters, which others may have written."""
        parameters = {name: _redacted_json(each) for name, each in self.parameters.items()}
        found = replace(self, description=redacted(self.description), parameters=parameters)
        return self if found == self else found

    def as_request(self) -> dict[str, JsonValue]:
        """Returns the tool as the chat protocol has it."""
        function: dict[str, JsonValue] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class ToolCall:
    """A call as the model wrote it. `arguments` should be a JSON object, and may be anything."""

    id: str
    name: str
    arguments: str

    def redacted(self) -> "ToolCall":
        """Returns the call without secrets; its arguments stay JSON, if they are."""
        arguments = redacted(self.arguments)
        if arguments == self.arguments:
            return self
        with suppress(ValueError, RecursionError):
            arguments = json.dumps(_redacted_json(json.loads(self.arguments)), ensure_ascii=False)
        return replace(self, arguments=arguments)

    def as_request(self) -> dict[str, JsonValue]:
        """Returns the call as the chat protocol has it."""
        function: dict[str, JsonValue] = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


def _redacted_json(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return redacted(value)
        case list():
            return [_redacted_json(each) for each in value]
        case dict():
            return {
                name: HIDDEN if isinstance(each, str) and names_secret(name) else _redacted_json(each)
                for name, each in value.items()
            }
        case _:
            return value


class ToolCallPieces:
    """Joins the pieces of the calls of one reply, without reading them.

    LangChain's own reader completes the JSON of a call that was cut off, so that half a statement looks like
    a whole one.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._arguments: dict[int, list[str]] = {}

    def add(self, index: int, name: str, arguments: str) -> None:
        """Add a piece of the call with this number. The name stands in the first piece."""
        self._names[index] = self._names.get(index) or name
        self._arguments.setdefault(index, []).append(arguments)

    def calls(self) -> list[ToolCall]:
        """Returns the calls in the order of their numbers. The ids that providers send are not used: they may
        be empty, or the same for two calls.
        """
        return [
            ToolCall(str(index), self._names[index], "".join(self._arguments[index]))
            for index in sorted(self._names)
        ]
