"""The composition root: from settings to opened services, and their closing. Names every concrete class."""

import logging
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry, Gauge

from app.core.auth.identity import Identity, identity
from app.core.best_effort_cache import best_effort_cache
from app.core.bus.completed import Completed, CompletedEvents, Kind
from app.core.bus.listener import Listener
from app.core.bus.local import LocalLogs, LocalQueue
from app.core.bus.local_completed import LocalCompletedEvents
from app.core.bus.port import EventLogs, RunQueue
from app.core.bus.redis_client import redis_clients
from app.core.bus.redis_completed import RedisCompletedEvents
from app.core.bus.redis_keys import RedisKeys
from app.core.bus.redis_logs import RedisLogs
from app.core.bus.redis_queue import RedisQueue
from app.core.clock import now_ms
from app.core.errors import CannotRun
from app.core.exclusive import exclusive_folder
from app.core.ids import new_id
from app.core.llm.calls import ModelCalls
from app.core.llm.capabilities import Instruction, InstructionSetting, instruction_for
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, ModelSettings
from app.core.process_metrics import process_metrics
from app.core.rates import Policy, Rates, open_rates
from app.core.secrets import CheckpointCipher, ClearCheckpoints, SecretBox, load_or_create_key
from app.core.settings import (
    MAKE_A_KEY,
    NO_QUOTAS,
    ConversationSettings,
    LimitSettings,
    LlmSettings,
    QuotaSettings,
    RedisSettings,
    Settings,
)
from app.core.storage.measured import MeasuredStorage
from app.core.storage.port import Storage, StorageRefused, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress, translated_errors, typesense_client
from app.http.readiness import Check, Readiness
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.limits import Limits, StatementLimits
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.records import StatementRecords
from app.modules.database_connection.service import DatabaseConnections
from app.modules.history.remembering import Remembering
from app.modules.history.titling import Titling
from app.modules.memory.service import ConversationMemories
from app.modules.run.engine import RunServices
from app.modules.run.follower import RunFollower
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.observer import RunObserver
from app.modules.run.ports import Models, PortFactory
from app.modules.run.submission import Submissions
from app.modules.run.worker import Worker
from app.modules.session.cache import ConversationCache
from app.modules.session.repository import SessionRepository
from app.modules.session.rows import RowStore
from app.modules.session.service import SessionService
from app.modules.session.shared_cache import LIFETIME, SharedConversations
from app.modules.sql_generation.instruction_choice import InstructionChoices, host_of
from app.modules.usage.repository import UsageRepository
from app.modules.usage.service import Allowances, Quotas
from graph import SessionGraph
from graph.checkpoints import Checkpointer, sqlite_checkpointer, typesense_checkpointer
from migrations.runner import check_up_to_date, migrate

Role = Literal["all", "once", "api", "worker", "history", "memory"]
"""`worker` answers runs; `history` and `memory` work on what is complete; `all` does everything, and `once`
what it takes to answer."""

logger = logging.getLogger(__name__)

_DRAIN_ALL_SECONDS = 1.0
_EVENTS_AT_ONCE = 8
"""Of a worker that does nothing else; a server with everything in it works on one of a kind at a time."""


@dataclass(frozen=True)
class Services:
    """What the routes and commands stand on."""

    storage: Storage
    database_connections: DatabaseConnections
    calls: ModelCalls
    models: Models | None
    """None without a configured model, and in a process that answers no questions."""
    context_store: ContextStore
    sessions: SessionService
    memories: ConversationMemories
    rates: Rates
    allowances: Allowances
    metrics: CollectorRegistry
    readiness: Readiness
    identity: Identity


