"""Whether a process should be sent work."""

import asyncio

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from app.core.storage.port import StorageFull, StorageUnavailable
from app.http.access_log import AccessLog, RequestMetrics
from app.http.health import attach_health, health
from app.http.readiness import Check, Readiness
from graph.errors import CheckpointsUnavailable


async def well() -> None:
    pass


async def away() -> None:
    raise StorageUnavailable("Typesense at http://key@host does not answer")


async def rejecting() -> None:
    raise StorageUnavailable("Typesense at http://key@host does not answer") from ConnectionError("key@host")


async def full() -> None:
    raise CheckpointsUnavailable("ask again") from StorageFull("Typesense takes no writes: its disk is full.")


class Stuck:
    """Checks that never answer, and how many of them were under way at once."""

    def __init__(self) -> None:
        self.at_once = 0
        self._under_way = 0

    async def check(self) -> None:
        self._under_way += 1
        self.at_once = max(self.at_once, self._under_way)
        try:
            await asyncio.Event().wait()
        finally:
            self._under_way -= 1


def served(*checks: Check) -> tuple[Readiness, httpx.AsyncClient]:
    app, readiness = FastAPI(), Readiness(checks)
    app.include_router(health)
    registry = CollectorRegistry()
    attach_health(app, readiness, registry)

    @app.get("/broken")
    async def broken() -> None:
        raise ValueError("a cell's value")

    app.add_middleware(AccessLog, metrics=RequestMetrics(registry))
    return readiness, httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai")


async def test_it_is_ready_when_all_dependencies_answer() -> None:
    _, http = served(("store", well), ("checkpoints", well))
    answer = await http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    store = answer.json()["dependencies"]["store"]
    assert (store["status"], set(store)) == ("ok", {"status", "milliseconds"})


async def test_one_that_is_unavailable_is_named_without_its_particulars(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, http = served(("store", away), ("checkpoints", well))
    answer = await http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    store = answer.json()["dependencies"]["store"]
    assert (store["status"], store["error"]) == ("error", "does not answer as it should")
    assert "host" not in answer.text + caplog.text


async def test_the_reason_is_named_where_that_betrays_nothing() -> None:
    _, http = served(("store", rejecting), ("checkpoints", full))
    answer = await http.get("/readyz")
    dependencies = answer.json()["dependencies"]
    assert dependencies["store"]["error"] == "does not answer as it should (ConnectionError)"
    assert dependencies["checkpoints"]["error"] == "Typesense takes no writes: its disk is full."
    assert "host" not in answer.text


async def test_many_who_ask_at_once_are_answered_by_one_check() -> None:
    checks = 0

    async def counted() -> None:
        nonlocal checks
        checks += 1
        await asyncio.sleep(0)

    readiness, _ = served(("store", counted))
    verdicts = await asyncio.gather(*(readiness.look() for _ in range(50)))
    assert {verdict.status for verdict in verdicts} == {"ready"}
    assert checks == 1


async def test_those_that_hang_are_waited_for_together_and_not_long() -> None:
    stuck = Stuck()
    _, http = served(("store", stuck.check), ("redis", stuck.check), ("checkpoints", stuck.check))
    async with asyncio.timeout(60):
        answer = await http.get("/readyz")
    assert stuck.at_once == 3
    assert {each["error"] for each in answer.json()["dependencies"].values()} == {
        "does not answer within 2 s"
    }


async def test_a_process_about_to_stop_is_alive_but_wants_no_work() -> None:
    readiness, http = served(("store", well))
    readiness.drain()
    answer = await http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "draining")
    assert (await http.get("/healthz")).status_code == 200


async def test_a_defect_is_answered_as_a_problem_that_names_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, http = served()
    answer = await http.get("/broken", headers={"X-Request-Id": "abc-1"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "abc-1" in answer.json()["detail"]
    assert "cell" not in answer.text
    assert "the request failed by a fault of KAI" in caplog.text
