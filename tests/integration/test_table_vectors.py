"""Tables found by what they mean: kept up to date in the background, on every store, and never in the way."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.secrets import SecretBox
from app.core.storage.port import Storage
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndexes
from app.modules.sql_generation.statement_faults import StatementFaults
from graph.ports import Question
from tests.integration.test_language_models import PATIENT
from tests.support.records import no_records
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model

QUESTION = "What did we procure?"
"""Shares no word with a table, but letters with one."""
CARD = "CREATE TABLE procurement"
BUDGET, ENOUGH = 300, 100_000
SECRETS = SecretBox(Fernet.generate_key())


QUESTION_SECONDS = "app.modules.database_connection.scan.table_vectors._QUESTION_SECONDS"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no service slow."""
    monkeypatch.setattr(QUESTION_SECONDS, 60.0)


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
def storage(storage_of_each_kind: Storage) -> Storage:
    return storage_of_each_kind


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of a database with forty tables, one of which is asked about."""
    tables = [f"create table archive_{number} (reading, unit, taken_at);" for number in range(39)]
    with closing(sqlite3.connect(tmp_path / "many.db")) as connection:
        connection.executescript(
            "begin; create table procurement (amount); insert into procurement values ('a secret sum');"
            + "".join(tables)
            + "commit;"
        )
    return f"sqlite:///{tmp_path}/many.db"


@asynccontextmanager
async def opened(
    storage: Storage, service: ScriptedModel, model: str = "trigrams-64"
) -> AsyncIterator[DatabaseConnections]:
    async with AsyncExitStack() as opened:
        settings = replace(PATIENT, model=model, base_url=service.base_url, max_retries=0)
        embedding = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
        opened.push_async_callback(embedding.close)
        connections = DatabaseConnections(
            storage, SECRETS, ConnectionLimits(), records=no_records(), embedding=embedding
        )
        opened.push_async_callback(connections.close)
        yield connections


@pytest.fixture
async def connections(storage: Storage, service: ScriptedModel) -> AsyncIterator[DatabaseConnections]:
    async with opened(storage, service) as connections:
        yield connections


async def scanned(connections: DatabaseConnections, url: str) -> Connection:
    """A connection whose tables are embedded."""
    connection = await connections.register("ann", url, "Many", description="")
    await connections.scan("ann", connection.id)
    await until_nearest(connections, connection, "procurement")
    return connection


async def until_nearest(
    connections: DatabaseConnections, connection: Connection, table: str, question: str = QUESTION
) -> None:
    async with asyncio.timeout(60):
        while (await connections.nearest_tables(connection, question))[:1] != [table]:
            pass


async def shown(
    connections: DatabaseConnections, storage: Storage, connection: Connection, budget: int = BUDGET
) -> str:
    """What a model is shown with the question."""
    schema_context = SchemaContext(
        connections,
        ContextStore(storage, connections, StatementFaults(connections).find),
        SchemaIndexes(1),
        connection=connection,
    )
    return (await schema_context.context(Question(text=QUESTION), budget))["schema"]


async def vectors(storage: Storage) -> int:
    names = [name for name in storage.collections() if name.startswith("table_vectors")]
    return sum([await storage.count(name, []) for name in names])


async def test_a_table_that_no_word_names_is_found_through_its_vector(
    connections: DatabaseConnections, storage: Storage, url: str
) -> None:
    connection = await scanned(connections, url)
    assert CARD in await shown(connections, storage, connection)
    plain = DatabaseConnections(storage, SECRETS, ConnectionLimits(), records=no_records())
    assert CARD not in await shown(plain, storage, connection)


async def test_a_table_is_found_through_a_description_given_later(
    connections: DatabaseConnections, url: str
) -> None:
    connection = await scanned(connections, url)
    await connections.describe_table("ann", connection.id, "archive_7", description="lighthouse keepers")
    await until_nearest(connections, connection, "archive_7", "Who keeps the lighthouses?")


async def test_only_what_has_changed_is_embedded_and_never_a_stored_value(
    connections: DatabaseConnections, service: ScriptedModel, url: str
) -> None:
    connection = await scanned(connections, url)
    assert sum(text.startswith("archive_") for text in service.embedded) == 39
    assert "secret" not in " ".join(service.embedded)
    service.embedded.clear()
    await connections.scan("ann", connection.id)
    await connections.describe_table("ann", connection.id, "archive_7", description="lighthouses")
    await service.until(lambda: bool(service.embedded))
    assert list(service.embedded) == ["archive_7: lighthouses\nreading\nunit\ntaken_at"]


async def test_a_schema_that_fits_needs_no_vector_of_the_question(
    connections: DatabaseConnections, storage: Storage, service: ScriptedModel, url: str
) -> None:
    connection = await scanned(connections, url)
    service.embedded.clear()
    assert CARD in await shown(connections, storage, connection, ENOUGH)
    assert not service.embedded


async def test_without_the_service_the_other_rankings_do_and_the_log_tells_once(
    connections: DatabaseConnections,
    storage: Storage,
    service: ScriptedModel,
    url: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = await scanned(connections, url)
    monkeypatch.setattr(QUESTION_SECONDS, 0.1)
    caplog.clear()
    with caplog.at_level(logging.WARNING, "app"):
        for service.embedding in (Scripted(delay_seconds=9), Scripted(status=503)):
            async with asyncio.timeout(60):
                assert "## Schema" in await shown(connections, storage, connection)
    assert [each.getMessage() for each in caplog.records] == [
        "questions go without KAI_LLM__EMBEDDING_MODEL: trigrams-64 takes too long"
    ]


async def test_what_could_not_be_embedded_is_as_soon_as_the_database_is_used_again(
    storage: Storage, service: ScriptedModel, url: str
) -> None:
    service.embedding = Scripted(status=503)
    async with opened(storage, service) as before:
        connection = await before.register("ann", url, "Many", description="")
        await before.scan("ann", connection.id)
        await service.until(lambda: bool(service.embedded))
    service.embedding = Scripted()
    async with opened(storage, service) as after:
        await after.schema(connection)
        await until_nearest(after, connection, "procurement")


@pytest.mark.parametrize("other", ["others-64", "others-128"])
async def test_vectors_of_another_model_are_not_used(
    connections: DatabaseConnections, storage: Storage, service: ScriptedModel, url: str, other: str
) -> None:
    connection = await scanned(connections, url)
    async with opened(storage, service, other) as changed:
        assert await changed.nearest_tables(connection, QUESTION) == []
        await changed.schema(connection)
        await until_nearest(changed, connection, "procurement")
    assert (await connections.nearest_tables(connection, QUESTION))[0] == "procurement"


async def test_vectors_go_with_their_tables_and_with_their_connection(
    connections: DatabaseConnections, storage: Storage, url: str
) -> None:
    connection = await scanned(connections, url)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        database.execute("drop table procurement")
    await connections.scan("ann", connection.id)
    async with asyncio.timeout(60):
        while "procurement" in await connections.nearest_tables(connection, QUESTION):
            pass
    assert await vectors(storage) == 39 + 1
    await connections.delete("ann", connection.id)
    assert await vectors(storage) == 0
