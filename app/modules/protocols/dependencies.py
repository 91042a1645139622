"""Services of the protocols' routes."""

from typing import Annotated

from fastapi import Depends, Request

from app.modules.protocols.disconnects import Departures
from app.modules.protocols.threads import Threads


async def _threads(request: Request) -> Threads:
    service: Threads = request.app.state.services.threads
    return service


async def _departures(request: Request) -> Departures:
    service: Departures = request.app.state.services.departures
    return service


CurrentThreads = Annotated[Threads, Depends(_threads)]
CurrentDepartures = Annotated[Departures, Depends(_departures)]
