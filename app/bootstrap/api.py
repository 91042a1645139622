"""Opens the services behind the routes, with or without a worker in the same process."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry

from app.bootstrap.common import open_common
from app.bootstrap.models import instruction_of, measured_instruction
from app.bootstrap.worker import answer_runs, work_on_answers
from app.core.auth.identity import Identity, identity
from app.core.bus.port import FOLLOW_UPS
from app.core.llm.calls import ModelCalls
from app.core.rates import Policy, Rates, open_rates
from app.core.settings import NO_QUOTAS, NatsSettings, QuotaSettings, RedisSettings, Settings
from app.core.storage.port import Storage
from app.http.readiness import Readiness
from app.modules.agent.capabilities import Capabilities, capabilities_of
from app.modules.agent.investigation import said_in_steps
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.run.follower import RunFollower
from app.modules.run.ports import Models
from app.modules.run.submission import Submissions
from app.modules.session.service import SessionService
from app.modules.tools.registry import ToolRegistry
from app.modules.usage.service import Allowances


@dataclass(frozen=True, kw_only=True)
class Services:
    """Services that the routes and commands use."""

    storage: Storage
    database_connections: DatabaseConnections
    calls: ModelCalls
    models: Models | None
    """None if no model is configured, and in a process that answers no questions."""
    context_store: ContextStore
    sessions: SessionService
    memories: ConversationMemories
    rates: Rates
    allowances: Allowances
    metrics: CollectorRegistry
    readiness: Readiness
    tools: ToolRegistry
    capabilities: Capabilities
    identity: Identity


@asynccontextmanager
async def open_services(
    settings: Settings, role: Literal["all", "once", "api"] = "all"
) -> AsyncGenerator[Services]:
    """Opens the services of the routes, and unless the role is `api` a worker.

    Raises what `open_common` raises.
    """
    async with AsyncExitStack() as opened:
        common = await opened.enter_async_context(open_common(settings, role))
        rates = await opened.enter_async_context(open_rates(settings.redis, _policies(settings.quotas)))
        if role != "api":
            runs = await opened.enter_async_context(answer_runs(common))
            if role == "all":
                for kind in FOLLOW_UPS:
                    await opened.enter_async_context(work_on_answers(common, kind, runs))
        submissions = Submissions(
            common.lifecycle,
            common.sessions,
            common.queue,
            logs=common.logs,
            allowances=common.allowances,
            max_waiting=settings.worker.max_waiting,
            store_patience_seconds=settings.worker.store_patience_seconds,
        )
        opened.push_async_callback(submissions.aclose)
        has_investigations = settings.agent.enabled and settings.llm.configured
        sessions = SessionService(
            common.sessions,
            common.rows,
            submissions,
            follower=RunFollower(
                common.sessions,
                common.rows,
                common.logs,
                count_waiting=common.queue.waiting,
                said_in_steps=partial(said_in_steps, common.investigations),
            ),
            graph=common.graph,
            connections=common.connections,
            context=common.context_store,
            memories=common.memories,
            allowances=common.allowances,
            investigations=common.investigations if has_investigations else None,
        )
        instruction = await instruction_of(settings.llm, common.storage)
        yield Services(
            storage=common.storage,
            database_connections=common.connections,
            calls=common.calls,
            models=common.models,
            context_store=common.context_store,
            sessions=sessions,
            memories=common.memories,
            rates=rates,
            allowances=common.allowances,
            metrics=common.metrics,
            readiness=common.readiness,
            tools=common.tools,
            capabilities=capabilities_of(settings, instruction),
            identity=identity(common.storage, settings.auth, login_required=settings.login_required),
        )


@asynccontextmanager
async def open_services_for_once(settings: Settings) -> AsyncGenerator[Services]:
    """Opens services over a temporary store, whatever store the settings name: another process may serve from
    that one, and its runs must not be taken up. The user has no quotas. Of the named store, only the measured
    instructions of the model are read.

    Raises `StorageUnavailable`, or `OSError` if the temporary folder cannot be written.
    """
    llm = settings.llm.model_copy(update={"instruction": await measured_instruction(settings)})
    with tempfile.TemporaryDirectory(prefix="kai-") as folder:
        own = {"data_dir": Path(folder), "store": "sqlite", "quotas": NO_QUOTAS}
        no_servers = {"nats": NatsSettings(), "redis": RedisSettings()}
        alone = settings.model_copy(update={**own, **no_servers, "llm": llm, "migrate_at_start": True})
        async with open_services(alone, "once") as services:
            yield services


def _policies(settings: QuotaSettings) -> list[Policy]:
    granted = {"requests": settings.requests_per_minute, "questions": settings.questions_per_minute}
    return [Policy(name, quota, window_seconds=60) for name, quota in granted.items() if quota > 0]