@asynccontextmanager
async def open_services(settings: Settings, role: Role = "all") -> AsyncGenerator[Services]:
    """Everything of a KAI; one that answers takes up the runs that others have left behind.

    Raises `CannotRun`: `FolderInUse`, `StoreTooNew`, `StoreTooOld`, `StorageUnavailable`, `BusUnavailable`
    or for settings that do not fit together; or `OSError` when the data folder cannot be written.
    """
    _check_role(settings, role)
    async with AsyncExitStack() as opened:
        if settings.redis.url is None:
            opened.enter_context(exclusive_folder(settings.data_dir))
        kept, checkpointer = await opened.enter_async_context(open_store(settings))
        if settings.migrate_at_start:
            await migrate(kept)
        else:
            await check_up_to_date(kept)
        metrics = process_metrics()
        calls = ModelCalls(metrics)
        storage = MeasuredStorage(kept, metrics)
        embedding = _embedding(settings.llm, calls, opened)
        allowances = Allowances(UsageRepository(storage), _quotas(settings.quotas))
        connections = DatabaseConnections(
            storage,
            SecretBox(_key(settings)),
            _limits(settings.limits),
            StatementRecords(metrics, texts=settings.audit.statements),
            _access(settings),
            embedding,
            allowances.charged,
        )
        opened.push_async_callback(connections.close)
        context = ContextStore(storage, connections)
        embedding_memories = embedding if settings.llm.memories else None
        memories = ConversationMemories(storage, embedding_memories, allowances.charged)
        graph, repository, rows = (
            SessionGraph(checkpointer),
            SessionRepository(
                storage,
                _cache(settings.conversations, metrics) if role in ("all", "api", "once") else None,
                await opened.enter_async_context(_shared_cache(settings, metrics)),
            ),
            RowStore(storage),
        )
        queue, logs, completed = await opened.enter_async_context(_bus(settings))
        lifecycle = RunLifecycle(repository, queue, logs, completed)
        rates = await opened.enter_async_context(open_rates(settings.redis, _policies(settings.quotas)))
        models: Models | None = None
        if settings.llm.configured and role != "api":
            models = _models(settings.llm, calls, opened, instruction=await _instruction(settings.llm, kept))
        summarizing = None if models is None else models.summary
        works: dict[Kind, Titling | Remembering] = {
            "history": Titling(repository, summarizing if settings.llm.titles else None),
            "memory": Remembering(repository, memories, summarizing if settings.llm.memories else None),
        }
        for kind, work in works.items():
            if role in (kind, "all"):
                at_once = 1 if role == "all" else _EVENTS_AT_ONCE
                working = _charged(allowances, work)
                listener = Listener(completed, kind, working, at_once, settings.worker.lease_seconds)
                await opened.enter_async_context(_listening(settings, role, listener))
        if role in ("worker", "all", "once"):
            ports = PortFactory(connections, context, rows, models, metrics)
            answering = RunServices(
                graph=graph,
                lifecycle=lifecycle,
                repository=repository,
                logs=logs,
                bind=ports.bind,
                allowances=allowances,
                observer=RunObserver(metrics),
            )
            waiting = Gauge("kai_runs_waiting", "Runs that wait for a worker, any worker", registry=metrics)
            concurrency = settings.worker.concurrency
            worker = Worker(answering, queue, concurrency, waiting)
            await opened.enter_async_context(_working(settings, role, worker))
        sessions = SessionService(
            repository,
            rows,
            Submissions(lifecycle, repository, queue, logs, allowances, settings.worker.max_waiting),
            RunFollower(repository, rows, logs),
            graph,
            connections,
            context,
            memories,
            allowances,
        )
        checks: list[Check] = [
            ("store", lambda: storage.query("migrations", [], limit=1)),
            ("checkpoints", lambda: graph.checkpoints(new_id(), limit=1)),
            ("queue", queue.ping),
        ]
        yield Services(
            storage,
            connections,
            calls,
            models,
            context,
            sessions,
            memories,
            rates,
            allowances,
            metrics,
            Readiness(checks),
            identity(storage, settings.auth, login_required=settings.login_required),
        )


def _check_role(settings: Settings, role: Role) -> None:
    if settings.redis.url is None and role not in ("all", "once"):
        command = "kai api" if role == "api" else "kai worker"
        raise CannotRun(f"{command} works with others over Redis: set KAI_REDIS__URL, or run kai serve.")
    if settings.redis.url is not None and settings.store == "sqlite":
        raise CannotRun("Processes that share a Redis need a store to share: set KAI_STORE=typesense.")
    if settings.redis.url is not None and settings.encryption_key is None:
        raise CannotRun(
            "Processes that share a Redis need one key to share: set KAI_ENCRYPTION_KEY to what the data "
            f"folder's secret.key holds, or for a new store make one by {MAKE_A_KEY}"
        )


