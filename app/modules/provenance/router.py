"""Route of an answer's provenance."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from app.http.callers import READ, Owner
from app.http.router import Router
from app.modules.context_store.model import Example, Instruction, Term
from app.modules.provenance.schemas import (
    KnowledgeBody,
    KnownExampleBody,
    KnownFactBody,
    KnownInstructionBody,
    KnownTermBody,
    ProvenanceBody,
)
from app.modules.provenance.service import AnswerProvenance, KnownKnowledge

router = Router(prefix="/sessions", tags=["sessions"])


async def _service(request: Request) -> AnswerProvenance:
    service: AnswerProvenance = request.app.state.services.provenance
    return service


Service = Annotated[AnswerProvenance, Depends(_service)]


@router.get(
    "/{session_id}/messages/{message_id}/provenance",
    summary="Get how an answer was made",
    dependencies=[READ],
)
async def read_provenance(
    session_id: Annotated[str, Path(description="Id of the session.")],
    message_id: Annotated[str, Path(description="Id of the answer, from `done` or the session's messages.")],
    owner: Owner,
    service: Service,
    version: Annotated[
        int | None, Query(ge=2, le=1_000, description="Number of a later version of the answer, from 2.")
    ] = None,
) -> ProvenanceBody:
    """Returns what the statement of an answer does, what its author knew, and checks of its rows. Needs scope
    `read`.

    All of it is read from the statement's tree, stored records and the last scan: no model takes part, and
    nothing runs in the database. Answers 404 if the message is not an answer, has no statement, or not the
    version asked for.
    """
    made = await service.of_answer(owner, session_id, message_id, version=version)
    message = made.message
    return ProvenanceBody(
        question=message.query,
        standalone_question=message.standalone_question,
        answered_at=message.created_at,
        dialect=message.dialect,
        sql=made.sql,
        tables=list(made.description.tables),
        queries=list(made.description.queries),
        knowledge=None if made.known is None else _knowledge(made.known, message.created_at),
        columns=message.columns,
        row_count=message.row_count,
        truncated=message.truncated,
        cut_by=message.cut_by,
        checks=list(made.checks),
    )


def _knowledge(known: KnownKnowledge, answered_at: int) -> KnowledgeBody:
    def fields(entry: Term | Instruction | Example) -> dict[str, object]:
        return {**vars(entry), "is_changed": entry.updated_at > answered_at}

    return KnowledgeBody(
        tables=list(known.tables),
        terms=[KnownTermBody.model_validate(fields(each)) for each in known.terms],
        instructions=[KnownInstructionBody.model_validate(fields(each)) for each in known.instructions],
        examples=[
            KnownExampleBody.model_validate({**fields(each), "is_statement": each.id in known.same})
            for each in known.examples
        ],
        facts=[
            KnownFactBody(id=each.id, kind=each.kind, scope=each.scope, text=each.text)
            for each in known.facts
        ],
        deleted_count=known.deleted_count,
    )
