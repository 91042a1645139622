"""An object that a reply is asked to be, in the requests of OpenAI's protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from pydantic import JsonValue

from app.core.llm.capabilities import ReplyFormat


@dataclass(frozen=True)
class ReplySchema:
    """A flat object, its properties by their JSON schemas, in the order in which they are written."""

    name: str
    description: str
    properties: Mapping[str, JsonValue]

    def request_fields(self, reply_format: ReplyFormat) -> dict[str, JsonValue]:
        """What a request has besides its prompt, in words that all services read alike.

        The tool is forced by `required`, for llama.cpp takes a tool's name there for `auto`.
        """
        match reply_format:
            case "text":
                return {}
            case "json_schema":
                schema: JsonValue = {"name": self.name, "strict": True, "schema": self._schema()}
                return {"response_format": {"type": "json_schema", "json_schema": schema}}
            case "tools":
                function: JsonValue = {
                    "name": self.name,
                    "description": self.description,
                    "strict": True,
                    "parameters": self._schema(),
                }
                return {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}
            case _:
                assert_never(reply_format)

    def _schema(self) -> dict[str, JsonValue]:
        """OpenAI's strict mode wants every property required and no other allowed."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.properties),
            "additionalProperties": False,
        }
