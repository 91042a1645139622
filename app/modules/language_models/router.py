"""Route of the language models."""

from fastapi import Request

from app.core.cursor import cursor_position, position_cursor
from app.core.errors import NotFound
from app.core.llm.overview import ModelOverview
from app.http.callers import READ
from app.http.parameters import PageParameters
from app.http.router import Router
from app.modules.language_models.schemas import ModelBody, ModelPage

router = Router(tags=["models"])


@router.get("/models", summary="List the language models", dependencies=[READ])
async def list_models(request: Request, page: PageParameters) -> ModelPage:
    """Lists the models that tasks use, then the others that the service lists. Needs scope `read`.

    If the service does not answer within a few seconds, `problem` says so, and only models of tasks are
    listed. Answers 404 if no model is configured: then `GET /capabilities` says why.
    """
    overview: ModelOverview | None = request.app.state.services.overview
    if overview is None:
        raise NotFound("No language model is configured: set OPENAI_API_KEY or KAI_LLM__BASE_URL.")
    start = cursor_position(page.cursor)
    stop = start + page.limit
    found = await overview.read()
    return ModelPage(
        items=[ModelBody.model_validate(each) for each in found.models[start:stop]],
        next_cursor=position_cursor(stop) if len(found.models) > stop else None,
        provider=overview.provider,
        problem=found.problem,
    )
