"""KAI's own OpenTelemetry spans; without the SDK or an exporter they cost nothing.

Spans hold no contents: no question, statement, row or prompt, and only the class of an exception.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_W3C = TraceContextTextMapPropagator()
_HEADER = "traceparent"


def current_traceparent() -> str | None:
    """Returns the current span as a `traceparent`, or None if nothing is traced."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get(_HEADER)


def span_from(traceparent: str | None) -> Context:
    """Returns the context of a `traceparent`; the root context for None."""
    return _W3C.extract({_HEADER: traceparent} if traceparent else {}, Context())


@contextmanager
def span(
    name: str, attributes: Mapping[str, str | int], kind: SpanKind = SpanKind.INTERNAL
) -> Generator[Span]:
    """Trace the block as a span. An exception sets its status to error."""
    with trace.get_tracer("kai").start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as begun:
        try:
            yield begun
        except BaseException as error:
            begun.set_attribute("error.type", type(error).__name__)
            begun.set_status(StatusCode.ERROR)
            raise
