"""Routes of the tools of investigations, and of what this KAI can do."""

from typing import get_args

from fastapi import Request

from app.core.errors import NotFound
from app.core.llm.model import LanguageModel
from app.core.llm.overview import ModelOverview
from app.http.callers import READ
from app.http.router import Router
from app.modules.agent.capabilities import Capabilities
from app.modules.agent.schemas import AgentModelBody, CapabilitiesBody, ExtensionBody, ToolBody, ToolList
from app.modules.records.model import Mode
from app.modules.tools.registry import ToolRegistry

MODES: tuple[Mode, ...] = get_args(Mode)

router = Router(tags=["investigations"])


@router.get("/tools", summary="List the tools of investigations", dependencies=[READ])
async def list_tools(request: Request) -> ToolList:
    """Lists every tool with its category, arguments and gate, and the extensions. Needs scope `read`.

    Answers 404 if investigations are off: then `GET /capabilities` says why.
    """
    capabilities: Capabilities = request.app.state.services.capabilities
    if not capabilities.investigations.on:
        raise NotFound(f"Investigations are off. {capabilities.investigations.reason}")
    registry: ToolRegistry = request.app.state.services.tools
    offered = {mode: registry.offered(mode) for mode in MODES}
    items = [
        ToolBody(
            name=tool.name,
            toolset=tool.toolset,
            category=tool.category,
            description=tool.description,
            arguments=tool.arguments.model_json_schema(),
            gate=gate,
            source=tool.source,
            modes=[mode for mode in MODES if tool.name in offered[mode]],
        )
        for tool, gate in registry.all
    ]
    extensions = [ExtensionBody.model_validate(each) for each in registry.extensions]
    return ToolList(items=items, extensions=extensions)


@router.get("/capabilities", summary="Get what this KAI can do", dependencies=[READ])
async def read_capabilities(request: Request) -> CapabilitiesBody:
    """Returns what is on, and for the rest the reason why it is off. Needs scope `read`."""
    capabilities: Capabilities = request.app.state.services.capabilities
    overview: ModelOverview | None = request.app.state.services.overview
    body = CapabilitiesBody.model_validate(capabilities)
    if overview is None or not capabilities.investigations.on:
        return body
    return body.model_copy(update={"agent_model": _agent_model(overview.tasks["agent"])})


def _agent_model(model: LanguageModel) -> AgentModelBody:
    known = model.known
    return AgentModelBody(
        name=model.name,
        context_window=None if known is None else known.context_window,
        tools=None if known is None else known.tools,
    )
