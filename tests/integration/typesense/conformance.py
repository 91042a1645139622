"""`make conformance`: runs LangGraph's conformance suite on a Typesense server started for it."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.conformance.initializer import RegisteredCheckpointer
from langgraph.checkpoint.conformance.report import ProgressCallbacks

from app.core.storage.typesense_server import TypesenseServer
from tests.support.typesense import checkpointer_of
from typesense_checkpoint import TypesenseCheckpointer


def main() -> int:
    """Prints a line per test and then the number of conforming capabilities. Returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="kai-typesense-") as folder:
        server = TypesenseServer(Path(folder))
        server.start()
        try:
            conforming = asyncio.run(_conforming(server))
        finally:
            server.stop()
    print(f"conformance: {conforming}/{len(Capability)}")  # noqa: T201
    return 0 if conforming == len(Capability) else 1


def registered(server: TypesenseServer) -> RegisteredCheckpointer:
    """Returns the checkpointer in the form that the suite takes: a new collection for each capability."""

    @checkpointer_test(name="TypesenseCheckpointer")
    async def opened() -> AsyncGenerator[TypesenseCheckpointer]:
        async with checkpointer_of(server) as checkpointer:
            yield checkpointer

    return opened


async def _conforming(server: TypesenseServer) -> int:
    report = await validate(registered(server), progress=ProgressCallbacks.verbose())
    return sum(result.passed is True for result in report.results.values())


if __name__ == "__main__":
    sys.exit(main())
