"""Routes that delete everything of the caller: of memory, or of KAI."""

from typing import Annotated

from fastapi import Depends, Request, status

from app.http.callers import ASK, CurrentCaller, Owner
from app.http.router import Router
from app.modules.forgetting.schemas import ForgottenBody
from app.modules.forgetting.service import OwnerForgetting

router = Router(tags=["forgetting"])


async def _forgetting(request: Request) -> OwnerForgetting:
    service: OwnerForgetting = request.app.state.services.forgetting
    return service


Forgetting = Annotated[OwnerForgetting, Depends(_forgetting)]


@router.delete(
    "/memory",
    summary="Delete everything that memory holds of you",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK],
)
async def forget_memory(owner: Owner, service: Forgetting) -> ForgottenBody:
    """Deletes the caller's facts (also those that they have shared), profile, consents and memories of
    conversations. Needs scope `ask`. Cannot be undone; can be repeated.

    Conversations stay, and what was said in them until now is not remembered again. `not_confirmed` names
    what is not verified to be deleted.
    """
    return ForgottenBody.of(await service.memory.forget_owner(owner))


@router.delete(
    "/me/data",
    summary="Delete everything that KAI holds of you",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK],
)
async def forget_everything(caller: CurrentCaller, service: Forgetting) -> ForgottenBody:
    """Deletes the caller's sessions with all that belongs to them, their boards, everything that memory
    holds, and the items that LangGraph's clients keep. A caller who may manage databases also loses their
    connections, examples, glossary, instructions and rules. Needs scope `ask`. Cannot be undone; can be
    repeated.

    API keys, the counts of used tokens and the audit log stay. `not_confirmed` names what is not deleted yet.
    """
    return ForgottenBody.of(await service.forget_everything(caller))
