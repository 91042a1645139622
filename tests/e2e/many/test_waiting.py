"""Runs of many processes report their place as those of one process do."""

from pathlib import Path

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.e2e.test_waiting import ONE_AT_A_TIME, wait_in_line
from tests.support.cluster import running_cluster, shared
from tests.support.scripted_model import ScriptedModel
from tests.support.server import client_of


async def test_a_busy_worker_leaves_runs_waiting_with_their_place(
    typesense_server: TypesenseServer,
    nats_server: NatsServer,
    shop: str,
    model: ScriptedModel,
    tmp_path: Path,
) -> None:
    settings = shared(typesense_server, nats_server) | model_settings(model) | ONE_AT_A_TIME
    settings["KAI_TUNING__WORKER__LEASE_SECONDS"] = "60"  # a busy machine makes no worker seem dead
    with running_cluster(tmp_path, settings, apis=1, workers=1) as cluster:
        async with client_of(cluster.apis[0]) as kai:
            await wait_in_line(kai, model, shop)
