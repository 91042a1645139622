"""The composition root: from settings to opened services, and their closing. Names every concrete class."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry

from app.core.bus.local import LocalLogs, LocalQueue
from app.core.bus.port import EventLogs, RunQueue
from app.core.bus.redis_client import redis_client
from app.core.bus.redis_keys import RedisKeys
from app.core.bus.redis_logs import RedisLogs
from app.core.bus.redis_queue import RedisQueue
from app.core.clock import now_ms
from app.core.errors import CannotRun
from app.core.exclusive import exclusive_folder
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, ModelSettings
from app.core.passing_texts import passing_texts
from app.core.secrets import CheckpointCipher, ClearCheckpoints, SecretBox, load_or_create_key
from app.core.settings import ConversationSettings, LimitSettings, LlmSettings, RedisSettings, Settings
from app.core.storage.port import Storage, StorageRefused, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress, translated_errors, typesense_client
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.limits import Limits, StatementLimits
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.service import DatabaseConnections
from app.modules.session.adapters import Models, PortsOfRun
from app.modules.session.cache import ConversationCache
from app.modules.session.execution import Executions
from app.modules.session.following import Following
from app.modules.session.repository import SessionRepository
from app.modules.session.rows import RowStore
from app.modules.session.service import SessionService
from app.modules.session.shared_cache import LIFETIME, SharedConversations
from app.modules.session.submission import Submissions
from app.modules.session.turns import Turns
from app.modules.session.worker import Worker
from graph import SessionGraph
from graph.checkpoints import Checkpointer, sqlite_checkpointer, typesense_checkpointer
from migrations.runner import check_up_to_date, migrate

Role = Literal["all", "api", "worker"]

_DRAIN_ALL_SECONDS = 1.0


@dataclass(frozen=True)
class Services:
    """What the routes and commands stand on."""

    storage: Storage
    database_connections: DatabaseConnections
    context_store: ContextStore
    sessions: SessionService
    queue: RunQueue
    metrics: CollectorRegistry

    async def ready(self) -> bool:
        """Whether questions can be asked: the store answers."""
        try:
            await self.storage.query("migrations", [], limit=1)
        except StorageUnavailable:
            return False
        return True


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
        storage, checkpointer = await opened.enter_async_context(open_store(settings))
        if settings.migrate_at_start:
            await migrate(storage)
        else:
            await check_up_to_date(storage)
        metrics = CollectorRegistry()
        connections = DatabaseConnections(
            storage,
            SecretBox(_key(settings)),
            _limits(settings.limits),
            _access(settings),
            _embedding(settings.llm, opened),
        )
        opened.push_async_callback(connections.close)
        context = ContextStore(storage, connections)
        graph, repository, rows = (
            SessionGraph(checkpointer),
            SessionRepository(
                storage,
                _cache(settings.conversations, metrics) if role != "worker" else None,
                await opened.enter_async_context(_shared_cache(settings, metrics)),
            ),
            RowStore(storage),
        )
        queue, logs = await opened.enter_async_context(_bus(settings))
        turns = Turns(repository, queue, logs)
        if role != "api":
            models = _models(settings.llm, opened) if settings.llm.configured else None
            ports = PortsOfRun(connections, context, rows, models)
            execution = Executions(graph, turns, repository, logs, ports.bind)
            worker = Worker(turns, repository, queue, execution, settings.worker.concurrency)
            await opened.enter_async_context(_working(settings, role, worker))
        sessions = SessionService(
            repository,
            rows,
            Submissions(turns, repository, queue, logs),
            Following(repository, rows, logs),
            graph,
            connections,
            context,
        )
        yield Services(storage, connections, context, sessions, queue, metrics)


def _check_role(settings: Settings, role: Role) -> None:
    if settings.redis.url is None and role != "all":
        raise CannotRun(f"kai {role} works with others over Redis: set KAI_REDIS__URL, or run kai serve.")
    if settings.redis.url is not None and settings.store == "sqlite":
        raise CannotRun("Processes that share a Redis need a store to share: set KAI_STORE=typesense.")


@asynccontextmanager
async def _bus(settings: Settings) -> AsyncGenerator[tuple[RunQueue, EventLogs]]:
    url = settings.redis.url
    if url is None:
        yield LocalQueue(), LocalLogs()
        return
    keys = RedisKeys(settings.redis.prefix)
    async with redis_client(url.get_secret_value()) as redis:
        queue = RedisQueue(redis, keys, settings.worker.lease_seconds)
        logs = RedisLogs(redis, keys)
        await queue.ping()
        try:
            yield queue, logs
        finally:
            await logs.aclose()


@asynccontextmanager
async def _working(settings: Settings, role: Role, worker: Worker) -> AsyncGenerator[None]:
    """A server with everything in it has let its streams go by the time it stops: nobody waits then."""
    if settings.redis.url is None:
        await worker.sweep(before=now_ms())
    worker.start()
    try:
        yield
    finally:
        await worker.stop(settings.worker.drain_seconds if role == "worker" else _DRAIN_ALL_SECONDS)


@asynccontextmanager
async def open_services_for_once(settings: Settings) -> AsyncGenerator[Services]:
    """A KAI that keeps nothing, whatever store the settings name: another may be serving from that one,
    whose runs must not be taken up. Raises `StorageUnavailable`, or `OSError` without room for its files."""
    with tempfile.TemporaryDirectory(prefix="kai-") as folder:
        own = {"data_dir": Path(folder), "store": "sqlite", "redis": RedisSettings()}
        alone = settings.model_copy(update={**own, "migrate_at_start": True})
        async with open_services(alone) as services:
            yield services


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncGenerator[tuple[Storage, Checkpointer]]:
    """KAI's records and checkpoints, where `KAI_STORE` says; the data folder is there already.

    Raises `StorageUnavailable`.
    """
    cipher = (CheckpointCipher if settings.encrypt_checkpoints else ClearCheckpoints)(_key(settings))
    async with AsyncExitStack() as opened:
        if settings.store == "sqlite":
            storage = await opened.enter_async_context(open_sqlite(settings.data_dir / "kai.db"))
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
        raise StorageRefused("KAI_STORE is typesense, so KAI_TYPESENSE__API_KEY has to be set.")
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
    async with passing_texts(url.get_secret_value(), LIFETIME) as texts:
        yield SharedConversations(texts, settings.redis.cache_prefix, box, metrics)


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        StatementLimits(
            timeout_seconds=settings.statement_seconds,
            max_rows=settings.result_rows,
            max_bytes=settings.result_bytes,
        )
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


def _models(settings: LlmSettings, opened: AsyncExitStack) -> Models:
    """A client a model; tasks of the same model share one."""
    made: dict[str, LanguageModel] = {}

    def model(name: str | None) -> LanguageModel:
        name = name or settings.model or ""
        if name not in made:
            made[name] = LanguageModel(_model_settings(settings, name))
            opened.push_async_callback(made[name].close)
        return made[name]

    return Models(
        sql=model(settings.sql_model),
        analysis=model(settings.analysis_model),
        summary=model(settings.summary_model),
        context_tokens=settings.context_tokens,
    )


def _embedding(settings: LlmSettings, opened: AsyncExitStack) -> EmbeddingModel | None:
    if settings.embedding_model is None or not settings.configured:
        return None
    model = EmbeddingModel(_model_settings(settings, settings.embedding_model))
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
    )
