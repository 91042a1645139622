"""Answers that are waited for where other processes work, and die."""

import asyncio
from pathlib import Path

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.support.cluster import running_cluster, shared
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import client_of


async def test_a_waiting_request_is_answered_after_the_worker_of_its_run_was_killed(
    typesense_server: TypesenseServer,
    nats_server: NatsServer,
    shop: str,
    model: ScriptedModel,
    tmp_path: Path,
) -> None:
    settings = shared(typesense_server, nats_server) | model_settings(model)
    with running_cluster(tmp_path, settings, apis=1, workers=1) as cluster:
        async with client_of(cluster.apis[0]) as kai:
            database = await kai.connect(shop)
            model.say(Scripted("CHAT: lost", hold_after=0), "CHAT: found")
            asking = asyncio.create_task(
                kai.http.post(
                    "/ask", json={"query": "Who?", "database": database}, headers={"Prefer": "wait=300"}
                )
            )
            await model.until(lambda: model.on_hold == 1)
            (worker,) = cluster.workers
            worker.kill()
            model.release()
            worker.start()
            answer = await asking
            assert (answer.status_code, answer.json()["analysis"]) == (200, "found")
            sessions = (await kai.http.get("/sessions")).json()["items"]
            runs = (await kai.http.get("/runs")).json()["items"]
            assert (sessions, runs) == ([], [])
