"""Columns that the owner of a database hides from KAI."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.settings import LlmSettings, Settings
from app.modules.database_connection.errors import TableNotFound
from app.modules.database_connection.schema import ColumnEdit
from app.modules.records.model import NewQuestion
from tests.support.scripted_model import ScriptedModel

OWNER = "local"


@pytest.fixture
async def services(tmp_path: Path, model: ScriptedModel) -> AsyncGenerator[Services]:
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted")
    async with open_services(Settings(data_dir=tmp_path / "data", llm=llm)) as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, shoesize TEXT, city TEXT)")
        connection.execute("INSERT INTO people VALUES (1, 'forty-two', 'Chur')")
    return path


async def test_a_hidden_column_is_in_no_prompt_and_in_no_answer(
    services: Services, model: ScriptedModel, shop: Path
) -> None:
    databases, context = services.database_connections, services.context_store
    known = await databases.register(OWNER, f"sqlite:///{shop}", "people", description="")
    await databases.scan(OWNER, known.id)
    example = "SELECT shoesize FROM people"
    await context.add_example(OWNER, known.id, "Sizes?", sql=example, status="verified")
    edits: dict[str, ColumnEdit] = {
        "shoesize": {"hidden": True},
        "city": {"unit": "inhabitants", "description": "Where they live"},
    }
    await databases.describe_table(OWNER, known.id, "people", columns=edits)
    with pytest.raises(TableNotFound):
        await databases.describe_table(OWNER, known.id, "people", columns={"age": {"hidden": True}})

    session = await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={})
    model.rule("", "All of them.")
    model.rule("SQL writer", "```sql\nSELECT * FROM people\n```")

    async def ask(question: str, sql: str | None = None) -> None:
        run = await services.sessions.ask(OWNER, session.id, NewQuestion(question, sql=sql))
        async for _ in services.sessions.follower.events(run[1]):
            pass

    await ask("What do we know?")
    await ask("Sizes, by my own statement", "SELECT shoesize FROM people")
    answers = [each for each in await services.sessions.history(session) if each.role == "assistant"]
    assert [column["name"] for column in answers[0].columns] == ["id", "city"]
    assert [each.status for each in answers] == ["complete", "failed"]
    asked = next(each.text for each in model.requests if "SQL writer" in each.text)
    assert "shoesize" not in asked
    assert "forty-two" not in asked
    assert "inhabitants" in asked
    assert "Where they live" in asked

    shown, _ = await databases.tables(OWNER, known.id, 10, cursor=None)
    assert [each.name for each in shown[0].columns] == ["id", "city"]
    edited, _ = await databases.editable_tables(OWNER, known.id, 10, cursor=None)
    assert [each.name for each in edited[0].columns if each.hidden] == ["shoesize"]
    await databases.scan(OWNER, known.id)
    (again,) = (await databases.schema(known)).tables
    assert ([each.name for each in again.columns], again.hides) == (["id", "city"], ["shoesize"])
