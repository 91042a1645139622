"""Routes of sessions, their runs and what hangs on them."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from app.http.callers import ASK, READ, Owner
from app.http.problems import PROBLEM_RESPONSES
from app.http.rate_limits import count_question
from app.http.routes import PageOf, PageQuery, Text
from app.modules.run.sse import EventStream, event_stream, last_event_id
from app.modules.session import export
from app.modules.session.model import Message, SessionStatus
from app.modules.session.schemas import (
    CheckpointBody,
    FeedbackBody,
    MessageBody,
    NewFeedback,
    NewSession,
    RowsPage,
    SessionBody,
    SessionChange,
    SessionQuery,
    SessionWithHistory,
)
from app.modules.session.service import SessionFilter, SessionService
from graph.events import Chunk, Done, Failure, Reset, Status

router = APIRouter(prefix="/sessions", tags=["sessions"], responses=PROBLEM_RESPONSES)


def _service(request: Request) -> SessionService:
    service: SessionService = request.app.state.services.sessions
    return service


Service = Annotated[SessionService, Depends(_service)]
Page = Annotated[PageQuery, Query()]

_PARQUET = "application/vnd.apache.parquet"

EVENT_STREAM: dict[int | str, dict[str, object]] = {
    200: {
        "description": "Server-sent events: status, chunk, reset, error and, last, exactly one done. "
        "What the schema calls `event` is the name of the frame; `data` holds the rest.",
        "model": Status | Chunk | Reset | Failure | Done,
        "headers": {"X-Run-Id": {"description": "The run, for resuming", "schema": {"type": "string"}}},
    }
}


class SessionListQuery(PageQuery):
    """Which sessions, and which page of them."""

    db_connection_id: Annotated[Text | None, Query(max_length=100)] = None
    status: SessionStatus | None = None
    q: Annotated[Text | None, Query(max_length=500, description="Words of a title or a question")] = None


class RowsQuery(PageQuery):
    """Which rows, and as what; `limit` and `cursor` are for json."""

    limit: Annotated[int, Query(ge=1, le=5_000)] = 20

    format: Literal["json", "csv", "parquet"] = "json"


@router.post("", status_code=status.HTTP_201_CREATED, dependencies=[ASK])
async def create_session(body: NewSession, owner: Owner, service: Service) -> SessionBody:
    session = await service.create(owner, body.db_connection_id, body.title, body.mode, body.metadata)
    return SessionBody.model_validate(session)


@router.get("", dependencies=[READ])
async def list_sessions(
    query: Annotated[SessionListQuery, Query()], owner: Owner, service: Service
) -> PageOf[SessionBody]:
    """Sessions used last come first."""
    wanted = SessionFilter(query.db_connection_id, query.status, query.q)
    sessions, next_cursor = await service.latest(owner, wanted, query.limit, query.cursor)
    items = [SessionBody.model_validate(session) for session in sessions]
    return PageOf(items=items, next_cursor=next_cursor)


@router.get("/{session_id}", dependencies=[READ])
async def read_session(session_id: str, page: Page, owner: Owner, service: Service) -> SessionWithHistory:
    """The session with a page of its messages, newest last."""
    session = await service.get(owner, session_id)
    messages, next_cursor = await service.messages(session, page.limit, page.cursor)
    items = [MessageBody.model_validate(message) for message in messages]
    history = PageOf[MessageBody](items=items, next_cursor=next_cursor)
    return SessionWithHistory.model_validate({**vars(session), "messages": history})


@router.patch("/{session_id}", dependencies=[ASK])
async def change_session(session_id: str, body: SessionChange, owner: Owner, service: Service) -> SessionBody:
    """Rename, change mode or metadata, close, or resume."""
    changes = body.model_dump(exclude_unset=True)
    return SessionBody.model_validate(await service.change(owner, session_id, changes))


@router.delete("/{session_id}", status_code=status.HTTP_204_NO_CONTENT, dependencies=[ASK])
async def delete_session(session_id: str, owner: Owner, service: Service) -> None:
    """Delete the session with its messages, rows, runs and checkpoints."""
    await service.delete(owner, session_id)


@router.post(
    "/{session_id}/query/stream",
    responses=EVENT_STREAM,
    response_class=EventStream,
    dependencies=[ASK, Depends(count_question)],
)
async def ask(
    session_id: str,
    body: SessionQuery,
    owner: Owner,
    service: Service,
    idempotency_key: Annotated[Text | None, Header(min_length=1, max_length=255)] = None,
) -> EventStream:
    """Ask a question and follow its run. The run goes on when the client leaves."""
    session, run = await service.ask(owner, session_id, body.query, body.on_busy, idempotency_key, body.sql)
    return event_stream(run.id, service.follow(session, run), after=0)


@router.get(
    "/{session_id}/runs/{run_id}/stream",
    responses=EVENT_STREAM,
    response_class=EventStream,
    dependencies=[READ],
)
async def follow(
    session_id: str,
    run_id: str,
    owner: Owner,
    service: Service,
    last_event: Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)] = None,
) -> EventStream:
    """Follow a run from its start, or after the event a client has seen last."""
    after = last_event_id(last_event)
    session, run = await service.run(owner, session_id, run_id)
    return event_stream(run.id, service.follow(session, run), after)


@router.post(
    "/{session_id}/runs/{run_id}/cancel",
    status_code=status.HTTP_202_ACCEPTED,
    response_class=Response,
    dependencies=[ASK],
)
async def cancel(session_id: str, run_id: str, owner: Owner, service: Service) -> Response:
    """Stop a run, also while its statement runs; its stream ends with done and status cancelled."""
    await service.cancel(owner, session_id, run_id)
    return Response(status_code=status.HTTP_202_ACCEPTED)


@router.get(
    "/{session_id}/messages/{message_id}/rows",
    response_model=RowsPage,
    dependencies=[READ],
)
async def read_rows(
    session_id: str,
    message_id: str,
    query: Annotated[RowsQuery, Query()],
    owner: Owner,
    service: Service,
    response: Response,
) -> RowsPage | Response:
    """The rows of an answer: a page of them as JSON, or all of them as a file.

    `X-Truncated: true` says that a limit cut the result; a file of one says so in its name, too.
    """
    message = await service.answer(owner, session_id, message_id)
    cut = {"X-Truncated": str(message.truncated).lower()}
    match query.format:
        case "json":
            response.headers.update(cut)
            rows, next_cursor = await service.rows(message, query.limit, query.cursor)
            return RowsPage(
                columns=message.columns,
                items=rows,
                row_count=message.row_count or 0,
                truncated=message.truncated,
                cut_by=message.cut_by,
                next_cursor=next_cursor,
            )
        case "csv":
            await service.rows(message, 1, None)  # refused before the first byte, if they are gone
            lines = export.csv_file(message.columns, service.all_rows(message))
            headers = cut | _attachment(message, "csv")
            return StreamingResponse(lines, media_type="text/csv", headers=headers)
        case "parquet":
            file = await export.parquet_file(message.columns, service.all_rows(message))
            headers = cut | _attachment(message, "parquet")
            return Response(file, media_type=_PARQUET, headers=headers)


@router.post(
    "/{session_id}/messages/{message_id}/feedback", status_code=status.HTTP_201_CREATED, dependencies=[ASK]
)
async def give_feedback(
    session_id: str, message_id: str, body: NewFeedback, owner: Owner, service: Service
) -> FeedbackBody:
    feedback = await service.give_feedback(
        owner, session_id, message_id, body.rating, body.comment, body.corrected_sql
    )
    return FeedbackBody.model_validate(feedback)


@router.get("/{session_id}/checkpoints", dependencies=[READ])
async def list_checkpoints(
    session_id: str, page: Page, owner: Owner, service: Service
) -> PageOf[CheckpointBody]:
    """The session's past, newest first."""
    checkpoints, next_cursor = await service.checkpoints(owner, session_id, page.limit, page.cursor)
    items = [CheckpointBody.model_validate(checkpoint) for checkpoint in checkpoints]
    return PageOf(items=items, next_cursor=next_cursor)


@router.post(
    "/{session_id}/checkpoints/{checkpoint_id}/fork", status_code=status.HTTP_201_CREATED, dependencies=[ASK]
)
async def fork_session(session_id: str, checkpoint_id: str, owner: Owner, service: Service) -> SessionBody:
    """A new session that goes on from a checkpoint."""
    return SessionBody.model_validate(await service.fork(owner, session_id, checkpoint_id))


def _attachment(message: Message, ending: str) -> dict[str, str]:
    """The file's name says what its rows cannot: that a limit cut them."""
    cut = "-truncated" if message.truncated else ""
    return {"Content-Disposition": f'attachment; filename="{message.id}{cut}.{ending}"'}
