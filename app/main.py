"""The HTTP application over opened services, and the server that runs it."""

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.middleware.trustedhost import TrustedHostMiddleware

from app.bootstrap import Services
from app.core.http import BodyLimit, answer_problems, storage_away
from app.core.settings import Settings
from app.modules.chat.router import router as chat
from app.modules.context_store.router import router as context_store
from app.modules.database_connection.router import router as database_connections
from app.modules.session.router import router as sessions
from app.web.page import serve_page
from graph.errors import CheckpointsUnavailable

_LOCAL_HOSTS = ["127.0.0.1", "localhost"]

_health = APIRouter(tags=["health"])


@_health.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process is alive."""
    return {"status": "ok"}


@_health.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Questions can be asked: the store answers."""
    services: Services = request.app.state.services
    ready = await services.ready()
    return JSONResponse({"status": "ready" if ready else "unavailable"}, 200 if ready else 503)


@_health.get("/metrics")
async def metrics(request: Request) -> Response:
    """What Prometheus collects."""
    services: Services = request.app.state.services
    return Response(generate_latest(services.metrics), headers={"Content-Type": CONTENT_TYPE_LATEST})


def create_app(services: Services, settings: Settings) -> FastAPI:
    app = describe_api()
    app.state.services = services
    serve_page(app)
    answer_problems(app)
    app.add_exception_handler(CheckpointsUnavailable, storage_away)
    app.add_middleware(BodyLimit)
    if not settings.trust_network:
        # A page of another site must not reach the server by a name that resolves to loopback.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*_LOCAL_HOSTS, settings.host])
    return app


def create_health_app(services: Services) -> FastAPI:
    """For a process that serves nothing else."""
    app = FastAPI(openapi_url=None)
    app.state.services = services
    app.include_router(_health)
    return app


def describe_api() -> FastAPI:
    """The routes with nothing behind them: enough to describe the API to those who build on it."""
    app = FastAPI(
        title="KAI",
        version="0.1.0",
        summary="Ask questions of your SQL databases in plain language.",
        openapi_url="/api/v1/openapi.json",
        docs_url="/docs",
        redoc_url=None,
    )
    app.include_router(_health)
    app.include_router(sessions, prefix="/api/v1")
    app.include_router(database_connections, prefix="/api/v1")
    app.include_router(context_store, prefix="/api/v1")
    app.include_router(chat, prefix="/api")
    return app
