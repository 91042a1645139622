"""Builds the HTTP applications: every route and every middleware."""

import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial

from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry

from app import __version__
from app.bootstrap.api import Services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import PROTOCOLS, Protocol, Settings
from app.http.access_log import QUIET, AccessLog, RequestMetrics
from app.http.allowed_hosts import AllowedHosts
from app.http.authentication import Authentication
from app.http.body_limit import MAX_BODY_BYTES, BodyLimit, LargestBody
from app.http.cross_origin import ANY_ORIGIN, CrossOrigin
from app.http.description.apis import API_V1, OTHER_APIS, serve_document
from app.http.description.kinds import PROBLEMS
from app.http.description.kinds import router as problems
from app.http.entity_tags import EntityTags
from app.http.health import attach_health, health
from app.http.idempotency import Idempotency
from app.http.json_compression import JsonCompression
from app.http.methods import Head, refuse_other_methods
from app.http.open_streams import OpenStreams
from app.http.parameters import refuse_repeats
from app.http.problems import answer_problems, storage_unavailable, turn_problem
from app.http.rate_limit_fields import RateLimitFields
from app.http.rate_limits import count_request
from app.http.reader_language import ReaderLanguage
from app.http.readiness import Readiness
from app.http.response_headers import ResponseHeaders
from app.http.routes import API_PREFIX
from app.http.served_part import Part, ServedPart
from app.http.wrong_keys import WrongKeys
from app.modules.agent.router import router as agent
from app.modules.answers.router import router as answers
from app.modules.boards.router import router as boards
from app.modules.chat_api.router import router as chat
from app.modules.comments.router import router as comments
from app.modules.context_store.router import router as context_store
from app.modules.context_store.transfer_router import router as knowledge_files
from app.modules.database_connection.file_router import UPLOAD_PATH
from app.modules.database_connection.file_router import router as uploads
from app.modules.database_connection.policy_router import router as policies
from app.modules.database_connection.router import router as database_connections
from app.modules.forgetting.router import router as forgetting
from app.modules.generating.router import router as generating
from app.modules.identity.provider_router import OPEN_PATHS as PROVIDER_OPEN
from app.modules.identity.provider_router import router as provider
from app.modules.identity.router import router as identity
from app.modules.language_models.router import router as models
from app.modules.mcp.router import router as mcp_servers
from app.modules.memory.fact_router import router as facts
from app.modules.memory.graphiti.router import router as graph_memory
from app.modules.memory.profile_router import router as profiles
from app.modules.overview.router import router as overview
from app.modules.protocols.agui.router import router as agui
from app.modules.protocols.langgraph.router import OPEN_PATHS as LANGGRAPH_OPEN
from app.modules.protocols.langgraph.router import routers as langgraph
from app.modules.protocols.mcp.router import METADATA_PATHS, challenge
from app.modules.protocols.mcp.router import router as mcp
from app.modules.protocols.openai.errors import OpenAiErrors
from app.modules.protocols.openai.router import router as openai
from app.modules.provenance.router import router as provenance
from app.modules.reports.router import router as reports
from app.modules.rules.router import router as rules
from app.modules.schedules.router import router as schedules
from app.modules.session.router import router as sessions
from app.modules.sharing.preview_router import router as previews
from app.modules.sharing.router import router as sharing
from app.modules.usage.router import router as usage
from app.modules.webhooks.payloads import describe_events
from app.modules.webhooks.router import router as webhooks
from app.web.docs import serve_docs
from app.web.page import UnknownAddresses, is_of_page, serve_page
from graph.errors import CheckpointsUnavailable, TurnError

logger = logging.getLogger(__name__)

_LOCAL_HOSTS = ["127.0.0.1", "localhost"]
_ANY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
_SIGNS_OF_LIFE = {"/healthz", "/readyz"}

_ROUTERS = (
    sessions,
    answers,
    boards,
    overview,
    schedules,
    webhooks,
    comments,
    sharing,
    provenance,
    reports,
    agent,
    models,
    mcp_servers,
    rules,
    generating,
    database_connections,
    uploads,
    policies,
    context_store,
    knowledge_files,
    facts,
    graph_memory,
    usage,
    identity,
    forgetting,
    profiles,
)
"""Of `/api/v1`."""

_OF_EACH_ROUTE = [Depends(count_request)]


