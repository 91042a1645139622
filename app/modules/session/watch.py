"""What is told of a run beside its own events: numbers, a span, and its ids in every line of log."""

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import StatusCode

from app.core.logs.ids import bound
from app.core.tracing.spans import span_from
from app.modules.session.model import Run
from app.modules.session.run_metrics import RunMetrics
from graph import SessionEvent
from graph.events import Done, Failure


class RunWatch:
    """Of the runs of this process."""

    def __init__(self, metrics: RunMetrics) -> None:
        self._metrics = metrics

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
            try:
                yield
            finally:
                if began.is_recording():
                    began.end()

    def heard(self, run: Run, event: SessionEvent) -> None:
        """Take what a run says, within its block, before it is published."""
        self._metrics.heard(run, event)
        match event:
            case Failure():
                trace.get_current_span().set_attribute("error.type", event.type.rpartition(":")[2])
            case Done():
                current = trace.get_current_span()
                current.set_attributes({"kai.run.outcome": event.status, "kai.run.tokens": event.tokens_used})
                if event.status == "failed":  # an answer may come in spite of a failure
                    current.set_status(StatusCode.ERROR)
                current.end()
            case _:
                pass
