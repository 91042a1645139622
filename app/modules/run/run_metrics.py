"""Numbers of runs, all taken from what the runs say."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from app.core.clock import now_ms
from app.core.errors import problem_kind
from app.modules.session.model import Run
from graph import SessionEvent
from graph.events import Done, Failure, Status, TextChunk

_LONG = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_SOON = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass
class _Heard:
    """How far a run is; `since` is a reading of the monotonic clock."""

    step: str | None = None
    since: float = field(default_factory=time.monotonic)
    anything: bool = False
    token: bool = False


class RunMetrics:
    """Of the runs of this process. No label tells of an owner, a session or a run."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._runs: dict[tuple[str, int], _Heard] = {}
        """By run and attempt: one that has lost its run may still be ending while the next one begins."""
        self._started = Counter("kai_runs_started", "Runs begun or taken up again", registry=registry)
        self._ended = Counter("kai_runs_ended", "Runs that ended", ["outcome"], registry=registry)
        self._errors = Counter(
            "kai_run_errors", "Problems told in runs, by their kind", ["problem"], registry=registry
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
        under_way.set_function(lambda: len(self._runs))

    @contextmanager
    def under_way(self, run: Run) -> Generator[None]:
        """The block is an attempt at the run, which is under way until its `done` or the end of the block."""
        self._runs[run.id, run.attempt] = _Heard()
        self._started.inc()
        try:
            yield
        finally:
            self._runs.pop((run.id, run.attempt), None)

    def heard(self, run: Run, event: SessionEvent) -> None:
        """Take an event of a run under way before it is published. After `done` the run is not under way."""
        heard = self._runs[run.id, run.attempt]
        if not heard.anything and run.attempt == 1:
            self._first_event.observe(_seconds_since(run))
        heard.anything = True
        match event:
            case Status():
                self._end_step(heard)
                heard.step, heard.since = event.step, time.monotonic()
            case TextChunk() if not heard.token:
                heard.token = True
                self._first_token.observe(_seconds_since(run))
            case Failure():
                self._errors.labels(problem_kind(event.type)).inc()
            case Done():
                self._end_step(heard)
                self._ended.labels(event.status).inc()
                self._seconds.labels(event.status).observe(event.elapsed_ms / 1000)
                self._tokens.inc(event.tokens_used)
                del self._runs[run.id, run.attempt]
            case _:
                pass

    def _end_step(self, heard: _Heard) -> None:
        if heard.step is not None:
            self._steps.labels(heard.step).observe(time.monotonic() - heard.since)


def _seconds_since(run: Run) -> float:
    return max(now_ms() - run.created_at, 0) / 1000
