"""An object that a reply is asked to be, in the requests of OpenAI's protocol."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from pydantic import JsonValue

from app.core.llm.capabilities import ReplyFormat
from app.core.llm.errors import ReplyTooDeep

_MAX_OBJECTS = 20
"""At most so many beginnings of objects are read, from a reply's end."""


@dataclass(frozen=True)
class ReplySchema:
    """A flat object, its properties by their JSON schemas, in the order in which they are written."""

    name: str
    description: str
    properties: Mapping[str, JsonValue]

    def read_objects(self, text: str) -> Iterator[dict[str, JsonValue]]:
        """The whole objects in a reply that begin with one of the properties, the last one first.

        Raises `ReplyTooDeep`.
        """
        beginning = re.compile(rf'\{{\s*"(?:{"|".join(self.properties)})"\s*:')
        for found in reversed(list(beginning.finditer(text))[-_MAX_OBJECTS:]):
            try:
                # Not strict: models that no grammar holds write line breaks into strings as they are.
                read: JsonValue = json.JSONDecoder(strict=False).raw_decode(text, found.start())[0]
            except RecursionError:
                raise ReplyTooDeep from None
            except ValueError:
                continue
            if isinstance(read, dict):
                yield read

    def is_in(self, text: str) -> bool:
        """Whether a whole object with all properties stands in a text."""
        return any(self.properties.keys() <= read.keys() for read in self.read_objects(text))

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