@asynccontextmanager
async def _bus(settings: Settings) -> AsyncGenerator[tuple[RunQueue, EventLogs, CompletedEvents]]:
    url, lease_seconds = settings.redis.url, settings.worker.lease_seconds
    if url is None:
        yield LocalQueue(), LocalLogs(), LocalCompletedEvents(lease_seconds)
        return
    keys = RedisKeys(settings.redis.prefix)
    async with redis_clients(url.get_secret_value()) as clients:
        queue = RedisQueue(clients, keys, lease_seconds)
        logs = RedisLogs(clients, keys)
        await queue.ping()
        try:
            yield queue, logs, RedisCompletedEvents(clients, keys, lease_seconds)
        finally:
            await logs.aclose()


@asynccontextmanager
async def _working(settings: Settings, role: Role, worker: Worker) -> AsyncGenerator[None]:
    if settings.redis.url is None:
        await worker.sweep(before=now_ms())
    worker.start()
    try:
        yield
    finally:
        await worker.stop(_drain_seconds(settings, role))


@asynccontextmanager
async def _listening(settings: Settings, role: Role, listener: Listener) -> AsyncGenerator[None]:
    listener.start()
    try:
        yield
    finally:
        await listener.stop(_drain_seconds(settings, role))


def _charged(allowances: Allowances, work: Titling | Remembering) -> Callable[[Completed], Awaitable[None]]:
    """The work on an event, with its models' tokens counted in the day of the event's owner."""

    async def charged(event: Completed) -> None:
        async with allowances.charged(event.owner):
            await work.work(event)

    return charged


def _drain_seconds(settings: Settings, role: Role) -> float:
    """A server with everything in it has let its streams go by the time it stops: nobody waits then."""
    return _DRAIN_ALL_SECONDS if role in ("all", "once") else settings.worker.drain_seconds


@asynccontextmanager
async def open_services_for_once(settings: Settings) -> AsyncGenerator[Services]:
    """A KAI that keeps nothing, whatever store the settings name: another may be serving from that one,
    whose runs must not be taken up. Its one user is not limited. Of the store it reads alone what was
    measured for its model. Raises `StorageUnavailable`, or `OSError` without room for its files."""
    llm = settings.llm.model_copy(update={"instruction": await _measured_instruction(settings)})
    with tempfile.TemporaryDirectory(prefix="kai-") as folder:
        own = {"data_dir": Path(folder), "store": "sqlite", "redis": RedisSettings(), "quotas": NO_QUOTAS}
        alone = settings.model_copy(update={**own, "llm": llm, "migrate_at_start": True})
        async with open_services(alone, "once") as services:
            yield services


async def _measured_instruction(settings: Settings) -> InstructionSetting:
    """What is set, else what the store knows of the model; `auto` when it knows nothing or is unavailable."""
    llm = settings.llm
    if llm.instruction != "auto" or not llm.configured or not _may_have_records(settings):
        return llm.instruction
    try:
        async with _open_records(settings) as storage:
            if "model_choices" not in storage.collections():
                return "auto"
            measured = await InstructionChoices(storage).find(llm.writer, host_of(llm.base_url))
            return "auto" if measured is None else measured.instruction
    except (StorageUnavailable, OSError) as error:
        logger.warning("what was measured for the model %s is not known: %s", llm.writer, error)
        return "auto"


def _may_have_records(settings: Settings) -> bool:
    return settings.store == "typesense" or _sqlite_file(settings).exists()


def _sqlite_file(settings: Settings) -> Path:
    return settings.data_dir / "kai.db"


@asynccontextmanager
async def _open_records(settings: Settings) -> AsyncGenerator[Storage]:
    """KAI's records alone. Raises `StorageUnavailable`."""
    if settings.store == "sqlite":
        async with open_sqlite(_sqlite_file(settings)) as storage:
            yield storage
        return
    async with typesense_client(typesense_address(settings)) as client:
        kept = TypesenseStorage(client, settings.typesense.prefix)
        await kept.open()
        yield kept


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncGenerator[tuple[Storage, Checkpointer]]:
    """KAI's records and checkpoints, where `KAI_STORE` says; the data folder is there already.

    Raises `StorageUnavailable`.
    """
    cipher = (CheckpointCipher if settings.encrypt_checkpoints else ClearCheckpoints)(_key(settings))
    async with AsyncExitStack() as opened:
        if settings.store == "sqlite":
            storage = await opened.enter_async_context(open_sqlite(_sqlite_file(settings)))
            path = settings.data_dir / "checkpoints.db"
            yield storage, await opened.enter_async_context(sqlite_checkpointer(path, cipher))
        else:
            client = await opened.enter_async_context(typesense_client(typesense_address(settings)))
            kept = TypesenseStorage(client, settings.typesense.prefix)
            await kept.open()
            with translated_errors():
                name = f"{settings.typesense.prefix}checkpoints0"
                checkpointer = await typesense_checkpointer(client, name, cipher)
            yield kept, checkpointer


