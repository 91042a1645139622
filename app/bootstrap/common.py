"""Opens what every process needs: the store, the bus, the models, and the modules over them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from app.bootstrap.models import open_embedding, open_models
from app.bootstrap.store import encryption_key, open_store
from app.core.bus.local import LocalJobs, LocalLogs
from app.core.bus.port import EventLogs, JobQueue
from app.core.errors import CannotRun
from app.core.exclusive import exclusive_folder
from app.core.ids import new_id
from app.core.llm.calls import ModelCalls
from app.core.secrets import SecretBox
from app.core.settings import MAKE_A_KEY, ConversationSettings, LimitSettings, QuotaSettings, Settings
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Storage
from app.core.storage.probe import StoreProbe
from app.core.storage.typesense_client import catch_up_within
from app.http.readiness import CHECK_SECONDS, Check, Readiness
from app.modules.agent.records import InvestigationRecords
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.limits import Limits, StatementLimits
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.records import StatementRecords
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.ports import Models
from app.modules.session.cache import ConversationCache
from app.modules.session.repository import SessionRepository
from app.modules.session.rows import RowStore
from app.modules.session.shared_cache import LIFETIME, SharedConversations
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry
from app.modules.usage.repository import UsageRepository
from app.modules.usage.service import Allowances, Quotas
from graph import SessionGraph
from migrations.runner import check_up_to_date, migrate

Role = Literal["all", "once", "api", "worker", "history", "memory"]
"""`api` serves the routes, `worker` answers runs, `history` and `memory` work on complete answers. `all` does
everything. `once` serves the routes and answers runs."""


@dataclass(frozen=True, kw_only=True)
class CommonServices:
    """Services of every process, whatever its role."""

    settings: Settings
    role: Role
    metrics: CollectorRegistry
    readiness: Readiness
    storage: Storage
    calls: ModelCalls
    models: Models | None
    """None if no model is configured, and in a process that answers no questions."""
    allowances: Allowances
    connections: DatabaseConnections
    context_store: ContextStore
    memories: ConversationMemories
    graph: SessionGraph
    sessions: SessionRepository
    rows: RowStore
    investigations: InvestigationRecords
    tools: ToolRegistry
    queue: JobQueue
    logs: EventLogs
    lifecycle: RunLifecycle


@asynccontextmanager
async def open_common(settings: Settings, role: Role) -> AsyncGenerator[CommonServices]:
    """Opens the services that all roles share.

    Raises `CannotRun`: `FolderInUse`, `StoreTooNew`, `StoreTooOld`, `StorageUnavailable`, `BusUnavailable`,
    or for settings that do not fit together. Raises `OSError` when the data folder cannot be written.
    """
    _check_role(settings, role)
    async with AsyncExitStack() as opened:
        if settings.redis.url is not None:
            from app.core.redis_check import check_redis  # noqa: PLC0415 - only for those who have a Redis

            await check_redis(settings.redis.url.get_secret_value())
        if settings.nats.url is None:
            opened.enter_context(exclusive_folder(settings.data_dir))
        unmeasured, checkpointer = await opened.enter_async_context(open_store(settings))
        if settings.migrate_at_start:
            await migrate(unmeasured)
        else:
            await check_up_to_date(unmeasured)
        metrics = _process_metrics()
        calls = ModelCalls(metrics)
        storage = MeasuredStorage(unmeasured, metrics)
        embedding = open_embedding(settings.llm, calls, opened)
        allowances = Allowances(UsageRepository(storage), _quotas(settings.quotas))
        connections = DatabaseConnections(
            storage,
            SecretBox(encryption_key(settings)),
            _limits(settings.limits),
            records=StatementRecords(metrics, texts=settings.audit.statements),
            access=_access(settings),
            embedding=embedding,
            charge=allowances.charged,
        )
        opened.push_async_callback(connections.close)
        cache = _cache(settings.conversations, metrics) if role in ("all", "api", "once") else None
        shared_cache = await opened.enter_async_context(_shared_cache(settings, metrics))
        sessions = SessionRepository(storage, cache, shared_cache)
        graph = SessionGraph(checkpointer)
        queue, logs = await opened.enter_async_context(_bus(settings))
        models: Models | None = None
        if settings.llm.configured and role != "api":
            models = await open_models(settings.llm, calls, unmeasured, opened=opened)
        store_probe = StoreProbe(storage)
        checks: list[Check] = [
            ("store", lambda: _impatient(store_probe.write)),
            ("checkpoints", lambda: _impatient(lambda: graph.checkpoints(new_id(), limit=1))),
            ("queue", queue.check),
        ]
        yield CommonServices(
            settings=settings,
            role=role,
            metrics=metrics,
            readiness=Readiness(checks),
            storage=storage,
            calls=calls,
            models=models,
            allowances=allowances,
            connections=connections,
            context_store=ContextStore(storage, connections),
            memories=ConversationMemories(
                storage, embedding if settings.llm.memories else None, allowances.charged
            ),
            graph=graph,
            sessions=sessions,
            rows=RowStore(storage),
            investigations=InvestigationRecords(storage),
            tools=ToolRegistry(BUILTIN, ToolPolicy(**settings.tools.model_dump())),
            queue=queue,
            logs=logs,
            lifecycle=RunLifecycle(sessions, queue, logs),
        )


def _process_metrics() -> CollectorRegistry:
    """Metrics of the process: processor, memory, files and garbage collections."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def _check_role(settings: Settings, role: Role) -> None:
    if settings.nats.url is None and role not in ("all", "once"):
        command = "kai api" if role == "api" else "kai worker"
        raise CannotRun(f"{command} works with others over NATS: set KAI_NATS__URL, or run kai serve.")
    if settings.nats.url is not None and settings.store == "sqlite":
        raise CannotRun("Processes that share a NATS need a store to share: set KAI_STORE=typesense.")
    if settings.nats.url is not None and settings.encryption_key is None:
        raise CannotRun(
            "Processes that share a NATS need one key to share: set KAI_ENCRYPTION_KEY to what the data "
            f"folder's secret.key holds, or for a new store create one with {MAKE_A_KEY}"
        )


