"""One owner's largest statements, eight at once, do not stop another owner's question."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import model_settings
from tests.support.keys import made_key
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.server import STREAM_SECONDS, TLS, Client, Server, chunks, running_server

AT_ONCE = 8
LARGE = [
    "SELECT * FROM orders WHERE " + " OR ".join(f"amount = {i}" for i in range(950)),
    "SELECT " + ", ".join(f"o.amount AS c{i}" for i in range(950)) + " FROM orders AS o",
    "SELECT " + "CASE WHEN id = 1 THEN 1 ELSE " * 40 + "0" + " END" * 40 + " FROM orders",
    "SELECT 1 FROM orders AS o0"
    + "".join(f" JOIN orders AS o{i + 1} ON o{i + 1}.id = o{i}.id" for i in range(240)),
    "SELECT * FROM orders" + "".join(f" NATURAL JOIN orders AS o{i}" for i in range(60)),
    "WITH " + ", ".join(f"c{i} AS (SELECT id FROM orders)" for i in range(399)) + " SELECT id FROM c398",
    " UNION ALL ".join(["SELECT id FROM orders"] * 400),
    "SELECT " + ", ".join(["sum(amount) OVER (ORDER BY id)"] * 500) + " FROM orders",
]
"""Each nearly as large as is read."""


@pytest.fixture(scope="module")
def busy_model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("costly")


@pytest.fixture(scope="module")
def keys(data: Path) -> dict[str, str]:
    return {owner: made_key(data, owner, "--role", "admin") for owner in ("mallory", "bob")}


@pytest.fixture(scope="module")
def shared(data: Path, keys: dict[str, str], busy_model: ScriptedModel) -> Iterator[Server]:
    """`keys` are made before it starts."""
    assert keys
    settings = {**model_settings(busy_model), "KAI_AUTH__REQUIRED": "true"}
    with running_server(data, settings) as server:
        yield server


def _http_of(server: Server, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"{server.address}/api/v1",
        timeout=httpx.Timeout(STREAM_SECONDS),
        limits=httpx.Limits(max_connections=None),
        verify=TLS,
        headers={"X-API-Key": key},
    )


async def _keep_busy(
    http: httpx.AsyncClient, path: str, first: int, done: asyncio.Event
) -> list[httpx.Response]:
    """Sends statement after statement until the other owner's question has its answer."""
    answers: list[httpx.Response] = []
    asked = {"query": "Mine"} if path.startswith("/sessions/") else {}
    while not done.is_set():
        statement = LARGE[(first + len(answers)) % len(LARGE)]
        answers.append(await http.post(path, json={"sql": statement, **asked}))
    return answers


@pytest.mark.parametrize("route", ["/statements", "/statements/counts", "/query/stream"])
async def test_another_owner_is_answered_while_eight_costly_statements_are_read(
    shared: Server, keys: dict[str, str], shop: str, *, route: str
) -> None:
    async with _http_of(shared, keys["mallory"]) as theirs, _http_of(shared, keys["bob"]) as bobs:
        mallory, bob = Client(theirs), Client(bobs)
        connection = await mallory.connect(shop)
        if route == "/query/stream":
            paths = [f"/sessions/{await mallory.open_session(connection)}{route}" for _ in range(AT_ONCE)]
        else:
            paths = [f"/database-connections/{connection}{route}"] * AT_ONCE
        session = await bob.open_session(await bob.connect(shop))
        done = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            floods = [
                group.create_task(_keep_busy(theirs, path, first, done)) for first, path in enumerate(paths)
            ]
            try:
                events = await bob.ask(session, "How many customers are there?")
            finally:
                done.set()
    assert events[-1].data["status"] == "complete", events[-1].data
    assert [event.data for event in events if event.name == "error"] == []
    assert chunks(events, "results")[0]["rows"] == [[1]]
    assert chunks(events, "analysis") == ["**One: 1**."]
    answers = [each for flood in floods for each in flood.result()]
    assert any(each.status_code == 200 for each in answers)
    for answer in answers:
        assert answer.status_code in {200, 422, 503}, answer.text
        if answer.status_code == 503:
            assert "your other statements" in answer.json()["detail"]
        assert "model's service" not in answer.text
