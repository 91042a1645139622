"""Costs of an answer as the stream reports them: tokens from a provider's cache, and the database's time."""

import pytest

from tests.e2e.test_turn import PER_COUNTRY
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client

SQL = f"```sql\n{PER_COUNTRY}\n```"


@pytest.fixture
async def session(kai: Client, shop: str) -> str:
    return await kai.open_session(await kai.connect(shop))


async def test_done_has_the_cached_tokens_of_all_calls(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted(SQL, cached_tokens=64), Scripted(FIRST, cached_tokens=32))
    done = (await kai.ask(session, "customers per country"))[-1].data
    assert done["cached_tokens"] == 96
    assert done["tokens_used"] > 200


async def test_done_has_no_cached_tokens_where_the_provider_reports_none(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted(SQL), FIRST)
    assert (await kai.ask(session, "customers per country"))[-1].data["cached_tokens"] is None


async def test_a_stream_read_later_has_the_same_cached_tokens(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted(SQL, cached_tokens=64), Scripted(FIRST, cached_tokens=32))
    async with kai.asking(session, "customers per country") as stream:
        done = (await stream.rest())[-1]
    async with kai.following(session, stream.run_id) as again:
        assert (await again.rest())[-1].data == done.data


async def test_done_and_the_stored_answer_have_the_time_of_the_statements(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted(SQL), FIRST)
    async with kai.asking(session, "customers per country") as stream:
        done = (await stream.rest())[-1].data
    message = (await kai.session(session))["messages"]["items"][-1]
    costs = ("database_ms", "rows_read", "bytes_read")
    assert [message[name] for name in costs] == [done[name] for name in costs]
    assert 0 < done["database_ms"] <= done["elapsed_ms"]
    assert (done["rows_read"], done["bytes_read"]) == (None, None)  # SQLite does not say
