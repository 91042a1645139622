"""KAI with an embedding model: what a model is shown of a database that does not fit a prompt."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.e2e.conftest import model_settings
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import client_of, running_server

QUESTION = "What did we procure?"


async def test_a_table_is_shown_that_only_its_vector_speaks_for_and_without_the_service_all_goes_on(
    model: ScriptedModel, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "many.db")) as database:
        archive = "".join(f"create table archive_{number} (reading, unit);" for number in range(60))
        database.executescript(f"begin; create table procurement (amount); {archive} commit;")
    settings = {
        **model_settings(model),
        "KAI_LLM__EMBEDDING_MODEL": "trigrams-64",
        "KAI_LLM__CONTEXT_TOKENS": "500",
    }
    with running_server(tmp_path / "kai", settings) as server:
        async with client_of(server) as kai, asyncio.timeout(60):
            session = await kai.open_session(await kai.connect(f"sqlite:///{tmp_path}/many.db"))
            while "CREATE TABLE procurement" not in "".join(each.text for each in model.requests):
                await kai.ask(session, QUESTION)
            model.embedding = Scripted(status=503)
            assert (await kai.ask(session, QUESTION))[-1].data["status"] == "complete"
            assert "procur" in model.embedded[-1]
