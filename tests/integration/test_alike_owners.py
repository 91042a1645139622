"""Owners whose names differ by case, accent or punctuation never meet, by any route of memory."""

import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from pydantic import JsonValue, SecretStr

from app.bootstrap import Services, open_services
from app.core.ids import new_id
from app.core.settings import (
    GraphMemorySettings,
    LlmSettings,
    MemorySettings,
    Settings,
)
from app.http.problems import answer_problems
from app.modules.chat_api.router import router as conversations
from app.modules.forgetting.router import router as forgetting
from app.modules.memory.fact_router import router as facts
from app.modules.memory.graphiti.router import router as consents
from app.modules.memory.model import ConversationMemory
from app.modules.memory.profile_router import router as profiles
from tests.support.callers import admin, call_as
from tests.support.fake_graphiti import FakeGraphiti, running_graphiti
from tests.support.waiting import until

OWNERS = ["ann", "Ann", "ánn", "an-n", "ann.", "ann@example.com", "Ann@Example.com", "ann@example_com"]


@pytest.fixture
async def graphiti() -> AsyncGenerator[FakeGraphiti]:
    async with running_graphiti() as fake:
        yield fake


@pytest.fixture(params=["sqlite", "typesense"])
async def services(
    request: pytest.FixtureRequest, tmp_path: Path, graphiti: FakeGraphiti
) -> AsyncGenerator[Services]:
    settings = Settings(
        data_dir=tmp_path / "data",
        llm=LlmSettings(),
        memory=MemorySettings(profile=True, recall_ms=10_000, profile_seconds=60),
        graph_memory=GraphMemorySettings.model_validate(
            {"enabled": True, "recall": True, "endpoint": graphiti.url}
        ),
    )
    if request.param == "typesense":
        typesense = request.getfixturevalue("ready_typesense")
        key = SecretStr(Fernet.generate_key().decode())
        settings = settings.model_copy(
            update={"store": "typesense", "encryption_key": key, "typesense": typesense}
        )
    async with open_services(settings) as opened:
        yield opened
        await opened.database_connections.close()


class Visitor:
    """Calls routes as one owner. Every answer has to be a success."""

    def __init__(self, services: Services, owner: str) -> None:
        app = FastAPI()
        app.state.services = services
        for router in (facts, profiles, consents, forgetting):
            app.include_router(router)
        app.include_router(conversations, prefix="/api")
        call_as(app, lambda _: admin(owner))
        answer_problems(app)
        self.owner = owner
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kai")

    async def call(self, method: str, path: str, body: JsonValue = None, **query: str) -> JsonValue:
        response = await self.response(method, path, body, **query)
        assert response.is_success, response.text
        answer: JsonValue = response.json() if response.content else None
        return answer

    async def response(self, method: str, path: str, body: JsonValue = None, **query: str) -> httpx.Response:
        return await self._client.request(method, path, json=body, params=query)

    async def everything(self) -> str:
        """All that the routes show of memory."""
        own = httpx.URL(f"/api/memory/users/{self.owner}/memories").path
        search = own.replace("/memories", "/conversations/search")
        export = await self.call("GET", "/memory/export")
        assert isinstance(export, dict)
        del export["exported_at"]
        shown = [
            export,
            await self.call("GET", "/memory/facts"),
            await self.call("GET", "/memory/facts", q="marker"),
            await self.call("GET", "/memory/profile"),
            await self.call("GET", "/memory/consents"),
            await self.call("GET", own),
            await self.call("POST", search, {"query": "marker conversation", "limit": 50}),
        ]
        return str(shown)


def marker(owner: str) -> str:
    return f"marker{OWNERS.index(owner)}x"