def typesense_address(settings: Settings) -> TypesenseAddress:
    typesense = settings.typesense
    if typesense.api_key is None:
        raise StorageRefused("The store typesense needs its key: set KAI_TYPESENSE__API_KEY.")
    return TypesenseAddress(
        nodes=typesense.nodes,
        api_key=typesense.api_key,
        timeout_seconds=typesense.timeout_seconds,
        max_retries=typesense.max_retries,
    )


def _key(settings: Settings) -> bytes:
    key = settings.encryption_key
    return key.get_secret_value().encode() if key else load_or_create_key(settings.data_dir / "secret.key")


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
    url = settings.redis.cache_url or settings.redis.url
    if url is None or not settings.conversations.enabled:
        yield None
        return
    box = SecretBox(_key(settings)) if settings.encrypt_checkpoints else None
    async with best_effort_cache(url.get_secret_value(), LIFETIME) as texts:
        yield SharedConversations(texts, settings.redis.cache_prefix, box, metrics)


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        StatementLimits(
            timeout_seconds=settings.statement_seconds,
            max_rows=settings.result_rows,
            max_bytes=settings.result_bytes,
        )
    )


def _policies(settings: QuotaSettings) -> list[Policy]:
    granted = {"requests": settings.requests_per_minute, "questions": settings.questions_per_minute}
    return [Policy(name, quota, window_seconds=60) for name, quota in granted.items() if quota > 0]


def _quotas(settings: QuotaSettings) -> Quotas:
    return Quotas(
        runs=settings.runs or None,
        sessions=settings.sessions or None,
        tokens_per_day=settings.tokens_per_day or None,
    )


def _access(settings: Settings) -> Access:
    """What the settings say, and where they say nothing, what fits who can reach KAI."""
    asked, folder = settings.databases, settings.data_dir
    usual = Access(networks=(), folders=(folder,)) if settings.serves_others else ONE_USER
    return Access(
        networks=usual.networks if asked.networks is None else asked.networks,
        folders=usual.folders if asked.folders is None else asked.folders,
        own_files=[folder / "kai.db", folder / "checkpoints.db"],
    )


_CONTEXT_TOKENS: dict[Instruction, int] = {"short": 700, "long": 6_000}
"""How much of the schema a prompt holds: a small model loses its way in a long one."""


async def _instruction(settings: LlmSettings, storage: Storage) -> Instruction:
    """The form of the instructions that the model for SQL gets."""
    measured = await InstructionChoices(storage).find(settings.writer, host_of(settings.base_url))
    return instruction_for(
        settings.writer, settings.instruction, None if measured is None else measured.instruction
    )


def _models(
    settings: LlmSettings, calls: ModelCalls, opened: AsyncExitStack, *, instruction: Instruction
) -> Models:
    """A client a model; tasks of the same model share one."""
    made: dict[str, LanguageModel] = {}

    def model(name: str | None) -> LanguageModel:
        name = name or settings.model or ""
        if name not in made:
            made[name] = LanguageModel(_model_settings(settings, name), calls)
            opened.push_async_callback(made[name].close)
        return made[name]

    return Models(
        sql=model(settings.sql_model),
        instruction=instruction,
        analysis=model(settings.analysis_model),
        summary=model(settings.summary_model),
        candidates=settings.candidates,
        context_tokens=settings.context_tokens or _CONTEXT_TOKENS[instruction],
    )


def _embedding(settings: LlmSettings, calls: ModelCalls, opened: AsyncExitStack) -> EmbeddingModel | None:
    if settings.embedding_model is None or not settings.configured:
        return None
    model = EmbeddingModel(_model_settings(settings, settings.embedding_model), calls)
    opened.push_async_callback(model.close)
    return model


def _model_settings(settings: LlmSettings, name: str) -> ModelSettings:
    return ModelSettings(
        model=name,
        base_url=settings.base_url,
        api_key=settings.api_key,
        connect_timeout_seconds=settings.connect_timeout_seconds,
        first_token_timeout_seconds=settings.first_token_timeout_seconds,
        total_timeout_seconds=settings.total_timeout_seconds,
        max_retries=settings.max_retries,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        reply_format=settings.reply_format,
    )
