"""The tools, resources and prompts that MCP's conformance suite calls, for a server of KAI's factory."""

import asyncio

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    ClientCapabilities,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequests,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    MissingRequiredClientCapabilityErrorData,
    SamplingCapability,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
"""A sound of no length."""


def add_fixtures(server: MCPServer) -> None:
    _add_tools(server)
    _add_resources(server)
    _add_prompts(server)
    _add_requests_for_input(server)
    _add_probes(server)


def _add_tools(server: MCPServer) -> None:
    @server.tool()
    def test_image_content() -> list[ContentBlock]:
        return [_image()]

    @server.tool()
    def test_audio_content() -> list[ContentBlock]:
        return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]

    @server.tool()
    def test_embedded_resource() -> list[ContentBlock]:
        return [_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]

    @server.tool()
    def test_multiple_content_types() -> list[ContentBlock]:
        embedded = _embedded("test://mixed-content-resource", "application/json", '{"test":"data"}')
        return [TextContent(type="text", text="Multiple content types test:"), _image(), embedded]

    @server.tool()
    async def test_tool_with_progress(ctx: Context[object, object]) -> str:
        for progress in (0, 50, 100):
            await ctx.report_progress(progress, 100)
            await asyncio.sleep(0)
        return "done"


def _add_resources(server: MCPServer) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return PNG.encode()

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002  (the suite names it so)
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


def _add_prompts(server: MCPServer) -> None:
    @server.prompt()
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
        embedded = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [
            UserMessage(embedded),
            UserMessage("Please process it."),
        ]

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(_image())]


def _add_requests_for_input(server: MCPServer) -> None:
    @server.tool()
    def test_input_required_result_elicitation(ctx: Context[object, object]) -> str | InputRequiredResult:
        name = _answer(ctx, "user_name").get("name")
        if isinstance(name, str):
            return f"Hello, {name}!"
        return InputRequiredResult(input_requests={"user_name": _form("What is your name?", name="string")})

    @server.tool()
    def test_input_required_result_sampling(ctx: Context[object, object]) -> str | InputRequiredResult:
        sampled = (ctx.input_responses or {}).get("capital_question")
        if isinstance(sampled, CreateMessageResult):
            return sampled.model_dump_json()
        return InputRequiredResult(
            input_requests={"capital_question": _sample("What is the capital of France?")}
        )

    @server.tool()
    def test_input_required_result_list_roots(ctx: Context[object, object]) -> str | InputRequiredResult:
        listed = (ctx.input_responses or {}).get("client_roots")
        if isinstance(listed, ListRootsResult):
            return listed.model_dump_json()
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})

    @server.tool()
    def test_input_required_result_request_state(ctx: Context[object, object]) -> str | InputRequiredResult:
        return _confirmed(ctx)

    @server.tool()
    def test_input_required_result_tampered_state(ctx: Context[object, object]) -> str | InputRequiredResult:
        return _confirmed(ctx)

    @server.tool()
    def test_input_required_result_multiple_inputs(
        ctx: Context[object, object],
    ) -> str | InputRequiredResult:
        requests: InputRequests = {
            "user_name": _form("What is your name?", name="string"),
            "greeting": _sample("Generate a greeting"),
            "client_roots": ListRootsRequest(),
        }
        if set(ctx.input_responses or {}) >= set(requests) and ctx.request_state == "asked":
            return "done"
        return InputRequiredResult(input_requests=requests, request_state="asked")

    @server.tool()
    def test_input_required_result_multi_round(ctx: Context[object, object]) -> str | InputRequiredResult:
        if ctx.request_state == "first" and "step1" in (ctx.input_responses or {}):
            form = _form("Step 2: What is your favorite color?", color="string")
            return InputRequiredResult(input_requests={"step2": form}, request_state="second")
        if ctx.request_state == "second" and "step2" in (ctx.input_responses or {}):
            return "done"
        form = _form("Step 1: What is your name?", name="string")
        return InputRequiredResult(input_requests={"step1": form}, request_state="first")

    @server.tool()
    def test_input_required_result_capabilities(ctx: Context[object, object]) -> InputRequiredResult:
        can = ctx.client_capabilities or ClientCapabilities()
        requests: InputRequests = {}
        if can.elicitation is not None:
            requests["asked"] = _form("Go on?", ok="boolean")
        if can.sampling is not None:
            requests["sampled"] = _sample("Say something.")
        return InputRequiredResult(input_requests=requests)

    @server.prompt()
    def test_input_required_result_prompt(ctx: Context[object, object]) -> str | InputRequiredResult:
        context = _answer(ctx, "user_context").get("context")
        if isinstance(context, str):
            return f"In this context: {context}"
        form = _form("What context should the prompt use?", context="string")
        return InputRequiredResult(input_requests={"user_context": form})


def _confirmed(ctx: Context[object, object]) -> str | InputRequiredResult:
    if ctx.request_state == "asked" and "confirm" in (ctx.input_responses or {}):
        return "state-ok"
    form = _form("Please confirm", ok="boolean")
    return InputRequiredResult(input_requests={"confirm": form}, request_state="asked")


def _answer(ctx: Context[object, object], key: str) -> dict[str, object]:
    """The content of an answered form."""
    answer = (ctx.input_responses or {}).get(key)
    return {**(answer.content or {})} if isinstance(answer, ElicitResult) else {}


def _form(message: str, **fields: str) -> ElicitRequest:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": [*fields]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> CreateMessageRequest:
    said = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=100))


def _add_probes(server: MCPServer) -> None:
    """Tools by which the suite looks at a server without sessions."""

    @server.tool()
    def test_missing_capability(ctx: Context[object, object]) -> str:
        if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
            data = MissingRequiredClientCapabilityErrorData(
                required_capabilities=ClientCapabilities(sampling=SamplingCapability())
            )
            raise MCPError(
                MISSING_REQUIRED_CLIENT_CAPABILITY,
                "The tool needs sampling.",
                data.model_dump(by_alias=True, mode="json", exclude_none=True),
            )
        return "done"

    @server.tool()
    def test_streaming_elicitation() -> InputRequiredResult:
        return InputRequiredResult(input_requests={"asked": _form("Go on?", ok="boolean")})

    @server.tool()
    async def test_logging_tool(ctx: Context[object, object]) -> str:
        await ctx.info("The tool has run.")
        return "done"


def _image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)
