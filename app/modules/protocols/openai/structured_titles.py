"""Titles that LibreChat asks for in a format: a JSON object, or the call of a function. Pure.

Both are what `withStructuredOutput` of LangChain sends, for the title methods `structured` and `functions`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from app.modules.protocols.openai.schemas import CompletionRequest
from app.modules.protocols.openai.tasks import question_of_librechat, short_title, task_prompt

_FIELDS = {"title", "language"}
_FORMAT_FIELDS = ("response_format", "tools", "tool_choice")


@dataclass(frozen=True)
class StructuredTitle:
    """A title as a JSON object. `function` names the function that takes it, None for a text."""

    text: str
    function: str | None


def title_asked_for(request: CompletionRequest) -> StructuredTitle | None:
    """Returns the title that a request asks for in a format. None if it asks for anything else."""
    asked = _schema_of_format(request.response_format) or _schema_of_function(request)
    prompt = task_prompt(request.messages) if asked else None
    question = None if prompt is None else question_of_librechat(prompt)
    if asked is None or question is None:
        return None
    function, fields = asked
    values = {name: short_title(question) if name == "title" else "" for name in fields}
    return StructuredTitle(json.dumps(values, ensure_ascii=False), function)


def without_format(request: CompletionRequest) -> CompletionRequest:
    """Returns a request without what asks for a format."""
    return request.model_copy(update=dict.fromkeys(_FORMAT_FIELDS))


def _schema_of_format(wanted: JsonValue) -> tuple[None, list[str]] | None:
    if _at(wanted, "type") != "json_schema":
        return None
    fields = _title_fields(_at(wanted, "json_schema", "schema"))
    return None if fields is None else (None, fields)


def _schema_of_function(request: CompletionRequest) -> tuple[str, list[str]] | None:
    match request.tools:
        case [tool]:
            name = _at(tool, "function", "name")
            fields = _title_fields(_at(tool, "function", "parameters"))
        case _:
            return None
    is_chosen = request.tool_choice == {"type": "function", "function": {"name": name}}
    return (name, fields) if isinstance(name, str) and fields is not None and is_chosen else None


def _title_fields(schema: JsonValue) -> list[str] | None:
    """Returns the fields of a schema if they are those of a title, all of them texts."""
    properties = _at(schema, "properties")
    if not isinstance(properties, Mapping) or "title" not in properties or not properties.keys() <= _FIELDS:
        return None
    return [*properties] if all(_at(each, "type") == "string" for each in properties.values()) else None


def _at(value: JsonValue, *names: str) -> JsonValue:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
