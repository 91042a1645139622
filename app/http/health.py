"""Routes for liveness, readiness and metrics of the process."""

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from app.http.readiness import Readiness, ReadinessReport
from app.http.served_part import Part

health = APIRouter(tags=["health"])


def attach_health(
    app: FastAPI, readiness: Readiness, metrics: CollectorRegistry, *, part: Part | None = None
) -> None:
    """Attach readiness and metrics to an application, for its health routes. `part`: None for a worker."""
    app.state.readiness = readiness
    app.state.metrics = metrics
    app.state.part = part


@health.get("/healthz", summary="Check that the process is alive")
async def check_liveness() -> dict[str, str]:
    """Answers 200 as long as the process serves requests. Checks no dependency and needs no credential: use
    it as a liveness probe.
    """
    return {"status": "ok"}


@health.get(
    "/readyz",
    summary="Check that questions can be answered",
    responses={503: {"description": "A dependency is unavailable, or the process is about to stop"}},
)
async def check_readiness(request: Request) -> JSONResponse:
    """Tries what a question needs of every dependency, such as a conditional write to the store, and answers
    within about two seconds, with the state and the latency of each. A result holds for a second.

    `serves` is the part of the API that the process serves (`kai api --serve`). Workers have none.

    `details` are services that questions do not need: their failure is no 503.

    Answers 503 while a dependency is unavailable (`unavailable`) or the process is stopping (`draining`).
    Needs no credential: use it as a readiness probe.
    """
    readiness: Readiness = request.app.state.readiness
    verdict = await readiness.look()
    return JSONResponse(_body(verdict, request.app.state.part), 200 if verdict.status == "ready" else 503)


@health.get("/metrics", summary="Read the metrics", response_class=PlainTextResponse)
async def read_metrics(request: Request) -> Response:
    """Returns the metrics of this process in Prometheus' text format. Needs no credential if
    `KAI_METRICS_OPEN` is set.
    """
    registry: CollectorRegistry = request.app.state.metrics
    return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _body(verdict: ReadinessReport, part: Part | None) -> dict[str, object]:
    dependencies = {
        each.name: {
            "status": "error" if each.error else "ok",
            "milliseconds": each.milliseconds,
            **({"error": each.error} if each.error else {}),
        }
        for each in verdict.dependencies
    }
    details = {"details": verdict.details} if verdict.details else {}
    serves = {"serves": part} if part else {}
    return {"status": verdict.status, **serves, "dependencies": dependencies, **details}
