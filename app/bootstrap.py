"""The composition root: from settings to opened services, and their closing. Names every concrete class."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry

from app.core.auth.identity import Identity, identity
from app.core.bus.event_log import EventLogs
from app.core.exclusive import exclusive_folder
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.model import LanguageModel, ModelSettings
from app.core.secrets import CheckpointCipher, ClearCheckpoints, SecretBox, load_or_create_key
from app.core.settings import ConversationSettings, LimitSettings, LlmSettings, Settings
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
from app.modules.session.repository import SessionRepository
from app.modules.session.rows import RowStore
from app.modules.session.service import SessionService
from app.modules.session.turns import Turns
from graph import SessionGraph
from graph.checkpoints import Checkpointer, sqlite_checkpointer, typesense_checkpointer
from migrations.runner import check_up_to_date, migrate


@dataclass(frozen=True)
class Services:
    """What the routes and commands stand on."""

    storage: Storage
    database_connections: DatabaseConnections
    context_store: ContextStore
    sessions: SessionService
    metrics: CollectorRegistry
    identity: Identity

    async def ready(self) -> bool:
        """Whether questions can be asked: the store answers."""
        try:
            await self.storage.query("migrations", [], limit=1)
        except StorageUnavailable:
            return False
        return True


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Everything of a KAI; runs broken off by the last process go on.

    Raises `FolderInUse`, `StoreTooNew`, `StoreTooOld`, `StorageUnavailable`, or `OSError` when the data
    folder cannot be written.
    """
    async with AsyncExitStack() as opened:
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
        graph, repository, rows, logs = (
            SessionGraph(checkpointer),
            SessionRepository(storage, _cache(settings.conversations, metrics)),
            RowStore(storage),
            EventLogs(),
        )
        models = _models(settings.llm, opened) if settings.llm.configured else None
        ports = PortsOfRun(connections, context, rows, models)
        turns = Turns(graph, repository, logs, ports.bind)
        opened.push_async_callback(turns.close)
        await turns.recover()
        sessions = SessionService(repository, rows, turns, logs, graph, connections, context)
        who = identity(storage, settings.auth, login_required=settings.login_required)
        yield Services(storage, connections, context, sessions, metrics, who)


@asynccontextmanager
async def open_services_for_once(settings: Settings) -> AsyncGenerator[Services]:
    """A KAI that keeps nothing, whatever store the settings name: another may be serving from that one,
    whose runs must not be taken up. Raises `StorageUnavailable`, or `OSError` without room for its files."""
    with tempfile.TemporaryDirectory(prefix="kai-") as folder:
        own = {"data_dir": Path(folder), "store": "sqlite", "migrate_at_start": True}
        async with open_services(settings.model_copy(update=own)) as services:
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
