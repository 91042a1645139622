"""Routes of sessions, their runs, answers and checkpoints."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Depends, Header, Path, Query, Request, Response, status
from fastapi.responses import StreamingResponse
from pydantic import RootModel

from app.core.storage.port import Condition
from app.http.callers import APPROVE, ASK, READ, CurrentCaller, Owner, owner_of
from app.http.description.documents import PROBLEM
from app.http.entity_tags import located
from app.http.open_streams import STREAM
from app.http.parameters import (
    ChangedQuery,
    ChangeSort,
    LastEventId,
    MetadataQuery,
    PageParameters,
    PageQuery,
)
from app.http.problems import PROBLEM_JSON
from app.http.rate_limits import count_question
from app.http.router import Router
from app.http.routes import PageOf, Text
from app.modules.database_connection.results import cut_sentence
from app.modules.records.model import AnswerVersion, Message, Session, SessionStatus
from app.modules.records.steps import CallRecord, CallStatus, StepRecord
from app.modules.run.sse import EventStream, event_stream, last_event_id
from app.modules.session import excel, export
from app.modules.session.answers import StoredRows
from app.modules.session.chart_files import (
    PICTURE_RESPONSES,
    Drawing,
    Ending,
    PictureQuery,
    picture_answer,
)
from app.modules.session.dependencies import CurrentConfirmations, CurrentSessions, sessions_of
from app.modules.session.schemas import (
    AskedQuestion,
    ChartWords,
    CheckpointBody,
    ConfirmationBody,
    ConfirmationDecision,
    DecisionBody,
    FeedbackBody,
    FoundQuestion,
    Investigated,
    ListedSession,
    MessageBody,
    MessageChange,
    NewFeedback,
    NewSession,
    NewVersion,
    RowsPage,
    SessionBody,
    SessionChange,
    SessionQuery,
    SessionWithHistory,
    SnippetPart,
    StepBody,
    ToolCallBody,
    WordedChart,
)
from app.modules.session.service import SessionFilter, SessionService
from app.modules.session.snippets import snippet
from graph.events import AnyEvent
from graph.state import Rows

router = Router(prefix="/sessions", tags=["sessions"])


SessionId = Annotated[str, Path(description="Id of the session.")]
RunId = Annotated[str, Path(description="Id of the run, from `X-Run-Id` or a `status` event.")]
MessageId = Annotated[str, Path(description="Id of the answer, from `done` or the session's messages.")]
CheckpointId = Annotated[str, Path(description="Id of the checkpoint.")]
IdempotencyKey = Annotated[
    Text | None,
    Header(
        min_length=1,
        max_length=255,
        description="A key of the client's own, such as a UUID: a repeated request with it gets the first "
        "response, or the run of its question, and makes nothing twice.",
    ),
]

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PARQUET = "application/vnd.apache.parquet"

NOT_KEPT_YET: dict[int | str, dict[str, object]] = {
    202: {
        "description": "The store is unavailable, so the question is not known to be stored yet; KAI goes on "
        "trying. `run_id` names its run, which is unknown (404), or 503 while the "
        "store takes no writes, as long as the question is not stored.",
        "content": {PROBLEM_JSON: {"schema": PROBLEM}},
        "headers": {"X-Run-Id": {"description": "The run, for following it", "schema": {"type": "string"}}},
    }
}


class RunEvent(RootModel[AnyEvent]):
    """The JSON of an event of a stream. `event` is also the name of its frame."""


EVENT_STREAM: dict[int | str, dict[str, object]] = {
    200: {
        "description": "Server-sent events: status, chunk, tool_call, tool_result, confirmation, "
        "confirmation_decided, progress, memory, reset and "
        "error, then exactly one done. The data of each is a `RunEvent` as JSON.",
        "model": RunEvent,
        "headers": {
            "X-Run-Id": {"description": "Id of the run, to follow it again", "schema": {"type": "string"}}
        },
    }
}


class SessionListQuery(ChangedQuery, MetadataQuery):
    """Selects sessions, and a page of them."""

    sort: ChangeSort = "-updated_at"

    db_connection_id: Annotated[
        Text | None, Query(max_length=100, description="Only sessions of this database connection.")
    ] = None
    status: Annotated[SessionStatus | None, Query(description="Only sessions in this state.")] = None
    pinned: Annotated[
        bool | None,
        Query(description="Only sessions that are pinned (`true`), or only those that are not (`false`)."),
    ] = None
    q: Annotated[
        Text | None,
        Query(max_length=500, description="Only sessions whose title or questions contain these words."),
    ] = None

    def conditions(self) -> Sequence[Condition]:
        return [*super().conditions(), *self.metadata_conditions()]


class ConfirmationListQuery(PageQuery):
    """Selects confirmations, and a page of them."""

    status: Annotated[
        CallStatus | None,
        Query(description="Only confirmations in this state: `waiting` for those that can be decided."),
    ] = None


class RowsQuery(PageQuery):
    """Selects rows and their format."""

    limit: Annotated[
        int, Query(ge=1, le=5_000, description="The most rows of a page. Only for `format=json`.")
    ] = 20
    cursor: Annotated[
        Text | None,
        Query(max_length=1_000, description="`next_cursor` of the previous page. Only for `format=json`."),
    ] = None
    format: Annotated[
        Literal["json", "csv", "parquet", "xlsx"],
        Query(
            description="`json`: a page. `csv`, `parquet` or `xlsx` (an Excel workbook): all rows as a file."
        ),
    ] = "json"


# The first route is found soonest: FastAPI tries those of a router in their order, twice for each request.
@router.post(
    "/{session_id}/query/stream",
    summary="Ask a question and stream its answer",
    responses={**EVENT_STREAM, **NOT_KEPT_YET},
    response_class=EventStream,
    dependencies=[ASK, STREAM],
)
async def stream_session_answer(
    request: Request,
    session_id: SessionId,
    body: SessionQuery,
    idempotency_key: IdempotencyKey = None,
) -> EventStream:
    """Starts a run for the question and streams its events until `done`. Needs scope `ask`.

    The run continues if the client disconnects: follow it again with `X-Run-Id`. Answers 422 for an unknown
    rule (`rule-unknown`) and if no database is named (`connection-needed`); 409 for another one
    (`session-bound`), `session-busy`, `session-closed` and `connection-gone`.

    Every refusal is an HTTP error before the stream, and stores nothing. Errors of the run itself are `error`
    events.
    """
    await count_question(request)  # what is no dependency delays the first event less
    service = sessions_of(request)
    _, run = await service.ask(owner_of(request), session_id, body.new_question(idempotency_key))
    return event_stream(run.id, service.follower.follow(run), after=0)


@router.post(
    "",
    summary="Create a session",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/sessions/{id}")],
)
async def create_session(body: NewSession, owner: Owner, service: CurrentSessions) -> SessionBody:
    """Creates a session, a conversation about one database connection. Needs scope `ask`.

    Answers 404 for an unknown connection, also one of `also_db_connection_ids`, and 429 (`too-many-sessions`)
    when the owner's quota is reached.
    """
    session = await service.create(
        owner,
        body.db_connection_id,
        body.title,
        mode=body.mode,
        metadata=body.metadata,
        also=body.also_db_connection_ids,
    )
    return SessionBody.model_validate(session)


@router.get("", summary="List sessions", dependencies=[READ])
async def list_sessions(
    query: Annotated[SessionListQuery, Query()],
    owner: Owner,
    service: CurrentSessions,
    waiting: CurrentConfirmations,
) -> PageOf[ListedSession]:
    """Lists the caller's sessions, by default last used first. Needs scope `read`.

    The filters combine. With `q` only the best 250 matches among titles and questions are listed, and `found`
    is the question that fits best.
    """
    wanted = SessionFilter(query.db_connection_id, query.status, query.q, is_pinned=query.pinned)
    page = await service.page(owner, wanted, query.wanted())
    counts = await waiting.counts(page.items)
    items = [
        ListedSession.model_validate(
            {
                **vars(session),
                "waiting_confirmations": counts.get(session.id, 0),
                "found": _found(page.questions.get(session.id), query.q or ""),
            }
        )
        for session in page.items
    ]
    return query.page_of(items, page)


@router.get("/{session_id}", summary="Get a session with its messages", dependencies=[READ])
async def read_session(
    session_id: SessionId,
    page: PageParameters,
    owner: Owner,
    service: CurrentSessions,
    waiting: CurrentConfirmations,
) -> SessionWithHistory:
    """Returns the session and a page of its messages, newest last. Needs scope `read`.

    `messages.next_cursor` leads to the page of older messages. A session of another owner is unknown (404).
    """
    session = await service.repository.get(owner, session_id)
    history = await read_messages(service, session, page)
    counts = await waiting.counts([session])
    return SessionWithHistory.model_validate(
        {**vars(session), "messages": history, "waiting_confirmations": counts.get(session.id, 0)}
    )


async def read_messages(
    sessions: SessionService, session: Session, page: PageParameters
) -> PageOf[MessageBody]:
    """Returns a page of the messages of a session, newest last, with their charts."""
    found, next_cursor = await sessions.repository.messages(session, page.limit, page.cursor)
    completed = await sessions.charts.completed(found)
    return PageOf(items=[MessageBody.model_validate(each) for each in completed], next_cursor=next_cursor)


@router.get("/{session_id}/questions", summary="List the questions of a session", dependencies=[READ])
async def list_questions(
    session_id: SessionId, page: PageParameters, owner: Owner, service: CurrentSessions
) -> PageOf[AskedQuestion]:
    """Lists the questions of a session without their answers, oldest first. Needs scope `read`.

    A session of another owner is unknown (404).
    """
    session = await service.repository.get(owner, session_id)
    asked, next_cursor = await service.repository.questions(session, page.limit, page.cursor)
    return PageOf(items=[AskedQuestion.model_validate(each) for each in asked], next_cursor=next_cursor)


@router.patch("/{session_id}", summary="Change a session", dependencies=[ASK])
async def change_session(
    session_id: SessionId,
    body: SessionChange,
    owner: Owner,
    service: CurrentSessions,
    waiting: CurrentConfirmations,
) -> SessionBody:
    """Changes the fields that the body holds, and no others. Needs scope `ask`.

    `status: closed` closes the session, so that it takes no questions, and withdraws calls that wait for
    approval; `status: idle` opens it again. Answers 409 (`session-busy`, with `run_id`) if the status is to
    change while a run holds the session.
    """
    changed = await service.change(owner, session_id, body.changes())
    counts = await waiting.counts([changed])
    return _session_body(changed, counts.get(changed.id, 0))


@router.delete(
    "/{session_id}", summary="Delete a session", status_code=status.HTTP_204_NO_CONTENT, dependencies=[ASK]
)
async def delete_session(session_id: SessionId, owner: Owner, service: CurrentSessions) -> None:
    """Stops the session's runs and deletes the session with its messages, rows, runs and their logs,
    checkpoints, feedback, memory and facts. Needs scope `ask`. Cannot be undone.

    Verified examples, facts of a wider scope and forks of the session stay. Answers 409 (`still-stopping`) if
    a run does not stop within 30 seconds: send the request again.
    """
    await service.delete(owner, session_id)


@router.get(
    "/{session_id}/runs/{run_id}/stream",
    summary="Stream a run again",
    responses=EVENT_STREAM,
    response_class=EventStream,
    dependencies=[READ, STREAM],
)
async def stream_run(
    session_id: SessionId,
    run_id: RunId,
    owner: Owner,
    service: CurrentSessions,
    last_event: LastEventId = None,
) -> EventStream:
    """Streams the events of a run, from its start or after `Last-Event-ID`, until `done`. Needs scope
    `read`.

    Any number of clients can follow a run. If the events of an ended run are no longer kept, the stream is
    a `reset`, the stored answer and `done`. Answers 400 if `Last-Event-ID` is not a number.
    """
    after = last_event_id(last_event)
    _, run = await service.run(owner, session_id, run_id)
    return event_stream(run.id, service.follower.follow(run), after)


@router.post(
    "/{session_id}/runs/{run_id}/cancel",
    summary="Cancel a run",
    status_code=status.HTTP_202_ACCEPTED,
    response_class=Response,
    dependencies=[ASK],
)
async def cancel_run(
    session_id: SessionId, run_id: RunId, owner: Owner, service: CurrentSessions
) -> Response:
    """Requests that the run stops, also while its statement runs in the database. Needs scope `ask`.

    Answers 202 at once; the run's stream then ends with `done` and status `cancelled`. Can be repeated: a
    run that has ended stays as it is.
    """
    session, run = await service.run(owner, session_id, run_id)
    await service.submissions.cancel(session, run)
    return Response(status_code=status.HTTP_202_ACCEPTED)


@router.patch(
    "/{session_id}/messages/{message_id}", summary="Change how an answer is shown", dependencies=[ASK]
)
async def change_message(
    session_id: SessionId, message_id: MessageId, body: MessageChange, owner: Owner, service: CurrentSessions
) -> MessageBody:
    """Stores what a person has chosen of an answer's chart, and draws it from all stored rows. Needs scope
    `ask`.

    The answer itself never changes. Answers 404 if the message is not an answer or its rows are no longer
    stored, and 422 (`chart-choice`, with the reason) if the rows do not allow the choice.
    """
    if "chart_choice" in body.model_fields_set:
        changed = await service.charts.choose(owner, session_id, message_id, choice=body.chart_choice)
    else:
        session = await service.repository.get(owner, session_id)
        changed = await service.repository.get_answer(session, message_id)
    return MessageBody.model_validate(changed)


@router.post(
    "/{session_id}/messages/{message_id}/chart",
    summary="Read what words make of a chart",
    dependencies=[ASK, Depends(count_question)],
)
async def read_chart_words(
    session_id: SessionId, message_id: MessageId, body: ChartWords, owner: Owner, service: CurrentSessions
) -> WordedChart:
    """Returns the choice that words make of an answer's chart, and its picture. Nothing is stored: the choice
    is for `PATCH` of the message. Needs scope `ask` and counts as a question.

    A model reads only what KAI does not, and no rows. What is not understood is named. Answers 404 if the
    message is not an answer with rows, or these are no longer stored.
    """
    read, drawn = await service.charts.read_words(owner, session_id, message_id, words=body.words)
    return WordedChart.of(read, drawn)


@router.get(
    "/{session_id}/messages/{message_id}/chart.{ending}",
    summary="Get the chart of an answer as a picture",
    response_class=Response,
    responses=PICTURE_RESPONSES,
    dependencies=[READ],
)
async def draw_chart(
    session_id: SessionId,
    message_id: MessageId,
    ending: Ending,
    query: Annotated[PictureQuery, Query()],
    owner: Owner,
    service: CurrentSessions,
    pictures: Drawing,
    request: Request,
) -> Response:
    """Draws the chart that readers see, the chosen one or else the proposed one, as SVG or PNG. Needs scope
    `read`. The `ETag` changes with the chart.

    Answers 404 for an answer without a chart, and 422 (`no-picture`, with the reason) if it cannot be drawn.
    """
    session = await service.repository.get(owner, session_id)
    message = await service.repository.get_answer(session, message_id)
    return await picture_answer(request, pictures, message.shown_chart, ending=ending, query=query)


@router.get(
    "/{session_id}/messages/{message_id}/rows",
    summary="Get the rows of an answer",
    response_model=RowsPage,
    dependencies=[READ],
)
async def read_rows(
    session_id: SessionId,
    message_id: MessageId,
    query: Annotated[RowsQuery, Query()],
    owner: Owner,
    service: CurrentSessions,
    response: Response,
) -> RowsPage | Response:
    """Returns the stored rows of an answer: a page as JSON, or all of them as a CSV, Excel or Parquet file.
    Needs scope `read`.

    `X-Truncated: true` means that a limit cut the result; the name of a file then ends in `-truncated`.
    Answers 404 if the message has no result or its rows are no longer stored.
    """
    message = await service.answers.with_rows(owner, session_id, message_id)
    return await _rows_answer(StoredRows.of_answer(message), query, service, response=response)


@router.post(
    "/{session_id}/messages/{message_id}/versions",
    summary="Run another statement for an answer",
    status_code=status.HTTP_201_CREATED,
    dependencies=[
        ASK,
        Depends(count_question),
        located("/sessions/{session_id}/messages/{message_id}/versions/{number}/rows"),
    ],
)
async def add_version(
    session_id: SessionId, message_id: MessageId, body: NewVersion, owner: Owner, service: CurrentSessions
) -> AnswerVersion:
    """Runs a person's own statement in place of an answer's, through the same guard and limits and without a
    model, and keeps it with its rows as the next version of the answer. Needs scope `ask` and counts as a
    question.

    Answers 404 if the message is not an answer with a statement, 409 if the session is closed
    (`session-closed`) or the answer has 20 later versions (`too-many-versions`), and 422 (`statement-failed`,
    with the reason) if the statement is refused or fails.
    """
    return await service.answers.add_version(owner, session_id, message_id, sql=body.sql)


@router.get(
    "/{session_id}/messages/{message_id}/versions/{number}/rows",
    summary="Get the rows of a version",
    response_model=RowsPage,
    dependencies=[READ],
)
async def read_version_rows(
    session_id: SessionId,
    message_id: MessageId,
    number: Annotated[int, Path(ge=2, le=1_000, description="Number of the version: 2 for the first.")],
    query: Annotated[RowsQuery, Query()],
    owner: Owner,
    service: CurrentSessions,
    response: Response,
) -> RowsPage | Response:
    """Returns the rows of a later statement of an answer: a page as JSON, or all of them as a file. Needs
    scope `read`.

    Answers as the rows of an answer do; 404 also for a version that the answer does not have.
    """
    result = await service.answers.version(owner, session_id, message_id, number=number)
    return await _rows_answer(result, query, service, response=response)


@router.get(
    "/{session_id}/messages/{message_id}/steps",
    summary="Get the steps of an investigation",
    dependencies=[READ],
)
async def read_steps(
    session_id: SessionId, message_id: MessageId, owner: Owner, service: CurrentSessions
) -> Investigated:
    """Returns what the model thought and called in the investigation of an answer, also while it runs. Needs
    scope `read`.

    The rows of a call are read by its id. Answers 404 if the message is not an answer, or investigations are
    off.
    """
    steps = await service.answers.steps(owner, session_id, message_id)
    return Investigated(items=[_step_body(step, calls) for step, calls in steps])


@router.get(
    "/{session_id}/messages/{message_id}/results/{result_id}/rows",
    summary="Get the rows of a call of a tool",
    response_model=RowsPage,
    dependencies=[READ],
)
async def read_result_rows(
    session_id: SessionId,
    message_id: MessageId,
    result_id: Annotated[str, Path(description="Id of the result: `result_id` of a `tool_result` event.")],
    query: Annotated[RowsQuery, Query()],
    owner: Owner,
    service: CurrentSessions,
    response: Response,
) -> RowsPage | Response:
    """Returns the rows that a call of an investigation has fetched: a page as JSON, or all of them as a CSV,
    Excel or Parquet file. Needs scope `read`.

    Answers as the rows of an answer do; 404 also if investigations are off.
    """
    result = await service.answers.tool_result(owner, session_id, message_id, result_id=result_id)
    return await _rows_answer(result, query, service, response=response)


@router.get(
    "/{session_id}/confirmations", summary="List the calls that wait for approval", dependencies=[READ]
)
async def list_confirmations(
    session_id: SessionId,
    query: Annotated[ConfirmationListQuery, Query()],
    owner: Owner,
    waiting: CurrentConfirmations,
) -> PageOf[ConfirmationBody]:
    """Lists the calls of tools that have asked for approval, the first to expire first. Needs scope `read`.

    With `status=waiting` those that can be decided.
    """
    calls, next_cursor = await waiting.page(
        owner, session_id, query.status, limit=query.limit, cursor=query.cursor
    )
    items = [ConfirmationBody.model_validate(call) for call in calls]
    return PageOf(items=items, next_cursor=query.seal(next_cursor))


@router.post(
    "/{session_id}/confirmations/{confirmation_id}",
    summary="Approve, edit or deny a call",
    dependencies=[APPROVE],
)
async def decide_call(
    session_id: SessionId,
    confirmation_id: Annotated[str, Path(description="Id of the confirmation, from its event or the list.")],
    body: ConfirmationDecision,
    caller: CurrentCaller,
    waiting: CurrentConfirmations,
) -> DecisionBody:
    """Approves a call, which then runs once, as it was proposed or with other arguments (`edit`); or denies
    it. Needs scope `approve`, which an API key has only if it was made with it. Only the owner of the session
    can decide.

    The last decision of a step starts the run that goes on: follow `run_id`. The same decision again answers
    200; another one 409 (`already-decided`); one that is too late 410 (`confirmation-over`). The call still
    waits after 422 for a `call_hash` of another call (`call-hash-differs`) or `arguments` that the tool does
    not take (`edit-refused`), and after 429 (`token-budget`).
    """
    decided = await waiting.decide(
        caller,
        session_id,
        confirmation_id,
        verdict="deny" if body.decision == "deny" else "approve",
        edited=body.arguments,
        call_hash=body.call_hash,
        reason=body.reason,
    )
    return DecisionBody.model_validate(decided)


@router.post(
    "/{session_id}/messages/{message_id}/feedback",
    summary="Rate an answer",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/sessions/{session_id}/messages/{message_id}")],
)
async def give_feedback(
    session_id: SessionId, message_id: MessageId, body: NewFeedback, owner: Owner, service: CurrentSessions
) -> FeedbackBody:
    """Stores the caller's rating of an answer; the latest replaces earlier ones. Needs scope `ask`.

    A `corrected_sql`, or the SQL of an answer rated `up`, is proposed as a verified example, which the owner
    of the connection reviews, and a `comment` as a fact, which the caller accepts. Answers 404 if the message
    is not an answer.
    """
    feedback = await service.feedback.give(
        owner,
        session_id,
        message_id,
        rating=body.rating,
        comment=body.comment,
        corrected_sql=body.corrected_sql,
    )
    return FeedbackBody.model_validate(feedback)


@router.get("/{session_id}/checkpoints", summary="List the checkpoints of a session", dependencies=[READ])
async def list_checkpoints(
    session_id: SessionId, page: PageParameters, owner: Owner, service: CurrentSessions
) -> PageOf[CheckpointBody]:
    """Lists the states of the session that a fork can start from, newest first. Needs scope `read`."""
    checkpoints, next_cursor = await service.copies.checkpoints(
        owner, session_id, page.limit, cursor=page.cursor
    )
    items = [CheckpointBody.model_validate(checkpoint) for checkpoint in checkpoints]
    return PageOf(items=items, next_cursor=next_cursor)


@router.post(
    "/{session_id}/checkpoints/{checkpoint_id}/fork",
    summary="Fork a session from a checkpoint",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/sessions/{id}")],
)
async def fork_session(
    session_id: SessionId, checkpoint_id: CheckpointId, owner: Owner, service: CurrentSessions
) -> SessionBody:
    """Creates a session that continues from a checkpoint, with copies of the messages and rows up to it.
    Needs scope `ask`. The original session stays unchanged.

    Answers 404 for an unknown checkpoint, and 429 (`too-many-sessions`) when the owner's quota is reached.
    """
    return SessionBody.model_validate(await service.copies.fork(owner, session_id, checkpoint_id))


async def _rows_answer(
    result: StoredRows, query: RowsQuery, service: SessionService, *, response: Response
) -> RowsPage | Response:
    all_rows = service.rows.all(result.id, result.row_count)
    cut = {"X-Truncated": str(result.truncated).lower()}
    match query.format:
        case "json":
            response.headers.update(cut)
            rows, next_cursor = await service.answers.read_rows(result, query.limit, query.cursor)
            return RowsPage(
                columns=result.columns,
                items=rows,
                row_count=result.row_count,
                truncated=result.truncated,
                cut_by=result.cut_by,
                next_cursor=next_cursor,
            )
        case "csv":
            await service.answers.read_rows(
                result, 1, None
            )  # refused before the first byte, if they are gone
            lines = export.csv_file(result.columns, all_rows)
            headers = cut | _attachment(result, "csv")
            return StreamingResponse(lines, media_type="text/csv", headers=headers)
        case "parquet":
            file = await export.parquet_file(result.columns, all_rows)
            headers = cut | _attachment(result, "parquet")
            return Response(file, media_type=_PARQUET, headers=headers)
        case "xlsx":
            notes = filter(None, [_cut_sentence(result), *result.notes])
            file = await excel.excel_file(result.columns, all_rows, notes)
            headers = cut | _attachment(result, "xlsx")
            return Response(file, media_type=_XLSX, headers=headers)


def _cut_sentence(result: StoredRows) -> str:
    return cut_sentence(
        Rows(
            columns=result.columns,
            rows=[],
            row_count=result.row_count,
            truncated=result.truncated,
            cut_by=result.cut_by,
        )
    )


def _session_body(session: Session, waiting: int) -> SessionBody:
    return SessionBody.model_validate({**vars(session), "waiting_confirmations": waiting})


def _found(message: Message | None, words: str) -> FoundQuestion | None:
    if message is None:
        return None
    parts = [SnippetPart(text=text, is_hit=is_hit) for text, is_hit in snippet(message.query, words)]
    return FoundQuestion(message_id=message.id, snippet=parts)


def _step_body(step: StepRecord, calls: Sequence[CallRecord]) -> StepBody:
    bodies = [
        ToolCallBody.model_validate(
            {
                **vars(call),
                "elapsed_ms": call.elapsed_ms,
                "requires_approval": call.gate == "asks",
                "columns": call.result["columns"] if call.result else [],
                "row_count": call.result["row_count"] if call.result else None,
            }
        )
        for call in calls
    ]
    return StepBody.model_validate({**vars(step), "tool_calls": bodies})


def _attachment(result: StoredRows, ending: str) -> dict[str, str]:
    """Returns the header of a file download. The file's name shows that a limit cut the rows."""
    cut = "-truncated" if result.truncated else ""
    return {"Content-Disposition": f'attachment; filename="{result.id}{cut}.{ending}"'}
