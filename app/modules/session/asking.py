"""Asks the question that a body holds."""

from app.modules.records.model import About, Origin, Run, Session
from app.modules.session.schemas import SessionQuery, ToolSelection
from app.modules.session.service import SessionService


async def submit_query(
    service: SessionService,
    owner: str,
    session_id: str,
    *,
    body: SessionQuery,
    idempotency_key: str | None,
) -> tuple[Session, Run]:
    """Start or queue the run of a question. Raises what `SessionService.ask` raises."""
    return await service.ask(
        owner,
        session_id,
        body.query,
        multitask_strategy=body.multitask_strategy,
        idempotency_key=idempotency_key,
        sql=body.sql,
        mode=body.mode,
        tool_sources=(body.tools or ToolSelection()).sources(),
        rules=body.rules,
        about=None if body.about is None else About(kind=body.about.kind, id=body.about.id),
        db_connection_id=body.db_connection_id,
        origin=Origin(metadata=body.metadata),
    )
