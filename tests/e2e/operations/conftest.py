"""A server that is watched: its log in a file, its traces at a collector, and canaries in all it handles."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.conftest import SHOP, model_settings
from tests.support.otlp import WAIT_SECONDS, Collector, otlp_collector
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Server, client_of, running_server

CANARY = "canary7431"
"""Stands in a question, a statement, a cell, a model's key and a database's password."""


@dataclass
class Watched:
    """A client of a watched server, and what the server leaves behind."""

    client: Client
    server: Server
    log: Path

    def lines(self, **fields: object) -> list[dict[str, object]]:
        """The log's lines that have these fields."""
        read = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [each for each in read if fields.items() <= each.items()]

    async def line(self, **fields: object) -> dict[str, object]:
        """The first line that has these fields, waited for: an answer may be here before its line is."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not (found := self.lines(**fields)):  # noqa: ASYNC110 - another process's file
                await asyncio.sleep(0.01)
        return found[0]

    async def metrics(self) -> str:
        return (await self.client.http.get(f"{self.server.address}/metrics")).text


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    with otlp_collector() as running:
        yield running


@pytest.fixture(scope="session")
def watched_server(
    tmp_path_factory: pytest.TempPathFactory, model_of_all: ScriptedModel, collector: Collector
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("watched")
    settings = {
        **model_settings(model_of_all),
        "KAI_LLM__API_KEY": f"sk-{CANARY}-key",
        "KAI_LOG_LEVEL": "debug",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_BSP_SCHEDULE_DELAY": "50",
        "KAI_OVERVIEW__ENABLED": "false",  # its statements come whenever they are due
    }
    with running_server(folder / "data", settings, folder / "log") as server:
        yield server


@pytest.fixture
async def watched(watched_server: Server, model: ScriptedModel) -> AsyncGenerator[Watched]:
    assert watched_server.log is not None
    async with client_of(watched_server) as client:
        yield Watched(client, watched_server, watched_server.log)
        model.release()
        await client.until_idle()


@pytest.fixture(scope="session")
def canary_shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small SQLite database with a canary among its values."""
    path = tmp_path_factory.mktemp("canary") / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP + f"UPDATE customers SET name = '{CANARY}' WHERE id = 1;")
    return f"sqlite:///{path}"
