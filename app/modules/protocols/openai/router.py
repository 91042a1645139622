"""`/openai/v1`: databases as models, and chat completions."""

from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, HTTPException, Path, Request, Response, status
from fastapi.responses import JSONResponse

from app.http.callers import ANYBODY, ASK, READ, Owner
from app.http.methods import methods_of
from app.http.open_streams import STREAM
from app.http.rate_limits import count_question
from app.http.router import Router
from app.http.routes import Text, is_storable
from app.modules.database_connection.model import Connection
from app.modules.protocols.dependencies import CurrentDepartures, CurrentThreads
from app.modules.protocols.frame_stream import events_of, folded_stream
from app.modules.protocols.openai.conversations import ask_after, ask_in
from app.modules.protocols.openai.errors import (
    PREFIX,
    ModelUnknown,
    RouteNotOffered,
    Unsupported,
    error_body,
)
from app.modules.protocols.openai.fold import ChunkFold, CompletionFold, completion_of_task, frames_of_task
from app.modules.protocols.openai.models import AGENT, mode_named, model_named, models_of
from app.modules.protocols.openai.refusals import refuse_unsupported
from app.modules.protocols.openai.schemas import (
    Completion,
    CompletionRequest,
    DatabaseModel,
    DatabaseModels,
    ErrorBody,
)
from app.modules.protocols.openai.structured_titles import title_asked_for, without_format
from app.modules.protocols.openai.tasks import reply_to_task
from app.modules.protocols.openai.transcript import questions_of
from app.modules.protocols.options import SESSION_HEADER, options_in, question_headers
from app.modules.protocols.threads import Assistant, Threads
from app.modules.records.model import Run, Session
from app.modules.session.dependencies import CurrentSessions
from app.modules.session.service import SessionService

_ERRORS: dict[int | str, dict[str, object]] = {
    status: {"description": title, "model": ErrorBody}
    for status, title in {
        400: "The request is wrong, or asks for something that KAI does not do",
        401: "The credential is missing or unknown",
        403: "The caller may not do this",
        404: "There is no such model",
        408: "The body did not arrive in time",
        409: "The conversation is busy, closed or about another database",
        413: "The body is too large",
        422: "The statement of the answer failed",
        429: "A limit is reached",
        500: "A defect in KAI",
        502: "The language model refused the request",
        503: "A dependency is unavailable",
        504: "The answer took too long",
    }.items()
}

router = Router(prefix=PREFIX, tags=["openai"], responses=_ERRORS)


@dataclass(frozen=True)
class ChatNames:
    """What the headers of a request call its conversation."""

    session: str | None
    open_webui: str | None

    def in_threads(self, body: CompletionRequest, connection: Connection) -> str | None:
        """Returns the client's name of the conversation, or None if the request has none.

        A chat of Open WebUI may ask several databases, and each has a session of its own. Raises
        `Unsupported` for a name that cannot be stored.
        """
        if self.session is not None:
            return self.session
        chat_id = self.open_webui or (body.metadata or {}).get("chat_id")
        if not isinstance(chat_id, str) or not chat_id:
            return None
        if not is_storable(chat_id):
            raise Unsupported(
                "metadata", "`metadata.chat_id` must be text without NUL and half surrogate pairs."
            )
        return f"{connection.id} {chat_id}"


async def _chat_names(
    session: Annotated[
        Text | None,
        Header(
            alias=SESSION_HEADER,
            min_length=1,
            max_length=255,
            description="The conversation: the id of a session of yours, or any text of your own.",
        ),
    ] = None,
    open_webui: Annotated[
        Text | None,
        Header(
            alias="X-OpenWebUI-Chat-Id",
            min_length=1,
            max_length=255,
            description="The conversation, as Open WebUI calls it. Each database has one of its own.",
        ),
    ] = None,
) -> ChatNames:
    return ChatNames(session, open_webui)


@router.get("/models", summary="List databases as models", dependencies=[READ])
async def list_models(owner: Owner, threads: CurrentThreads) -> DatabaseModels:
    """Lists the databases that the caller may ask, oldest first, as models `kai/<name>`. Needs scope `read`.

    Of several databases with the same name, the oldest has the plain one, and the names of others end with a
    part of their ids. Where there is an agent mode, each is listed once more as `kai/<name>:agent`.
    """
    known = models_of([each async for each in threads.databases(owner)])
    endings = ["", AGENT] if threads.has_agent_mode else [""]
    return DatabaseModels(
        data=[_model(name + ending, each) for ending in endings for name, each in known.items()]
    )


@router.get("/models/{model:path}", summary="Get a database as a model", dependencies=[READ])
async def read_model(
    model: Annotated[str, Path(description="Name of the model, or the id of a database.")],
    owner: Owner,
    threads: CurrentThreads,
) -> DatabaseModel:
    """Returns a database that the caller may ask. Needs scope `read`. Answers 404 (`model_not_found`) for any
    other.
    """
    return _model(model, (await _assistant(owner, model, threads)).connection)