def create_app(services: Services, settings: Settings, part: Part = "all") -> FastAPI:
    """The API over opened services, or the part of it that this process serves."""
    app = describe_api(settings.protocols)
    app.state.services = services
    app.state.wrong_keys = WrongKeys(settings.auth.wrong_keys_per_minute, services.metrics)
    app.state.open_streams = OpenStreams(settings.quotas.streams)
    attach_health(app, services.readiness, services.metrics, part=part)
    serve_page(app)
    app.include_router(previews)
    serve_docs(app)
    answer_problems(app)
    app.add_exception_handler(CheckpointsUnavailable, storage_unavailable)
    app.add_exception_handler(TurnError, turn_problem)
    app.add_middleware(EntityTags)
    app.add_middleware(Idempotency, kept=services.kept_responses)
    app.add_middleware(RateLimitFields)
    uploads = LargestBody(max(settings.uploads.max_bytes, MAX_BODY_BYTES), settings.uploads.receive_seconds)
    app.add_middleware(
        BodyLimit, seconds=settings.http.body_seconds, files={API_PREFIX + UPLOAD_PATH: uploads}
    )
    app.add_middleware(
        Authentication,
        identity=services.identity,
        wrong_keys=app.state.wrong_keys,
        open_to_all=_open_to_all(settings),
        challenge=partial(challenge, issuer=services.identity.issuer),
    )
    app.add_middleware(UnknownAddresses, routes=app.routes)
    app.add_middleware(JsonCompression)
    if part != "all":
        app.add_middleware(ServedPart, part=part)
    if settings.cors_origins:
        if ANY_ORIGIN in settings.cors_origins and not settings.login_required:
            logger.warning("KAI_CORS_ORIGINS=* without a login: every page may ask as %s", LOCAL_OWNER)
        app.add_middleware(CrossOrigin, origins=settings.cors_origins)
    app.add_middleware(AllowedHosts, allowed_hosts=_hosts(settings))
    app.add_middleware(AccessLog, metrics=RequestMetrics(services.metrics))
    app.add_middleware(OpenAiErrors)
    app.add_middleware(Head)
    app.add_middleware(ResponseHeaders)
    app.add_middleware(ReaderLanguage)
    return app


def create_health_app(readiness: Readiness, metrics: CollectorRegistry) -> FastAPI:
    """The health routes of a process that serves nothing else."""
    app = FastAPI(openapi_url=None)
    attach_health(app, readiness, metrics)
    app.include_router(health)
    app.add_middleware(ResponseHeaders)
    return app


def _open_to_all(settings: Settings) -> Callable[[str], bool]:
    """The page holds no data: it signs in by itself."""
    metrics = {"/metrics"} if settings.metrics_open else set()
    paths = _SIGNS_OF_LIFE | METADATA_PATHS | LANGGRAPH_OPEN | PROVIDER_OPEN | metrics
    return lambda path: path in paths or is_of_page(path) or f"{path}/".startswith(f"{PROBLEMS}/")


def _hosts(settings: Settings) -> Sequence[str]:
    """A page of another site must not reach the server by a name that resolves to loopback; where the address
    to listen on is any, the login stands against that."""
    if settings.allowed_hosts is not None:
        return settings.allowed_hosts
    return ["*"] if settings.host in _ANY_ADDRESS else [*_LOCAL_HOSTS, settings.host, f"[{settings.host}]"]


def describe_api(protocols: Collection[Protocol] = PROTOCOLS) -> FastAPI:
    """The routes without services: enough to generate the OpenAPI documents.

    Of the protocols of others, these have routes.
    """
    app = FastAPI(
        version=__version__,
        openapi_url=None,
        generate_unique_id_function=lambda route: route.name,
        telemetry={
            "metrics": False,
            "logs": False,  # they would hold the words of exceptions
            "operation_spans": False,
            "auto_configure": False,
            "exclude": lambda scope: scope["path"] in QUIET,
        },
    )
    serve_document(app, API_V1)
    for name, api in OTHER_APIS.items():
        if name == "chat" or name in protocols:
            serve_document(app, api)
    app.include_router(health)
    app.include_router(problems, prefix=API_PREFIX)
    describe_events(app.webhooks)
    app.include_router(refuse_other_methods(_ROUTERS), prefix=API_PREFIX)
    for router in _ROUTERS:
        app.include_router(router, prefix=API_PREFIX, dependencies=[*_OF_EACH_ROUTE, Depends(refuse_repeats)])
    app.include_router(provider)
    app.include_router(chat, prefix="/api", dependencies=_OF_EACH_ROUTE)
    if "langgraph" in protocols:
        app.include_router(refuse_other_methods(langgraph))
        for router in langgraph:
            app.include_router(router, dependencies=_OF_EACH_ROUTE)
    if "agui" in protocols:
        app.include_router(agui, dependencies=_OF_EACH_ROUTE)
    if "openai" in protocols:
        app.include_router(openai, dependencies=_OF_EACH_ROUTE)
    if "mcp" in protocols:
        app.include_router(mcp)
    return app
