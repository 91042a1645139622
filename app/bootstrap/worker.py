"""Opens a worker: the engine that answers runs, and the jobs that follow an answer."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from prometheus_client import Gauge

from app.bootstrap.common import CommonServices, follow_ups_of, open_common
from app.core.auth.api_keys import ApiKeys
from app.core.bus.job_worker import JobWorker
from app.core.bus.port import FollowUp, RunRef
from app.core.clock import now_ms
from app.core.follow_up import follow_up
from app.core.kept_responses import KEPT_DAYS
from app.core.llm.model import LanguageModel
from app.core.settings import Settings
from app.core.tasks import Loops
from app.modules.agent.factory import InvestigatorFactory
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.turn import InvestigationSettings
from app.modules.agent.waiting_approvals import COUNT_SECONDS, WaitingApprovals
from app.modules.generating.documentation import DocumentationFactory
from app.modules.memory.directive_job import DirectiveJob
from app.modules.memory.directive_news import DirectiveNews
from app.modules.memory.directive_records import DirectiveRecords
from app.modules.memory.fact_repository import FactRepository
from app.modules.memory.facts import Facts
from app.modules.memory.memory_job import MemoryJob
from app.modules.memory.model import TASK_UPDATE_DAYS
from app.modules.memory.profile_text import ProfileSections
from app.modules.memory.profile_update import ProfileUpdate
from app.modules.memory.turns import StoredTurns
from app.modules.memory.vector_rewriting import LOOK_SECONDS, VectorRewriting
from app.modules.overview.running import LOOK_SECONDS as OVERVIEW_SECONDS
from app.modules.overview.running import OverviewLimits, OverviewRuns
from app.modules.prompts.sections import ContextFilter
from app.modules.records.model import StoredResult
from app.modules.run.engine import RunServices
from app.modules.run.observer import RunObserver
from app.modules.run.page_context import PageContext
from app.modules.run.ports import PortFactory
from app.modules.run.retention import Age, Retention
from app.modules.run.statement_approval import StatementApprovals
from app.modules.run.worker import Worker
from app.modules.schedules.model import NOTICE_DAYS
from app.modules.schedules.running import Runs
from app.modules.schedules.worker import ScheduleWorker, deliver_due
from app.modules.session.erasure import SWEEP_SECONDS
from app.modules.session.jobs import TitleJob, UseJob
from app.modules.webhooks.model import DELIVERY_DAYS

_DRAIN_ALL_SECONDS = 1.0
_WEBHOOK_SECONDS = 1.0
"""Time between two looks for events of webhooks, and for their deliveries."""
_CONCURRENT_JOBS = 8
"""Jobs at a time in a process for one kind of job. A process for everything runs one job of each kind."""


@asynccontextmanager
async def open_worker(
    settings: Settings, role: Literal["worker", "history", "memory", "graph"]
) -> AsyncGenerator[CommonServices]:
    """Run a worker of one role until the block ends. Raises what `open_common` raises."""
    async with AsyncExitStack() as opened:
        common = await opened.enter_async_context(open_common(settings, role))
        if role == "worker":
            await opened.enter_async_context(answer_runs(common, ports_of_runs(common)))
            await opened.enter_async_context(run_schedules(common))
            await opened.enter_async_context(compute_overviews(common))
        elif role == "graph":
            if "graph" in follow_ups_of(settings):
                await opened.enter_async_context(work_on_answers(common, "graph"))
            await opened.enter_async_context(work_for_graphiti(common))
        else:
            kind: FollowUp = "title" if role == "history" else "memory"
            await opened.enter_async_context(work_on_answers(common, kind))
            if role == "memory":
                await opened.enter_async_context(rewrite_vectors(common))
        yield common


@asynccontextmanager
async def run_schedules(common: CommonServices) -> AsyncGenerator[None]:
    """Runs schedules, and sends their notices and the events of webhooks, until the block ends."""
    runs = Runs(
        common.schedules,
        common.boards,
        common.refreshing,
        events=common.webhook_events,
        connections=common.connections.repository,
        keys=ApiKeys(common.storage),
        metrics=common.metrics,
    )
    worker = ScheduleWorker(runs, [common.schedule_webhooks, common.deliveries])
    worker.start()
    try:
        async with Loops("webhooks") as loops:
            for each in (common.webhook_events, common.webhook_deliveries):
                loops.every(_WEBHOOK_SECONDS, type(each).__name__, partial(deliver_due, each))
            yield
    finally:
        await worker.stop()


@asynccontextmanager
async def compute_overviews(common: CommonServices) -> AsyncGenerator[None]:
    """Computes what databases hold until the block ends. Does nothing where that is switched off."""
    settings = common.settings.overview
    if not settings.enabled:
        yield
        return
    runs = OverviewRuns(
        common.overviews.repository,
        common.connections,
        common.sessions,
        limits=OverviewLimits(table_rows=settings.table_rows, statement_seconds=settings.statement_seconds),
        asks_in_english=common.models is None,
    )
    async with Loops("worker") as loops:
        loops.every(OVERVIEW_SECONDS, "compute overviews", runs.run_due)
        yield


def ports_of_runs(common: CommonServices) -> PortFactory:
    """The ports of all runs of a process. Made once: it registers metrics and holds indexes of schemas."""
    investigators = _investigators(common)
    documentations = None
    if investigators is not None and common.models is not None:
        documentations = DocumentationFactory(
            investigators,
            common.investigations,
            common.rows,
            model=common.models.agent,
            allowances=common.allowances,
        )
    allowed = ContextFilter(frozenset(common.settings.llm.allowed_context))
    return PortFactory(
        common.connections,
        common.context_store,
        common.rows,
        models=common.models,
        observer=RunObserver(common.metrics),
        metrics=common.metrics,
        investigators=investigators.bind if investigators else None,
        approvals=StatementApprovals(common.investigations, common.settings.agent.approval_minutes),
        tasks=documentations.bind if documentations else None,
        rules=common.rules,
        page=PageContext(
            common.connections,
            common.sessions,
            common.rows,
            call_results=_CallResults(common),
            allowed=allowed,
        )
        if common.settings.agent.enabled
        else None,
        facts=common.recall,
        news=_news(common),
        profiles=ProfileSections(common.profiles, common.settings.memory.profile_seconds, common.metrics)
        if common.profiles.enabled
        else None,
        allowed=allowed,
        model_reduces_above=common.settings.conversations.model_reduces_above,
    )


def _news(common: CommonServices) -> DirectiveNews | None:
    memory = common.settings.memory
    if not (memory.facts and memory.directives):
        return None
    return DirectiveNews(common.facts, DirectiveRecords(common.storage), memory.recall_ms / 1_000)


@dataclass(frozen=True)
class _CallResults:
    """Results of the calls of investigations."""

    common: CommonServices

    async def __call__(self, owner: str, call_id: str) -> StoredResult | None:
        call = await self.common.investigations.call(call_id)
        if call is None or call.owner != owner or call.result is None:
            return None
        kept = call.result
        return StoredResult(
            sql=kept["sql"],
            columns=kept["columns"],
            row_count=kept["row_count"],
            truncated=kept["truncated"],
            cut_by=kept["cut_by"],
        )


@asynccontextmanager
async def answer_runs(common: CommonServices, ports: PortFactory) -> AsyncGenerator[Worker]:
    """Answers runs until the block ends. Begins with those that an earlier process has left behind."""
    settings = common.settings
    services = RunServices(
        graph=common.graph,
        lifecycle=common.lifecycle,
        repository=common.sessions,
        logs=common.logs,
        bind=ports.bind,
        allowances=common.allowances,
        observer=ports.observer,
        store_patience_seconds=settings.worker.store_patience_seconds,
    )
    waiting = Gauge("kai_runs_waiting", "Runs that wait for a worker, any worker", registry=common.metrics)
    ages = [
        Age("runs", common.sessions, settings.retention.run_days),
        Age("rows", common.rows, settings.retention.row_days),
        Age("notices", common.schedules, NOTICE_DAYS),
        Age("webhook deliveries", common.webhooks, DELIVERY_DAYS),
        Age("task updates", common.facts, TASK_UPDATE_DAYS),
        Age("kept responses", common.kept_responses, KEPT_DAYS),
    ]
    retention = Retention(common.graph, settings.checkpoints.keep_turns, ages)
    worker = Worker(
        services,
        common.queue,
        settings.worker.concurrency,
        waiting=waiting,
        retention=retention,
        owner_share=settings.worker.owner_share,
        actions=common.actions,
        arrivals=common.arrivals,
    )
    if settings.nats.url is None:
        await worker.sweep(before=now_ms())
    worker.start()
    approvals = WaitingApprovals(common.investigations, common.metrics)
    try:
        async with Loops("worker") as loops:
            loops.every(SWEEP_SECONDS, "forget sessions", common.forgetting.sweep)
            loops.every(COUNT_SECONDS, "count waiting approvals", approvals.count)
            yield worker
    finally:
        await worker.stop(_drain_seconds(common))


def _investigators(common: CommonServices) -> InvestigatorFactory | None:
    """Returns None where investigations are off."""
    settings = common.settings.agent
    if common.models is None or not (settings.enabled and common.settings.llm.shows_results):
        return None
    not_limits = {"enabled", "default_mode", "approval_minutes"}
    limits = InvestigationLimits(**settings.model_dump(exclude=not_limits))
    return InvestigatorFactory(
        InvestigationSettings(
            model=common.models.agent,
            registry=common.tools,
            limits=limits,
            actions=common.actions,
            allowances=common.allowances,
            approval_minutes=settings.approval_minutes,
            facts=common.facts if common.settings.memory.facts else None,
        ),
        common.investigations,
        common.rows,
        connections=common.connections,
        knowledge=common.context_store,
        answers=common.sessions,
        memories=common.memories,
        find_session=common.sessions.find,
    )


@asynccontextmanager
async def work_on_answers(
    common: CommonServices, kind: FollowUp, runs: Worker | None = None
) -> AsyncGenerator[None]:
    """Does one kind of job for each complete answer until the block ends.

    A job begins while the worker that answers `runs` in this process has room for another run.
    """
    settings = common.settings
    jobs = _jobs(common, kind)

    async def charged(ref: RunRef) -> None:
        if not jobs:
            return
        async with common.allowances.charged(ref.owner):
            for job in jobs:
                await job(ref)

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


def _jobs(common: CommonServices, kind: FollowUp) -> Sequence[Callable[[RunRef], Awaitable[None]]]:
    """Returns the jobs of this kind that the settings leave on, in their order."""
    if kind == "graph":
        return _graph_jobs(common)
    return [_of_session(job) for job in _session_jobs(common, kind)]


def _of_session(job: TitleJob | DirectiveJob | UseJob | MemoryJob) -> Callable[[RunRef], Awaitable[None]]:
    return lambda ref: job.work(ref.session_id)


def _graph_jobs(common: CommonServices) -> Sequence[Callable[[RunRef], Awaitable[None]]]:
    graphiti = common.external_memory.graphiti
    if graphiti is None:
        return []
    from app.modules.memory.graphiti.service import GraphJob  # noqa: PLC0415

    return [GraphJob(_turns(common), graphiti).work]


def _turns(common: CommonServices) -> StoredTurns:
    return StoredTurns(common.sessions, common.investigations.is_tainted)


def _session_jobs(
    common: CommonServices, kind: Literal["title", "memory"]
) -> Sequence[TitleJob | DirectiveJob | UseJob | MemoryJob]:
    llm = common.settings.llm
    model = None if common.models is None else common.models.summary
    match kind:
        case "title":
            return [TitleJob(common.sessions, model if llm.titles and llm.shows_answers else None)]
        case "memory":
            return [
                *_directive_jobs(common),
                UseJob(common.sessions, _used_facts(common), common.context_store),
                *_memory_jobs(common, model if llm.remembers_by_model else None),
            ]


def _directive_jobs(common: CommonServices) -> Sequence[DirectiveJob]:
    memory = common.settings.memory
    if not (memory.facts and memory.directives):
        return []
    return [
        DirectiveJob(
            _turns(common),
            common.facts,
            records=DirectiveRecords(common.storage),
            is_tainted=common.investigations.is_tainted,
        )
    ]


def _used_facts(common: CommonServices) -> Facts | None:
    return common.facts if common.settings.memory.facts else None


def _memory_jobs(common: CommonServices, model: LanguageModel | None) -> Sequence[MemoryJob]:
    if not common.settings.memory.conversations:
        return []
    profile = ProfileUpdate(common.profiles, model) if model and common.profiles.enabled else None
    return [MemoryJob(_turns(common), common.memories, model, profile=profile)]


@asynccontextmanager
async def rewrite_vectors(common: CommonServices) -> AsyncGenerator[None]:
    """Rewrites vectors of other embedding models until the block ends. Does nothing without a model."""
    if common.remembering is None:
        yield
        return
    rewriting = VectorRewriting(
        common.storage, common.remembering, common.allowances.charged, metrics=common.metrics
    )
    async with Loops("worker") as loops:
        loops.every(LOOK_SECONDS, "rewrite vectors", rewriting.work)
        yield


@asynccontextmanager
async def work_for_graphiti(common: CommonServices) -> AsyncGenerator[None]:
    """Sends to Graphiti what it is to remember, until the block ends. Does nothing where it is off."""
    graphiti = common.external_memory.graphiti
    if graphiti is None:
        yield
        return
    from app.modules.memory.graphiti.messages import MessageWording  # noqa: PLC0415
    from app.modules.memory.graphiti.worker import GraphMetrics, GraphWorker, SendSettings  # noqa: PLC0415

    memory = common.settings.graph_memory
    worker = GraphWorker(
        graphiti.client,
        graphiti.outbox,
        graphiti.groups,
        gate=graphiti.gate,
        turns=_turns(common),
        facts=FactRepository(common.storage),
        settings=SendSettings(
            queue=memory.queue,
            retries=memory.retries,
            system_messages=memory.system_messages,
            wording=MessageWording(memory.max_message_chars, memory.connection_names),
        ),
        metrics=GraphMetrics(common.metrics),
        trial_group=graphiti.trial_group,
        news=graphiti.news,
    )
    worker.start()
    try:
        yield
    finally:
        await worker.stop()


def _drain_seconds(common: CommonServices) -> float:
    """A process that does everything has closed its streams by the time it stops, so no reader waits."""
    if common.role in ("all", "once"):
        return _DRAIN_ALL_SECONDS
    return common.settings.worker.drain_seconds
