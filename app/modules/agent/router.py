"""Routes of the tools of investigations, and of what this KAI can do."""

from fastapi import APIRouter, Request

from app.core.errors import NotFound
from app.http.callers import READ
from app.http.problems import PROBLEM_RESPONSES
from app.modules.agent.capabilities import Capabilities
from app.modules.agent.schemas import CapabilitiesBody, ToolBody, ToolList
from app.modules.tools.registry import ToolRegistry

router = APIRouter(tags=["investigations"], responses=PROBLEM_RESPONSES)


@router.get("/tools", summary="List the tools of investigations", dependencies=[READ])
async def list_tools(request: Request) -> ToolList:
    """Lists every tool with its category, arguments and gate. Needs scope `read`.

    Answers 404 if investigations are off: then `GET /capabilities` says why.
    """
    capabilities: Capabilities = request.app.state.services.capabilities
    if not capabilities.investigations.on:
        raise NotFound(f"Investigations are off. {capabilities.investigations.reason}")
    registry: ToolRegistry = request.app.state.services.tools
    offered = registry.offered
    items = [
        ToolBody(
            name=tool.name,
            toolset=tool.toolset,
            category=tool.category,
            description=tool.description,
            arguments=tool.arguments.model_json_schema(),
            gate=gate,
            offered=tool.name in offered,
        )
        for tool, gate in registry.all
    ]
    return ToolList(items=items)


@router.get("/capabilities", summary="Get what this KAI can do", dependencies=[READ])
async def read_capabilities(request: Request) -> CapabilitiesBody:
    """Returns what is on, and for the rest the reason why it is off. Needs scope `read`."""
    capabilities: Capabilities = request.app.state.services.capabilities
    return CapabilitiesBody.model_validate(capabilities)
