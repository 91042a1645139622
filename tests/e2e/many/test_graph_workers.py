"""Two workers of the graph memory over NATS: each question goes out once, also when one is killed."""

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.support.cluster import running_cluster, shared
from tests.support.fake_graphiti import FakeGraphiti, running_graphiti
from tests.support.scripted_model import ScriptedModel
from tests.support.server import client_of
from tests.support.waiting import until

QUESTIONS = 4


async def test_two_workers_send_each_question_once_and_one_goes_on_alone(
    shop: str,
    tmp_path: Path,
    typesense_server: TypesenseServer,
    nats_server: NatsServer,
    model: ScriptedModel,
) -> None:
    async with running_graphiti() as graphiti:
        settings = shared(typesense_server, nats_server) | model_settings(model)
        settings |= {
            "KAI_GRAPH_MEMORY__ENABLED": "true",
            "KAI_GRAPH_MEMORY__INGEST": "true",
            "KAI_GRAPH_MEMORY__ENDPOINT": graphiti.url,
        }
        kinds = ("graph", "graph")
        with running_cluster(tmp_path, settings, apis=1, workers=1, kinds=kinds) as cluster:
            async with client_of(cluster.apis[0]) as client:
                connection = await client.connect(shop)
                await client.http.patch(f"/database-connections/{connection}", json={"external_memory": True})
                state = (await client.http.get("/memory/graph")).json()
                consent = {
                    "db_connection_id": connection,
                    "endpoint": state["endpoint"],
                    "text_version": state["text_version"],
                }
                assert (await client.http.put("/memory/consents", json=consent)).is_success
                session = await client.open_session(connection)
                for number in range(QUESTIONS):
                    await client.ask(session, f"How many customers per country, number {number}?")
                await until(_sent(graphiti, QUESTIONS))
                cluster.afterwards[0].kill()
                await client.ask(session, "And now?")
                await until(_sent(graphiti, QUESTIONS + 1))
                withdrawn = await client.http.delete(
                    "/memory/consents", params={"db_connection_id": connection, "erase": True}
                )
                assert withdrawn.json()["erasing"] is True

                async def erased() -> bool:
                    return bool((await client.http.get("/memory/graph")).json()["not_erased"] == 0)

                await until(erased)
        assert not any(graphiti.episodes.values())
        sent = Counter((group, str(each["name"])) for group, each in graphiti.accepted)
        assert set(sent.values()) == {1}
        assert len({group for group, _ in sent}) == 2


def _sent(graphiti: FakeGraphiti, questions: int) -> Callable[[], Awaitable[bool]]:
    """Each goes to the session's group and to the workspace's."""

    async def sent() -> bool:
        names = graphiti.accepted_names()
        return sum(name.endswith(".assistant") for name in names) >= 2 * questions

    return sent
