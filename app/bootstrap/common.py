"""Opens what every process needs: the store, the bus, the models, and the modules over them."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from app.bootstrap.encryption import StoredSecrets, find_secrets, instance_key
from app.bootstrap.held_store import Waiting, held_store
from app.bootstrap.models import open_embedding, open_models, open_overview
from app.bootstrap.store import bring_up_to_date, encryption_keys, open_store
from app.core.auth.api_keys import ApiKeys
from app.core.bus.begun_runs import BegunRunsFile
from app.core.bus.local import LocalDecisions, LocalJobs, LocalLogs
from app.core.bus.port import FOLLOW_UPS, Decisions, EventLogs, FollowUp, RunQueue
from app.core.clock import now_ms
from app.core.errors import CannotRun
from app.core.exclusive import exclusive_folder
from app.core.ids import new_id
from app.core.kept_responses import KeptResponses
from app.core.llm.calls import Charge, ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.overview import ModelOverview
from app.core.pictures import Pictures
from app.core.secrets import SecretBox
from app.core.settings import (
    MAKE_A_KEY,
    ConversationSettings,
    LimitSettings,
    MemorySettings,
    QuotaSettings,
    Settings,
)
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Storage
from app.core.storage.probe import StoreProbe
from app.core.storage.starting import catch_up_within
from app.http.readiness import CHECK_SECONDS, Check, Detail, Readiness
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.connection_policies import ConnectionPolicies
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import StatementRecords
from app.modules.database_connection.uploads.folder import UploadFolder
from app.modules.mcp.approvals import McpApprovals
from app.modules.mcp.config import McpConfiguration, read_servers
from app.modules.mcp.servers import McpServers, connected_servers
from app.modules.memory.consent import Consents, Gate
from app.modules.memory.erasure import MemoryForgetting
from app.modules.memory.export import MemoryExports
from app.modules.memory.fact_access import SessionConnection
from app.modules.memory.fact_choice import FactLimits
from app.modules.memory.facts import ExpireLogs, Facts, FindMessage, SourceMessage, no_logs
from app.modules.memory.graphiti.external import ExternalMemory, FactsOutside, OutsideMemoryOfConnections
from app.modules.memory.graphiti.forgetting import GraphForgetting
from app.modules.memory.guards import WordGuard
from app.modules.memory.profile import Profiles
from app.modules.memory.recall import FactRecall
from app.modules.memory.scope_choice import read_scope_setting
from app.modules.memory.scopes import Groups
from app.modules.memory.service import ConversationMemories
from app.modules.overview.repository import OverviewRepository
from app.modules.overview.service import Overviews
from app.modules.protocols.mcp.services import instance_id_of, server_name
from app.modules.records.cache import ConversationCache
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.records.shared_cache import LIFETIME, SharedConversations
from app.modules.records.steps import InvestigationRecords
from app.modules.rules.files import RuleFiles
from app.modules.rules.service import Rules
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.pending_submissions import Arrivals
from app.modules.run.ports import Models
from app.modules.run.running_actions import ActionsUnderWay
from app.modules.schedules.chats import Chats
from app.modules.schedules.deliveries import Deliveries
from app.modules.schedules.mail import Mail
from app.modules.schedules.pin_pictures import PinPictures
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.webhooks import NoticeSubjects, ScheduleWebhooks
from app.modules.session.erasure import LOGGED_MS, SessionForgetting
from app.modules.sql_generation.statement_faults import StatementFaults
from app.modules.tools.extensions import load_extensions
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry
from app.modules.tools.toolsets.memory import OF_FACTS
from app.modules.usage.repository import UsageRepository
from app.modules.usage.service import Allowances, Quotas
from app.modules.webhooks.delivering import WebhookDeliveries
from app.modules.webhooks.events import WebhookEvents
from app.modules.webhooks.repository import WebhookRepository
from app.modules.webhooks.run_subjects import RunSubjects
from app.modules.webhooks.sending import WebhookSender
from graph import SessionGraph
from migrations.runner import check_up_to_date

if TYPE_CHECKING:  # only for those who have a Graphiti
    from app.modules.memory.graphiti.service import Graphiti

logger = logging.getLogger(__name__)

Role = Literal["all", "once", "api", "worker", "history", "memory", "graph"]
"""`api` serves the routes, `worker` answers runs; `history`, `memory` and `graph` work on complete answers.
`all` does everything. `once` serves the routes and answers runs."""


@dataclass(frozen=True, kw_only=True)
class CommonServices:
    """Services of every process, whatever its role."""

    settings: Settings
    role: Role
    own_key: bytes
    """The key by which this installation names what it names; all its processes have it."""
    metrics: CollectorRegistry
    readiness: Readiness
    storage: Storage
    calls: ModelCalls
    models: Models | None
    overview: ModelOverview | None
    """As `models`, with what is known of each. Both are None if no model is configured."""
    allowances: Allowances
    connections: DatabaseConnections
    upload_folder: UploadFolder
    context_store: ContextStore
    memories: ConversationMemories
    profiles: Profiles
    facts: Facts
    memory_forgetting: MemoryForgetting
    forgetting: SessionForgetting
    remembering: EmbeddingModel | None
    """Embeds facts and memories of conversations. None where no model does."""
    recall: FactRecall | None
    """None where facts are switched off."""
    external_memory: ExternalMemory
    graph: SessionGraph
    sessions: SessionRepository
    rows: RowStore
    investigations: InvestigationRecords
    actions: ActionsUnderWay
    arrivals: Arrivals
    tools: ToolRegistry
    mcp_servers: McpServers
    rules: Rules | None
    """None without a model, and where the agent is switched off."""
    boards: BoardRepository
    pictures: ChartPictures
    """Their process starts with the first picture."""
    refreshing: Refreshing
    schedules: ScheduleRepository
    overviews: Overviews
    kept_responses: KeptResponses
    webhooks: WebhookRepository
    webhook_sender: WebhookSender
    webhook_events: WebhookEvents
    webhook_deliveries: WebhookDeliveries
    schedule_webhooks: ScheduleWebhooks
    deliveries: Deliveries
    queue: RunQueue
    logs: EventLogs
    lifecycle: RunLifecycle


@asynccontextmanager
async def open_common(
    settings: Settings, role: Role, waiting: Waiting | None = None
) -> AsyncGenerator[CommonServices]:
    """Opens the services that all roles share. `waiting` as `held_store` has it.

    Raises `CannotRun`: `FolderInUse`, `StoreTooNew`, `StoreTooOld`, `StoreUnknown`, `StorageUnavailable`,
    `BusUnavailable`, or for settings that do not fit together. Raises `OSError` when the data folder cannot
    be written.
    """
    _check_role(settings, role)
    async with AsyncExitStack() as opened:
        if settings.redis.url is not None:
            from app.core.redis_check import check_redis  # noqa: PLC0415 - only for those who have a Redis

            await check_redis(settings.redis.url.get_secret_value())
        if settings.nats.url is None:
            opened.enter_context(exclusive_folder(settings.data_dir))
        queue, logs, decisions = await opened.enter_async_context(_bus(settings))
        unmeasured, checkpointer = await opened.enter_async_context(open_store(settings, decisions))
        if settings.nats.url is None and settings.store == "typesense":
            await opened.enter_async_context(held_store(unmeasured, settings.data_dir, waiting))
        await bring_up_to_date(settings, unmeasured, checkpointer)
        box = SecretBox(*encryption_keys(settings))
        own_key = await instance_key(unmeasured, box, encryption_keys(settings)[-1])
        metrics = _process_metrics()
        calls = ModelCalls(metrics)
        storage = MeasuredStorage(unmeasured, metrics)
        overview = open_overview(settings.llm, calls, opened)
        embedding = open_embedding(settings.llm, calls, opened)
        allowances = Allowances(UsageRepository(storage), _quotas(settings.quotas))
        upload_folder = UploadFolder(settings.upload_folder)
        connections = DatabaseConnections(
            storage,
            box,
            _limits(settings.limits),
            records=StatementRecords(metrics, texts=settings.audit.statements),
            access=_access(settings),
            uploads=upload_folder,
            embedding=embedding if {"schema", "values"}.issubset(settings.llm.allowed_context) else None,
            allowances=allowances,
        )
        opened.push_async_callback(connections.close)
        cache = _cache(settings.conversations, metrics) if role in ("all", "api", "once") else None
        shared_cache = await opened.enter_async_context(_shared_cache(settings, metrics))
        sessions = SessionRepository(storage, cache, shared_cache)
        kept_responses = KeptResponses(storage, box)
        graph = SessionGraph(checkpointer)
        models: Models | None = None
        if overview is not None:
            models = await open_models(overview, settings.llm, unmeasured, analysis=settings.analysis)
        calls_ended = Counter(
            "kai_tool_calls",
            "Calls of tools that ended, by tool and outcome",
            ["tool", "outcome"],
            registry=metrics,
        )
        investigations = InvestigationRecords(storage, calls_ended)
        mcp_servers = _mcp_servers(settings, storage, role, own_key=own_key)
        await opened.enter_async_context(connected_servers(mcp_servers))
        store_probe = StoreProbe(storage)
        checks: list[Check] = [
            ("store", lambda: _impatient(store_probe.write)),
            ("checkpoints", lambda: _impatient(lambda: graph.checkpoints(new_id(), limit=1))),
            ("queue", queue.check),
        ]
        remembering = embedding if settings.llm.remembers_by_model else None
        groups = Groups(own_key)
        graphiti = await opened.enter_async_context(_graphiti(settings, storage, connections, groups=groups))
        details: list[Detail] = [] if graphiti is None else [("graph_memory", graphiti.describe)]
        if (found := await find_secrets(storage, box)).unreadable:
            logger.error("%s", found.explanation)
            stored = StoredSecrets(storage, box)
            checks.append(("secrets", stored.check))
            details.append(("secrets", stored.describe))
        graph_forgetting = GraphForgetting(storage)
        find_session = _session_connection(sessions)
        facts = _facts(
            settings,
            storage,
            connections,
            groups=groups,
            find_session=find_session,
            find_message=_source_message(sessions, investigations),
            watch=FactsOutside(graph_forgetting, graphiti, find_session),
            embedding=remembering,
            charge=allowances.charged,
            expire_logs=_expiring_logs(sessions, logs),
        )
        context_store = ContextStore(storage, connections, StatementFaults(connections).find)
        memories = ConversationMemories(storage, remembering, allowances.charged)
        profiles = Profiles(storage, enabled=settings.memory.profile)
        memory_forgetting = MemoryForgetting(
            storage, memories, facts, profiles=profiles, graph=graph_forgetting
        )
        connections.when_deleted(memory_forgetting.forget_connection)
        drawing = Pictures()
        opened.push_async_callback(drawing.close)
        pictures = ChartPictures(drawing)
        boards = BoardRepository(storage)
        refreshing = Refreshing(boards, connections, metrics)
        opened.push_async_callback(refreshing.close)
        schedules = ScheduleRepository(storage)
        webhooks = WebhookRepository(storage)
        webhook_sender = WebhookSender(box, settings.schedules.webhook_networks)
        webhook_events = WebhookEvents(
            webhooks, sessions.run_events, has_others=settings.nats.url is not None
        )
        connections.when_deleted(schedules.forget_connection)
        overviews = Overviews(OverviewRepository(storage), connections, enabled=settings.overview.enabled)
        connections.when_changed(overviews.renew)
        yield CommonServices(
            settings=settings,
            role=role,
            own_key=own_key,
            metrics=metrics,
            readiness=Readiness(checks, details),
            storage=storage,
            calls=calls,
            models=models,
            overview=overview,
            allowances=allowances,
            connections=connections,
            upload_folder=upload_folder,
            context_store=context_store,
            memories=memories,
            profiles=profiles,
            facts=facts,
            memory_forgetting=memory_forgetting,
            forgetting=SessionForgetting(
                storage, sessions, graph, memories=memory_forgetting, context=context_store, logs=logs
            ),
            remembering=remembering,
            recall=_recall(settings.memory, facts, remembering, metrics=metrics, outside=graphiti),
            external_memory=ExternalMemory(
                consents=Consents(storage),
                connections=connections.repository,
                forgetting=graph_forgetting,
                graphiti=graphiti,
                ingests=settings.graph_memory.ingest,
            ),
            graph=graph,
            sessions=sessions,
            rows=RowStore(storage),
            investigations=investigations,
            actions=ActionsUnderWay(),
            arrivals=Arrivals(),
            rules=_rules(settings, storage, connections),
            tools=_tools(settings, mcp_servers),
            mcp_servers=mcp_servers,
            boards=boards,
            pictures=pictures,
            refreshing=refreshing,
            schedules=schedules,
            overviews=overviews,
            kept_responses=kept_responses,
            webhooks=webhooks,
            webhook_sender=webhook_sender,
            webhook_events=webhook_events,
            webhook_deliveries=WebhookDeliveries(
                webhooks,
                webhook_sender,
                {"run": RunSubjects(sessions, connections.repository), "schedule": NoticeSubjects(schedules)},
            ),
            schedule_webhooks=ScheduleWebhooks(schedules, webhook_sender),
            deliveries=Deliveries(
                schedules,
                box,
                Mail(settings.mail),
                chats=Chats(settings.schedules.chat_servers),
                picture=PinPictures(boards, connections.repository, pictures),
                page=settings.public_url,
            ),
            queue=queue,
            logs=logs,
            lifecycle=RunLifecycle(sessions, queue, logs, calls=investigations, events=webhook_events),
        )


def _recall(
    settings: MemorySettings,
    facts: Facts,
    embedding: EmbeddingModel | None,
    *,
    metrics: CollectorRegistry,
    outside: "Graphiti | None",
) -> FactRecall | None:
    if not settings.facts:
        return None
    return FactRecall(
        facts,
        embedding,
        scopes=read_scope_setting(settings.scopes),
        limits=FactLimits(settings.max_facts, settings.max_tokens),
        seconds=settings.recall_ms / 1_000,
        metrics=metrics,
        outside=outside if outside is not None and outside.recalls else None,
    )


def _expiring_logs(sessions: SessionRepository, logs: EventLogs) -> ExpireLogs:
    async def expire(owner: str | None) -> None:
        await logs.expire(await sessions.ended_run_ids(owner, now_ms() - LOGGED_MS))

    return expire


@dataclass(frozen=True)
class OpenedDatabases:
    """Registered databases of the configured store, and what says who asks them."""

    connections: DatabaseConnections
    policies: ConnectionPolicies
    keys: ApiKeys


@asynccontextmanager
async def open_databases(settings: Settings) -> AsyncGenerator[OpenedDatabases]:
    """Opens the registered databases without the lock of the data folder, which a running server holds. Both
    may write.

    Raises `StorageUnavailable` or `StoreTooOld`.
    """
    async with AsyncExitStack() as opened:
        storage, checkpointer = await opened.enter_async_context(open_store(settings))
        await bring_up_to_date(settings, storage, checkpointer)
        connections = DatabaseConnections(
            storage,
            SecretBox(*encryption_keys(settings)),
            _limits(settings.limits),
            records=StatementRecords(CollectorRegistry(), texts=settings.audit.statements),
            access=_access(settings),
            uploads=UploadFolder(settings.upload_folder),
        )
        opened.push_async_callback(connections.close)
        keys = ApiKeys(storage)
        policies = ConnectionPolicies(connections, keys, settings.auth.oidc.attribute_claims)
        yield OpenedDatabases(connections, policies, keys)


@dataclass(frozen=True)
class OpenedFacts:
    """Facts of the configured store."""

    facts: Facts
    exports: MemoryExports


@asynccontextmanager
async def open_facts(settings: Settings) -> AsyncGenerator[OpenedFacts]:
    """Opens the facts without the lock of the data folder, which a running server holds. Both may write.

    Raises `StorageUnavailable` or `StoreTooOld`.
    """
    async with AsyncExitStack() as opened:
        storage, _ = await opened.enter_async_context(open_store(settings))
        await check_up_to_date(storage)
        box = SecretBox(*encryption_keys(settings))
        metrics = CollectorRegistry()
        calls = ModelCalls(metrics)
        embedding = open_embedding(settings.llm, calls, opened) if settings.llm.remembers_by_model else None
        allowances = Allowances(UsageRepository(storage), _quotas(settings.quotas))
        connections = DatabaseConnections(
            storage,
            box,
            _limits(settings.limits),
            records=StatementRecords(metrics, texts=settings.audit.statements),
        )
        opened.push_async_callback(connections.close)
        sessions = SessionRepository(storage)
        find_session = _session_connection(sessions)
        facts = _facts(
            settings,
            storage,
            connections,
            groups=Groups(await instance_key(storage, box, encryption_keys(settings)[-1])),
            find_session=find_session,
            find_message=_source_message(sessions, InvestigationRecords(storage)),
            watch=FactsOutside(GraphForgetting(storage), None, find_session),
            embedding=embedding,
            charge=allowances.charged,
            expire_logs=no_logs,
        )
        yield OpenedFacts(facts, MemoryExports(storage, facts))


def _facts(
    settings: Settings,
    storage: Storage,
    connections: DatabaseConnections,
    *,
    groups: Groups,
    find_session: SessionConnection,
    find_message: FindMessage,
    watch: FactsOutside,
    embedding: EmbeddingModel | None,
    charge: Charge,
    expire_logs: ExpireLogs,
) -> Facts:
    return Facts(
        storage,
        groups,
        connections,
        find_session=find_session,
        find_message=find_message,
        watch=watch,
        embedding=embedding,
        charge=charge,
        guard=WordGuard(),
        expire_logs=expire_logs,
        enabled=settings.memory.facts,
        unused_days=settings.memory.unused_days,
    )


def _session_connection(sessions: SessionRepository) -> SessionConnection:
    async def find(owner: str, session_id: str) -> str | None:
        session = await sessions.find(session_id)
        return None if session is None or session.owner != owner else session.db_connection_id

    return find


def _source_message(sessions: SessionRepository, investigations: InvestigationRecords) -> FindMessage:
    async def find(owner: str, message_id: str) -> SourceMessage | None:
        message = await sessions.message_of(owner, message_id)
        session = None if message is None else await sessions.find(message.session_id)
        if message is None or session is None:
            return None
        is_tainted = message.role == "assistant" and await investigations.is_tainted(message.id)
        return SourceMessage(session.id, session.connection_id, is_tainted)

    return find


def _rules(settings: Settings, storage: Storage, connections: DatabaseConnections) -> Rules | None:
    if not (settings.agent.enabled and settings.llm.configured):
        return None
    files = RuleFiles(settings.rules.path)
    files.read()  # logs what is wrong with them
    return Rules(storage, connections, files)


def _process_metrics() -> CollectorRegistry:
    """Metrics of the process: processor, memory, files and garbage collections."""
    disable_created_metrics()  # type: ignore[no-untyped-call]  # one beside each counter, shown nowhere
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
async def _bus(settings: Settings) -> AsyncGenerator[tuple[RunQueue, EventLogs, Decisions]]:
    if settings.nats.url is None:
        local = LocalLogs(BegunRunsFile(settings.data_dir / "begun-runs"))
        yield LocalJobs(follow_ups_of(settings)), local, LocalDecisions()
        return
    # Only for processes that share a NATS: its client takes a third of a second.
    from app.core.bus.nats_connection import nats_connection  # noqa: PLC0415
    from app.core.bus.nats_decisions import NatsDecisions  # noqa: PLC0415
    from app.core.bus.nats_jobs import NatsJobs  # noqa: PLC0415
    from app.core.bus.nats_logs import NatsLogs  # noqa: PLC0415

    lease_seconds, follow_ups = settings.worker.lease_seconds, follow_ups_of(settings)
    async with nats_connection(settings.nats, lease_seconds, follow_ups) as connection:
        queue = NatsJobs(connection)
        logs = NatsLogs(connection)
        await queue.check()
        try:
            yield queue, logs, NatsDecisions(connection)
        finally:
            await logs.aclose()
            await queue.aclose()


def follow_ups_of(settings: Settings) -> Sequence[FollowUp]:
    """The kinds of jobs that follow each answer."""
    memory = settings.graph_memory
    return (*FOLLOW_UPS, "graph") if memory.enabled and memory.ingest else FOLLOW_UPS


@asynccontextmanager
async def _graphiti(
    settings: Settings, storage: Storage, connections: DatabaseConnections, *, groups: Groups
) -> AsyncGenerator["Graphiti | None"]:
    """Connects to nothing. None where the graph memory is off."""
    memory = settings.graph_memory
    if not memory.enabled or memory.endpoint is None:
        yield None
        return
    from app.modules.memory.graphiti.client import GraphitiAddress, GraphitiClient  # noqa: PLC0415
    from app.modules.memory.graphiti.service import Graphiti  # noqa: PLC0415

    header = None if memory.header is None else memory.header.get_secret_value()
    async with GraphitiClient(GraphitiAddress(memory.endpoint, header, memory.networks)) as client:
        outside = OutsideMemoryOfConnections(connections.repository)
        yield Graphiti(
            client,
            storage,
            gate=Gate(Consents(storage), outside, memory.endpoint),
            groups=groups,
            endpoint=memory.endpoint,
            recalls=memory.recall,
        )


async def _impatient(check: Callable[[], Awaitable[object]]) -> None:
    """Check a store so that a Typesense that has been started says why it cannot be read yet, in time."""
    with catch_up_within(CHECK_SECONDS / 2):
        await check()


def _cache(settings: ConversationSettings, metrics: CollectorRegistry) -> ConversationCache | None:
    if not settings.max_cache_memory_mb:
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
    if url is None or not settings.conversations.max_cache_memory_mb:
        yield None
        return
    from app.core.best_effort_cache import best_effort_cache  # noqa: PLC0415 - only for those with a Redis

    box = SecretBox(*encryption_keys(settings)) if settings.encrypt_checkpoints else None
    async with best_effort_cache(url.get_secret_value(), LIFETIME) as texts:
        yield SharedConversations(texts, settings.redis.cache_prefix, box, registry=metrics)


def _tools(settings: Settings, servers: McpServers) -> ToolRegistry:
    """Extensions are not even looked for where they are off, and no facts are kept where those are."""
    tools = settings.tools.withholding(settings.llm.allowed_context)
    policy = ToolPolicy(**tools.model_dump(exclude={"extensions"}))
    builtin = [each for each in BUILTIN if settings.memory.facts or each.name not in OF_FACTS]
    if not tools.extensions:
        return ToolRegistry(builtin, policy, live=servers.tools)
    extensions = load_extensions(BUILTIN)
    return ToolRegistry([*builtin, *extensions.tools], policy, extensions.found, live=servers.tools)


def _mcp_servers(settings: Settings, storage: Storage, role: Role, *, own_key: bytes) -> McpServers:
    """The servers of the configuration, in the processes that show or call their tools, and only where there
    are investigations. Raises `CannotRun` for a configuration that cannot be used.
    """
    mcp = settings.mcp
    uses = role in ("all", "api", "worker") and settings.agent.enabled and settings.llm.configured
    return McpServers(
        McpConfiguration(
            servers=read_servers(mcp.config) if mcp.config is not None and uses else {},
            networks=mcp.networks,
            call_seconds=mcp.call_seconds,
            check_seconds=mcp.check_seconds,
        ),
        McpApprovals(storage),
        server_name(instance_id_of(own_key)),
    )


def _limits(settings: LimitSettings) -> ConnectionLimits:
    return ConnectionLimits(
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
        bytes_per_day=settings.bytes_per_day or None,
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
        own_folders=[settings.upload_folder],
    )
