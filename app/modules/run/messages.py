"""Converts the result of a turn: into the stored message, events, and problems."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.errors import Problem, problem_kind, problem_type
from app.core.german_problems import german_detail, german_title
from app.core.ids import id_of
from app.core.language import language_of
from app.core.llm.calls import Meter, add_known
from app.core.storage.port import StorageStarting, StorageUnavailable
from app.modules.records.model import Message, Outcome, Run, TakenStep
from graph.answer import Answer, DatabaseCost, Effort, TurnAnswer
from graph.chunks import answer_chunks
from graph.errors import TurnError
from graph.events import Chunk, Done, Failure, RunError, SessionEvent, Status
from graph.state import Rows

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ending:
    """The end of a run: outcome, time (epoch ms), error, and the answer of its completed steps."""

    outcome: Outcome
    at: int
    failure: Failure | None = None
    answer: TurnAnswer = field(default_factory=TurnAnswer)

    def of_run(self) -> dict[str, JsonValue]:
        """Returns the fields of the run that the end changes."""
        error = None if self.failure is None else self.failure.model_dump(include=set(RunError.model_fields))
        return {
            "status": self.outcome,
            "ended_at": self.at,
            "error": error,
            "tokens_used": self.answer.tokens_used,
            "cached_tokens": self.answer.cached_tokens,
            "cost": cost_of(self.answer).model_dump(),
        }

    def applied_to(self, run: Run) -> Run:
        """Returns the run with this end."""
        error = None
        if self.failure is not None:
            error = RunError(**self.failure.model_dump(include=set(RunError.model_fields)))
        return replace(
            run,
            status=self.outcome,
            ended_at=self.at,
            error=error,
            tokens_used=self.answer.tokens_used,
            cached_tokens=self.answer.cached_tokens,
            cost=cost_of(self.answer),
        )

    def at_tokens(self, tokens_used: int) -> "Ending":
        """The same end with the tokens that are kept or emitted already."""
        return replace(self, answer=self.answer.model_copy(update={"tokens_used": tokens_used}))


def ending_of(done: Done, run: Run, ending: Ending) -> Ending:
    """The end of a run whose `done` is emitted already, with what else is known of how it ended."""
    failure = ending.failure if done.status == "failed" else None
    counts = {"cached_tokens": done.cached_tokens, **cost_of(done).model_dump()}
    answer = ending.answer.model_copy(update=counts)
    reported = Ending(done.status, run.created_at + done.elapsed_ms, failure, answer)
    return reported.at_tokens(done.tokens_used)


def ending_of_answer(answer: Message, run: Run) -> Ending:
    """Returns the end of a run as its stored answer tells it, without the tokens that a provider cached."""
    failure = None if answer.error is None else Failure(**answer.error.model_dump())
    return Ending(answer.status, answer.created_at, failure).at_tokens(answer.tokens_used - run.tokens_before)


def cost_of(counted: DatabaseCost) -> DatabaseCost:
    """Returns the cost alone of what holds it."""
    return DatabaseCost.model_validate(counted.model_dump(include=set(DatabaseCost.model_fields)))


def metered_cost(meter: Meter) -> DatabaseCost:
    return DatabaseCost(database_ms=meter.database_ms, rows_read=meter.rows_read, bytes_read=meter.bytes_read)


def sum_costs(one: DatabaseCost, other: DatabaseCost) -> DatabaseCost:
    return DatabaseCost(
        database_ms=one.database_ms + other.database_ms,
        rows_read=add_known(one.rows_read, other.rows_read),
        bytes_read=add_known(one.bytes_read, other.bytes_read),
    )


def wire(event: SessionEvent) -> tuple[str, str]:
    """Returns the name and the data of an event, as in the log. The data hold the name, too."""
    return event.event, event.model_dump_json()


def waiting_event(run: Run, place: int, *, is_session_busy: bool = False) -> Status:
    """Returns the event of a run that waits: for the questions before it in its session, or for a worker."""
    message = f"Waiting for a free worker: number {place} in the line"
    if is_session_busy:
        message = "Waiting for the question before this one"
    elif place == 1:
        message = "The question is stored and begins next"
    return Status(step="waiting", message=message, run_id=run.id, place=place)


def done_event(run: Run, ending: Ending) -> Done:
    """Returns the last event of a run."""
    return Done(
        run_id=run.id,
        session_id=run.session_id,
        message_id=run.message_id,
        status=ending.outcome,
        **ending.answer.model_dump(include={*Effort.model_fields, *DatabaseCost.model_fields}),
        tokens_used=ending.answer.tokens_used,
        cached_tokens=ending.answer.cached_tokens,
        elapsed_ms=max(0, ending.at - run.created_at),
    )


WAITING_FROM = 2**52
"""A base above the number of every turn; adding epoch milliseconds to it still fits an integer."""


def waiting_sequence(run: Run) -> int:
    """Returns the sequence of a question whose run has no turn yet."""
    return WAITING_FROM + run.created_at


def question_sequence(turn: int) -> int:
    return 2 * turn


def turn_of(message: Message) -> int:
    """The number of the turn of a question or answer that has one."""
    return message.sequence // 2


def question_id(run: Run) -> str:
    """Returns one id for the same question and key, so that a late write makes no second message."""
    return id_of(run.id, f"question {run.question}")


def question_message(run: Run, message_id: str, sequence: int) -> Message:
    return Message(
        id=message_id,
        client_message_id=run.client_message_id,
        parent_message_id=None if run.branch is None else run.branch.parent_message_id,
        sequence=sequence,
        owner=run.message_owner,
        session_id=run.session_id,
        run_id=run.id,
        role="human",
        query=run.question,
        given_sql=run.sql,
        created_at=run.created_at,
    )


def answer_message(run: Run, answer: TurnAnswer, turn: int, *, timeline: Sequence[TakenStep] = ()) -> Message:
    """Returns the message with the answer of an ended run, complete or partial, in the turn of this
    number.
    """
    finished_at = run.ended_at or run.created_at
    cost = sum_costs(run.cost_before, answer)
    return Message(
        **answer.model_dump(include=set(Answer.model_fields) - set(DatabaseCost.model_fields)),
        **cost.model_dump(),
        id=run.message_id,
        sequence=question_sequence(turn) + 1,
        owner=run.message_owner,
        session_id=run.session_id,
        run_id=run.id,
        role="assistant",
        query=run.question,
        given_sql=run.sql,
        timeline=[*timeline],
        created_at=finished_at,
        status=cast("Outcome", run.status),
        error=run.error,
        tokens_used=run.tokens_before + answer.tokens_used,
        elapsed_ms=run.elapsed_before + max(0, finished_at - run.created_at),
    )


def next_run_id(run_id: str) -> str:
    """Returns the id of the run that goes on with the turn of this one, so that two deciders make one."""
    return id_of(run_id, "goes on")


def following_run(waiting: Run) -> Run:
    """Returns the run that goes on with a turn when its calls are decided. The wait is no part of it."""
    ended_at = waiting.ended_at or waiting.created_at
    return replace(
        waiting,
        id=next_run_id(waiting.id),
        resumes=waiting.id,
        created_at=now_ms(),
        status="open",
        attempt=1,
        handovers=0,
        cancel_requested=False,
        ended_at=None,
        tokens_used=0,
        cached_tokens=None,
        cost=DatabaseCost(),
        cost_before=sum_costs(waiting.cost_before, waiting.cost),
        turn=None,
        tokens_before=waiting.tokens_before + waiting.tokens_used,
        elapsed_before=waiting.elapsed_before + max(0, ended_at - waiting.created_at),
        webhook_due_at=None,
    )


WITHDRAWN = "The calls that waited for approval were withdrawn. None of them was made."


def withdrawn_message(message: Message, ended: Run) -> Message:
    """Returns the answer of a turn whose waiting calls were withdrawn."""
    return message.model_copy(update={"run_id": ended.id, "status": "cancelled", "analysis": WITHDRAWN})


def message_events(message: Message, head: Rows | None) -> list[Chunk | Failure]:
    """Returns the events of a stored answer; `head` are the first rows of its result."""
    events: list[Chunk | Failure] = [*answer_chunks(message, head)]
    if message.error is not None:
        events.append(Failure(**message.error.model_dump()))
    return events


def failure_of(error: BaseException, run: Run) -> Failure:
    """Returns the problem that a run ends with; in German if its question is.

    A defect is logged, and reported without details.
    """
    failure = _problem_of(error, run)
    if language_of(run.question) != "de":
        return failure
    kind = problem_kind(failure.type)
    is_german = language_of(failure.detail) == "de"  # as the built-in writer says what it does not read
    detail = failure.detail if is_german else german_detail(kind, failure.detail, None)
    return failure.model_copy(update={"title": german_title(kind, failure.title), "detail": detail})


def _problem_of(error: BaseException, run: Run) -> Failure:
    match error:
        case TurnError():
            return _failure(
                error.problem, error.title, error.status, detail=error.detail, retryable=error.retryable
            )
        case Problem():
            return _failure(error.problem, error.title, error.status, detail=error.detail, retryable=False)
        case StorageStarting():
            return _failure(
                "storage-unavailable", "The store is unavailable", 503, detail=str(error), retryable=True
            )
        case StorageUnavailable():
            detail = "KAI's own store does not answer. The question is kept; ask it again in a moment."
            return _failure(
                "storage-unavailable", "The store is unavailable", 503, detail=detail, retryable=True
            )
        case _:
            logger.error("run %s of session %s failed", run.id, run.session_id, exc_info=error)
            detail = f"This is a defect in KAI. Its log tells more under run {run.id}."
            return _failure("internal", "Something went wrong", 500, detail=detail, retryable=True)


def _failure(kind: str, title: str, status: int, *, detail: str, retryable: bool) -> Failure:
    return Failure(type=problem_type(kind), title=title, status=status, detail=detail, retryable=retryable)
