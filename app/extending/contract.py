"""The contract of extensions, for the tests of their authors (docs/extending.md)."""

import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from app.bootstrap import open_services_for_once
from app.core.ids import new_id
from app.core.llm.model import ToolCall
from app.core.llm.tokens import approximate_tokens
from app.core.settings import read_settings
from app.extending import ExtensionRefused, Register, Registrar, ToolContext, ToolResult
from app.modules.records.steps import MAX_TEXT, KeptResult, call_id_of
from app.modules.tools.context import SessionDatabases
from app.modules.tools.history import ConversationHistory
from app.modules.tools.parsing import parse_call
from app.modules.tools.registry import BUILTIN
from app.modules.tools.results import TurnResults

_MAX_TOKENS = 1_500
"""Tokens of one tool in a prompt: its description and the schema of its arguments."""

Schema = Mapping[str, JsonValue]


def find_faults(register: Register) -> list[str]:
    """Returns what is wrong with the tools of an extension, a sentence each."""
    registrar = Registrar("extension", {tool.name for tool in BUILTIN})
    try:
        register(registrar)
    except ExtensionRefused as refused:
        return [str(refused)]
    if not registrar.tools:
        return ["It registers no tool."]
    faults: list[str] = []
    for tool in registrar.tools:
        offer = tool.offer
        tokens = approximate_tokens(f"{offer.description}\n{json.dumps(offer.parameters)}")
        if tokens > _MAX_TOKENS:
            faults.append(f"{tool.name} takes {tokens} tokens of each prompt: more than {_MAX_TOKENS}.")
        faults += [f"{tool.name}: {each}" for each in _argument_faults(offer.parameters)]
    return faults


async def call_tool(register: Register, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
    """Call a tool as a model would: arguments are read strictly, and rows are stored, in a temporary store.

    There is no database. Raises `CallRefused` for wrong arguments, and what the tool raises.
    """
    registrar = Registrar("extension", {tool.name for tool in BUILTIN})
    register(registrar)
    parsed = parse_call(
        ToolCall("", name, json.dumps(arguments)), {tool.name: tool for tool in registrar.tools}
    )
    message_id = new_id()
    async with open_services_for_once(read_settings()) as services:
        context = ToolContext(
            call_id=call_id_of(message_id, 1, 0),
            owner="author",
            result_name="r1.1",
            databases=SessionDatabases([]),
            results=TurnResults(
                services.sessions.rows,
                _find_nothing,
                owner="author",
                session_id=new_id(),
                message_id=message_id,
            ),
            knowledge=services.context_store,
            history=ConversationHistory(
                owner="author",
                session_id=new_id(),
                message_id=message_id,
                answers=services.sessions.repository,
                memories=services.memories,
            ),
            tools=[],
            progress=lambda _message, _fraction: None,
        )
        returned = await parsed.tool.run(parsed.arguments, context)
    if not isinstance(returned, ToolResult):
        raise TypeError(f"the tool returned {type(returned).__name__}, not a ToolResult")
    if not 0 < len(returned.text) <= MAX_TEXT:
        raise ValueError(f"its text has {len(returned.text)} characters: 1 to {MAX_TEXT} are read")
    return returned


async def _find_nothing(_call_id: str) -> KeptResult | None:
    return None


def _argument_faults(schema: Schema) -> Iterator[str]:
    defined = _mapping(schema.get("$defs"))
    for name, argument in _mapping(schema.get("properties")).items():
        given = _mapping(argument)
        if not given.get("description"):
            yield f"{name} has no description"
        if not _is_bounded(given, defined):
            yield f"{name} is not bounded: give texts and lists a longest, and numbers a range"


def _is_bounded(schema: Schema, defined: Schema) -> bool:
    """True if no value of the schema can be of any size."""
    if isinstance(reference := schema.get("$ref"), str):
        return _is_bounded(_mapping(defined.get(reference.rpartition("/")[2])), defined)
    if isinstance(choices := schema.get("anyOf"), list):
        return all(_is_bounded(_mapping(each), defined) for each in choices)
    if "enum" in schema or "const" in schema:
        return True
    match schema.get("type"):
        case "string":
            return "maxLength" in schema or "format" in schema
        case "integer" | "number":
            return bool({"minimum", "exclusiveMinimum"} & set(schema)) and bool(
                {"maximum", "exclusiveMaximum"} & set(schema)
            )
        case "array":
            return "maxItems" in schema and _is_bounded(_mapping(schema.get("items")), defined)
        case "object":
            return all(
                _is_bounded(_mapping(each), defined) for each in _mapping(schema.get("properties")).values()
            )
        case "boolean" | "null":
            return True
        case _:
            return False


def _mapping(value: object) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
