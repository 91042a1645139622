"""Metrics and traces of model calls, by OpenTelemetry's conventions for generative models."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from opentelemetry.trace import Span, SpanKind
from prometheus_client import CollectorRegistry, Counter, Histogram

from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.llm.settings import Provider
from app.core.tracing.spans import span

Operation = Literal["chat", "embeddings"]
_PROVIDER_NAMES: Mapping[Provider, str] = {
    "openai": "openai",
    "azure": "azure.ai.openai",
    "vertexai": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "ollama": "ollama",
}
"""Providers by OpenTelemetry's names."""

_Outcome = Literal["ok", "unavailable", "rejected", "cancelled", "failed"]


@dataclass
class Meter:
    """Usage of model calls and of statements so far, including failed ones.

    `calls` counts calls of language models; tokens of embeddings count as input only. `cached_tokens` are
    the input tokens that providers read from their prefix caches; None if no provider reported them.
    `rows_read` and `bytes_read` are what databases read for statements; None if no database reported them.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    database_ms: int = 0
    rows_read: int | None = None
    bytes_read: int | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, other: "Meter") -> None:
        """Add the counts of another meter."""
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cached_tokens = add_known(self.cached_tokens, other.cached_tokens)
        self.database_ms += other.database_ms
        self.rows_read = add_known(self.rows_read, other.rows_read)
        self.bytes_read = add_known(self.bytes_read, other.bytes_read)


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)

CallListener = Callable[[Meter], None]
"""Callback with the usage of a call when it ends, in the context of the call."""

Charge = Callable[[str], AbstractAsyncContextManager[None]]
"""Context manager that charges an owner for the usage of models within the block."""


def add_known(one: int | None, other: int | None) -> int | None:
    """Returns the sum of what is known. None if neither is."""
    return other if one is None else one + (other or 0)


@contextmanager
def metered() -> Generator[Meter]:
    """Count the usage of models and statements in the block and in tasks that it starts. Outer blocks do not
    count it.
    """
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def count_usage(used: Meter) -> None:
    """Count usage in the block that is metered now, if any."""
    if (meter := _METER.get()) is not None:
        meter.add(used)


@asynccontextmanager
async def uncharged(_: str) -> AsyncGenerator[None]:
    """A `Charge` that charges no owner."""
    with metered():
        yield


class ModelCalls:
    """Metrics of all models of a process. The label `model` is as configured, so it is bounded."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._listeners: list[CallListener] = []
        self._calls = Counter(
            "kai_model_calls",
            "Calls of a model that ended, all their tries taken together",
            ["model", "operation", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "kai_model_call_duration_seconds",
            "Of a call of a model, tries and pauses included",
            ["model", "operation"],
            buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180),
            registry=registry,
        )
        self.retries = Counter(
            "kai_model_retries", "Tries of a call after the first", ["model"], registry=registry
        )
        self.tokens = Counter(
            "kai_model_tokens",
            "Tokens of prompts (input), of these from the provider's cache (cached), and of replies (output)",
            ["model", "kind"],
            registry=registry,
        )

    def listen(self, listener: CallListener) -> None:
        """Call `listener` at the end of every call from now on."""
        self._listeners.append(listener)

    @contextmanager
    def of(self, model: str, operation: Operation, provider: Provider = "openai") -> Generator["Call"]:
        """Measure and trace the block as one call."""
        began = time.monotonic()
        outcome: _Outcome = "failed"
        used = Meter(calls=1 if operation == "chat" else 0)
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": _PROVIDER_NAMES[provider],
            "gen_ai.request.model": model,
        }
        try:
            with span(f"{operation} {model}", attributes, SpanKind.CLIENT) as traced:
                yield Call(model, self, traced, used=used)
            outcome = "ok"
        except ModelUnavailable:
            outcome = "unavailable"
            raise
        except ModelRejected:
            outcome = "rejected"
            raise
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            self._calls.labels(model, operation, outcome).inc()
            self._seconds.labels(model, operation).observe(time.monotonic() - began)
            count_usage(used)
            for listener in self._listeners:
                listener(used)


class Call:
    """A running call."""

    def __init__(self, model: str, calls: ModelCalls, traced: Span, *, used: Meter) -> None:
        self._model = model
        self._calls = calls
        self._span = traced
        self._used = used

    def tried_again(self) -> None:
        self._calls.retries.labels(self._model).inc()

    def used(self, input_tokens: int, output_tokens: int, cached_tokens: int | None = None) -> None:
        """Count tokens, as the provider reports or as estimated. Cached tokens are input tokens too."""
        self._used.add(
            Meter(input_tokens=input_tokens, output_tokens=output_tokens, cached_tokens=cached_tokens)
        )
        counted = {"input": input_tokens, "output": output_tokens}
        attributes = {"gen_ai.usage.input_tokens": input_tokens, "gen_ai.usage.output_tokens": output_tokens}
        if cached_tokens is not None:
            counted["cached"] = cached_tokens
            attributes["gen_ai.usage.cache_read.input_tokens"] = cached_tokens
        for kind, tokens in counted.items():
            self._calls.tokens.labels(self._model, kind).inc(tokens)
        self._span.set_attributes(attributes)
