"""What is told of a run beside its own events: numbers, a span, and its ids in every line of log."""

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode

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
        self._spans: dict[str, Span] = {}

    @contextmanager
    def over(self, run: Run, traceparent: str | None) -> Generator[None]:
        """Tasks that are started within the block belong to the run, in logs and traces.

        Its span lasts until its `done` is heard; `traceparent` names the request that asked for it.
        """
        begun = trace.get_tracer("kai").start_span(
            "run",
            span_from(traceparent),
            attributes={
                "kai.run.id": run.id,
                "kai.session.id": run.session_id,
                "kai.run.attempt": run.attempt,
            },
        )
        if begun.is_recording():
            self._spans[run.id] = begun
        ids = bound(run_id=run.id, session_id=run.session_id, owner=run.owner)
        with ids, trace.use_span(begun, end_on_exit=False):
            yield

    def heard(self, run: Run, event: SessionEvent) -> None:
        """Take what a run says, as it says it; the last of it is a `done`."""
        self._metrics.heard(run, event)
        begun = self._spans.get(run.id)
        if begun is None:
            return
        match event:
            case Failure():
                begun.set_attribute("error.type", event.type.rpartition(":")[2])
            case Done():
                begun.set_attributes({"kai.run.outcome": event.status, "kai.run.tokens": event.tokens_used})
                if event.status == "failed":  # an answer may come in spite of a failure
                    begun.set_status(StatusCode.ERROR)
                self._spans.pop(run.id).end()
            case _:
                pass
