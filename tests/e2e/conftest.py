"""One server, one scripted model and one database for the tests that do not break them."""

import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing

import httpx
import pytest

from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.server import Client, Server, client_of, running_server

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
    order_date DATE NOT NULL, amount NUMERIC NOT NULL);
INSERT INTO customers VALUES (1, 'Ada', 'Norway'), (2, 'Ben', 'Brazil'), (3, 'Cleo', 'Brazil');
INSERT INTO orders VALUES (1, 1, '2024-05-01', 10), (2, 2, '2025-01-02', 20), (3, 2, '2025-02-03', 30),
    (4, 3, '2025-03-04', 5.5);
"""


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a small SQLite database."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def plain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """KAI without a model."""
    with running_server(tmp_path_factory.mktemp("plain")) as server:
        yield server


@pytest.fixture
async def plain(plain_server: Server) -> AsyncGenerator[Client]:
    async with client_of(plain_server) as client:
        yield client


def model_settings(model: ScriptedModel) -> dict[str, str]:
    """Short waits, so that what fails fails soon."""
    return {
        "KAI_LLM__BASE_URL": model.base_url,
        "KAI_LLM__API_KEY": "sk-never-shown",
        "KAI_LLM__MODEL": "scripted",
        "KAI_TUNING__LLM__MAX_RETRIES": "1",
    }


@pytest.fixture(scope="session")
def model_of_all() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture(scope="session")
def server_of_all(tmp_path_factory: pytest.TempPathFactory, model_of_all: ScriptedModel) -> Iterator[Server]:
    reduction = {"KAI_CONVERSATIONS__REDUCE_WITH_AI": "true", "KAI_CONVERSATIONS__REDUCE_THRESHOLD": "10"}
    settings = {**model_settings(model_of_all), **reduction}
    with running_server(tmp_path_factory.mktemp("modelled"), settings) as server:
        yield server


@pytest.fixture(scope="module")
def shared_server(server_of_all: Server) -> Iterator[Server]:
    """KAI with a scripted model and without databases: those of a module are deleted at its end."""
    yield server_of_all
    with httpx.Client(base_url=f"{server_of_all.address}/api/v1") as http:
        while found := http.get("/database-connections").raise_for_status().json()["items"]:
            for each in found:
                http.delete(f"/database-connections/{each['id']}").raise_for_status()


@pytest.fixture
def model(model_of_all: ScriptedModel) -> Iterator[ScriptedModel]:
    """The scripted model of `kai`, with an empty script."""
    model_of_all.forget()
    yield model_of_all
    model_of_all.release()


@pytest.fixture
async def kai(shared_server: Server, model: ScriptedModel) -> AsyncGenerator[Client]:
    """A client of KAI with a scripted model. A run that outlived its test would take the next replies."""
    async with client_of(shared_server) as client:
        yield client
        model.release()
        await client.until_idle()
