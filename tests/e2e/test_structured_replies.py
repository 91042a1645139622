"""A model that is asked for its SQL by schema: the same turn, and the statement streams out of the JSON."""

import json
from collections.abc import AsyncGenerator, Iterator

import pytest

from tests.e2e.conftest import model_settings
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.server import Client, Server, client_of, running_server

SQL = "SELECT name\nFROM customers\nWHERE country = 'Brazil' AND name <> '\"'"


def written(**fields: str) -> str:
    usual = {"route": "sql", "question": "", "explanation": "Customers of Brazil.", "sql": SQL, "text": ""}
    return json.dumps(usual | fields)


@pytest.fixture(scope="module")
def asked_model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, asked_model: ScriptedModel) -> Iterator[Server]:
    settings = {**model_settings(asked_model), "KAI_LLM__REPLY_FORMAT": "tools"}
    with running_server(tmp_path_factory.mktemp("structured"), settings) as running:
        yield running


@pytest.fixture
async def client(server: Server, asked_model: ScriptedModel) -> AsyncGenerator[Client]:
    asked_model.forget()
    async with client_of(server) as client:
        yield client
        await client.until_idle()


@pytest.mark.parametrize("tool", ["write_sql", None], ids=["by a call", "in words"])
async def test_a_statement_streams_out_of_the_object_and_is_run(
    client: Client, asked_model: ScriptedModel, shop: str, tool: str | None
) -> None:
    session = await client.open_session(await client.connect(shop))
    asked_model.say(Scripted(written(), tool=tool), FIRST)
    events = await client.ask(session, "Who lives in Brazil?")
    pieces = [each.data["content"] for each in events if each.data.get("channel") == "sql"]
    assert "".join(pieces) == SQL
    assert len(pieces) > 3
    [chunk] = [each.data for each in events if each.data.get("type") == "sql"]
    assert chunk["content"] == SQL
    tools = [asked.body.get("tool_choice") for asked in asked_model.requests]
    assert tools == ["required", "required"]


async def test_a_reply_in_words_is_shown_as_words(
    client: Client, asked_model: ScriptedModel, shop: str
) -> None:
    session = await client.open_session(await client.connect(shop))
    asked_model.say(Scripted(written(route="clarify", sql="", text="Which year?"), tool="write_sql"))
    events = await client.ask(session, "How many?")
    assert "Which year?" in json.dumps([each.data for each in events])
    assert not [each for each in events if each.data.get("channel") == "sql"]
