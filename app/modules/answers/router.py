"""Routes that ask and answer in one request, and those of runs and messages."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Depends, Query, Request, Response
from pydantic import AwareDatetime

from app.core.errors import Problem
from app.core.storage.port import Condition
from app.http.callers import ASK, READ, Owner
from app.http.description.documents import FAILED_RUN
from app.http.open_streams import STREAM
from app.http.parameters import ListQuery, MetadataQuery, PageParameters, select_between
from app.http.rate_limits import count_question
from app.http.router import Router
from app.http.routes import PageOf
from app.modules.answers.schemas import (
    DEFAULT_ROWS,
    MOST_ROWS,
    AnswerBody,
    NewAsk,
    RunBody,
    WaitingQuery,
)
from app.modules.answers.service import RunAnswers, RunState
from app.modules.answers.waiting import Wait, WantedWait
from app.modules.records.model import Run, Session
from app.modules.run.errors import RETRY_SECONDS, headers_of_open_run
from app.modules.run.sse import EventStream, event_stream
from app.modules.session.router import (
    EVENT_STREAM,
    NOT_KEPT_YET,
    IdempotencyKey,
    MessageId,
    RunId,
    SessionId,
    read_messages,
)
from app.modules.session.schemas import MessageBody

router = Router(tags=["answers"])

_ASKING = [ASK, Depends(count_question), STREAM]
_TEXT = {"schema": {"type": "string"}}
_APPLIED = {"Preference-Applied": {"description": "What was taken of `Prefer`, if it says how long", **_TEXT}}
_ANSWERED: dict[int | str, dict[str, object]] = {
    200: {"model": AnswerBody, "description": "The answer", "headers": _APPLIED},
    202: {
        **NOT_KEPT_YET[202],
        "model": RunBody,
        "description": "The run is not over in time: read `Location` later. Or the store is unavailable "
        "(`not-kept-yet`): the same, and while the run is unknown (404) its question is not stored.",
        "headers": {
            "Location": {"description": "Where the answer is", **_TEXT},
            "Retry-After": {"description": "Seconds to wait before reading it", **_TEXT},
            "X-Run-Id": {"description": "The run, for following it", **_TEXT},
            **_APPLIED,
        },
    },
    **FAILED_RUN,
}


async def _answers(request: Request) -> RunAnswers:
    answers: RunAnswers = request.app.state.services.answers
    return answers


Service = Annotated[RunAnswers, Depends(_answers)]


class RunsQuery(ListQuery, MetadataQuery):
    """Selects runs, and a page of them."""

    sort: Annotated[
        Literal["created_at", "-created_at", "ended_at", "-ended_at"],
        Query(description="Order of the list; `-` is descending. Runs that are not over have no end."),
    ] = "-created_at"

    status: Annotated[
        RunState | None,
        Query(
            description="Only runs in this state. `total` counts those that are queued and running together."
        ),
    ] = None
    ended_after: Annotated[
        AwareDatetime | None,
        Query(description="Only runs that ended after this time, such as `2026-01-31T08:00:00Z`."),
    ] = None

    def conditions(self) -> Sequence[Condition]:
        ended = select_between("ended_at", self.ended_after, None)
        return [*super().conditions(), *ended, *self.metadata_conditions()]


@router.post(
    "/ask",
    summary="Ask a question and get its answer",
    responses=_ANSWERED,
    response_model=None,
    dependencies=_ASKING,
)
async def ask_question(
    body: NewAsk, owner: Owner, answers: Service, wait: WantedWait, idempotency_key: IdempotencyKey = None
) -> Response:
    """Asks a question without a session and waits for the answer as `Prefer: wait=N` says, 55 seconds by
    default; then the answer is 202 with the run, and `Location` answers later. Needs scope `ask`.

    Leaving cancels nothing. A failed run answers its problem with `session_id` and `run_id`. Ask on by `POST
    /sessions/{session_id}/query`. Answers 404 for an unknown database, 422 (`database-unclear`) if there are
    several and none is named, and refuses what a session refuses.
    """
    _, run = await _ask(answers, owner, body, idempotency_key)
    return await _answered(answers, run, wait, body.rows)


@router.post(
    "/ask/stream",
    summary="Ask a question without a session and stream its answer",
    responses={**EVENT_STREAM, **NOT_KEPT_YET},
    response_class=EventStream,
    dependencies=_ASKING,
)
async def stream_answer(
    body: NewAsk, owner: Owner, answers: Service, idempotency_key: IdempotencyKey = None
) -> EventStream:
    """As `POST /ask`, with the events of the run until `done` in place of one answer. Needs scope `ask`.

    `X-Kai-Session` and `X-Run-Id` name what to follow again. `rows` counts for no stream.
    """
    session, run = await _ask(answers, owner, body, idempotency_key)
    stream = event_stream(run.id, answers.sessions.follower.follow(run), after=0)
    stream.headers["X-Kai-Session"] = session.id
    return stream


@router.post(
    "/sessions/{session_id}/query",
    summary="Ask a question of a session and get its answer",
    responses=_ANSWERED,
    response_model=None,
    dependencies=_ASKING,
)
async def ask_session(
    session_id: SessionId,
    body: WaitingQuery,
    owner: Owner,
    answers: Service,
    wait: WantedWait,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Asks a question of a session and answers when it is answered. Needs scope `ask`.

    It is waited for as by `POST /ask`, and refused as by `.../query/stream`.
    """
    _, run = await answers.sessions.ask(owner, session_id, body.new_question(idempotency_key))
    return await _answered(answers, run, wait, body.rows)


