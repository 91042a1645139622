"""Builds the HTTP applications: every route and every middleware."""

from collections.abc import Callable, Sequence

from fastapi import Depends, FastAPI

from app import __version__
from app.bootstrap.api import Services
from app.bootstrap.common import CommonServices
from app.core.settings import Settings
from app.http.access_log import QUIET, AccessLog, RequestMetrics
from app.http.allowed_hosts import AllowedHosts
from app.http.authentication import Authentication
from app.http.body_limit import BodyLimit
from app.http.health import attach_health, health
from app.http.json_compression import JsonCompression
from app.http.problems import answer_problems, storage_unavailable, turn_problem
from app.http.rate_limit_fields import RateLimitFields
from app.http.rate_limits import count_request
from app.http.response_headers import ResponseHeaders
from app.http.routes import API_PREFIX
from app.http.wrong_keys import WrongKeys
from app.modules.agent.router import router as agent
from app.modules.chat_api.router import router as chat
from app.modules.context_store.router import router as context_store
from app.modules.database_connection.roles import DatabaseRoleMissing
from app.modules.database_connection.router import router as database_connections
from app.modules.identity.router import router as identity
from app.modules.session.router import router as sessions
from app.modules.usage.router import router as usage
from app.web.docs import serve_docs
from app.web.page import is_of_page, serve_page
from graph.errors import CheckpointsUnavailable, CheckpointUnreadable

_LOCAL_HOSTS = ["127.0.0.1", "localhost"]
_ANY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
_SIGNS_OF_LIFE = {"/healthz", "/readyz"}


def create_app(services: Services, settings: Settings) -> FastAPI:
    """The API over opened services."""
    app = describe_api()
    app.state.services = services
    attach_health(app, services.readiness, services.metrics)
    serve_page(app)
    serve_docs(app)
    answer_problems(app)
    app.add_exception_handler(CheckpointsUnavailable, storage_unavailable)
    for turn_error in (CheckpointUnreadable, DatabaseRoleMissing):
        app.add_exception_handler(turn_error, turn_problem)
    app.add_middleware(RateLimitFields)
    app.add_middleware(BodyLimit, seconds=settings.http.body_seconds)
    app.add_middleware(
        Authentication,
        identity=services.identity,
        wrong_keys=WrongKeys(settings.auth.wrong_keys_per_minute, services.metrics),
        open_to_all=_open_to_all(settings),
    )
    app.add_middleware(JsonCompression)
    app.add_middleware(AllowedHosts, allowed_hosts=_hosts(settings))
    app.add_middleware(AccessLog, metrics=RequestMetrics(services.metrics))
    app.add_middleware(ResponseHeaders)
    return app


def create_health_app(common: CommonServices) -> FastAPI:
    """The health routes of a process that serves nothing else."""
    app = FastAPI(openapi_url=None)
    attach_health(app, common.readiness, common.metrics)
    app.include_router(health)
    app.add_middleware(ResponseHeaders)
    return app


def _open_to_all(settings: Settings) -> Callable[[str], bool]:
    """The page holds no data: it signs in by itself."""
    paths = _SIGNS_OF_LIFE | ({"/metrics"} if settings.metrics_open else set())
    return lambda path: path in paths or is_of_page(path)


def _hosts(settings: Settings) -> Sequence[str]:
    """A page of another site must not reach the server by a name that resolves to loopback; where the address
    to listen on is any, the login stands against that."""
    if settings.allowed_hosts is not None:
        return settings.allowed_hosts
    return ["*"] if settings.host in _ANY_ADDRESS else [*_LOCAL_HOSTS, settings.host, f"[{settings.host}]"]


def describe_api() -> FastAPI:
    """The routes without services: enough to generate the OpenAPI description."""
    app = FastAPI(
        title="KAI",
        version=__version__,
        summary="Ask questions of your SQL databases in plain language.",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        telemetry={
            "metrics": False,
            "logs": False,  # they would hold the words of exceptions
            "operation_spans": False,
            "auto_configure": False,
            "exclude": lambda scope: scope["path"] in QUIET,
        },
    )
    app.include_router(health)
    for router in (sessions, agent, database_connections, context_store, usage, identity):
        app.include_router(router, prefix=API_PREFIX, dependencies=[Depends(count_request)])
    app.include_router(chat, prefix="/api", dependencies=[Depends(count_request)])
    return app
