"""Bodies of tools and capabilities on the wire."""

from typing import Literal

from pydantic import JsonValue

from app.http.routes import ResponseBody
from app.modules.records.model import Mode
from app.modules.tools.policy import Gate
from app.modules.tools.tool import Category, Source


class ToolBody(ResponseBody):
    """A tool of investigations."""

    name: str
    """Name of the tool."""
    toolset: str
    """Toolset that it belongs to."""
    category: Category
    """What it does: reads, writes, deletes, leaves KAI, or what its author alone knows."""
    source: Source
    """Where it comes from: KAI, an MCP server, or an extension."""
    description: str
    """Description, as the model reads it."""
    arguments: dict[str, JsonValue]
    """JSON Schema of its arguments."""
    gate: Gate
    """How a call begins: `free` runs, `asks` asks a person first, `never` is refused."""
    modes: list[Mode]
    """Modes in which investigations may call it."""


class ExtensionBody(ResponseBody):
    """An extension: tools of another package."""

    name: str
    """Name of the extension, which is the toolset of its tools."""
    package: str
    """Name and version of the package. Empty if unknown."""
    status: Literal["loaded", "failed"]
    """`failed`: none of its tools can be called."""
    error: str | None
    """Why it failed. Null if it is loaded."""
    tools: list[str]
    """Names of its tools."""


class ToolList(ResponseBody):
    """All tools of this KAI."""

    items: list[ToolBody]
    """The tools, toolset by toolset."""
    extensions: list[ExtensionBody]
    """The extensions that were found. Empty where extensions are off (`KAI_TOOLS__EXTENSIONS`)."""


class CapabilityBody(ResponseBody):
    """Something that is on, or off for a reason."""

    on: bool
    """It is on."""
    reason: str | None
    """Why it is off. Null if it is on."""


class AnalysisFormBody(ResponseBody):
    """The author of the choice of an analysis' statements. KAI words the statements in any case."""

    form: Literal["builtin", "choose"]
    """`choose`: the analysis model. `builtin`: KAI itself, by their relevance to the question."""
    reason: str
    """Why it is so."""


class AgentModelBody(ResponseBody):
    """The model of investigations."""

    name: str
    """Its name."""
    context_window: int | None
    """Tokens that prompt and reply may take together. Null until it was looked up: by an investigation, or by
    `GET /models`.
    """
    tools: Literal["native", "text", "off"] | None
    """How it calls tools: by the service's protocol, or by a block in its reply. Null as for the window."""


class CapabilitiesBody(ResponseBody):
    """What this KAI can do."""

    model: CapabilityBody
    """Answers by a language model. Without one the built-in writer answers simple questions."""
    investigations: CapabilityBody
    """Investigations: answers in several steps, by tools."""
    agent_mode: CapabilityBody
    """Agent mode: calls of tools that write, delete or leave KAI, each after an approval."""
    mcp_servers: CapabilityBody
    """Tools of MCP servers (`GET /mcp/servers`). Each call needs an approval."""
    extensions: CapabilityBody
    """Tools of other packages (`GET /tools`)."""
    rules: CapabilityBody
    """Rules that models follow."""
    facts: CapabilityBody
    """Facts that people let KAI remember (`GET /memory/facts`)."""
    generating: CapabilityBody
    """SQL for a question in one shot, and documentation of databases."""
    analysis: AnalysisFormBody
    """The author of the choice of an analysis' statements."""
    agent_model: AgentModelBody | None = None
    """The model of investigations. Null where they are off."""