@router.get(
    "/sessions/{session_id}/runs/{run_id}/answer",
    summary="Get the answer of a run",
    responses=_ANSWERED,
    response_model=None,
    dependencies=[READ, STREAM],
)
async def read_answer(
    session_id: SessionId,
    run_id: RunId,
    owner: Owner,
    answers: Service,
    wait: WantedWait,
    rows: Annotated[
        int, Query(ge=0, le=MOST_ROWS, description="The most rows of the answer.")
    ] = DEFAULT_ROWS,
) -> Response:
    """Returns the answer of a run, and waits for it as `Prefer: wait=N` says. Needs scope `read`.

    Answers 202 with the run while it is open. The answer of a run that waited for approvals is that of the
    run that went on with its turn.
    """
    _, run = await answers.sessions.run(owner, session_id, run_id)
    return await _answered(answers, run, wait, rows)


@router.get("/sessions/{session_id}/runs/{run_id}", summary="Get a run", dependencies=[READ])
async def read_run(
    session_id: SessionId, run_id: RunId, owner: Owner, answers: Service, response: Response
) -> RunBody:
    """Returns the run and its state. Needs scope `read`. `Retry-After` is sent while it is open."""
    _, run = await answers.sessions.run(owner, session_id, run_id)
    (followed,) = await answers.states([run])
    if followed.is_open:
        response.headers["Retry-After"] = RETRY_SECONDS
    return RunBody.of(followed)


@router.get("/sessions/{session_id}/runs", summary="List the runs of a session", dependencies=[READ])
async def list_session_runs(
    session_id: SessionId, query: Annotated[RunsQuery, Query()], owner: Owner, answers: Service
) -> PageOf[RunBody]:
    """Lists the runs of a session, by default newest first. Needs scope `read`. The filters combine.

    A page of queued or running runs may have fewer than `limit` before that.
    """
    return await _page(answers, owner, session_id, query)


@router.get("/runs", summary="List the runs of all sessions", dependencies=[READ])
async def list_runs(query: Annotated[RunsQuery, Query()], owner: Owner, answers: Service) -> PageOf[RunBody]:
    """Lists the caller's runs in all sessions that are kept, by default newest first: for programs that
    poll. Needs scope `read`. The filters combine; the pages are those of the runs of a session.
    """
    return await _page(answers, owner, None, query)


@router.get("/sessions/{session_id}/messages", summary="List the messages of a session", dependencies=[READ])
async def list_messages(
    session_id: SessionId, page: PageParameters, owner: Owner, answers: Service
) -> PageOf[MessageBody]:
    """Lists questions and answers of a session, newest last. Needs scope `read`.

    `next_cursor` leads to the page of older messages. A session of another owner is unknown (404).
    """
    session = await answers.sessions.get(owner, session_id)
    return await read_messages(answers.sessions, session, page)


@router.get(
    "/sessions/{session_id}/messages/{message_id}", summary="Get a question or an answer", dependencies=[READ]
)
async def read_message(
    session_id: SessionId, message_id: MessageId, owner: Owner, answers: Service
) -> MessageBody:
    """Returns a message of a session. Needs scope `read`. The rows are at `.../rows`."""
    session = await answers.sessions.get(owner, session_id)
    message = await answers.sessions.get_message(session, message_id)
    (completed,) = await answers.sessions.charts.completed([message])
    return MessageBody.model_validate(completed)


async def _ask(
    answers: RunAnswers, owner: str, body: NewAsk, idempotency_key: str | None
) -> tuple[Session, Run]:
    session = await answers.begin(
        owner, body.database or body.db_connection_id, is_kept=body.keep, idempotency_key=idempotency_key
    )
    try:
        named = body.model_copy(update={"db_connection_id": session.db_connection_id})
        return await answers.sessions.ask(owner, session.id, named.new_question(idempotency_key))
    except Problem as refusal:
        if idempotency_key is None:
            await answers.withdraw(session, refusal)
        raise


async def _answered(answers: RunAnswers, run: Run, wait: Wait, most_rows: int) -> Response:
    run = await answers.wait(run, wait.seconds)
    found = await answers.find(run, most_rows)
    headers = {"X-Run-Id": run.id, "X-Kai-Session": run.session_id, **wait.headers}
    if found is not None:
        return _json(AnswerBody.of(found), 200, headers)
    (followed,) = await answers.states([run])
    headers |= headers_of_open_run(run.session_id, run.id)
    return _json(RunBody.of(followed), 202, headers)


def _json(body: AnswerBody | RunBody, status: int, headers: dict[str, str]) -> Response:
    return Response(body.model_dump_json(), status, headers, media_type="application/json")


async def _page(answers: RunAnswers, owner: str, session_id: str | None, query: RunsQuery) -> PageOf[RunBody]:
    found = await answers.page(owner, session_id, query.wanted(), state=query.status)
    return query.page_of([RunBody.of(each) for each in found.items], found)
