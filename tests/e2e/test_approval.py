"""Calls of tools that wait for people: cards, decisions, and the run that goes on."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from tests.e2e.conftest import model_settings
from tests.e2e.test_investigations import PLAN, calls, finish, last_prompt, named, per_year
from tests.support.choices import FIRST
from tests.support.keys import made_key
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event, client_of, running_server, steps
from tests.support.waiting import until

TEXT = "One row for each customer of the shop."
DESCRIBE: dict[str, JsonValue] = {"table": "customers", "text": TEXT}
PLAN_TO_ACT = "INVESTIGATE:\n1. Describe the table"


def describe(text: str = TEXT, table: str = "customers") -> Scripted:
    return calls(("describe_table_as", {"table": table, "text": text}))


async def agent_session(kai: Client, url: str) -> str:
    answer = await kai.http.post(
        "/sessions", json={"db_connection_id": await kai.connect(url), "mode": "agent"}
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def card_of(kai: Client, session: str) -> dict[str, Any]:
    (card,) = await cards_of(kai, session)
    return card


async def cards_of(kai: Client, session: str) -> list[dict[str, Any]]:
    path = f"/sessions/{session}/confirmations"
    answer = await kai.http.get(path, params={"status": "waiting"})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def decide(
    kai: Client, session: str, card: dict[str, Any], decision: str = "approve", **more: JsonValue
) -> Any:
    path = f"/sessions/{session}/confirmations/{card['confirmation_id']}"
    body = {"decision": decision, "call_hash": card["call_hash"], **more}
    return await kai.http.post(path, json=body)


async def follow(kai: Client, session: str, run_id: str) -> list[Event]:
    async with kai.following(session, run_id) as stream:
        return await stream.rest()


async def descriptions(kai: Client, session: str) -> dict[str, str]:
    connection = (await kai.session(session))["db_connection_id"]
    answer = await kai.http.get(f"/database-connections/{connection}/tables")
    return {each["name"]: each["description"] for each in answer.json()["items"]}


async def ask_to_describe(kai: Client, model: ScriptedModel, session: str) -> list[Event]:
    model.say(PLAN_TO_ACT, describe())
    return await kai.ask(session, "Describe the customers.")


async def test_a_call_that_writes_waits_and_runs_once_it_is_approved(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    events = await ask_to_describe(kai, model, session)
    assert steps(events)[-1] == "waiting_for_approval"
    (called,) = named(events, "tool_call")
    (asked,) = named(events, "confirmation")
    assert called["requires_approval"]
    assert (asked["confirmation_id"], asked["arguments"]) == (called["tool_call_id"], called["arguments"])
    assert asked["description"] == "Replace the description of the table customers."
    assert asked["destination"] == "database test"
    done = events[-1].data
    assert (done["status"], done["tool_calls"]) == ("awaiting_approval", 1)
    body = await kai.session(session)
    assert (body["status"], body["waiting_confirmations"]) == ("awaiting_approval", 1)
    assert body["active_run_id"] == done["run_id"]
    assert body["messages"]["items"][-1]["status"] == "awaiting_approval"
    assert (await descriptions(kai, session))["customers"] == ""

    card = await card_of(kai, session)
    assert {key: card[key] for key in asked if key in card} == {
        key: value for key, value in asked.items() if key in card
    }
    model.say(finish("It is described."))
    decided = await decide(kai, session, card)
    assert decided.status_code == 200, decided.text
    assert decided.json()["status"] == "approved"
    events = await follow(kai, session, decided.json()["run_id"])
    assert [event.name for event in events if event.name in ("reset", "error")] == []
    assert named(events, "confirmation_decided") == [
        {
            "event": "confirmation_decided",
            "confirmation_id": card["confirmation_id"],
            "decision": "approved",
            "edited_arguments": None,
        }
    ]
    assert named(events, "tool_result")[0]["status"] == "done"
    assert (await descriptions(kai, session))["customers"] == TEXT
    done = events[-1].data
    assert (done["status"], done["run_id"]) == ("complete", decided.json()["run_id"])
    body = await kai.session(session)
    assert (body["status"], body["waiting_confirmations"], body["active_run_id"]) == ("idle", 0, None)
    message = body["messages"]["items"][-1]
    assert (message["status"], message["analysis"]) == ("complete", "It is described.")
    assert len(body["messages"]["items"]) == 2


async def test_a_denied_call_has_no_effect_and_the_model_reads_the_reason(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    await ask_to_describe(kai, model, session)
    model.say(finish("Not done."))
    before = (await descriptions(kai, session))["customers"]
    decided = await decide(kai, session, await card_of(kai, session), "deny", reason="It says nothing new.")
    events = await follow(kai, session, decided.json()["run_id"])
    (returned,) = named(events, "tool_result")
    assert (returned["status"], returned["is_error"]) == ("denied", True)
    assert "It says nothing new." in last_prompt(model)
    assert (await descriptions(kai, session))["customers"] == before


async def test_an_edited_call_runs_with_the_arguments_of_the_person_and_everyone_reads_that(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    await ask_to_describe(kai, model, session)
    card = await card_of(kai, session)
    assert card["edited_arguments"] is None
    model.say(finish("Done."))
    mine: dict[str, JsonValue] = {**card["arguments"], "table": "orders", "text": "Mine."}
    decided = await decide(kai, session, card, "edit", arguments=mine)
    assert (decided.status_code, decided.json()["status"]) == (200, "approved"), decided.text
    again = await decide(kai, session, card, "edit", arguments=mine)
    assert (again.status_code, again.json()) == (200, decided.json())
    for other in ("approve", "deny"):
        assert (await decide(kai, session, card, other)).status_code == 409
    changed = {**mine, "text": "Theirs."}
    assert (await decide(kai, session, card, "edit", arguments=changed)).status_code == 409

    events = await follow(kai, session, decided.json()["run_id"])
    (said,) = named(events, "confirmation_decided")
    assert (said["decision"], said["edited_arguments"]) == ("approved", mine)
    (returned,) = named(events, "tool_result")
    assert returned["status"] == "done"
    assert returned["content"].startswith("The user has changed the arguments of this call.")
    assert '"text": "Mine."' in returned["content"]
    assert returned["content"] in last_prompt(model)
    described = await descriptions(kai, session)
    assert (described["orders"], described["customers"]) == ("Mine.", "")

    path = f"/sessions/{session}/confirmations"
    (card,) = (await kai.http.get(path, params={"status": "done"})).json()["items"]
    assert (card["arguments"], card["edited_arguments"]) == (
        {**mine, "table": "customers", "text": TEXT},
        mine,
    )
    path = f"/sessions/{session}/messages/{events[-1].data['message_id']}/steps"
    stored = [each for step in (await kai.http.get(path)).json()["items"] for each in step["tool_calls"]]
    assert [each["edited_arguments"] for each in stored] == [mine]


async def test_an_edit_with_arguments_that_the_tool_does_not_take_leaves_the_call_waiting(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    await ask_to_describe(kai, model, session)
    card = await card_of(kai, session)
    wrong: list[dict[str, JsonValue]] = [
        {"table": "customers"},
        {**DESCRIBE, "more": 1},
        {**DESCRIBE, "text": 7},
        {**DESCRIBE, "text": "x" * 70_000},
    ]
    for arguments in wrong:
        refused = await decide(kai, session, card, "edit", arguments=arguments)
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:kai:edit-refused"), refused.text
    for bare in ("edit", "approve", "deny"):
        more: dict[str, JsonValue] = {} if bare == "edit" else {"arguments": DESCRIBE}
        assert (await decide(kai, session, card, bare, **more)).status_code == 422
    other = await decide(kai, session, {**card, "call_hash": "0" * 64}, "edit", arguments=DESCRIBE)
    assert other.json()["type"] == "urn:kai:call-hash-differs"
    assert await card_of(kai, session) == card
    assert (await descriptions(kai, session))["customers"] == ""

    model.say(finish("Done."))
    same = await decide(kai, session, card, "edit", arguments=card["arguments"])
    events = await follow(kai, session, same.json()["run_id"])
    assert [each["edited_arguments"] for each in named(events, "confirmation_decided")] == [None]
    assert (await descriptions(kai, session))["customers"] == TEXT


async def test_ask_mode_offers_tools_that_read_and_a_question_may_name_its_own_mode(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    listed = {each["name"]: each for each in (await kai.http.get("/tools")).json()["items"]}
    reading = {name for name, each in listed.items() if each["category"] == "read"}
    acting = set(listed) - reading
    assert acting >= {"describe_table_as", "save_example", "define_term", "delete_example"}
    assert all(listed[name]["modes"] == ["agent"] for name in acting)
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, finish("Nothing."))
    await kai.ask(session, "Why?")
    assert not acting & set(model.requests[-1].tools)
    model.say(PLAN, calls(("describe_table_as", DESCRIBE)), finish("I cannot."))
    events = await kai.ask(session, "Describe it.")
    assert "There is no tool 'describe_table_as'" in named(events, "tool_result")[0]["content"]
    model.say(PLAN, finish("Nothing."))
    await kai.ask(session, "Describe it.", mode="agent")
    assert acting & set(model.requests[-1].tools)
    await kai.http.patch(f"/sessions/{session}", json={"mode": "agent"})
    model.say(PLAN, finish("Nothing."))
    await kai.ask(session, "Describe it.", mode="ask")
    assert not acting & set(model.requests[-1].tools)


async def test_decisions_answer_what_the_documents_say(kai: Client, model: ScriptedModel, shop: str) -> None:
    session = await agent_session(kai, shop)
    await ask_to_describe(kai, model, session)
    card = await card_of(kai, session)
    wrong = await decide(kai, session, {**card, "call_hash": "0" * 64})
    assert (wrong.status_code, wrong.json()["type"]) == (422, "urn:kai:call-hash-differs")
    other = await agent_session(kai, shop)
    assert (await decide(kai, other, card)).status_code == 404
    foreign = await decide(kai, session, {**card, "confirmation_id": session})
    assert foreign.status_code == 404
    model.say(finish("Done."))
    first = await decide(kai, session, card)
    again = await decide(kai, session, card)
    assert (again.status_code, again.json()) == (200, first.json())
    against = await decide(kai, session, card, "deny")
    assert (against.status_code, against.json()["type"]) == (409, "urn:kai:already-decided")
    await follow(kai, session, first.json()["run_id"])
    assert (await decide(kai, session, card)).json() == first.json()


async def test_several_calls_wait_together_and_run_in_order_after_the_last_decision(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    model.say(
        PLAN_TO_ACT,
        calls(
            ("describe_table_as", {"table": "customers", "text": "First."}),
            ("run_sql", {"sql": "SELECT count(*) AS n FROM orders"}),
            ("describe_table_as", {"table": "customers", "text": "Second."}),
        ),
    )
    events = await kai.ask(session, "Describe them.")
    assert [each["status"] for each in named(events, "tool_result")] == ["done"]
    first, second = await cards_of(kai, session)
    if first["arguments"]["text"] != "First.":
        first, second = second, first
    waits = await decide(kai, session, second)
    assert waits.json()["run_id"] is None
    assert (await kai.session(session))["waiting_confirmations"] == 1
    model.say(finish("Done."))
    decided = await decide(kai, session, first)
    events = await follow(kai, session, decided.json()["run_id"])
    results = [each["tool_call_id"] for each in named(events, "tool_result")]
    assert results == [first["confirmation_id"], second["confirmation_id"]]
    assert (await descriptions(kai, session))["customers"] == "Second."


async def test_while_calls_wait_a_new_question_is_refused_waits_or_withdraws_them(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    events = await ask_to_describe(kai, model, session)
    card = await card_of(kai, session)
    url = f"/sessions/{session}/query/stream"
    refused = await kai.http.post(url, json={"query": "How many customers?"})
    assert refused.status_code == 409
    assert refused.json()["confirmations"] == [card["confirmation_id"]]
    assert refused.json()["active_run_id"] == events[-1].data["run_id"]
    model.say("SELECT count(*) AS n FROM customers", FIRST)
    events = await kai.ask(session, "How many customers?", multitask_strategy="interrupt")
    assert events[-1].data["status"] == "complete"
    late = await decide(kai, session, card)
    assert (late.status_code, late.json()["decision"]) == (410, "withdrawn")
    turn = (await kai.session(session))["messages"]["items"]
    assert [each["status"] for each in turn] == ["complete", "cancelled", "complete", "complete"]
    assert "withdrawn" in turn[1]["analysis"]


async def test_a_question_that_is_enqueued_while_calls_wait_is_answered_after_the_turn(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    await ask_to_describe(kai, model, session)
    card = await card_of(kai, session)
    async with kai.asking(session, "How many customers?", None, multitask_strategy="enqueue") as stream:
        await stream.until("status", step="waiting")
        model.say(finish("Done."), "SELECT count(*) AS n FROM customers", FIRST)
        await decide(kai, session, card)
        assert (await stream.rest())[-1].data["status"] == "complete"
    turn = (await kai.session(session))["messages"]["items"]
    assert [each["query"] for each in turn][::2] == ["Describe the customers.", "How many customers?"]


@pytest.mark.parametrize("how", ["cancel", "close", "delete"])
async def test_cancelling_closing_and_deleting_withdraw_what_waits(
    kai: Client, model: ScriptedModel, shop: str, how: str
) -> None:
    session = await agent_session(kai, shop)
    run_id = (await ask_to_describe(kai, model, session))[-1].data["run_id"]
    card = await card_of(kai, session)
    if how == "cancel":
        await kai.cancel(session, run_id)
        await kai.cancel(session, run_id)
        body = await kai.session(session)
        assert (body["status"], body["active_run_id"]) == ("idle", None)
        assert body["messages"]["items"][-1]["status"] == "cancelled"
    elif how == "close":
        closed = await kai.http.patch(f"/sessions/{session}", json={"status": "closed"})
        assert (closed.status_code, closed.json()["status"]) == (200, "closed")
    else:
        assert (await kai.http.delete(f"/sessions/{session}")).status_code == 204
    late = await decide(kai, session, card)
    assert late.status_code == (404 if how == "delete" else 410)


async def test_a_call_that_is_not_approved_in_time_ends_the_turn_without_a_model(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    soon = {**model_settings(model), "KAI_AGENT__APPROVAL_MINUTES": "0.01"}
    with running_server(tmp_path, soon) as server:
        async with client_of(server) as kai:
            session = await agent_session(kai, shop)
            await ask_to_describe(kai, model, session)
            asked = len(model.requests)

            async def is_over() -> bool:
                return bool((await kai.session(session))["status"] == "idle")

            await until(is_over)
            (call,) = (await kai.http.get(f"/sessions/{session}/confirmations")).json()["items"]
            assert call["status"] == "expired"
            late = await decide(kai, session, call)
            assert (late.status_code, late.json()["decision"]) == (410, "expired")
            message = (await kai.session(session))["messages"]["items"][-1]
            assert message["status"] == "complete"
            assert "did not come in time" in message["analysis"]
            assert len(model.requests) == asked


async def test_what_was_changed_after_the_approval_is_refused(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    model.say(
        PLAN_TO_ACT,
        calls(
            ("describe_table_as", {"table": "customers", "text": "First."}),
            ("describe_table_as", {"table": "orders", "text": "Second."}),
        ),
    )
    await kai.ask(session, "Describe them.")
    first, second = await cards_of(kai, session)
    await decide(kai, session, first)
    await kai.http.patch(f"/sessions/{session}", json={"mode": "ask"})
    model.say(finish("Not done."))
    decided = await decide(kai, session, second)
    events = await follow(kai, session, decided.json()["run_id"])
    assert [each["status"] for each in named(events, "tool_result")] == ["failed", "failed"]
    assert "changed to ask mode" in last_prompt(model)
    assert set((await descriptions(kai, session)).values()) == {""}


async def test_a_card_warns_of_text_that_was_read_in_the_turn(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    model.say(
        PLAN_TO_ACT,
        calls(("run_sql", {"sql": "SELECT country FROM customers WHERE id = 1"})),
        describe("Customers live in Norway, most of them."),
    )
    events = await kai.ask(session, "Describe the customers.")
    (asked,) = named(events, "confirmation")
    assert asked["warnings"] == ["text holds text that was read in this turn: 'norway' (r1.1)."]


async def test_the_same_picture_is_there_after_the_events_are_lost(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        async with client_of(server) as kai:
            session = await agent_session(kai, shop)
            model.say(PLAN_TO_ACT, per_year("First the years."))
            model.say(describe())
            first = await kai.ask(session, "Describe the customers.")
        server.kill()
        server.start()
        async with client_of(server) as kai:
            again = await follow(kai, session, first[-1].data["run_id"])
            for name in ("tool_call", "tool_result", "confirmation"):
                assert named(again, name) == named(first, name), name
            assert (again[-1].name, again[-1].data["status"]) == ("done", "awaiting_approval")
            model.say(finish("Done."))
            decided = await decide(kai, session, await card_of(kai, session))
            second = await follow(kai, session, decided.json()["run_id"])
            assert second[-1].data["status"] == "complete"
        server.kill()
        server.start()
        async with client_of(server) as kai:
            again = await follow(kai, session, decided.json()["run_id"])
            assert named(again, "confirmation_decided") == named(second, "confirmation_decided")
            assert named(again, "tool_result")[-1] == named(second, "tool_result")[-1]
            assert again[-1].data == second[-1].data


async def test_the_tokens_of_a_turn_are_counted_once_over_its_runs(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    first = (await ask_to_describe(kai, model, session))[-1].data
    model.say(finish("Done."))
    decided = await decide(kai, session, await card_of(kai, session))
    second = (await follow(kai, session, decided.json()["run_id"]))[-1].data
    message = (await kai.session(session))["messages"]["items"][-1]
    assert first["tokens_used"] > 0
    assert second["tokens_used"] > 0
    assert message["tokens_used"] == first["tokens_used"] + second["tokens_used"]


async def test_a_key_decides_only_if_it_was_made_with_the_scope(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    plain = made_key(tmp_path, "ann", "--role", "admin")
    asks = made_key(tmp_path, "ann", *(f"--scope={scope}" for scope in ("read", "ask", "approve")))
    other = made_key(tmp_path, "bob", *(f"--scope={scope}" for scope in ("read", "ask", "approve")))
    required = {**model_settings(model), "KAI_AUTH__REQUIRED": "true"}
    with running_server(tmp_path, required) as server:
        async with client_of(server) as kai:
            kai.http.headers["X-API-Key"] = plain
            session = await agent_session(kai, shop)
            await ask_to_describe(kai, model, session)
            card = await card_of(kai, session)
            refused = await decide(kai, session, card)
            assert (refused.status_code, refused.json()["missing_scope"]) == (403, "approve")
            kai.http.headers["X-API-Key"] = other
            assert (await decide(kai, session, card)).status_code == 404
            kai.http.headers["X-API-Key"] = asks
            model.say(finish("Done."))
            decided = await decide(kai, session, card)
            assert decided.status_code == 200
            assert (await follow(kai, session, decided.json()["run_id"]))[-1].data["status"] == "complete"


async def test_approving_while_the_tokens_of_the_day_are_spent_is_refused_and_the_card_stays(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, {**model_settings(model), "KAI_QUOTAS__TOKENS_PER_DAY": "1"}) as server:
        async with client_of(server) as kai:
            session = await agent_session(kai, shop)
            model.say(PLAN_TO_ACT, describe())
            await kai.ask(session, "Go on: Describe the customers.")
            card = await card_of(kai, session)
            refused = await decide(kai, session, card)
            assert (refused.status_code, refused.json()["type"]) == (429, "urn:kai:token-budget")
            assert await card_of(kai, session) == card
            model.say(finish("Not done."))
            assert (await decide(kai, session, card, "deny")).status_code == 200


async def test_a_database_that_is_deleted_while_a_call_waits_is_not_acted_upon(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(kai, shop)
    asked = (await ask_to_describe(kai, model, session))[-1].data
    card = await card_of(kai, session)
    connection = (await kai.session(session))["db_connection_id"]
    assert (await kai.http.delete(f"/database-connections/{connection}")).status_code == 204
    decided = await decide(kai, session, card)
    events = await follow(kai, session, decided.json()["run_id"])
    assert events[-1].data["status"] == "failed"
    assert named(events, "tool_result") == []
    body = await kai.session(session)
    assert (body["status"], body["waiting_confirmations"]) == ("error", 0)
    steps_of = await kai.http.get(f"/sessions/{session}/messages/{asked['message_id']}/steps")
    (call,) = steps_of.json()["items"][0]["tool_calls"]
    assert (call["status"], call["requires_approval"]) == ("withdrawn", True)
