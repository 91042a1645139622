"""KAI with boards over a store of either kind, a small shop, and a client of its routes."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.bootstrap import Services, open_services
from app.core.auth.caller import SCOPES_OF_ROLE, Attributes, Caller
from app.core.settings import ScheduleSettings, Settings
from app.main import create_app
from tests.support.callers import admin, call_as
from tests.support.shop import make_shop
from tests.support.waiting import until

PER_COUNTRY = "SELECT country, count(*) AS customers FROM customers GROUP BY country ORDER BY country"
LOOPBACK = ip_network("127.0.0.0/8")
Json = dict[str, Any]


@dataclass(frozen=True)
class BoardKai:
    """KAI over a store, with a client of its routes and the file of a database."""

    services: Services
    app: FastAPI
    http: httpx.AsyncClient
    shop: Path
    connection_id: str

    async def call(self, method: str, path: str, status: int = 200, **body: object) -> Json:
        answer = await self.http.request(method, path, json=body or None)
        assert answer.status_code == status, answer.text
        found: Json = {} if answer.status_code == 204 else answer.json()
        return found

    async def answer(self, sql: str = PER_COUNTRY, question: str = "Customers per country") -> str:
        """Ask with a statement. Returns the id of the answer."""
        session = await self.call("POST", "/sessions", 201, db_connection_id=self.connection_id)
        path = f"/sessions/{session['id']}"
        asked = await self.http.post(f"{path}/query/stream", json={"query": question, "sql": sql})
        assert '"complete"' in asked.text, asked.text
        messages = (await self.call("GET", path))["messages"]["items"]
        return str(messages[-1]["id"])

    async def board(self, **fields: object) -> str:
        return str((await self.call("POST", "/boards", 201, title="Weekly", **fields))["id"])

    async def pinned(self, board: str, message_id: str, **fields: object) -> Json:
        return await self.call("POST", f"/boards/{board}/pins", 201, message_id=message_id, **fields)

    async def refreshed(self, board: str) -> list[Json]:
        """Returns the pins after a refresh of the board."""
        await self.call("POST", f"/boards/{board}/refresh", 202)

        async def is_done() -> bool:
            return all(pin["state"] != "running" for pin in await self.pins(board))

        await until(is_done)
        return await self.pins(board)

    async def pins(self, board: str) -> list[Json]:
        pins: list[Json] = (await self.call("GET", f"/boards/{board}"))["pins"]
        return pins

    def become(self, owner: str, attributes: Attributes = MappingProxyType({})) -> None:
        caller = Caller(
            owner=owner,
            role="user",
            scopes=SCOPES_OF_ROLE["user"],
            signed_in_by="api_key",
            attributes=attributes,
        )
        call_as(self.app, lambda _: caller)

    def change_shop(self, sql: str) -> None:
        with closing(sqlite3.connect(self.shop)) as database:
            database.executescript(sql)


def store_settings(request: pytest.FixtureRequest) -> dict[str, object]:
    """Settings of the store that a fixture's parameter names."""
    if request.param == "sqlite":
        return {}
    typesense = request.getfixturevalue("ready_typesense")
    return {"store": "typesense", "typesense": typesense}


@asynccontextmanager
async def kai_with_boards(store: dict[str, object], folder: Path) -> AsyncGenerator[BoardKai]:
    """KAI may send webhooks to this machine."""
    schedules = ScheduleSettings(webhook_networks=(LOOPBACK,))
    settings = Settings(data_dir=folder / "data", schedules=schedules).model_copy(update=store)
    shop = make_shop(folder / "shop.db")
    async with open_services(settings) as services:
        app = create_app(services, settings)
        call_as(app, lambda _: admin("ann"))
        transport = httpx.ASGITransport(app)
        base = "http://127.0.0.1/api/v1"
        async with httpx.AsyncClient(transport=transport, base_url=base, timeout=60) as http:
            connection = await services.database_connections.register(
                "ann", f"sqlite:///{shop}", "Shop", description="", shared=True
            )
            yield BoardKai(services, app, http, shop, connection.id)
