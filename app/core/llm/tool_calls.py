"""Tools that a model may call, and the calls of its reply."""

from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class OfferedTool:
    """A tool as a model sees it. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, JsonValue]

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

    def as_request(self) -> dict[str, JsonValue]:
        """Returns the call as the chat protocol has it."""
        function: dict[str, JsonValue] = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


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
