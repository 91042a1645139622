"""Opens the services behind the routes, with or without a worker in the same process."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry

from app.bootstrap.common import CommonServices, follow_ups_of, open_common
from app.bootstrap.held_store import Waiting
from app.bootstrap.models import instruction_of, measured_instruction
from app.bootstrap.worker import (
    answer_runs,
    compute_overviews,
    ports_of_runs,
    rewrite_vectors,
    run_schedules,
    work_for_graphiti,
    work_on_answers,
)
from app.core.auth.api_keys import ApiKeys
from app.core.auth.identity import Identity, identity
from app.core.kept_responses import KeptResponses
from app.core.llm.calls import ModelCalls
from app.core.llm.overview import ModelOverview
from app.core.rates import Policy, Rates, open_rates
from app.core.settings import NO_QUOTAS, NatsSettings, QuotaSettings, RedisSettings, Settings
from app.core.storage.port import Storage
from app.http.readiness import Readiness
from app.modules.agent.capabilities import Capabilities, capabilities_of
from app.modules.agent.step_events import said_in_steps
from app.modules.analysis.chart.pictures import ChartPictures
from app.modules.analysis.chart_words import ChartWordsModel
from app.modules.answers.service import RunAnswers
from app.modules.boards.service import Boards
from app.modules.comments.repository import CommentRepository
from app.modules.comments.service import Comments
from app.modules.context_store.service import ContextStore
from app.modules.context_store.transfer import KnowledgeFiles
from app.modules.database_connection.connection_policies import ConnectionPolicies
from app.modules.database_connection.file_connections import FileConnections, UploadLimits
from app.modules.database_connection.service import DatabaseConnections
from app.modules.forgetting.service import OwnerForgetting
from app.modules.generating.documents import Documentations
from app.modules.generating.sql import SqlGeneration
from app.modules.items.service import ClientItems
from app.modules.mcp.servers import McpServers
from app.modules.memory.export import MemoryExports
from app.modules.memory.facts import Facts
from app.modules.memory.graphiti.external import ExternalMemory
from app.modules.memory.profile import Profiles
from app.modules.memory.service import ConversationMemories
from app.modules.overview.service import Overviews
from app.modules.protocols.disconnects import Departures
from app.modules.protocols.mcp.endpoint import McpEndpoint
from app.modules.protocols.mcp.services import McpServices, instance_id_of, state_key_of
from app.modules.protocols.threads import Threads
from app.modules.provenance.service import AnswerProvenance
from app.modules.reports.service import Reports
from app.modules.rules.repository import RuleRepository
from app.modules.rules.service import Rules
from app.modules.run.follower import RunFollower
from app.modules.run.pending_submissions import Turnstiles
from app.modules.run.ports import Models
from app.modules.run.submission import Submissions
from app.modules.schedules.service import Schedules
from app.modules.session.confirmations import Confirmations
from app.modules.session.service import SessionService
from app.modules.sharing.repository import LinkRepository
from app.modules.sharing.service import Sharing
from app.modules.tools.registry import ToolRegistry
from app.modules.usage.service import Allowances
from app.modules.webhooks.service import WebhookService


@dataclass(frozen=True, kw_only=True)
class Services:
    """Services that the routes and commands use."""

    storage: Storage
    database_connections: DatabaseConnections
    file_connections: FileConnections
    connection_policies: ConnectionPolicies
    calls: ModelCalls
    models: Models | None
    overview: ModelOverview | None
    """As `models`, with what is known of each. Both are None if no model is configured."""
    context_store: ContextStore
    knowledge_files: KnowledgeFiles
    sessions: SessionService
    boards: Boards
    comments: Comments
    schedules: Schedules
    webhooks: WebhookService
    overviews: Overviews
    kept_responses: KeptResponses
    reports: Reports
    pictures: ChartPictures
    sharing: Sharing
    confirmations: Confirmations
    answers: RunAnswers
    provenance: AnswerProvenance
    generation: SqlGeneration
    documents: Documentations
    memories: ConversationMemories
    profiles: Profiles
    facts: Facts
    memory_exports: MemoryExports
    forgetting: OwnerForgetting
    external_memory: ExternalMemory
    rates: Rates
    allowances: Allowances
    metrics: CollectorRegistry
    readiness: Readiness
    tools: ToolRegistry
    rules: Rules | None
    """None where rules are off."""
    capabilities: Capabilities
    identity: Identity
    mcp_servers: McpServers
    mcp: McpServices
    mcp_endpoint: McpEndpoint
    items: ClientItems
    threads: Threads
    departures: Departures


@asynccontextmanager
async def open_services(
    settings: Settings, role: Literal["all", "once", "api"] = "all", waiting: Waiting | None = None
) -> AsyncGenerator[Services]:
    """Opens the services of the routes, and unless the role is `api` a worker.

    `waiting` as `held_store` has it.
    Raises what `open_common` raises.
    """
    async with AsyncExitStack() as opened:
        common = await opened.enter_async_context(open_common(settings, role, waiting))
        rates = await opened.enter_async_context(open_rates(settings.redis, _policies(settings.quotas)))
        ports = ports_of_runs(common)
        if role != "api":
            runs = await opened.enter_async_context(answer_runs(common, ports))
            if role == "all":
                for kind in follow_ups_of(settings):
                    await opened.enter_async_context(work_on_answers(common, kind, runs))
                await opened.enter_async_context(work_for_graphiti(common))
                await opened.enter_async_context(rewrite_vectors(common))
                await opened.enter_async_context(run_schedules(common))
                await opened.enter_async_context(compute_overviews(common))
        submissions = Submissions(
            common.lifecycle,
            common.sessions,
            common.queue,
            logs=common.logs,
            allowances=common.allowances,
            max_waiting=settings.worker.max_waiting,
            turnstiles=Turnstiles(common.arrivals, settings.worker.store_patience_seconds),
        )
        opened.push_async_callback(submissions.aclose)
        has_investigations = settings.agent.enabled and settings.llm.has_tools
        sessions = SessionService(
            common.sessions,
            common.rows,
            submissions,
            follower=RunFollower(
                common.sessions,
                common.rows,
                common.logs,
                said_in_steps=partial(said_in_steps, common.investigations, common.rows),
            ),
            graph=common.graph,
            connections=common.connections,
            context=common.context_store,
            forgetting=common.forgetting,
            facts=common.facts,
            allowances=common.allowances,
            investigations=common.investigations if has_investigations else None,
            started=common.queue,
            default_mode=settings.agent.default_mode,
            rules=common.rules,
            chart_model=None if common.models is None else ChartWordsModel(common.models.analysis),
        )
        instruction = await instruction_of(settings.llm, common.storage)
        confirmations = Confirmations(
            common.sessions,
            common.investigations,
            common.lifecycle,
            allowances=common.allowances,
            tools=common.tools,
        )
        capabilities = capabilities_of(settings, instruction)
        key = common.own_key
        mcp = McpServices(
            sessions=sessions,
            confirmations=confirmations,
            has_agent_mode=has_investigations,
            connections=common.connections,
            context_store=common.context_store,
            memories=common.memories,
            profiles=common.profiles,
            rates=rates,
            pictures=common.pictures,
            instance_id=instance_id_of(key),
            local=None,
            origins=frozenset(settings.cors_origins),
            is_stopping=lambda: common.readiness.draining,
            state_key=state_key_of(key),
        )
        mcp_endpoint = McpEndpoint(mcp)
        opened.push_async_callback(mcp_endpoint.aclose)
        departures = Departures(sessions, is_stopping=lambda: common.readiness.draining)
        opened.push_async_callback(departures.aclose)
        departures.start()
        items = ClientItems(common.storage)
        boards = Boards(common.boards, common.refreshing, sessions, connections=common.connections)
        links = LinkRepository(common.storage)
        sharing = Sharing(links, sessions, boards, connections=common.connections)
        policies = ConnectionPolicies(
            common.connections, ApiKeys(common.storage), settings.auth.oidc.attribute_claims
        )
        common.connections.when_changed(policies.log_errors)
        yield Services(
            storage=common.storage,
            database_connections=common.connections,
            file_connections=await _file_connections(common),
            connection_policies=policies,
            calls=common.calls,
            models=common.models,
            overview=common.overview,
            context_store=common.context_store,
            knowledge_files=KnowledgeFiles(common.context_store, common.connections),
            sessions=sessions,
            sharing=sharing,
            provenance=AnswerProvenance(
                common.sessions,
                common.rows,
                connections=common.connections,
                context=common.context_store,
                facts=common.facts,
                schema_context_of=ports.schema_context,
            ),
            boards=boards,
            comments=Comments(
                CommentRepository(common.storage),
                sharing,
                common.sessions,
                boards=common.boards,
                notices=common.schedules,
            ),
            schedules=Schedules(
                common.schedules,
                common.boards,
                common.webhook_sender,
                deliveries=common.deliveries,
                connections=common.connections.repository,
            ),
            webhooks=WebhookService(
                common.webhooks,
                common.webhook_sender,
                events=common.webhook_events,
                deliveries=common.webhook_deliveries,
            ),
            overviews=common.overviews,
            reports=Reports(sessions, boards, common.connections, pictures=common.pictures),
            pictures=common.pictures,
            confirmations=confirmations,
            answers=RunAnswers(
                sessions,
                confirmations,
                common.connections,
                logs=common.logs,
                is_stopping=lambda: common.readiness.draining,
            ),
            generation=SqlGeneration(
                ports,
                common.connections,
                common.allowances,
                concurrency=settings.worker.concurrency,
                max_waiting=settings.worker.max_waiting,
            ),
            documents=Documentations(sessions, common.connections),
            forgetting=OwnerForgetting(
                common.memory_forgetting,
                sessions,
                common.connections,
                context=common.context_store,
                rules=RuleRepository(common.storage),
                items=items,
                boards=common.boards,
                schedules=common.schedules,
                comments=CommentRepository(common.storage),
                links=links,
                overviews=common.overviews.repository,
                kept_responses=common.kept_responses,
                webhooks=common.webhooks,
            ),
            memories=common.memories,
            profiles=common.profiles,
            facts=common.facts,
            memory_exports=MemoryExports(common.storage, common.facts),
            external_memory=common.external_memory,
            rates=rates,
            allowances=common.allowances,
            metrics=common.metrics,
            readiness=common.readiness,
            kept_responses=common.kept_responses,
            tools=common.tools,
            rules=common.rules,
            capabilities=capabilities,
            identity=identity(
                common.storage,
                settings.auth,
                login_required=settings.login_required,
                sealing_key=key,
            ),
            mcp_servers=common.mcp_servers,
            mcp=mcp,
            mcp_endpoint=mcp_endpoint,
            items=items,
            threads=Threads(sessions, common.connections, no_agent_mode=capabilities.agent_mode.reason),
            departures=departures,
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
        uploads = settings.uploads.model_copy(update={"folder": None})
        own = {"data_dir": Path(folder), "store": "sqlite", "quotas": NO_QUOTAS, "uploads": uploads}
        no_servers = {"nats": NatsSettings(), "redis": RedisSettings()}
        alone = settings.model_copy(update={**own, **no_servers, "llm": llm, "migrate_at_start": True})
        async with open_services(alone, "once") as services:
            yield services


async def _file_connections(common: CommonServices) -> FileConnections:
    await asyncio.to_thread(common.upload_folder.remove_left)
    uploads = common.settings.uploads
    limits = UploadLimits(
        max_bytes=uploads.max_bytes,
        owner_bytes=uploads.owner_bytes,
        import_seconds=uploads.import_seconds,
    )
    return FileConnections(common.connections, common.upload_folder, limits)


def _policies(settings: QuotaSettings) -> list[Policy]:
    granted = {"requests": settings.requests_per_minute, "questions": settings.questions_per_minute}
    return [Policy(name, quota, window_seconds=60) for name, quota in granted.items() if quota > 0]