@router.post(
    "/chat/completions",
    summary="Answer the last message of a conversation",
    response_model=Completion,
    responses={
        200: {
            "description": "The answer; with `stream`, server-sent events with a `chat.completion.chunk` "
            "each, and `[DONE]` at the end, or an `error` if the run has failed.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "headers": {
                "X-Run-Id": {"description": "Id of KAI's run", "schema": {"type": "string"}},
                SESSION_HEADER: {"description": "Id of KAI's session", "schema": {"type": "string"}},
            },
        }
    },
    dependencies=[ASK, STREAM],
)
async def create_chat_completion(
    request: Request,
    body: CompletionRequest,
    names: Annotated[ChatNames, Depends(_chat_names)],
    *,
    owner: Owner,
    sessions: CurrentSessions,
    threads: CurrentThreads,
    departures: CurrentDepartures,
) -> Response:
    """Answers the last message, which must be the user's: with the statement, the first rows, the analysis
    and suggested questions as one text in Markdown. Needs scope `ask`.

    The conversation is the session that `X-Kai-Session`, `X-OpenWebUI-Chat-Id` or `metadata.chat_id` names;
    it is created if there is none. Without such a name, it is the session of this database in which exactly
    the earlier texts of the user were asked; if there is none, a new one, in which only the last question is
    asked.

    Background tasks of Open WebUI and LibreChat (titles, tags, follow-ups, queries for a search, prompts of
    images, completions of what is typed) are recognised by their shape and answered without a session, a run
    or a language model; they do not count as questions.

    A failed run has the status of its error, and as a stream an `error` chunk. A client that closes the
    stream cancels the answer after 5 seconds. Answers 400 for what KAI does not do, such as `tools`, 404 for
    an unknown model, 409 while calls of the conversation wait for an approval, and 429 for limits.
    """
    title = title_asked_for(body)
    refuse_unsupported(body if title is None else without_format(body))
    include_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
    assistant = await _assistant(owner, body.model, threads)
    connection = assistant.connection
    options = options_in(assistant.mode, body.kai)
    threads.check_mode(options.mode)
    if title is not None:
        completion = completion_of_task(body.model, title.text, function=title.function)
        return _task_answer(body, completion, include_usage=include_usage)
    reply = reply_to_task(body.messages)
    if reply is not None:
        return _task_answer(body, completion_of_task(body.model, reply), include_usage=include_usage)
    await count_question(request)
    earlier, question = questions_of(body.messages)
    name = names.in_threads(body, connection)
    if name is None:
        session, run = await ask_after(
            sessions, owner, connection.id, earlier=earlier, question=question, options=options
        )
    else:
        session = await threads.named(owner, name, {}, is_shown=names.session is not None)
        session, run = await ask_in(sessions, session, connection.id, question=question, options=options)
    departures.keep(run.id)
    headers = {"X-Run-Id": run.id, **question_headers(session, run)}
    if not body.stream:
        return await _whole_answer(sessions, session, run, body.model, headers=headers)
    return folded_stream(
        run.id,
        sessions.follower.follow(run),
        ChunkFold(run, body.model, include_usage=include_usage),
        headers=headers,
        on_close=departures.cancel_unread(session, run),
    )


@router.api_route(
    "/{path:path}",
    methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
    summary="Refuse other routes of OpenAI's",
    include_in_schema=False,
    dependencies=[ANYBODY],
)
async def refuse_other_routes(request: Request) -> None:
    """Answers 404 in OpenAI's form to every route that KAI does not have, such as `/responses`, and 405 to
    other methods of those that it has.
    """
    if request.method not in methods_of(request.app, request.scope["path"]):
        raise HTTPException(status.HTTP_405_METHOD_NOT_ALLOWED)
    raise RouteNotOffered(request.url.path)


def _model(name: str, connection: Connection) -> DatabaseModel:
    return DatabaseModel(id=name, created=connection.created_at // 1_000)


async def _assistant(owner: str, model: str, threads: Threads) -> Assistant:
    """Raises `ModelUnknown` or `AgentModeOff`."""
    known = [each async for each in threads.databases(owner)]
    name, mode = mode_named(model)
    found = model_named(known, name)
    if found is None:
        raise ModelUnknown(model, [*models_of(known)])
    threads.check_mode(mode)
    return Assistant(found, mode)


def _task_answer(body: CompletionRequest, completion: Completion, *, include_usage: bool) -> Response:
    if not body.stream:
        return JSONResponse(completion.model_dump(mode="json"))
    frames = frames_of_task(completion, include_usage=include_usage)
    return Response("".join(f"data: {each.data}\n\n" for each in frames), media_type="text/event-stream")


async def _whole_answer(
    sessions: SessionService, session: Session, run: Run, model: str, *, headers: dict[str, str]
) -> Response:
    """The answer when its run has ended. A client should not ask again what has failed: KAI has tried."""
    fold = CompletionFold(run, model)
    async with aclosing(sessions.follower.events(run)) as log:
        async for entry in log:
            for event in events_of(entry):
                fold.add(event)
    if fold.failure is None:
        return JSONResponse(fold.completion.model_dump(mode="json"), headers=headers)
    error = error_body(fold.failure).model_dump(mode="json")
    return JSONResponse(error, fold.failure.status, {**headers, "X-Should-Retry": "false"})
