"""A collector of traces as KAI meets it: OTLP over HTTP, its messages decoded."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

WAIT_SECONDS = 60


@dataclass(frozen=True)
class Exported:
    """A span as it was exported; ids are in hexadecimal, `parent` is empty for a root."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    failed: bool
    attributes: dict[str, str]


@dataclass
class Collector:
    """What has come so far, decoded and raw."""

    url: str
    spans: list[Exported] = field(default_factory=list)
    raw: bytes = b""
    _news: threading.Condition = field(default_factory=threading.Condition)

    def take(self, body: bytes) -> None:
        with self._news:
            self.raw += body
            self.spans += _exported(ExportTraceServiceRequest.FromString(body))
            self._news.notify_all()

    def until(self, wanted: Callable[[Exported], bool]) -> Exported:
        """The first span like this, waited for."""
        with self._news:
            assert self._news.wait_for(lambda: any(map(wanted, self.spans)), WAIT_SECONDS), self.spans
            return next(filter(wanted, self.spans))

    def of_trace(self, trace: str) -> dict[str, Exported]:
        return {span.name: span for span in self.spans if span.trace == trace}


@contextmanager
def otlp_collector() -> Iterator[Collector]:
    collector = Collector("")

    class Receive(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Nothing: a test tells what it saw."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receive) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _exported(request: ExportTraceServiceRequest) -> list[Exported]:
    found = []
    for resource in request.resource_spans:
        service = next(each.value for each in resource.resource.attributes if each.key == "service.name")
        found += [
            Exported(
                service=service.string_value,
                name=span.name,
                trace=span.trace_id.hex(),
                id=span.span_id.hex(),
                parent=span.parent_span_id.hex(),
                failed=span.status.code == span.status.STATUS_CODE_ERROR,
                attributes=_attributes(span),
            )
            for scope in resource.scope_spans
            for span in scope.spans
        ]
    return found


def _attributes(span: Span) -> dict[str, str]:
    return {each.key: each.value.string_value or str(each.value.int_value) for each in span.attributes}
