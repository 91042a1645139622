"""What is told of a run beside its own events: numbers, a span, and its ids in every line of log."""

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import StatusCode

from app.core.errors import problem_kind
from app.core.logs.ids import bound
from app.core.tracing.spans import span_from
from app.modules.run.run_log import ACTION_OF_OUTCOME, log_run
from app.modules.run.run_metrics import RunMetrics
from app.modules.session.model import Run
from graph import SessionEvent
from graph.events import Done, Failure


class RunObserver:
    """Of the runs of this process."""

    def __init__(self, metrics: RunMetrics) -> None:
        self._metrics = metrics
        self._problems: dict[tuple[str, int], str] = {}
        """The latest problem of a run under way, by run id and attempt."""

    @contextmanager
    def over(self, run: Run, traceparent: str | None) -> Generator[None]:
        """The block is an attempt at the run, in logs and traces: all tasks that are started in it are its.

        `traceparent` names the request that asked for it. The span ends with `done` or with the block.
        """
        attributes: dict[str, str | int] = {
            "kai.run.id": run.id,
            "kai.session.id": run.session_id,
            "kai.run.attempt": run.attempt,
        }
        began = trace.get_tracer("kai").start_span("run", span_from(traceparent), attributes=attributes)
        ids = bound(run_id=run.id, session_id=run.session_id, owner=run.owner)
        with ids, trace.use_span(began), self._metrics.under_way(run):
            log_run("taken", run_id=run.id, session_id=run.session_id, attempt=run.attempt)
            try:
                yield
            finally:
                self._problems.pop((run.id, run.attempt), None)
                if began.is_recording():
                    began.end()

    def heard(self, run: Run, event: SessionEvent) -> None:
        """Take what a run says, within its block, before it is published."""
        self._metrics.heard(run, event)
        match event:
            case Failure():
                problem = problem_kind(event.type)
                self._problems[run.id, run.attempt] = problem
                trace.get_current_span().set_attribute("error.type", problem)
            case Done():
                log_end(run, event, self._problems.get((run.id, run.attempt)))
                current = trace.get_current_span()
                current.set_attributes({"kai.run.outcome": event.status, "kai.run.tokens": event.tokens_used})
                if event.status == "failed":  # an answer may come in spite of a failure
                    current.set_status(StatusCode.ERROR)
                current.end()
            case _:
                pass


def log_end(run: Run, done: Done, problem: str | None = None) -> None:
    """Log that a run has ended; `problem` is the kind of what went wrong, also where an answer came."""
    log_run(
        ACTION_OF_OUTCOME[done.status],
        run_id=run.id,
        session_id=run.session_id,
        owner=run.owner,
        attempt=run.attempt,
        problem=problem,
        tokens_used=done.tokens_used,
        elapsed_ms=done.elapsed_ms,
    )
