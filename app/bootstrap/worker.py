"""Opens a worker: the engine that answers runs, and the jobs that follow an answer."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

from prometheus_client import Counter, Gauge

from app.bootstrap.common import CommonServices, open_common
from app.core.bus.follow_up import follow_up
from app.core.bus.job_worker import JobWorker
from app.core.bus.port import FollowUp, RunRef
from app.core.clock import now_ms
from app.core.settings import Settings
from app.modules.agent.factory import InvestigatorFactory
from app.modules.agent.investigation import InvestigationSettings
from app.modules.agent.limits import InvestigationLimits
from app.modules.memory.memory_job import MemoryJob
from app.modules.run.engine import RunServices
from app.modules.run.observer import RunObserver
from app.modules.run.ports import BindInvestigator, PortFactory
from app.modules.run.retention import Age, Retention
from app.modules.run.worker import Worker
from app.modules.session.exchanges import SessionExchangeReader
from app.modules.session.title_job import TitleJob

_DRAIN_ALL_SECONDS = 1.0
_CONCURRENT_JOBS = 8
"""Jobs at a time in a process for one kind of job. A process for everything runs one job of each kind."""


@asynccontextmanager
async def open_worker(
    settings: Settings, role: Literal["worker", "history", "memory"]
) -> AsyncGenerator[CommonServices]:
    """Run a worker of one role until the block ends. Raises what `open_common` raises."""
    async with AsyncExitStack() as opened:
        common = await opened.enter_async_context(open_common(settings, role))
        if role == "worker":
            await opened.enter_async_context(answer_runs(common))
        else:
            kind: FollowUp = "title" if role == "history" else "memory"
            await opened.enter_async_context(work_on_answers(common, kind))
        yield common


@asynccontextmanager
async def answer_runs(common: CommonServices) -> AsyncGenerator[Worker]:
    """Answers runs until the block ends. Begins with those that an earlier process has left behind."""
    settings = common.settings
    observer = RunObserver(common.metrics)
    ports = PortFactory(
        common.connections,
        common.context_store,
        common.rows,
        models=common.models,
        observer=observer,
        metrics=common.metrics,
        investigators=_investigators(common),
    )
    services = RunServices(
        graph=common.graph,
        lifecycle=common.lifecycle,
        repository=common.sessions,
        logs=common.logs,
        bind=ports.bind,
        allowances=common.allowances,
        observer=observer,
        store_patience_seconds=settings.worker.store_patience_seconds,
    )
    waiting = Gauge("kai_runs_waiting", "Runs that wait for a worker, any worker", registry=common.metrics)
    ages = [
        Age("runs", common.sessions, settings.retention.run_days),
        Age("rows", common.rows, settings.retention.row_days),
    ]
    retention = Retention(common.graph, settings.checkpoints.keep_turns, ages)
    worker = Worker(
        services,
        common.queue,
        settings.worker.concurrency,
        waiting=waiting,
        retention=retention,
        owner_share=settings.worker.owner_share,
    )
    if settings.nats.url is None:
        await worker.sweep(before=now_ms())
    worker.start()
    try:
        yield worker
    finally:
        await worker.stop(_drain_seconds(common))


def _investigators(common: CommonServices) -> BindInvestigator | None:
    """Returns None where investigations are off."""
    settings = common.settings.agent
    if common.models is None or not settings.enabled:
        return None
    calls = Counter(
        "kai_tool_calls",
        "Calls of tools that ended, by tool and outcome",
        ["tool", "outcome"],
        registry=common.metrics,
    )
    limits = InvestigationLimits(**settings.model_dump(exclude={"enabled"}))
    return InvestigatorFactory(
        InvestigationSettings(model=common.models.agent, registry=common.tools, limits=limits, calls=calls),
        common.investigations,
        common.rows,
        connections=common.connections,
        knowledge=common.context_store,
    ).bind


@asynccontextmanager
async def work_on_answers(
    common: CommonServices, kind: FollowUp, runs: Worker | None = None
) -> AsyncGenerator[None]:
    """Does one kind of job for each complete answer until the block ends.

    A job begins while the worker that answers `runs` in this process has room for another run.
    """
    settings = common.settings
    job = _job(common, kind)

    async def charged(ref: RunRef) -> None:
        if job is None:
            return
        async with common.allowances.charged(ref.owner):
            await job.work(ref.session_id)

    worker = JobWorker(
        common.queue,
        kind,
        follow_up(charged),
        concurrency=1 if common.role == "all" else _CONCURRENT_JOBS,
        retry_seconds=settings.worker.lease_seconds,
        pause_seconds=settings.worker.follow_up_pause_seconds,
        yield_to=None if runs is None else runs.jobs,
    )
    worker.start()
    try:
        yield
    finally:
        await worker.stop(_drain_seconds(common))


def _job(common: CommonServices, kind: FollowUp) -> TitleJob | MemoryJob | None:
    """Returns None if the settings switch the jobs of this kind off."""
    llm = common.settings.llm
    model = None if common.models is None else common.models.summary
    match kind:
        case "title":
            return TitleJob(common.sessions, model if llm.titles else None)
        case "memory":
            if not common.settings.memory.conversations:
                return None
            reader = SessionExchangeReader(common.sessions)
            return MemoryJob(reader, common.memories, model if llm.memories else None)


def _drain_seconds(common: CommonServices) -> float:
    """A process that does everything has closed its streams by the time it stops, so no reader waits."""
    if common.role in ("all", "once"):
        return _DRAIN_ALL_SECONDS
    return common.settings.worker.drain_seconds