@asynccontextmanager
async def _bus(settings: Settings) -> AsyncGenerator[tuple[JobQueue, EventLogs]]:
    if settings.nats.url is None:
        yield LocalJobs(), LocalLogs()
        return
    # Only for processes that share a NATS: its client takes a third of a second.
    from app.core.bus.nats_connection import nats_connection  # noqa: PLC0415
    from app.core.bus.nats_jobs import NatsJobs  # noqa: PLC0415
    from app.core.bus.nats_logs import NatsLogs  # noqa: PLC0415

    async with nats_connection(settings.nats, settings.worker.lease_seconds) as connection:
        queue = NatsJobs(connection)
        logs = NatsLogs(connection)
        await queue.check()
        try:
            yield queue, logs
        finally:
            await logs.aclose()
            await queue.aclose()


async def _impatient(check: Callable[[], Awaitable[object]]) -> None:
    """Check a store so that a Typesense that has been started says why it cannot be read yet, in time."""
    with catch_up_within(CHECK_SECONDS / 2):
        await check()


def _cache(settings: ConversationSettings, metrics: CollectorRegistry) -> ConversationCache | None:
    if not settings.enabled:
        return None
    return ConversationCache(
        max_bytes=settings.max_cache_memory_mb * 1024 * 1024,
        idle_seconds=settings.inactivity_timeout_minutes * 60,
        registry=metrics,
    )


@asynccontextmanager
async def _shared_cache(
    settings: Settings, metrics: CollectorRegistry
) -> AsyncGenerator[SharedConversations | None]:
    url = settings.redis.url
    if url is None or not settings.conversations.enabled:
        yield None
        return
    from app.core.best_effort_cache import best_effort_cache  # noqa: PLC0415 - only for those with a Redis

    box = SecretBox(encryption_key(settings)) if settings.encrypt_checkpoints else None
    async with best_effort_cache(url.get_secret_value(), LIFETIME) as texts:
        yield SharedConversations(texts, settings.redis.cache_prefix, box, registry=metrics)


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        statement=StatementLimits(
            timeout_seconds=settings.statement_seconds,
            max_rows=settings.result_rows,
            max_bytes=settings.result_bytes,
            max_characters=settings.statement_chars,
        ),
        check_seconds=settings.check_seconds,
    )


def _quotas(settings: QuotaSettings) -> Quotas:
    return Quotas(
        runs=settings.runs or None,
        sessions=settings.sessions or None,
        tokens_per_day=settings.tokens_per_day or None,
    )


def _access(settings: Settings) -> Access:
    """The networks and folders that are set, else those that fit the users who can reach KAI."""
    asked = settings.databases
    folder = settings.data_dir
    usual = Access(networks=(), folders=(folder,)) if settings.serves_others else ONE_USER
    return Access(
        networks=usual.networks if asked.networks is None else asked.networks,
        folders=usual.folders if asked.folders is None else asked.folders,
        own_files=[folder / "kai.db", folder / "checkpoints.db"],
    )
