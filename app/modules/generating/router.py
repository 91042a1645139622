"""Routes that generate SQL and documentation."""

from typing import Annotated

from fastapi import Depends, Request, Response, status

from app.core.errors import NotFound
from app.http.callers import ASK, Owner
from app.http.rate_limits import count_question
from app.http.router import Router
from app.http.routes import API_PREFIX
from app.modules.agent.capabilities import Capabilities
from app.modules.generating.documents import Documentations
from app.modules.generating.schemas import (
    DocumentationOrder,
    GeneratedSqlBody,
    SqlRequest,
    StartedDocumentation,
)
from app.modules.generating.sql import SqlGeneration

router = Router(prefix="/generate", tags=["generating"])


class GeneratingOff(NotFound):
    """Nothing is generated without a model, or where agent mode is off."""

    problem = "generating-off"


async def _is_on(request: Request) -> None:
    """Raises `GeneratingOff`."""
    capabilities: Capabilities = request.app.state.services.capabilities
    if not capabilities.generating.on:
        raise GeneratingOff(f"Nothing is generated here. {capabilities.generating.reason}")


async def _generation(request: Request) -> SqlGeneration:
    generation: SqlGeneration = request.app.state.services.generation
    return generation


async def _documents(request: Request) -> Documentations:
    documents: Documentations = request.app.state.services.documents
    return documents


Documenting = Annotated[Documentations, Depends(_documents)]
Generation = Annotated[SqlGeneration, Depends(_generation)]


@router.post(
    "/sql",
    summary="Generate SQL for a question",
    dependencies=[ASK, Depends(_is_on), Depends(count_question)],
)
async def generate_sql(body: SqlRequest, owner: Owner, generation: Generation) -> GeneratedSqlBody:
    """Writes SQL for a question as a session would, without one: nothing is stored. Needs scope `ask` and
    counts as a question.

    A statement that fails its checks after a repair is returned with `valid: false` and the reason in
    `warnings`. With `run` it is run read-only under the usual limits. Answers 404 for an unknown connection,
    and without a model or agent mode (`generating-off`); 429 for a quota or a full queue; 503 if the database
    or the model is unavailable.
    """
    generated = await generation.generate(owner, body.db_connection_id, body.query, runs=body.run)
    return GeneratedSqlBody.model_validate(generated)


@router.post(
    "/documentation",
    summary="Document a database",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK, Depends(_is_on), Depends(count_question)],
)
async def generate_documentation(
    body: DocumentationOrder, owner: Owner, documents: Documenting, response: Response
) -> StartedDocumentation:
    """Begins a run that documents a database in a session of its own. Needs scope `ask` and counts as a
    question.

    The answer is Markdown: for each table its purpose, columns, keys, joins and quality notes, with counted
    figures. A large run ends with a question back that shows the estimate: ask its option in the session to
    go on, or send `accept_estimate`.

    Answers 404 for an unknown connection, and without a model or agent mode (`generating-off`); 422 for
    unknown tables (`tables-unknown`) or more than 200 (`too-many-tables`).
    """
    session, run = await documents.begin(
        owner, body.db_connection_id, body.tables, accepted=body.accept_estimate
    )
    stream = f"{API_PREFIX}/sessions/{session.id}/runs/{run.id}/stream"
    response.headers["Location"] = stream
    return StartedDocumentation(
        session_id=session.id, run_id=run.id, message_id=run.message_id, stream=stream
    )
