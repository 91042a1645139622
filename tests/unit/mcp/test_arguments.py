"""Arguments of tools of MCP servers: what is checked before a person is asked."""

import time

import pytest
from pydantic import JsonValue, TypeAdapter, ValidationError

from app.core.llm.model import ToolCall
from app.modules.mcp.arguments import arguments_of, schema_fault
from app.modules.mcp.config import HttpServer
from app.modules.mcp.definition import ToolDefinition
from app.modules.mcp.offering import tools_of
from app.modules.tools.parsing import CallRefused, parse_call
from app.modules.tools.tool import Tool, ToolResult

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "inner": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
        "maybe": {"type": ["string", "null"]},
    },
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "text is missing"),
        ({"text": 1}, "text must be string"),
        ({"text": "x", "count": True}, "count must be integer"),
        ({"text": "x", "count": 1.5}, "count must be integer"),
        ({"text": "x", "kind": "c"}, "kind must be one of"),
        ({"text": "x", "tags": ["y", 2]}, "tags[1] must be string"),
        ({"text": "x", "inner": {}}, "inner.on is missing"),
        ({"text": "x", "maybe": 1}, "maybe must be string or null"),
        ({"text": "x", "other": 1}, "there is no argument other"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_fault(
    arguments: dict[str, JsonValue], fault: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        arguments_of(SCHEMA).model_validate(arguments)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": ""},
        {"text": "x", "count": 2.0, "kind": "a", "tags": [], "inner": {"on": False, "more": 1}},
        {"text": "x", "maybe": None},
    ],
)
def test_arguments_that_fit_are_kept_as_they_are(arguments: dict[str, JsonValue]) -> None:
    assert arguments_of(SCHEMA).model_validate(arguments).model_dump(mode="json") == arguments


@pytest.mark.parametrize(
    "name", ["model_config", "schema", "copy", "json", "_private", "self", "server_schema"]
)
def test_an_argument_may_have_any_name(name: str) -> None:
    schema: dict[str, JsonValue] = {"type": "object", "properties": {name: {"type": "string"}}}
    given: dict[str, JsonValue] = {name: "x"}
    assert arguments_of(schema).model_validate(given).model_dump(mode="json") == given


def test_a_schema_of_a_hostile_server_takes_no_time() -> None:
    chain: dict[str, JsonValue] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    schema: dict[str, JsonValue] = {
        "type": "object",
        "$defs": chain,
        "$ref": "#",
        "properties": {
            "a": {"type": "string", "pattern": "^(a+)+$"},
            "b": {"$ref": "#/$defs/d0"},
            "c": {"$ref": "http://169.254.169.254/schema"},
        },
    }
    began = time.process_time()
    assert schema_fault({"a": "a" * 5_000 + "!", "b": 1, "c": 2}, schema) is None
    assert time.process_time() - began < 1


def definition(name: str) -> ToolDefinition:
    return ToolDefinition(name=name, description="What it does.", input_schema=SCHEMA, annotations={})


def made(parts: dict[str, JsonValue]) -> ToolDefinition:
    return TypeAdapter(ToolDefinition).validate_python(parts)


def offered(*names: str) -> list[Tool]:
    async def call(*_: object) -> ToolResult:
        return ToolResult(text="")

    server = HttpServer(transport="streamableHttp", url="https://tools.example/mcp?token=never-shown")
    return tools_of("Other-1", server, [definition(name) for name in names], call=call, call_seconds=30)


def test_tools_keep_their_names_as_far_as_models_accept_them() -> None:
    names = [tool.name for tool in offered("getIssue", "get-issue", "get.issue", "get/issue", "x" * 100)]
    assert names[:2] == ["Other-1__getIssue", "Other-1__get-issue"]
    assert all(name.startswith("Other-1__get_issue_") for name in names[2:4])
    assert len(set(names)) == 5
    assert max(map(len, names)) == 64


def test_a_call_is_parsed_by_the_servers_schema() -> None:
    (tool,) = offered("say")
    call = ToolCall("", tool.name, '{"text": "x", "count": 3}')
    assert parse_call(call, {tool.name: tool}).values == {"text": "x", "count": 3}
    with pytest.raises(CallRefused, match="text is missing"):
        parse_call(ToolCall("", tool.name, "{}"), {tool.name: tool})


def test_the_card_names_tool_server_and_address_without_secrets() -> None:
    (tool,) = offered("say")
    arguments = parse_call(ToolCall("", tool.name, '{"text": "x"}'), {tool.name: tool}).arguments
    assert tool.described(arguments) == (
        "Send these arguments to the tool say of the MCP server Other-1, which is outside of KAI."
    )
    assert tool.server.startswith("https://tools.example/mcp")
    assert "never-shown" not in tool.server


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "other"},
        {"description": "Another."},
        {"input_schema": {"type": "object"}},
        {"annotations": {"readOnlyHint": True}},
    ],
)
def test_every_part_of_a_tool_changes_its_fingerprint(changed: dict[str, JsonValue]) -> None:
    parts: dict[str, JsonValue] = {
        "name": "say",
        "description": "What it does.",
        "input_schema": SCHEMA,
        "annotations": {},
    }
    before = made(parts)
    assert before.fingerprint("https://a") != made({**parts, **changed}).fingerprint("https://a")
    assert before.fingerprint("https://a") != before.fingerprint("https://b")
    assert before.fingerprint("https://a") == made(parts).fingerprint("https://a")


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"name": "a\u202eb"}, "not printable"),
        ({"name": "x" * 129}, "longer than 128"),
        ({"description": "x" * 4_001}, "description is longer"),
        ({"input_schema": {"x": "y" * 20_000}}, "schema is longer"),
    ],
)
def test_a_tool_that_is_too_much_is_unusable(parts: dict[str, JsonValue], fault: str) -> None:
    whole: dict[str, JsonValue] = {"name": "x", "description": "", "input_schema": {}, "annotations": {}}
    assert fault in (made({**whole, **parts}).fault() or "")
