"""Services of the protocols' routes."""

from typing import Annotated

from fastapi import Depends, Request

from app.modules.protocols.following import Departures
from app.modules.protocols.threads import Threads
from app.modules.session.confirmations import Confirmations
from app.modules.session.service import SessionService


async def _sessions(request: Request) -> SessionService:
    service: SessionService = request.app.state.services.sessions
    return service


async def _confirmations(request: Request) -> Confirmations:
    service: Confirmations = request.app.state.services.confirmations
    return service


async def _threads(request: Request) -> Threads:
    service: Threads = request.app.state.services.threads
    return service


async def _departures(request: Request) -> Departures:
    service: Departures = request.app.state.services.departures
    return service


CurrentSessions = Annotated[SessionService, Depends(_sessions)]
CurrentConfirmations = Annotated[Confirmations, Depends(_confirmations)]
CurrentThreads = Annotated[Threads, Depends(_threads)]
CurrentDepartures = Annotated[Departures, Depends(_departures)]
