"""Exports spans to a collector, configured by OpenTelemetry's own environment variables only."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import trace

from app.core.errors import CannotRun

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_LAST_SECONDS = 2.0
_WITHHELD = ("url.path", "url.query")
"""Attributes to redact: paths contain names of tables, and queries contain search words."""


class TracingNotInstalled(CannotRun):
    """A collector is configured, and the extra that sends to it is not installed."""


@contextmanager
def traced() -> Generator[None]:
    """Export spans within the block if an endpoint is set. The end waits up to 2 seconds for the last spans.

    Raises `TracingNotInstalled`.
    """
    if not _wanted():
        yield
        return
    provider = _provider()
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        sending = threading.Thread(target=provider.shutdown, daemon=True)
        sending.start()
        sending.join(_LAST_SECONDS)  # by itself it would retry an unavailable collector for half a minute


def _wanted() -> bool:
    """Returns True if an endpoint is set and export is not disabled, as OpenTelemetry specifies."""
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    off = off or os.environ.get("OTEL_TRACES_EXPORTER", "otlp") == "none"
    return not off and any(os.environ.get(name) for name in _ENDPOINTS)


def _provider() -> "TracerProvider":
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - optional
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise TracingNotInstalled(
            "Traces need an extra: .venv/bin/pip install -e '.[otel]' in KAI's folder, or unset "
            "OTEL_EXPORTER_OTLP_ENDPOINT."
        ) from None

    class Withholding(SpanProcessor):
        """Redacts span attributes that FastAPI's instrumentation sets."""

        def on_start(self, span: Span, parent_context: object = None) -> None:
            for name in _WITHHELD:
                if name in (span.attributes or {}):
                    span.set_attribute(name, "[redacted]")

    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    provider = TracerProvider(
        shutdown_on_exit=False, resource=Resource.create(None if named else {"service.name": "kai"})
    )
    provider.add_span_processor(Withholding())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
