"""Services of sessions, for the routes that use them."""

from typing import Annotated

from fastapi import Depends, Request

from app.modules.session.confirmations import Confirmations
from app.modules.session.service import SessionService


def sessions_of(request: Request) -> SessionService:
    service: SessionService = request.app.state.services.sessions
    return service


async def _sessions(request: Request) -> SessionService:
    return sessions_of(request)


async def _confirmations(request: Request) -> Confirmations:
    service: Confirmations = request.app.state.services.confirmations
    return service


CurrentSessions = Annotated[SessionService, Depends(_sessions)]
CurrentConfirmations = Annotated[Confirmations, Depends(_confirmations)]
