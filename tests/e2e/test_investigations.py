"""Questions that several calls of tools answer."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from app.core.llm.tokens import approximate_tokens
from tests.e2e.conftest import SHOP, model_settings
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event, chunks, client_of, running_server, steps

PLAN = "INVESTIGATE:\n1. Revenue per year\n2. Revenue per customer"
PER_YEAR = (
    "SELECT strftime('%Y', order_date) AS year, sum(amount) AS revenue FROM orders GROUP BY 1 ORDER BY 1"
)
QUESTION = "Why did revenue change?"
JOINED = (
    "SELECT o.id, o.amount, n.amount AS other FROM orders o JOIN other.orders n USING (id) "
    "WHERE o.amount <> n.amount"
)
FIRST = "Revenue in 2024: 10.00."
ONLY_IN_FACTS = "a figure, a name of the rows or a comparison may only stand in a fact."
"""What the sheet of `PER_YEAR` says first: the year that the data covers whole."""
TOTAL = "The total of revenue over the 2 years is 65.50."


def calls(*made: tuple[str, dict[str, JsonValue]], text: str = "") -> Scripted:
    return Scripted(text, calls=tuple((name, json.dumps(given)) for name, given in made))


def per_year(text: str = "") -> Scripted:
    return calls(("run_sql", {"sql": PER_YEAR, "purpose": "Revenue per year"}), text=text)


def finish(answer: str, **given: JsonValue) -> Scripted:
    return calls(("finish", {"answer": answer, **given}))


def named(events: list[Event], name: str) -> list[dict[str, Any]]:
    return [event.data for event in events if event.name == name]


def last_prompt(model: ScriptedModel) -> str:
    """The last request of the model."""
    return model.requests[-1].text


async def test_an_investigation_calls_tools_and_answers_with_findings_from_their_results(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(
        PLAN,
        per_year("First the years."),
        finish(
            "Revenue rose to 99 in 2025. A campaign may explain this.",
            findings=[
                {
                    "result": "r1.1",
                    "fact": "value_revenue_2024",
                    "reading": "The shop was new then.",
                },
                {"result": "r1.1", "fact": 'share(revenue, year="2025")', "reading": "It fell by 3%."},
            ],
            main_result="r1.1",
        ),
    )
    events = await kai.ask(session, QUESTION)
    assert steps(events) == [
        *("waiting", "loading_context", "generating_sql", "investigating", "using_tool", "investigating"),
        "saving",
    ]
    (call,) = named(events, "tool_call")
    (returned,) = named(events, "tool_result")
    assert (call["name"], call["category"], call["requires_approval"]) == ("run_sql", "read", False)
    assert (returned["tool_call_id"], returned["status"]) == (call["tool_call_id"], "done")
    assert returned["result_id"] == call["tool_call_id"]
    assert f"- value_revenue_2024: {FIRST}" in returned["content"]
    first, second = chunks(events, "findings")[0]
    assert (first["text"], first["reading"]) == (FIRST, "The shop was new then.")
    assert (second["text"], second["reading"]) == (
        "Revenue of 2025: 55.50, 84.7% of the total of 65.50.",
        None,
    )
    (reference,) = first["references"]
    assert (reference["result_id"], reference["value"]) == (call["tool_call_id"], "10")
    assert reference["cells"] == [{"row": 0, "column": "revenue"}]
    (text,) = chunks(events, "analysis")
    assert text == (
        f"- {FIRST}\n\n  *Reading:* The shop was new then.\n- {second['text']}\n\n"
        "*Reading:* A campaign may explain this."
    )
    spans = [each["span"] for each in chunks(events, "references")[0]]
    assert [text[start:end] for start, end in spans] == [FIRST, second["text"]]
    assert chunks(events, "headline") == ["Revenue in 2024: 10.00"]
    assert chunks(events, "left_out")[0] == [
        f"2 sentences of the model are left out: {ONLY_IN_FACTS}",
    ]
    assert chunks(events, "results")[0]["rows"] == [["2024", 10], ["2025", 55.5]]
    of_call = [each.data for each in events if each.data.get("tool_call_id") and each.name == "chunk"]
    assert [each["type"] for each in of_call] == ["sql", "results"]
    assert {each["tool_call_id"] for each in of_call} == {call["tool_call_id"]}
    assert of_call[0]["content"] == call["arguments"]["sql"]
    assert of_call[1]["content"]["rows"] == [["2024", 10], ["2025", 55.5]]
    done = events[-1].data
    assert (done["status"], done["steps"], done["tool_calls"]) == ("complete", 2, 1)


@pytest.mark.parametrize(
    ("question", "purpose", "said"),
    [
        ("Why?", "Kunden ohne Bestellungen", "The purpose asks for what is missing (“ohne”)"),
        ("¿Qué clientes nunca compraron?", "", "The question asks for what is missing (“nunca”)"),
    ],
)
async def test_a_result_notes_that_its_statement_contradicts_what_it_is_for(
    kai: Client, model: ScriptedModel, shop: str, question: str, purpose: str, *, said: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    written = "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id"
    model.say(PLAN, calls(("run_sql", {"sql": written, "purpose": purpose})), finish("Two."))
    await kai.ask(session, question)
    assert f"Worth checking: {said}, and the statement excludes nothing." in last_prompt(model)


async def test_what_was_changed_of_the_statement_begins_the_answer(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    written = 'SELECT name FROM customers WHERE country = "Norway"'
    model.say(
        PLAN,
        calls(("run_sql", {"sql": written, "purpose": "Who is there"})),
        finish("The rest stays open.", main_result="r1.1"),
    )
    events = await kai.ask(session, QUESTION)
    said = "Read `Norway` as text: no column has this name."
    (text,) = chunks(events, "analysis")
    assert text.startswith(f"**The statement was changed:** {said}\n\n")
    assert text.endswith("\n\n*Reading:* The rest stays open.")
    for each in chunks(events, "references")[0]:
        start, end = each["span"]
        assert text[start:end] in [finding["text"] for finding in chunks(events, "findings")[0]]
    answer = (await kai.session(session))["messages"]["items"][-1]
    assert (answer["corrections"], answer["analysis"]) == ([said], chunks(events, "analysis")[0])


async def test_the_history_and_the_routes_show_what_was_thought_and_fetched(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, per_year("First the years."), finish("It rose.", main_result="r1.1"))
    done = (await kai.ask(session, QUESTION))[-1].data
    message = (await kai.session(session))["messages"]["items"][-1]
    assert (message["route"], message["steps"], message["tool_calls"]) == ("investigate", 2, 1)
    assert FIRST in message["analysis"]
    assert (message["headline"], message["row_count"]) == ("Revenue in 2024: 10.00", 2)
    assert message["findings"][0]["text"] == FIRST
    assert message["left_out"] == [f"A sentence of the model is left out: {ONLY_IN_FACTS}"]
    path = f"/sessions/{session}/messages/{done['message_id']}"
    first, last = (await kai.http.get(f"{path}/steps")).json()["items"]
    assert (first["text"], first["kind"], last["kind"]) == ("First the years.", "calls", "answer")
    (call,) = first["tool_calls"]
    assert (call["name"], call["row_count"]) == ("run_sql", 2)
    rows = (await kai.http.get(f"{path}/results/{call['id']}/rows")).json()
    assert rows["items"] == (await kai.http.get(f"{path}/rows")).json()["items"]
    lines = (await kai.http.get(f"{path}/results/{call['id']}/rows", params={"format": "csv"})).text
    assert lines.splitlines()[0].endswith("year,revenue")
    unknown = await kai.http.get(f"{path}/results/{session}/rows")
    assert unknown.status_code == 404


async def test_an_answer_shows_code_links_and_next_steps_that_kai_has_looked_up(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)
    model.say(
        PLAN,
        per_year(),
        finish(
            "It rose.",
            code=[
                {"content": "SELECT count(*) FROM orders"},
                {"content": "CREATE INDEX by_date ON orders (order_date)"},
                {"content": "SELECT 1", "language": "python"},
            ],
            links=[
                {"label": "The years", "resource_type": "result", "name": "r1.1"},
                {"label": "It was 99 in 2024", "resource_type": "table", "name": "ORDERS"},
                {"label": "No table", "resource_type": "table", "name": "../../boards"},
                {"label": "No result", "resource_type": "result", "name": "r9.1"},
                {"label": "No database", "resource_type": "database", "name": connection},
            ],
            actions=[
                {"label": "See the years", "action": "open_result", "target": "r1.1"},
                {"label": "See orders", "action": "open_table", "target": "orders"},
                {"label": "By customer", "action": "ask", "target": "Revenue per customer?"},
                {"label": "Ask again", "action": "rerun", "target": "Delete everything"},
                {"label": "No result", "action": "open_result", "target": "x"},
            ],
        ),
    )
    events = await kai.ask(session, QUESTION)
    call = named(events, "tool_call")[0]["tool_call_id"]
    shown = {kind: chunks(events, kind)[0] for kind in ("code", "link", "action")}
    assert [each["checked"] for each in shown["code"]] == [True, False, False]
    assert [(each["resource_type"], each["resource_id"]) for each in shown["link"]] == [
        ("result", call),
        ("table", f"{connection}/orders"),
    ]
    assert [each["label"] for each in shown["link"]] == ["The years", "ORDERS"]
    assert [each["payload"] for each in shown["action"]] == [
        {"result_id": call},
        {"db_connection_id": connection, "table": "orders"},
        {"question": "Revenue per customer?"},
        {"question": QUESTION},
    ]
    message = (await kai.session(session))["messages"]["items"][-1]
    assert {kind: message[kind] for kind in shown} == shown


async def test_a_follow_up_refers_to_the_result_that_the_answer_rests_on(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, per_year(), finish("It rose.", main_result="r1.1"), "ROWS", "2025 leads.")
    await kai.ask(session, QUESTION)
    events = await kai.ask(session, "which year leads?")
    prompt = model.requests[3].text
    assert "strftime" in prompt.lower()
    assert FIRST in prompt
    assert chunks(events, "analysis")[0].startswith(FIRST)


async def test_only_reading_tools_are_offered_and_none_in_the_first_call(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, finish("Nothing."))
    await kai.ask(session, QUESTION)
    listed = (await kai.http.get("/tools")).json()["items"]
    assert model.requests[0].tools == []
    names = [each["name"] for each in listed if each["category"] == "read"]
    assert model.requests[1].tools == [each for each in names if each != "find_tools"]


async def test_what_the_guard_refuses_is_passed_to_the_model_and_the_turn_goes_on(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, calls(("run_sql", {"sql": "DELETE FROM orders"})), finish("It cannot be deleted."))
    events = await kai.ask(session, QUESTION)
    (returned,) = named(events, "tool_result")
    assert (returned["status"], returned["is_error"]) == ("failed", True)
    assert returned["content"] in last_prompt(model)
    assert events[-1].data["status"] == "complete"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (("drop_everything", "{}"), "There is no tool 'drop_everything'"),
        (("run_sql", '{"sql": "SELECT 1'), "not valid JSON"),
        (("run_sql", '{"sql": "SELECT 1", "force": true}'), "Extra inputs are not permitted"),
        (("run_sql", '["SELECT 1"]'), "have to be a JSON object"),
    ],
)
async def test_a_call_that_cannot_be_made_is_answered_with_what_is_wrong(
    kai: Client, model: ScriptedModel, shop: str, wrong: tuple[str, str], complaint: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, Scripted(calls=(wrong,)), finish("Done."))
    events = await kai.ask(session, QUESTION)
    assert complaint in named(events, "tool_result")[0]["content"]
    assert complaint in last_prompt(model)
    assert "using_tool" not in steps(events)


async def test_a_reply_that_was_cut_at_its_length_makes_no_call(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    cut = Scripted(calls=(("run_sql", json.dumps({"sql": PER_YEAR})),), finish_reason="length")
    model.say(PLAN, cut, finish("Done."))
    events = await kai.ask(session, QUESTION)
    assert named(events, "tool_call") == []
    assert "cut off at its longest" in last_prompt(model)


async def test_three_useless_replies_in_a_row_end_in_an_answer(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    useless = Scripted(calls=(("nothing", "{}"),))
    model.say(PLAN, useless, useless, useless, "All that is known is little.")
    events = await kai.ask(session, QUESTION)
    done = events[-1].data
    assert (done["status"], done["limit_reached"]) == ("complete", True)
    assert "3 replies in a row" in chunks(events, "analysis")[0]
    assert model.requests[-1].tools == []


async def test_a_question_to_the_user_ends_the_turn_with_its_options(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    asked: dict[str, JsonValue] = {
        "question": "Which year?",
        "options": ["Revenue in 2024", "Revenue in 2025"],
    }
    model.say(PLAN, calls(("ask_user", asked)))
    events = await kai.ask(session, QUESTION)
    assert chunks(events, "clarification") == ["Which year?"]
    message = (await kai.session(session))["messages"]["items"][-1]
    assert (message["clarification"], message["steps"]) == ("Which year?", 1)
    assert [each["question"] for each in message["options"]] == asked["options"]


async def test_a_question_back_with_a_figure_that_was_not_read_is_sent_back_once(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    wrong = calls(("ask_user", {"question": "Revenue was 4,711 in 2025. Go on?", "options": []}))
    right = calls(("ask_user", {"question": "Revenue was 55.5 in 2025. Go on?", "options": []}))
    model.say(PLAN, per_year(), wrong, right)
    await kai.ask(session, QUESTION)
    assert "a figure that no result of this turn holds: 4,711" in last_prompt(model)
    message = (await kai.session(session))["messages"]["items"][-1]
    assert message["clarification"] == "Revenue was 55.5 in 2025. Go on?"


async def test_a_finding_that_names_no_fact_is_sent_back_once_and_then_left_out(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    wrong = finish(
        "It was 99.",
        findings=[
            {"result": "r1.1", "fact": "total_units"},
            {"result": "r7.1", "fact": "total_revenue"},
            {"result": "r1.1", "fact": 'share(units, year="2025")'},
            {"result": "r1.1", "fact": "total_revenue"},
        ],
    )
    model.say(PLAN, per_year(), wrong, wrong)
    events = await kai.ask(session, QUESTION)
    for complaint in (
        "r1.1 total_units: r1.1 has no such fact.",
        "r7.1 total_revenue: there is no such result.",
        "r1.1 share(units, ",
    ):
        assert complaint in last_prompt(model)
    assert [each["text"] for each in chunks(events, "findings")[0]] == [TOTAL]
    assert chunks(events, "analysis") == [TOTAL]
    assert chunks(events, "left_out")[0][0] == "3 findings are left out: no fact bears them out."
    assert events[-1].data["status"] == "complete"


async def test_without_a_valid_finding_the_main_result_speaks_for_itself(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(
        PLAN,
        per_year(),
        calls(("run_sql", {"sql": "SELECT 1 AS note"})),
        finish("It fell to 3.", main_result="r1.1"),
    )
    events = await kai.ask(session, QUESTION)
    (text,) = chunks(events, "analysis")
    assert text.startswith(f"- {FIRST}\n- ")
    assert "Reading" not in text
    call = named(events, "tool_call")[0]["tool_call_id"]
    assert {each["result_id"] for each in chunks(events, "references")[0]} == {call}


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (
            "gap(r1.1.total_revenue, r1.2.total_revenue)",
            f"r1.1: {TOTAL} r1.2: {TOTAL.replace('65', '85')} That is 20 more.",
        ),
        (
            "change(r1.1.value_revenue_2024, r1.2.value_revenue_2024)",
            "r1.1: Revenue in 2024: 10.00. r1.2: Revenue in 2024: 15.00. That is 5 more (+50%).",
        ),
        ("same(r1.1.total_revenue, r1.2.total_revenue)", "the two are not the same"),
        ("gap(r1.1.total_revenue, r1.2.average_revenue)", "r1.2 has no such fact"),
        ("gap(r1.1.total_revenue, r1.2.value_revenue_2024)", "are no values of one kind"),
        ("gap(r1.1.value_revenue_2024, r1.3.value_units_2024)", "the two measures do not have the same name"),
        ("gap(r1.1.total_revenue, r1.1.total_revenue)", "both sides are of one result"),
        (
            "share(r1.1.total_revenue, r1.2.total_revenue)",
            "over two results there are only gap, change, same",
        ),
    ],
)
async def test_two_results_are_compared_only_by_the_same_measure(
    kai: Client, model: ScriptedModel, shop: str, fact: str, text: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    other = PER_YEAR.replace("sum(amount)", "sum(amount + 5 * (order_date > '2025'))")
    units = PER_YEAR.replace("AS revenue", "AS units")
    fetched: list[tuple[str, dict[str, JsonValue]]] = [
        ("run_sql", {"sql": each}) for each in (PER_YEAR, other, units)
    ]
    model.say(
        PLAN,
        calls(*fetched),
        finish("", findings=[{"result": "r1.1", "fact": fact}]),
        finish("", findings=[{"result": "r1.1", "fact": "total_revenue"}]),
    )
    events = await kai.ask(session, QUESTION)
    (finding,) = chunks(events, "findings")[0]
    if text.endswith((".", ")")):
        assert finding["text"] == text
        assert len(finding["references"]) == 3
        assert len({each["result_id"] for each in finding["references"]}) == 2
    else:
        assert text in last_prompt(model)


async def test_an_investigation_whose_model_failed_goes_on_with_its_steps_until_one_has_an_answer(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    by_name = calls(
        ("run_sql", {"sql": "SELECT 'Kiruna' AS place", "purpose": "Places"}), text="Then places."
    )
    model.say(PLAN, per_year("First the years."), by_name, Scripted(status=401))
    assert (await kai.ask(session, QUESTION))[-1].data["status"] == "failed"
    model.say("INVESTIGATE:\n1. Customers", calls(("list_databases", {})), Scripted(status=401))
    assert (await kai.ask(session, "go on"))[-1].data["status"] == "failed"
    written = model.requests[-3].text
    assert QUESTION in written
    assert "ended after 2 steps" in written
    model.say("INVESTIGATE:\n1. Customers", finish("It rose."), "CHAT: You are welcome.")
    assert (await kai.ask(session, "go on"))[-1].data["status"] == "complete"
    thought = last_prompt(model)
    for said in ("First the years.", "55.5", "Then places.", "Kiruna", "list_databases"):
        assert said in thought
    assert "Steps of an investigation without an answer" in thought
    await kai.ask(session, "thanks")
    assert "Investigation without an answer" not in last_prompt(model)


async def test_results_of_two_databases_of_the_session_are_compared(
    kai: Client, model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.executescript(SHOP)
        other.execute("UPDATE orders SET amount = 31 WHERE id = 3")
        other.execute("DELETE FROM orders WHERE id = 4")
        other.commit()
    main = await kai.connect(shop)
    made = await kai.http.post(
        "/database-connections", json={"url": f"sqlite:///{tmp_path}/other.db", "name": "other"}
    )
    opened = await kai.http.post(
        "/sessions", json={"db_connection_id": main, "also_db_connection_ids": [made.json()["id"]]}
    )
    assert opened.json()["also_db_connection_ids"] == [made.json()["id"]]
    ids = "SELECT id, amount FROM orders"
    model.say(
        PLAN,
        calls(("list_databases", {})),
        calls(("run_sql", {"sql": ids}), ("run_sql", {"sql": ids, "database": "other"})),
        calls(
            (
                "compare_results",
                {"left": "r2.1", "right": "r2.2", "keys": ["id"], "values": ["amount"]},
            )
        ),
        calls(("run_sql", {"sql": JOINED, "purpose": "Amounts that differ"})),
        finish("They differ.", main_result="r3.1"),
    )
    events = await kai.ask(opened.json()["id"], "How do the two databases differ?")
    listed, _, _, compared, joined = named(events, "tool_result")
    assert "other (sqlite" in listed["content"]
    assert "2 rows are equal, 1 differ, 1 are only in r2.1, 0 only in r2.2." in compared["content"]
    assert chunks(events, "results")[0]["rows"][0] == [3, "differs", 30, 31, 1.0]
    # One statement reads both, and says what it has fetched from each.
    assert "[3, 30.0, 31]" in joined["content"]
    assert 'rows from other (SQLite): `SELECT "id", "amount" FROM "orders"`' in joined["content"]
    assert "Joined in memory: `SELECT" in joined["content"]
    # So does a statement of a plain answer, of the model or of the user.
    model.say(f"Both.\n\n```sql\n{JOINED}\n```")
    answered = await kai.ask(opened.json()["id"], "Which amounts differ between test and other?")
    assert "Other databases of this session" in last_prompt(model)
    assert "-- in other\nCREATE TABLE" in last_prompt(model)
    own = await kai.ask(opened.json()["id"], "Amounts that differ", sql=JOINED)
    for events in (answered, own):
        assert chunks(events, "results")[0]["rows"] == [[3, 30.0, 31]]
        assert [each.data["dialect"] for each in events if each.data.get("type") == "sql"] == ["duckdb"]
        (said,) = chunks(events, "analysis")
        assert "**Joined from several databases:**\n\n- Fetched 4 rows from test (SQLite): `SELECT" in said
        assert "- Joined in memory: `SELECT" in said
    refused = await kai.ask(opened.json()["id"], "All", sql="SELECT * FROM orders, other.nothing")
    assert "The table nothing of other is not in that database" in str([each.data for each in refused])
    missing = await kai.http.patch(
        f"/sessions/{opened.json()['id']}", json={"also_db_connection_ids": [main, "unknown"]}
    )
    assert missing.status_code == 404


async def test_cancelling_stops_an_investigation_at_its_model_and_keeps_its_steps(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, per_year(), Scripted("Thinking it over.", hold_after=1))
    async with kai.asking(session, QUESTION) as stream:
        await stream.until("tool_result")
        await model.until(lambda: model.on_hold == 1)
        await kai.cancel(session, stream.run_id)
        done = (await stream.rest())[-1].data
    assert (done["status"], done["tool_calls"]) == ("cancelled", 1)
    path = f"/sessions/{session}/messages/{done['message_id']}/steps"
    assert len((await kai.http.get(path)).json()["items"]) == 1


async def test_a_killed_process_goes_on_after_the_stored_step_and_says_it_again(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        model.say(PLAN, per_year("First."), Scripted("Thinking it over.", hold_after=1))
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            async with kai.asking(session, QUESTION) as stream:
                before = await stream.until("tool_result")
                await model.until(lambda: model.on_hold == 1)
                server.kill()
        model.say(finish("It rose.", main_result="r1.1"))
        asked = len(model.requests)
        server.start()
        async with client_of(server) as kai, kai.following(session, stream.run_id) as again:
            events = await again.rest()
    reset = next(at for at, event in enumerate(events) if event.name == "reset")
    after = events[reset:]
    assert named(after, "tool_call") == named(before, "tool_call")
    assert named(after, "tool_result") == named(before, "tool_result")
    assert [event.data["content"] for event in after if event.data.get("channel") == "investigation"] == [
        "First."
    ]
    assert len(model.requests) == asked + 1
    assert (events[-1].data["status"], events[-1].data["tool_calls"]) == ("complete", 1)


async def test_switched_off_there_are_no_routes_no_tools_and_the_prompt_is_what_it_was(
    model: ScriptedModel, shop: str, tmp_path: Path, kai: Client
) -> None:
    on = (await kai.http.get("/capabilities")).json()["investigations"]
    assert on == {"on": True, "reason": None}
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, finish("Done."))
    await kai.ask(session, QUESTION)
    offered = model.requests[0].text
    with running_server(tmp_path, {**model_settings(model), "KAI_AGENT__ENABLED": "false"}) as server:
        async with client_of(server) as plain:
            session = await plain.open_session(await plain.connect(shop))
            model.say(PLAN)
            events = await plain.ask(session, QUESTION)
            assert (await plain.http.get("/tools")).status_code == 404
            message = events[-1].data["message_id"]
            path = f"/sessions/{session}/messages/{message}/steps"
            assert (await plain.http.get(path)).status_code == 404
            off = (await plain.http.get("/capabilities")).json()["investigations"]
    assert off == {"on": False, "reason": "They are switched off by KAI_AGENT__ENABLED."}
    assert "investigating" not in steps(events)
    prompt = model.requests[-1].text
    assert "INVESTIGATE" not in prompt
    extra = [line for line in offered.splitlines() if line not in prompt.splitlines()]
    assert len(extra) == 1
    assert extra[0].startswith("- No single statement can answer it")


async def test_limits_end_in_an_answer_from_what_was_found(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    limits = {"KAI_AGENT__MAX_STEPS": "2", "KAI_TUNING__AGENT__MAX_CALLS_PER_STEP": "1"}
    with running_server(tmp_path, {**model_settings(model), **limits}) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            two = calls(("run_sql", {"sql": PER_YEAR}), ("run_sql", {"sql": "SELECT 1 AS one"}))
            model.say(PLAN, two, per_year(), "- `r1.1.total_revenue`\n\nIt rose. I had to stop here.")
            events = await kai.ask(session, QUESTION)
            model.say(PLAN, per_year(), per_year(), Scripted(status=400))
            failed = await kai.ask(session, QUESTION)
    assert "a step may have at most 1 calls" in named(events, "tool_result")[0]["content"]
    assert chunks(events, "analysis")[0].startswith(f"{TOTAL}\n\n*Reading:* I had to stop here.\n\n**Limit")
    assert (events[-1].data["status"], events[-1].data["limit_reached"]) == ("complete", True)
    assert chunks(failed, "analysis")[0].startswith(f"- {FIRST}")
    assert "It looked at:\n- Revenue per year (r1.1)" in chunks(failed, "analysis")[0]
    assert failed[-1].data["status"] == "complete"


async def test_a_service_that_refuses_tools_gets_them_as_text_from_then_on(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, model_settings(model)) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            refused = Scripted(status=400, error="tools are not supported")
            model.say(PLAN, refused, "Nothing is known.", PLAN, "Still nothing.")
            first = await kai.ask(session, QUESTION)
            second = await kai.ask(session, QUESTION)
            known = (await kai.http.get("/capabilities")).json()["agent_model"]
    assert [events[-1].data["status"] for events in (first, second)] == ["complete", "complete"]
    assert chunks(second, "analysis") == ["Still nothing."]
    assert [bool(asked.tools) for asked in model.requests] == [False, True, False, False, False]
    assert "```tool" in last_prompt(model)
    assert known == {"name": "scripted", "context_window": 8_192, "tools": "text"}


def as_blocks(reply: Scripted) -> str:
    """The same reply, of a model whose calls are text."""
    ((name, arguments),) = reply.calls
    block = json.dumps({"name": name, "arguments": json.loads(arguments)})
    return f"{reply.text}\n```tool\n{block}\n```"


def timeless(value: Any) -> Any:
    """Without ids, times and counts of tokens, which differ between any two runs."""
    if isinstance(value, dict):
        varies = ("id", "_at", "_ms", "tokens_used", "token_count")
        return {
            key: timeless(each) for key, each in value.items() if key != "at" and not key.endswith(varies)
        }
    return [timeless(each) for each in value] if isinstance(value, list) else value


async def test_calls_as_text_give_the_answer_that_native_calls_give(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    script = [
        per_year("First the years."),
        calls(("run_sql", {"sql": "DROP TABLE orders"}), text="Now all of it."),
        finish(
            "The rest stays open.",
            findings=[{"result": "r1.1", "fact": "total_revenue"}],
            main_result="r1.1",
        ),
    ]
    seen = {}
    for mode in ("native", "text"):
        model.forget()
        model.say(PLAN, *(script if mode == "native" else map(as_blocks, script)))
        settings = {**model_settings(model), "KAI_LLM__TOOLS": mode}
        with running_server(tmp_path / mode, settings) as server:
            async with client_of(server) as kai:
                session = await kai.open_session(await kai.connect(shop))
                events = await kai.ask(session, QUESTION)
        seen[mode] = [(event.name, timeless(event.data)) for event in events if event.name != "chunk"]
        kinds = ("findings", "results", "analysis")
        seen[mode] += [timeless(each) for kind in kinds for each in chunks(events, kind)]
        assert [bool(asked.tools) for asked in model.requests] == [False, *[mode == "native"] * 3]
        assert not any("```tool" in text for text in chunks(events, "text"))
    assert seen["text"] == seen["native"]


async def test_in_a_small_window_the_newest_result_stays_whole_and_the_others_say_that_they_were_cut(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    window = 8_000
    settings = {
        **model_settings(model),
        "KAI_LLM__CONTEXT_WINDOW": str(window),
        "KAI_LLM__MAX_OUTPUT_TOKENS": "2000",
    }
    many = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i AS {} FROM n"
    )
    names = ["alpha", "beta", "gamma", "delta"]
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            model.say(
                PLAN, *(calls(("run_sql", {"sql": many.format(name)})) for name in names), finish("Ok.")
            )
            events = await kai.ask(session, QUESTION)
    assert events[-1].data["status"] == "complete"
    prompt = last_prompt(model)
    assert "[100]" in prompt[prompt.index('["delta"]') :]
    assert "[100]" not in prompt[prompt.index('["alpha"]') : prompt.index('["beta"]')]
    assert "(cut: this result is older. read_rows shows rows of r1.1 again. Its facts: " in prompt
    assert QUESTION in prompt
    assert all(approximate_tokens(asked.text) < window - 2_000 - window // 10 for asked in model.requests)


async def test_tools_that_would_fill_a_small_window_are_cut_and_can_be_found(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    settings = {**model_settings(model), "KAI_LLM__CONTEXT_WINDOW": "8192"}
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            found = calls(("find_tools", {"words": "earlier questions of the user"}))
            name = "search_conversation_history"
            model.say(PLAN, found, calls((name, {"search_query": "orders"})), finish("Nothing."))
            events = await kai.ask(session, QUESTION)
            first, second = model.requests[1].tools, model.requests[2].tools
            assert {"find_tools", "ask_user", "finish"} <= set(first)
            assert name not in first
            assert name in second
            assert [each["status"] for each in named(events, "tool_result")] == ["done", "done"]


async def test_a_plan_that_takes_much_of_the_tokens_of_the_day_is_asked_about_before_it_begins(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, {**model_settings(model), "KAI_QUOTAS__TOKENS_PER_DAY": "9000"}) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(shop))
            model.say(PLAN)
            asked = await kai.ask(session, QUESTION)
            (text,) = chunks(asked, "clarification")
            assert "more than a third of what is left of today's" in text
            assert "1. Revenue per year\n2. Revenue per customer" in text
            assert len(model.requests) == 1
            (message,) = [event.data for event in asked if event.data.get("type") == "clarification"]
            (option,) = message["options"]
            assert option["question"] == f"Go on: {QUESTION}"
            model.say(PLAN, per_year(), finish("It rose."))
            done = (await kai.ask(session, option["question"]))[-1].data
            assert (done["status"], done["steps"], done["tool_calls"]) == ("complete", 2, 1)
