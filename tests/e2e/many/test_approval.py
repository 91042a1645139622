"""Calls that wait for people, over several processes with one Typesense: asked here, decided there."""

import asyncio

from tests.e2e.test_approval import (
    TEXT,
    agent_session,
    ask_to_describe,
    card_of,
    decide,
    descriptions,
    follow,
)
from tests.e2e.test_investigations import finish, named
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client


async def test_a_call_is_approved_by_another_process_than_the_one_that_was_asked(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(first, shop)
    events = await ask_to_describe(first, model, session)
    assert events[-1].data["status"] == "awaiting_approval"
    card = await card_of(second, session)
    model.say(finish("It is described."))
    decided = await decide(second, session, card)
    assert decided.status_code == 200, decided.text
    events = await follow(first, session, decided.json()["run_id"])
    assert [each["status"] for each in named(events, "tool_result")] == ["done"]
    assert events[-1].data["status"] == "complete"
    assert (await descriptions(first, session))["customers"] == TEXT


async def test_of_two_deciders_in_two_processes_one_decides_and_one_run_goes_on(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(first, shop)
    await ask_to_describe(first, model, session)
    card = await card_of(first, session)
    model.say(finish("Done."))
    answers = await asyncio.gather(
        decide(first, session, card),
        decide(second, session, card, "deny"),
        decide(second, session, card),
        decide(first, session, card, "deny"),
    )
    codes = sorted(each.status_code for each in answers)
    assert codes == [200, 200, 409, 409]
    (run_id,) = {each.json()["run_id"] for each in answers if each.status_code == 200}
    events = await follow(second, session, run_id)
    assert events[-1].data["status"] == "complete"
    assert len((await first.session(session))["messages"]["items"]) == 2
