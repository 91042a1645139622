"""The composition root: from settings to opened services, and their closing. Names every concrete class."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from app.core.bus.event_log import EventLogs
from app.core.exclusive import exclusive_folder
from app.core.llm.model import LanguageModel, ModelSettings
from app.core.secrets import SecretBox, load_or_create_key
from app.core.settings import LimitSettings, LlmSettings, Settings
from app.core.storage.port import Storage, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.modules.database_connection.limits import Limits, StatementLimits
from app.modules.database_connection.network import ONE_USER, Access
from app.modules.database_connection.service import DatabaseConnections
from app.modules.session.adapters import Models, PortsOfRun
from app.modules.session.repository import SessionRepository
from app.modules.session.rows import RowStore
from app.modules.session.service import SessionService
from app.modules.session.turns import Turns
from graph import SessionGraph
from graph.checkpoints import sqlite_checkpointer
from migrations.runner import migrate


@dataclass(frozen=True)
class Services:
    """What the routes and commands stand on."""

    storage: Storage
    database_connections: DatabaseConnections
    sessions: SessionService

    async def ready(self) -> bool:
        """Whether questions can be asked: the store answers."""
        try:
            await self.storage.query("migrations", [], limit=1)
        except StorageUnavailable:
            return False
        return True


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Everything of an embedded KAI, in its data folder; runs broken off by the last process go on.

    Raises `FolderInUse`, `StoreTooNew`, or `OSError` when the folder cannot be written.
    """
    async with AsyncExitStack() as opened:
        folder = settings.data_dir
        opened.enter_context(exclusive_folder(folder))
        storage = await opened.enter_async_context(open_sqlite(folder / "kai.db"))
        await migrate(storage)
        saver = await opened.enter_async_context(sqlite_checkpointer(folder / "checkpoints.db"))
        key = settings.encryption_key
        secrets = SecretBox(
            key.get_secret_value().encode() if key else load_or_create_key(folder / "secret.key")
        )
        connections = DatabaseConnections(storage, secrets, _limits(settings.limits), _access(settings))
        graph, repository, rows, logs = (
            SessionGraph(saver),
            SessionRepository(storage),
            RowStore(storage),
            EventLogs(),
        )
        models = _models(settings.llm, opened) if settings.llm.configured else None
        ports = PortsOfRun(connections, rows, models)
        turns = Turns(graph, repository, logs, ports.bind)
        opened.push_async_callback(turns.close)
        await turns.recover()
        sessions = SessionService(repository, rows, turns, logs, graph, connections)
        yield Services(storage, connections, sessions)


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
