"""The graph memory over HTTP: consent, what the process sends, erasure, and tests of the connection."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.support.command_line import kai
from tests.support.fake_graphiti import FakeGraphiti, running_graphiti
from tests.support.server import client_of, running_server
from tests.support.waiting import until

QUESTION = "How many customers per country?"


async def test_questions_go_out_by_consent_alone_and_are_erased_with_it(shop: str, tmp_path: Path) -> None:
    async with running_graphiti() as graphiti:
        graphiti.authorization = "Bearer of-the-proxy"
        settings = {
            "KAI_GRAPH_MEMORY__ENABLED": "true",
            "KAI_GRAPH_MEMORY__INGEST": "true",
            "KAI_GRAPH_MEMORY__ENDPOINT": graphiti.url,
            "KAI_GRAPH_MEMORY__HEADER": "of-the-proxy",
        }
        with running_server(tmp_path, settings) as server:
            async with client_of(server) as client:
                http = client.http
                connection = await client.connect(shop)
                before = await client.open_session(connection)
                await client.ask(before, QUESTION)

                state = (await http.get("/memory/graph")).json()
                assert (state["enabled"], state["state"]) == (True, "working")
                consent = {
                    "db_connection_id": connection,
                    "endpoint": state["endpoint"],
                    "text_version": state["text_version"],
                }
                refused = await http.put("/memory/consents", json=consent)
                assert refused.json()["type"] == "urn:kai:external-memory-not-allowed"
                allowed = await http.patch(
                    f"/database-connections/{connection}", json={"external_memory": True}
                )
                assert allowed.json()["external_memory"] is True
                another = {**consent, "endpoint": "https://another.example.com"}
                refused = await http.put("/memory/consents", json=another)
                assert refused.json()["type"] == "urn:kai:consent-outdated"
                granted = await http.put("/memory/consents", json=consent)
                assert granted.json()["in_force"] is True
                assert graphiti.requests == []

                session = await client.open_session(connection)
                await client.ask(session, QUESTION)
                await until(_sent(graphiti, 6))
                contents = [str(each["content"]) for _, each in graphiti.accepted]
                assert contents.count(QUESTION) == 2  # of the later session, for it and for the workspace
                assert not any("SELECT" in each for each in contents)
                assert all(group.startswith(("kai_s_", "kai_w_")) for group, _ in graphiti.accepted)

                test = (await http.post("/memory/graph/test", json={"mode": "smoke"})).json()
                assert test["passed"] is True
                withdrawn = await http.delete(
                    "/memory/consents", params={"db_connection_id": connection, "erase": True}
                )
                assert withdrawn.json() == {"groups": 2, "erasing": True}

                async def erased() -> bool:
                    return bool((await http.get("/memory/graph")).json()["not_erased"] == 0)

                await until(erased)
                assert not any(graphiti.episodes.values())
                assert (await http.get("/memory/consents")).json()["items"] == []
                ready = (await http.get(f"{server.address}/readyz")).json()
                assert ready["details"]["graph_memory"]["state"] == "working"


def _sent(graphiti: FakeGraphiti, number: int) -> Callable[[], Awaitable[bool]]:
    async def sent() -> bool:
        return len(graphiti.accepted) >= number

    return sent


async def test_the_command_tests_a_connection_and_says_what_is_wrong(tmp_path: Path) -> None:
    async with running_graphiti() as graphiti:
        address = {"KAI_GRAPH_MEMORY__ENDPOINT": graphiti.url}
        passed = await asyncio.to_thread(kai, "memory", "test", "--smoke", data=tmp_path, **address)
        assert passed.returncode == 0, passed.stderr
        assert "deleted" in passed.stdout
        graphiti.delete_lies = True
        failed = await asyncio.to_thread(kai, "memory", "test", "--smoke", data=tmp_path, **address)
        assert failed.returncode == 1
        assert "does not forget" in failed.stdout
    off = await asyncio.to_thread(kai, "memory", "test", data=tmp_path)
    assert "KAI_GRAPH_MEMORY__ENDPOINT" in off.stderr
