"""Schema of an object that a reply should be, and its form in requests of OpenAI's protocol."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from pydantic import JsonValue

from app.core.llm.capabilities import ReplyFormat
from app.core.llm.errors import ReplyTooDeep

_MAX_OBJECTS = 20
"""The most beginnings of objects to read, from the end of a reply."""


@dataclass(frozen=True)
class ReplySchema:
    """A flat object. `properties` are JSON schemas by name, in the order in which the model writes them."""

    name: str
    description: str
    properties: Mapping[str, JsonValue]

    def read_objects(self, text: str) -> Iterator[dict[str, JsonValue]]:
        """Yields the complete objects in a reply that begin with one of the properties, last one first.

        Raises `ReplyTooDeep`.
        """
        beginning = re.compile(rf'\{{\s*"(?:{"|".join(self.properties)})"\s*:')
        for found in reversed(list(beginning.finditer(text))[-_MAX_OBJECTS:]):
            try:
                # Not strict: without a grammar, models write unescaped line breaks into strings.
                read: JsonValue = json.JSONDecoder(strict=False).raw_decode(text, found.start())[0]
            except RecursionError:
                raise ReplyTooDeep from None
            except ValueError:
                continue
            if isinstance(read, dict):
                yield read

    def is_in(self, text: str) -> bool:
        """True if a text contains a complete object with all properties. Raises `ReplyTooDeep`."""
        return any(self.properties.keys() <= read.keys() for read in self.read_objects(text))

    def request_fields(self, reply_format: ReplyFormat) -> dict[str, JsonValue]:
        """Returns the request fields for a format, in a form that all services understand.

        `required` forces the tool, because llama.cpp reads a tool's name there as `auto`.
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
        """Returns the JSON schema. OpenAI's strict mode requires every property and allows no others."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.properties),
            "additionalProperties": False,
        }
