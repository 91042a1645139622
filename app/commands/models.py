"""`kai models`: the language models that the service lists, and those that tasks use."""

from contextlib import AsyncExitStack

from prometheus_client import CollectorRegistry
from rich.console import Console
from rich.table import Table

from app.bootstrap.models import open_overview
from app.core.errors import CannotRun
from app.core.llm.calls import ModelCalls
from app.core.llm.overview import KnownModel
from app.core.settings import read_settings


async def list_models() -> None:
    """Prints the models. Raises `CannotRun` if no model is configured."""
    settings = read_settings()
    async with AsyncExitStack() as opened:
        overview = open_overview(settings.llm, ModelCalls(CollectorRegistry()), opened)
        if overview is None:
            raise CannotRun(
                "No language model is configured: set OPENAI_API_KEY or KAI_LLM__BASE_URL, or another "
                "KAI_LLM__PROVIDER."
            )
        found = await overview.read()
    table = Table("model", "tasks", "context window", "tools", box=None, pad_edge=False)
    for each in found.models:
        table.add_row(each.name, ", ".join(each.tasks), _window(each), _tools(each))
    console = Console(highlight=False, markup=False)
    console.print(table)
    if found.problem is not None:
        console.print(f"The service lists no models. {found.problem}", soft_wrap=True)


def _window(model: KnownModel) -> str:
    return "" if model.context_window is None else f"{model.context_window:,} ({model.window_source})"


def _tools(model: KnownModel) -> str:
    return "" if model.tools is None else f"{model.tools} ({model.tools_source})"
