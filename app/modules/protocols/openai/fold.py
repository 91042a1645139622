"""The events of a run as chunks of a chat completion. Pure."""

from collections.abc import Sequence

from app.core.clock import now_ms
from app.core.errors import problem_type
from app.core.ids import new_id
from app.modules.protocols.frame_stream import Frame
from app.modules.protocols.openai.errors import error_body
from app.modules.protocols.openai.schemas import (
    AnswerMessage,
    CalledFunction,
    ChunkChoice,
    Completion,
    CompletionChoice,
    CompletionChunk,
    CompletionDelta,
    CompletionUsage,
    FunctionCall,
    KaiAnswer,
)
from app.modules.protocols.openai.text import AnswerText, where_to_approve
from app.modules.records.model import Run
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Confirmation,
    Done,
    Failure,
    FindingsChunk,
    HeadlineChunk,
    LeftOutChunk,
    ReferencesChunk,
    Reset,
    SessionEvent,
)

LAST = Frame(None, "[DONE]")


class CompletionFold:
    """Collects an answer. `failure` is set if the run has failed."""

    def __init__(self, run: Run, model: str) -> None:
        self.failure: Failure | None = None
        self._run = run
        self._model = model
        self._text = AnswerText()
        self._error: Failure | None = None
        self._waiting: list[Confirmation] = []
        self._pieces: list[str] = []
        self._said = KaiAnswer(analysis=None)
        self._tokens = 0

    def add(self, event: SessionEvent) -> str:
        """Returns the text that an event adds."""
        match event:
            case Failure():
                self._error = event
            case Confirmation():
                self._waiting.append(event)
            case Done():
                return self._keep(self._end(event))
            case HeadlineChunk() | ReferencesChunk() | LeftOutChunk() | FindingsChunk():
                self._said = self._said.model_copy(update={event.type: event.content})
            case _:
                self._note(event)
                return self._keep(self._text.add(event))
        return ""

    def _note(self, event: SessionEvent) -> None:
        match event:
            case AnalysisChunk() | ClarificationChunk():
                self._said = self._said.model_copy(update={"analysis": event.content})
            case Reset():
                self._said = KaiAnswer(analysis=None)
            case _:
                pass

    def _keep(self, piece: str) -> str:
        self._pieces.append(piece)
        return piece

    def _end(self, done: Done) -> str:
        self._tokens = done.tokens_used
        if done.status == "failed":
            self.failure = self._error or _UNEXPLAINED
        elif done.status == "cancelled":
            return "\n\n*The answer was cancelled.*\n"
        elif done.status == "awaiting_approval":
            return where_to_approve(self._waiting, done.session_id)
        return ""

    @property
    def usage(self) -> CompletionUsage:
        return CompletionUsage(completion_tokens=self._tokens, total_tokens=self._tokens)

    @property
    def completion(self) -> Completion:
        """The whole answer."""
        return Completion(
            id=self.id,
            created=self.created,
            model=self._model,
            choices=[CompletionChoice(message=AnswerMessage(content="".join(self._pieces)))],
            usage=self.usage,
            kai=self.said,
        )

    @property
    def said(self) -> KaiAnswer:
        """The analysis and its sources."""
        return self._said

    @property
    def id(self) -> str:
        return f"chatcmpl-{self._run.id}"

    @property
    def created(self) -> int:
        return self._run.created_at // 1_000


def completion_of_task(model: str, reply: str, *, function: str | None = None) -> Completion:
    """The answer to a background task, which has no run. With `function` a call of it takes the reply."""
    message = AnswerMessage(content=reply)
    if function is not None:
        called = CalledFunction(name=function, arguments=reply)
        message = AnswerMessage(
            content=None, tool_calls=[FunctionCall(id=f"call_{new_id()}", function=called)]
        )
    return Completion(
        id=f"chatcmpl-{new_id()}",
        created=now_ms() // 1_000,
        model=model,
        choices=[CompletionChoice(message=message)],
        usage=CompletionUsage(completion_tokens=0, total_tokens=0),
    )


class ChunkFold:
    """Makes the frames of a streamed answer."""

    def __init__(self, run: Run, model: str, *, include_usage: bool) -> None:
        self._answer = CompletionFold(run, model)
        self._model = model
        self._include_usage = include_usage

    def begin(self) -> Sequence[Frame]:
        return [self._chunk(CompletionDelta(role="assistant", content=""))]

    def frames(self, event: SessionEvent) -> Sequence[Frame]:
        piece = self._answer.add(event)
        found = [self._chunk(CompletionDelta(content=piece))] if piece else []
        return [*found, *self._last()] if isinstance(event, Done) else found

    def _last(self) -> list[Frame]:
        """A client that reads an error stops: nothing follows it."""
        if self._answer.failure is not None:
            return [Frame.of(None, error_body(self._answer.failure).model_dump(mode="json"))]
        usage = [self._frame([], self._answer.usage)] if self._include_usage else []
        return [self._chunk(CompletionDelta(), is_last=True), *usage, LAST]

    def _chunk(self, delta: CompletionDelta, *, is_last: bool = False) -> Frame:
        choices = [ChunkChoice(delta=delta, finish_reason="stop" if is_last else None)]
        return self._frame(choices, None, said=self._answer.said if is_last else None)

    def _frame(
        self, choices: list[ChunkChoice], usage: CompletionUsage | None, *, said: KaiAnswer | None = None
    ) -> Frame:
        chunk = CompletionChunk(
            id=self._answer.id,
            created=self._answer.created,
            model=self._model,
            choices=choices,
            usage=usage,
            kai=said,
        )
        return _frame_of(chunk, include_usage=self._include_usage)


def frames_of_task(completion: Completion, *, include_usage: bool) -> list[Frame]:
    """The same answer as a stream."""
    message = completion.choices[0].message
    text = CompletionDelta(role="assistant", content=message.content, tool_calls=message.tool_calls)
    first = CompletionChunk(
        id=completion.id,
        created=completion.created,
        model=completion.model,
        choices=[ChunkChoice(delta=text)],
    )
    last = ChunkChoice(delta=CompletionDelta(), finish_reason="stop")
    chunks = [first, first.model_copy(update={"choices": [last]})]
    if include_usage:
        chunks.append(first.model_copy(update={"choices": [], "usage": completion.usage}))
    return [*(_frame_of(each, include_usage=include_usage) for each in chunks), LAST]


def _frame_of(chunk: CompletionChunk, *, include_usage: bool) -> Frame:
    sent = chunk.model_dump(mode="json")
    for choice in sent["choices"]:
        choice["delta"] = {name: value for name, value in choice["delta"].items() if value is not None}
    if not include_usage:
        del sent["usage"]
    if chunk.kai is None:
        del sent["kai"]
    return Frame.of(None, sent)


_UNEXPLAINED = Failure(
    type=problem_type("internal"),
    title="Something went wrong",
    status=500,
    detail="The run failed. KAI's log tells more.",
    retryable=False,
)
