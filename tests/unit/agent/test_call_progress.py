"""What is reported of a call that takes long."""

import asyncio

import pytest

from app.modules.agent.call_progress import CallProgress
from graph.events import Progress, SessionEvent
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.modules.agent.call_progress.SILENT_SECONDS", 0.01)


async def test_the_time_of_a_silent_call_is_reported_until_it_ends() -> None:
    said: list[SessionEvent] = []
    with CallProgress("call-1", said.append).of_silent_call():
        await until(lambda: _has(said, 2))
    number = len(said)
    await asyncio.sleep(0.05)
    assert len(said) == number
    assert all(isinstance(each, Progress) and each.fraction == -1 for each in said)


async def test_a_call_that_reports_something_itself_is_not_spoken_for() -> None:
    said: list[SessionEvent] = []
    progress = CallProgress("call-1", said.append)
    with progress.of_silent_call():
        progress("Counting album", 0.5)
        await asyncio.sleep(0.05)
    assert said == [Progress(tool_call_id="call-1", message="Counting album", fraction=0.5)]


async def _has(said: list[SessionEvent], number: int) -> bool:
    return len(said) >= number
