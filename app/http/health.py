"""Routes for liveness, readiness and metrics of the process."""

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from app.http.readiness import Readiness, ReadinessReport

health = APIRouter(tags=["health"])


def tell_health(app: FastAPI, readiness: Readiness, metrics: CollectorRegistry) -> None:
    """Give the routes of an application its readiness and metrics."""
    app.state.readiness, app.state.metrics = readiness, metrics


@health.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process is alive."""
    return {"status": "ok"}


@health.get(
    "/readyz",
    responses={503: {"description": "A dependency is unavailable, or the process is about to stop"}},
)
async def readyz(request: Request) -> JSONResponse:
    """Work can be done: every dependency answers, and the process is not about to stop; else 503."""
    readiness: Readiness = request.app.state.readiness
    verdict = await readiness.look()
    return JSONResponse(_told(verdict), 200 if verdict.status == "ready" else 503)


@health.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """What Prometheus collects."""
    registry: CollectorRegistry = request.app.state.metrics
    return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _told(verdict: ReadinessReport) -> dict[str, object]:
    dependencies = {
        each.name: {
            "status": "error" if each.error else "ok",
            "milliseconds": each.milliseconds,
            **({"error": each.error} if each.error else {}),
        }
        for each in verdict.dependencies
    }
    return {"status": verdict.status, "dependencies": dependencies}
