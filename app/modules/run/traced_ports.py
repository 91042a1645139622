"""The steps of a run as spans: a port is what a step does, so each of its calls is one."""

from collections.abc import Sequence
from dataclasses import dataclass

from opentelemetry import trace

from app.core.tracing.spans import span
from graph import Ports
from graph.ports import (
    Analysed,
    Analyst,
    Emit,
    Question,
    Recall,
    SqlRunner,
    SqlWriter,
    Summarized,
    Summarizer,
    Written,
)
from graph.state import Context, Message, Rows


def traced(ports: Ports) -> Ports:
    """The ports with a span a call, while the run that is bound to them is traced; else as they are."""
    if not trace.get_current_span().is_recording():
        return ports
    return Ports(
        recall=_Recall(ports.recall),
        writer=_Writer(ports.writer),
        runner=_Runner(ports.runner),
        checker=ports.checker,
        results=ports.results,
        analyst=_Analyst(ports.analyst),
        summarizer=_Summarizer(ports.summarizer),
    )


@dataclass(frozen=True)
class _Recall:
    traced: Recall

    async def recall(self, question: Question) -> Context:
        with span("step loading_context", {}):
            return await self.traced.recall(question)


@dataclass(frozen=True)
class _Writer:
    traced: SqlWriter

    @property
    def dialect(self) -> str:
        return self.traced.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        with span("step repairing_sql" if question.repair else "step generating_sql", {}) as step:
            written = await self.traced.write(question, emit)
            step.set_attribute("kai.route", written.route)
            return written


@dataclass(frozen=True)
class _Runner:
    traced: SqlRunner

    async def run(self, sql: str) -> Rows:
        with span("step executing_sql", {}):
            return await self.traced.run(sql)

    async def keep(self) -> None:
        await self.traced.keep()


@dataclass(frozen=True)
class _Analyst:
    traced: Analyst

    async def analyse(self, question: Question, sql: str, rows: Rows, emit: Emit) -> Analysed:
        with span("step analyzing", {}):
            return await self.traced.analyse(question, sql, rows, emit)


@dataclass(frozen=True)
class _Summarizer:
    traced: Summarizer

    async def summarize(self, summary: str | None, exchanges: Sequence[Message]) -> Summarized:
        with span("step summarizing", {}):
            return await self.traced.summarize(summary, exchanges)

    def digest(self, summary: str | None, exchanges: Sequence[Message]) -> str:
        return self.traced.digest(summary, exchanges)
