"""What is true by the time a client reads `done`: everything that belongs to the run."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.settings import LlmSettings, Settings
from app.modules.records.model import NewQuestion, Session
from tests.support.scripted_model import ScriptedModel

OWNER = "local"


@pytest.fixture
async def services(tmp_path: Path, model: ScriptedModel) -> AsyncGenerator[Services]:
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted", max_retries=0)
    async with open_services(Settings(data_dir=tmp_path / "data", llm=llm)) as opened:
        yield opened


async def test_metrics_usage_session_and_history_are_right_when_done_is_read(
    services: Services, session: Session
) -> None:
    asked = await services.sessions.ask(OWNER, session.id, NewQuestion("How many customers?"))
    async for entry in services.sessions.follower.events(asked[1]):
        if entry.event == "done":
            assert services.metrics.get_sample_value("kai_runs_under_way") == 0
            tokens = json.loads(entry.data)["tokens_used"]
            assert (await services.allowances.usage(OWNER)).tokens_today >= tokens > 200
            now = await services.sessions.repository.get(OWNER, session.id)
            messages, _ = await services.sessions.repository.messages(now, 20, None)
            assert (now.status, now.active_run_id, len(messages)) == ("idle", None, 2)
            assert services.metrics.get_sample_value("kai_runs_ended_total", {"outcome": "complete"}) == 1
