"""The tools, resources and prompts that MCP's conformance suite calls, for a server of KAI's factory."""

import asyncio

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
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


def _image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)
