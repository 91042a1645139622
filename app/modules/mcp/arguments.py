"""Arguments of a tool of an MCP server, checked before a person is asked to approve a call.

Only what takes time in proportion to the arguments is checked: the schema is the server's own, and its
patterns, references and combinations could take any time. The server checks the rest.
"""

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import ConfigDict, JsonValue, create_model, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from typing_extensions import override

from app.modules.tools.tool import Arguments

_MOST_DEPTH = 20
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class ServerArguments(Arguments):
    """Arguments after the schema of a server."""

    model_config = ConfigDict(extra="allow")

    server_schema: ClassVar[dict[str, JsonValue]] = {}

    @classmethod
    @override
    def model_json_schema(
        cls,
        by_alias: bool | None = True,
        ref_template: str = "",
        schema_generator: type[GenerateJsonSchema] = GenerateJsonSchema,
        mode: JsonSchemaMode = "validation",
        *,
        union_format: str = "any_of",
    ) -> dict[str, JsonValue]:
        """The schema as the server gives it."""
        return cls.server_schema

    @model_validator(mode="after")
    def _fit(self) -> Self:
        fault = schema_fault(self.model_extra or {}, self.server_schema)
        if fault is not None:
            raise ValueError(fault)
        return self


def arguments_of(schema: dict[str, JsonValue]) -> type[ServerArguments]:
    """Returns the class of the arguments that a schema describes."""
    made = create_model("ServerArguments", __base__=ServerArguments)
    made.server_schema = schema
    return made


def schema_fault(value: JsonValue, schema: JsonValue, place: str = "", *, depth: int = 0) -> str | None:
    """Returns how a value differs from a schema. Returns None if nothing that is checked differs."""
    if not isinstance(schema, dict) or depth > _MOST_DEPTH:
        return None
    where = place or "the arguments"
    if not _has_type(value, schema.get("type")):
        return f"{where} must be {_shown(schema.get('type'))}"
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        return f"{where} must be one of {str(allowed)[:200]}"
    if isinstance(value, dict):
        return _object_fault(value, schema, place, depth=depth)
    if isinstance(value, list):
        for number, item in enumerate(value):
            fault = schema_fault(item, schema.get("items"), f"{place}[{number}]", depth=depth + 1)
            if fault is not None:
                return fault
    return None


def _object_fault(
    value: dict[str, JsonValue], schema: dict[str, JsonValue], place: str, *, depth: int
) -> str | None:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            return f"{_inside(place, name)} is missing"
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for name, each in value.items():
        if name in known:
            fault = schema_fault(each, known[name], _inside(place, name), depth=depth + 1)
            if fault is not None:
                return fault
        elif is_closed:
            return f"there is no argument {_inside(place, name)}"
    return None


def _has_type(value: JsonValue, wanted: JsonValue) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list):
        return True
    return any(_is_of(value, name) for name in names)


def _is_of(value: JsonValue, name: JsonValue) -> bool:
    if not isinstance(name, str) or name not in _TYPES:
        return True
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _inside(place: str, name: str) -> str:
    return f"{place}.{name[:80]}" if place else name[:80]


def _shown(types: JsonValue) -> str:
    return " or ".join(map(str, types)) if isinstance(types, list) else str(types)
