"""Documentation of databases: a run whose figures tools have counted."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.e2e.conftest import model_settings
from tests.e2e.test_investigations import named
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event, chunks, client_of, running_server

PURPOSES = (
    "customers: A row is a customer. There are 3 of them. Orders refer to it.\n"
    "orders: A row is an order.\n"
    "invented: Not a table."
)


async def document(kai: Client, url: str, **more: Any) -> tuple[dict[str, Any], list[Event]]:
    """What the route answered, and the events of its run."""
    body = {"db_connection_id": await kai.connect(url), **more}
    answered = await kai.http.post("/generate/documentation", json=body)
    assert answered.status_code == 202, answered.text
    begun: dict[str, Any] = answered.json()
    assert begun["stream"].endswith(f"/sessions/{begun['session_id']}/runs/{begun['run_id']}/stream")
    async with kai.following(begun["session_id"], begun["run_id"]) as stream:
        return begun, await stream.rest()


def many_tables(folder: Path, count: int) -> str:
    path = folder / "many.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "".join(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY);" for number in range(count))
        )
    return f"sqlite:///{path}"


async def test_a_database_is_documented_with_figures_of_tools_and_words_of_the_model(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    model.say(PURPOSES)
    begun, events = await document(kai, shop)
    made = [(each["name"], each["arguments"]["table"]) for each in named(events, "tool_call")]
    tools = ("profile_table", "check_data")
    assert sorted(made) == sorted((tool, table) for table in ("customers", "orders") for tool in tools)
    assert {each["status"] for each in named(events, "tool_result")} == {"done"}
    assert chunks(events, "text") == ["Profiling and checking customers, orders."]
    whole = [each for each in named(events, "progress") if each["tool_call_id"] is None]
    assert [each["message"] for each in whole] == ["0 of 2 tables", "2 of 2 tables"]
    (text,) = chunks(events, "analysis")
    assert "| `orders` | table | 4 | A row is an order. |" in text
    assert "A row is a customer. Orders refer to it." in text
    assert "There are 3" not in text
    assert "| `amount` | `NUMERIC` |  | 0 | 4 | `5.5` | `30` |  |" in text
    assert "- `orders.customer_id` = `customers.id`" in text
    assert "- referred to by `orders.customer_id`" in text
    assert "- **Measured in:** r1.1, r1.2" in text
    assert "Nothing stands out." in text
    assert "invented" not in text
    assert events[-1].data["status"] == "complete"
    message = (await kai.session(begun["session_id"]))["messages"]["items"][-1]
    assert (message["id"], message["analysis"], message["route"]) == (
        begun["message_id"],
        text,
        "investigate",
    )
    assert len(model.requests) == 1
    assert "CREATE TABLE orders" in model.requests[0].text
    steps = (
        await kai.http.get(f"/sessions/{begun['session_id']}/messages/{begun['message_id']}/steps")
    ).json()
    assert len(steps["items"][0]["tool_calls"]) == 4


async def test_only_the_tables_that_are_named_are_documented(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    model.say("orders: A row is an order.")
    _, events = await document(kai, shop, tables=["ORDERS"])
    (text,) = chunks(events, "analysis")
    assert "1 tables, of 2" in text
    assert "## orders" in text
    assert "## customers" not in text


async def test_a_document_without_the_model_has_its_figures_and_says_what_is_missing(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    model.say(*[Scripted(status=500)] * 4)
    _, events = await document(kai, shop)
    (text,) = chunks(events, "analysis")
    assert "some tables have no purpose" in text
    assert "| `orders` | table | 4 | Not described. |" in text
    model.forget()


async def test_beyond_twenty_tables_the_estimate_is_shown_first_and_its_option_goes_on(
    kai: Client, model: ScriptedModel, tmp_path: Path
) -> None:
    begun, events = await document(kai, many_tables(tmp_path, 21))
    (asked,) = chunks(events, "clarification")
    assert "This documents 21 tables: about" in asked
    assert "tokens" in asked
    assert named(events, "tool_call") == []
    assert not model.requests
    (option,) = next(each.data["options"] for each in events if each.data.get("type") == "clarification")
    model.say("t0: First.", "t8: Second.", "t16: Third.")
    events = await kai.ask(begun["session_id"], option["question"])
    (text,) = chunks(events, "analysis")
    assert text.count("\n## t") == 21
    assert len(named(events, "tool_call")) == 42


async def test_an_accepted_estimate_is_not_shown(kai: Client, model: ScriptedModel, tmp_path: Path) -> None:
    model.say("t0: First.", "t8: Second.", "t16: Third.")
    _, events = await document(kai, many_tables(tmp_path, 21), accept_estimate=True)
    assert chunks(events, "clarification") == []
    assert chunks(events, "analysis")


async def test_a_third_of_what_is_left_of_the_day_is_asked_for_too(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    settings = {**model_settings(model), "KAI_QUOTAS__TOKENS_PER_DAY": "1500"}
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            _, events = await document(kai, shop)
            assert "This documents 2 tables" in chunks(events, "clarification")[0]


async def test_other_words_in_its_session_are_an_ordinary_question(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    model.say(PURPOSES, "```sql\nSELECT count(*) AS n FROM orders\n```", FIRST)
    begun, _ = await document(kai, shop)
    events = await kai.ask(begun["session_id"], "How many orders are there?")
    assert chunks(events, "results")[0]["rows"] == [[4]]
    assert "## orders" not in model.requests[1].text  # the document does not fill later prompts


async def test_text_of_the_database_is_never_markdown(
    kai: Client, model: ScriptedModel, tmp_path: Path
) -> None:
    path = tmp_path / "evil.db"
    evil = "![x](https://evil.example/?q=1) | <b>`x`</b>"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")
        made.execute("INSERT INTO notes VALUES (1, ?)", [evil])
        made.commit()
    model.say(f"notes: See {evil}")
    _, events = await document(kai, f"sqlite:///{path}")
    (text,) = chunks(events, "analysis")
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert "evil.example" in page
    assert not re.search(r"<(a|img|b)\b", page)
    assert "://" not in "".join(text.split("`")[::2])  # outside of code nothing becomes a link by itself


@pytest.mark.parametrize(
    "more",
    [{"tables": ["nothing"]}, {"tables": ["x"] * 201}],
)
async def test_unknown_or_too_many_tables_are_refused_and_leave_no_session(
    kai: Client, shop: str, more: dict[str, Any]
) -> None:
    before = len((await kai.http.get("/sessions", params={"limit": 100})).json()["items"])
    body = {"db_connection_id": await kai.connect(shop), **more}
    answered = await kai.http.post("/generate/documentation", json=body)
    assert answered.status_code == 422
    assert answered.json()["type"].startswith("urn:kai:")
    assert len((await kai.http.get("/sessions", params={"limit": 100})).json()["items"]) == before


async def test_without_a_model_nothing_is_documented(plain: Client, shop: str) -> None:
    body = {"db_connection_id": await plain.connect(shop)}
    answered = await plain.http.post("/generate/documentation", json=body)
    assert (answered.status_code, answered.json()["type"]) == (404, "urn:kai:generating-off")


async def test_a_killed_worker_repeats_no_call_and_the_document_is_whole(
    tmp_path: Path, model: ScriptedModel, shop: str
) -> None:
    model.say(Scripted(PURPOSES, hold_after=0), PURPOSES)
    with running_server(tmp_path, model_settings(model)) as server:
        async with client_of(server) as kai:
            body = {"db_connection_id": await kai.connect(shop)}
            begun = (await kai.http.post("/generate/documentation", json=body)).json()
            await model.until(lambda: len(model.requests) == 1)
        server.kill()
        server.start()
        async with client_of(server) as kai:
            async with kai.following(begun["session_id"], begun["run_id"]) as stream:
                events = await stream.rest()
            assert len(named(events, "tool_call")) == 4
            assert "| `orders` | table | 4 | A row is an order. |" in chunks(events, "analysis")[-1]
            path = f"/sessions/{begun['session_id']}/messages/{begun['message_id']}/steps"
            (first, last) = (await kai.http.get(path)).json()["items"]
            assert (len(first["tool_calls"]), last["kind"]) == (4, "answer")