async def plant(services: Services, visitor: Visitor, connection_id: str, session_id: str) -> None:
    """A fact of each scope, an item of the profile, a consent and a past conversation."""
    word = marker(visitor.owner)
    state = await visitor.call("GET", "/memory/graph")
    assert isinstance(state, dict)
    consent = {
        "db_connection_id": connection_id,
        "endpoint": state["endpoint"],
        "text_version": state["text_version"],
    }
    await visitor.call("PUT", "/memory/consents", consent)
    places: list[dict[str, JsonValue]] = [
        {"scope": "user", "session_id": session_id},
        {"scope": "workspace", "db_connection_id": connection_id},
        {"scope": "session", "session_id": session_id},
    ]
    for place in places:
        text = f"The {word} marker of {place['scope']}"
        await visitor.call("POST", "/memory/facts", {"kind": "preference", "text": text, **place})
    await visitor.call("PATCH", "/memory/profile", {"consent": True})
    await visitor.call("PATCH", "/memory/profile/goals", {"items": [f"Learn {word}"]})
    memory = ConversationMemory(
        id=session_id,
        owner=visitor.owner,
        session_id=session_id,
        summary=f"A marker conversation about {word}.",
        themes=["sales"],
        covers=new_id(),
        updated_at=1,
    )
    assert await services.memories.keep(memory, None)


async def test_owners_with_names_alike_see_and_delete_only_their_own(
    services: Services, graphiti: FakeGraphiti, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    connections = services.database_connections
    shop = await connections.register(
        OWNERS[0], f"sqlite:///{tmp_path / 'shop.db'}", "shop", description="", shared=True
    )
    await connections.repository.edit(shop, {"external_memory": True})
    visitors = [Visitor(services, owner) for owner in OWNERS]
    sessions: dict[str, str] = {}
    for visitor in visitors:
        session = await services.sessions.create(visitor.owner, shop.id, None, mode="ask", metadata={})
        sessions[visitor.owner] = session.id
        await plant(services, visitor, shop.id, session.id)

    await until(_sent(graphiti, len(OWNERS) * 3))
    groups = {group: " ".join(each.content for each in kept) for group, kept in graphiti.episodes.items()}
    assert len(groups) == len(OWNERS) * 3
    assert all(sum(marker(owner) in contents for owner in OWNERS) == 1 for contents in groups.values())

    shown = {visitor.owner: await visitor.everything() for visitor in visitors}
    for owner, text in shown.items():
        assert text.count(marker(owner)) >= 9
        assert not [other for other in OWNERS if other != owner and marker(other) in text]
    for one, other in zip(visitors, [*visitors[1:], visitors[0]], strict=True):
        listed = await one.call("GET", "/memory/facts")
        assert isinstance(listed, dict)
        assert isinstance(listed["items"], list)
        for fact in listed["items"]:
            assert isinstance(fact, dict)
            for method in ("GET", "DELETE", "PATCH"):
                body: JsonValue = {"text": "Mine now"} if method == "PATCH" else None
                assert (await other.response(method, f"/memory/facts/{fact['id']}", body)).status_code == 404
        place: JsonValue = {
            "kind": "decision",
            "text": "Mine",
            "scope": "session",
            "session_id": sessions[one.owner],
        }
        assert (await other.response("POST", "/memory/facts", place)).status_code in (404, 422)

    gone = visitors.pop(0)
    await gone.call("DELETE", "/memory")
    assert marker(gone.owner) not in await gone.everything()
    await until(_erased(graphiti, marker(gone.owner)))
    for group, contents in groups.items():
        left = " ".join(each.content for each in graphiti.episodes[group])
        assert left == ("" if marker(gone.owner) in contents else contents)
    for visitor in visitors:
        assert await visitor.everything() == shown[visitor.owner]


def _sent(graphiti: FakeGraphiti, facts: int) -> Callable[[], Awaitable[bool]]:
    async def sent() -> bool:
        return sum(name.startswith("kai.fact.") for name in graphiti.accepted_names()) >= facts

    return sent


def _erased(graphiti: FakeGraphiti, word: str) -> Callable[[], Awaitable[bool]]:
    async def erased() -> bool:
        return not any(word in each.content for kept in graphiti.episodes.values() for each in kept)

    return erased
