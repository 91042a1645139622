"""`kai memory test`: test the connection to the graph memory, also while KAI serves."""

import os
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.core.errors import CannotRun
from app.modules.memory.graphiti.client import GraphitiAddress, GraphitiClient
from app.modules.memory.graphiti.status import GraphTestMode
from app.modules.memory.graphiti.testing import check_connection
from app.modules.memory.scopes import Groups
from app.terminal.console import command_settings

_OFF = "There is no graph memory to test: set KAI_GRAPH_MEMORY__ENDPOINT."
_KEY_BYTES = 32


async def try_connection(data_dir: Path | None, mode: GraphTestMode) -> None:
    """Raises `CannotRun` if a step fails."""
    memory = command_settings(data_dir).graph_memory
    if memory.endpoint is None:
        raise CannotRun(_OFF)
    header = None if memory.header is None else memory.header.get_secret_value()
    group = Groups(os.urandom(_KEY_BYTES)).trial("command")
    async with GraphitiClient(GraphitiAddress(memory.endpoint, header, memory.networks)) as client:
        test = await check_connection(client, group, mode)
    table = Table("Step", "Passed", "ms", "What it found")
    for step in test.steps:
        cells = (step.name, "yes" if step.passed else "no", str(step.milliseconds), step.detail)
        table.add_row(*(Text(cell) for cell in cells))
    Console(highlight=False).print(table)
    if not test.passed:
        raise CannotRun("The graph memory does not work as it should.")
