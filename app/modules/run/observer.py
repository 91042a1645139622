"""Metrics, spans and log lines of the runs of this process, all taken from the events that the runs emit."""

import logging
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from app.core.clock import now_ms
from app.core.errors import problem_kind
from app.core.logs.ids import bound
from app.core.tracing.spans import span, span_from
from app.modules.records.model import Outcome, Run
from graph import SessionEvent
from graph.events import Done, Failure, Status, Step, TextChunk

Action = Literal["taken", "finished", "failed", "cancelled", "waits", "handed_over", "requeued", "lost"]

_ACTION_OF_OUTCOME: dict[Outcome, Action] = {
    "complete": "finished",
    "failed": "failed",
    "cancelled": "cancelled",
    "awaiting_approval": "waits",
}
_WARNINGS: tuple[Action, ...] = ("requeued", "lost")

_LONG = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_SOON = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

logger = logging.getLogger("kai.runs")


@dataclass(kw_only=True)
class _Progress:
    """Progress of an attempt. `since` is the start of `step`, a reading of the monotonic clock."""

    step: str | None = None
    since: float = field(default_factory=time.monotonic)
    has_event: bool = False
    has_token: bool = False
    problem: str | None = None
    """Kind of the latest problem."""


class RunObserver:
    """Observes attempts. No label of a metric names an owner, a session or a run."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts: dict[tuple[str, int], _Progress] = {}
        """By run id and attempt, because an attempt that lost its run may still be ending while the
        next one begins.
        """
        self._started = Counter("kai_runs_started", "Runs begun or taken up again", registry=registry)
        self._ended = Counter("kai_runs_ended", "Runs that ended", ["outcome"], registry=registry)
        self._errors = Counter(
            "kai_run_errors", "Errors of runs, by the kind of problem", ["problem"], registry=registry
        )
        self._tokens = Counter("kai_run_tokens", "Tokens of prompts and replies", registry=registry)
        self._seconds = Histogram(
            "kai_run_duration_seconds",
            "From a question to its done, waiting included",
            ["outcome"],
            buckets=_LONG,
            registry=registry,
        )
        self._steps = Histogram(
            "kai_step_duration_seconds", "Of a step of a run", ["step"], buckets=_LONG, registry=registry
        )
        self._first_event = Histogram(
            "kai_run_first_event_seconds",
            "From a question to its run's first event",
            buckets=_SOON,
            registry=registry,
        )
        self._first_token = Histogram(
            "kai_run_first_token_seconds",
            "From a question to the first token of its answer",
            buckets=_SOON,
            registry=registry,
        )
        under_way = Gauge("kai_runs_under_way", "Runs under way in this process", registry=registry)
        under_way.set_function(lambda: len(self._attempts))

    @contextmanager
    def attempt(self, run: Run) -> Generator[None]:
        """Observe an attempt at the run: every task started within the block has its ids and its span.

        The span continues the trace of the request that asked the question. The attempt counts as under
        way, and its span lasts, until `done` is observed or the block ends.
        """
        attributes: dict[str, str | int] = {
            "kai.run.id": run.id,
            "kai.session.id": run.session_id,
            "kai.run.attempt": run.attempt,
        }
        run_span = trace.get_tracer("kai").start_span(
            "run", span_from(run.traceparent), attributes=attributes
        )
        ids = bound(run_id=run.id, session_id=run.session_id, owner=run.owner)
        with ids, trace.use_span(run_span):
            self._attempts[run.id, run.attempt] = _Progress()
            self._started.inc()
            log_run("taken", run_id=run.id, session_id=run.session_id, attempt=run.attempt)
            try:
                yield
            finally:
                self._attempts.pop((run.id, run.attempt), None)
                if run_span.is_recording():
                    run_span.end()

    def observe_step(self, step: Step) -> AbstractContextManager[Span]:
        """Open a span for the port call of a step. The spans of the call's own work nest in it."""
        return span(f"step {step}", {})

    def observe(self, run: Run, event: SessionEvent) -> None:
        """Observe an event of the attempt, within its block. Nothing follows `done`."""
        progress = self._attempts[run.id, run.attempt]
        if not progress.has_event and run.attempt == 1:
            self._first_event.observe(_seconds_since(run))
        progress.has_event = True
        match event:
            case Status():
                self._end_step(progress)
                progress.step = event.step
                progress.since = time.monotonic()
            case TextChunk() if not progress.has_token:
                progress.has_token = True
                self._first_token.observe(_seconds_since(run))
            case Failure():
                progress.problem = problem_kind(event.type)
                self._errors.labels(progress.problem).inc()
                trace.get_current_span().set_attribute("error.type", progress.problem)
            case Done():
                self._end_step(progress)
                self._end(run, event, progress)
            case _:
                pass

    def _end_step(self, progress: _Progress) -> None:
        if progress.step is not None:
            self._steps.labels(progress.step).observe(time.monotonic() - progress.since)

    def _end(self, run: Run, done: Done, progress: _Progress) -> None:
        self._ended.labels(done.status).inc()
        self._seconds.labels(done.status).observe(done.elapsed_ms / 1000)
        self._tokens.inc(done.tokens_used)
        del self._attempts[run.id, run.attempt]
        log_end(run, done, progress.problem)
        run_span = trace.get_current_span()
        run_span.set_attributes({"kai.run.outcome": done.status, "kai.run.tokens": done.tokens_used})
        if done.status == "failed":  # an answer may come in spite of a failure
            run_span.set_status(StatusCode.ERROR)
        run_span.end()


def log_run(action: Action, *, run_id: str, session_id: str, **details: str | int | None) -> None:
    """Log what happened to a run. `details` hold no contents: ids, counts and names of problems only."""
    ids = {"run_id": run_id, "session_id": session_id}
    known = {name: value for name, value in details.items() if value is not None}
    logger.log(
        logging.WARNING if action in _WARNINGS else logging.INFO,
        "run %s",
        action.replace("_", " "),
        extra={"action": action, **ids, **known},
    )


def log_end(run: Run, done: Done, problem: str | None = None) -> None:
    """Log that a run has ended. `problem` is the kind of its latest problem, also if there is an answer."""
    log_run(
        _ACTION_OF_OUTCOME[done.status],
        run_id=run.id,
        session_id=run.session_id,
        owner=run.owner,
        attempt=run.attempt,
        problem=problem,
        tokens_used=done.tokens_used,
        elapsed_ms=done.elapsed_ms,
    )


def _seconds_since(run: Run) -> float:
    return max(now_ms() - run.created_at, 0) / 1000
