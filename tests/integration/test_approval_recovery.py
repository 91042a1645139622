"""Processes that die between a decision and the run that goes on: the next one completes what was begun."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import LlmSettings, Settings
from app.modules.records.model import NewQuestion
from app.modules.records.steps import InvestigationRecords
from app.modules.run.messages import following_run, next_run_id
from tests.support.scripted_model import Scripted, ScriptedModel

ACT = Scripted(calls=(("describe_table_as", json.dumps({"table": "customers", "text": "People."})),))
END = Scripted(calls=(("finish", json.dumps({"answer": "Done."})),))


def settings(folder: Path, model: ScriptedModel) -> Settings:
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-none"), model="scripted", max_retries=0)
    return Settings(data_dir=folder, llm=llm)


async def asked(services: Services, folder: Path) -> tuple[str, str]:
    """Ask for a description. Returns the session, and the run that has ended with a call that waits."""
    with closing(sqlite3.connect(folder / "shop.db")) as shop:
        shop.executescript("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
    url = f"sqlite:///{folder}/shop.db"
    connection = await services.database_connections.register(LOCAL_OWNER, url, "shop", description="")
    session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode="agent", metadata={})
    _, run = await services.sessions.ask(LOCAL_OWNER, session.id, NewQuestion("Describe it."))
    async for _ in services.sessions.follower.events(run):
        pass
    return session.id, run.id


@pytest.mark.parametrize("moment", ["decided", "run created", "session handed on"])
async def test_a_turn_goes_on_whenever_the_process_that_decided_dies(
    tmp_path: Path, model: ScriptedModel, moment: str
) -> None:
    model.say("INVESTIGATE:\n1. Describe it", ACT)
    async with open_services(settings(tmp_path, model), "once") as services:
        session_id, run_id = await asked(services, tmp_path)
        repository = services.sessions.repository
        records = InvestigationRecords(services.storage)
        (call_id,) = await records.waiting_in(session_id)
        call = await records.call(call_id)
        waiting = await repository.find_run(run_id)
        session = await repository.find(session_id)
        assert call is not None
        assert waiting is not None
        assert session is not None
        assert (waiting.status, session.status) == ("awaiting_approval", "awaiting_approval")
        assert await records.approve(call, "key", None) is not None
        if moment != "decided":
            following = await repository.add_following_run(following_run(waiting))
            if moment == "session handed on":
                assert await repository.hand_on(session, waiting.id, following) is not None
    model.say(END)
    before = len(model.requests)
    async with open_services(settings(tmp_path, model), "once") as services:
        session, run = await services.sessions.run(LOCAL_OWNER, session_id, next_run_id(run_id))
        async for _ in services.sessions.follower.events(run):
            pass
        session = await services.sessions.repository.get(LOCAL_OWNER, session_id)
        messages, _ = await services.sessions.repository.messages(session, 10, None)
        tables, _ = await services.database_connections.tables(
            LOCAL_OWNER, session.connection_id, 10, cursor=None
        )
        stored = await InvestigationRecords(services.storage).call(call_id)
    assert (session.status, session.active_run_id) == ("idle", None)
    assert [(each.role, each.status) for each in messages] == [
        ("human", "complete"),
        ("assistant", "complete"),
    ]
    assert stored is not None
    assert stored.status == "done"
    assert tables[0].description == "People."
    assert len(model.requests) == before + 1
