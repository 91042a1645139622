"""What is known of a database at work: in the prompt, in the check, in the answer, and learnt from it."""

from typing import Any

import pytest

from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Event, chunks, steps

COUNT = "SELECT count(*) AS customers FROM customers"


def sql(statement: str, understood: str = "Counting.") -> str:
    return f"{understood}\n```sql\n{statement}\n```"


def prompt(model: ScriptedModel, words: str) -> str:
    """The last request that holds the words."""
    return next(each.text for each in reversed(model.requests) if words in each.text)


def sql_chunk(events: list[Event]) -> dict[str, Any]:
    return next(event.data for event in events if event.data.get("type") == "sql")


async def tell(kai: Client, route: str, connection: str, **body: str) -> dict[str, Any]:
    answer = await kai.http.post(route, json={"db_connection_id": connection, **body})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


async def test_the_context_store_of_a_database_is_shown_to_the_model(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    await tell(kai, "/glossary", connection, term="revenue", meaning="all amounts", sql="sum(amount)")
    await tell(kai, "/instructions", connection, text="Amounts are in euros.")
    await tell(
        kai, "/examples", connection, question="Revenue per year", sql="SELECT sum(amount) FROM orders"
    )
    await kai.ask(await kai.open_session(connection), "What was the revenue in brazil?")
    shown = prompt(model, "## Stored values that may be meant")
    assert "- revenue: all amounts (SQL: sum(amount))" in shown
    assert "- Amounts are in euros." in shown
    assert "Revenue per year\n```sql\nSELECT sum(amount) FROM orders\n```" in shown
    assert "customers.country = 'Brazil'" in shown


async def test_a_verified_question_is_answered_by_its_sql_without_a_model(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    await tell(kai, "/examples", connection, question="How many customers?", sql=COUNT)
    events = await kai.ask(await kai.open_session(connection), "how many CUSTOMERS")
    assert chunks(events, "results")[0]["rows"] == [[3]]
    assert "verified example" in sql_chunk(events)["explanation"]
    assert not [each for each in model.requests if "SQL writer" in each.text]


async def test_without_any_model_a_verified_question_is_answered_too(plain: Client, shop: str) -> None:
    connection = await plain.connect(shop)
    await tell(plain, "/examples", connection, question="Why did revenue fall?", sql="SELECT 1 AS why")
    events = await plain.ask(await plain.open_session(connection), "Why did revenue fall?")
    assert chunks(events, "results")[0]["rows"] == [[1]]


async def test_a_verified_answer_that_no_longer_runs_is_left_to_the_model(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    broken = "SELECT count(*) FROM customers WHERE json_extract(name, '$') = 'x'"
    await tell(kai, "/examples", connection, question="How many are gone?", sql=broken)
    model.say(sql(COUNT), FIRST)
    events = await kai.ask(await kai.open_session(connection), "How many are gone?")
    assert steps(events).count("repairing_sql") == 1
    assert chunks(events, "results")[0]["rows"] == [[3]]


async def test_a_liked_answer_is_proposed_and_used_only_once_a_person_has_verified_it(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)
    model.say(sql(COUNT), FIRST)
    done = (await kai.ask(session, "How many customers exist?"))[-1].data
    await kai.http.post(f"/sessions/{session}/messages/{done['message_id']}/feedback", json={"rating": "up"})
    wanted = {"db_connection_id": connection, "status": "proposed"}
    (proposal,) = (await kai.http.get("/examples", params=wanted)).json()["items"]
    assert (proposal["question"], proposal["sql"]) == ("How many customers exist?", COUNT)
    other = await kai.open_session(connection)
    assert "verified" not in sql_chunk(await kai.ask(other, "How many customers exist?"))["explanation"]
    await kai.http.patch(f"/examples/{proposal['id']}", json={"status": "verified"})
    assert "verified" in sql_chunk(await kai.ask(other, "How many customers exist?"))["explanation"]


async def test_a_follow_up_comes_with_the_question_it_means_and_is_proposed_by_that(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)
    meant = "How many customers are in Norway?"
    model.say(sql(COUNT), FIRST, f"QUESTION: {meant}\n" + sql(f"{COUNT} WHERE country = 'Norway'"), FIRST)
    await kai.ask(session, "How many customers are there?")
    events = await kai.ask(session, "only Norway")
    assert sql_chunk(events)["standalone_question"] == meant
    answer = (await kai.session(session))["messages"]["items"][-1]
    assert (answer["query"], answer["standalone_question"]) == ("only Norway", meant)
    correction = {"rating": "down", "corrected_sql": f"{COUNT} WHERE country LIKE 'Nor%'"}
    await kai.http.post(f"/sessions/{session}/messages/{answer['id']}/feedback", json=correction)
    (proposal,) = (await kai.http.get("/examples", params={"db_connection_id": connection})).json()["items"]
    assert (proposal["question"], proposal["sql"]) == (meant, correction["corrected_sql"])


async def test_a_name_that_does_not_exist_goes_back_with_the_nearest_before_anything_runs(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql("SELECT c.nmae FROM customers AS c"), sql("SELECT name FROM customers"), FIRST)
    events = await kai.ask(session, "Who are the customers?")
    repairing = next(event.data for event in events if event.data.get("step") == "repairing_sql")
    assert "unknown column c.nmae at line 1, column 10; nearest: c.name" in repairing["message"]
    assert repairing["failed_sql"] == "SELECT c.nmae FROM customers AS c"
    assert "unknown column c.nmae at line 1, column 10; nearest: c.name" in repairing["error"]
    assert "nearest: c.name" in prompt(model, "## What is wrong")
    assert chunks(events, "results")[0]["row_count"] == 3


async def test_text_in_double_quotes_is_corrected_without_asking_the_model_again(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql('SELECT name FROM customers WHERE country = "Norway"'), FIRST)
    events = await kai.ask(session, "Who is in Norway?")
    assert chunks(events, "sql") == ["SELECT name FROM customers WHERE country = 'Norway'"]
    assert "repairing_sql" not in steps(events)


async def test_a_filter_for_what_is_not_stored_is_said_in_the_analysis(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    missing = sql(f"{COUNT} WHERE country = 'Brasil'")
    model.say(missing, missing, FIRST)
    events = await kai.ask(session, "How many customers in Brasil?")
    (said,) = chunks(events, "analysis")
    assert said.startswith("**Customers: 0**.\n\n**Worth checking:** No customers.country was “Brasil”")
    deltas = [event.data for event in events if event.data.get("channel") == "analysis"]
    assert "".join(each["content"] for each in deltas) == said


async def test_without_a_model_a_repeating_join_is_reported_too(plain: Client, shop: str) -> None:
    connection = await plain.connect(shop)
    twice = "SELECT count(c.id) AS n FROM customers c JOIN orders o ON o.customer_id = c.id"
    await tell(plain, "/examples", connection, question="Customers with orders?", sql=twice)
    events = await plain.ask(await plain.open_session(connection), "Customers with orders?")
    assert "customers is joined to orders" in chunks(events, "analysis")[0]


async def test_the_built_in_writer_says_which_instructions_and_terms_it_does_not_follow(
    plain: Client, shop: str
) -> None:
    connection = await plain.connect(shop)
    session = await plain.open_session(connection)
    (before,) = chunks(await plain.ask(session, "total amount of orders"), "analysis")
    assert "Not followed" not in before
    await tell(plain, "/instructions", connection, text="Leave out orders under 10.")
    await tell(plain, "/instructions", connection, text="Names are first names.", scope="customers")
    await tell(plain, "/glossary", connection, term="order amount", meaning="without tax")
    (said,) = chunks(await plain.ask(session, "total amount of orders"), "analysis")
    assert said.endswith(
        "**Not followed:** The built-in writer does not follow instructions (“Leave out orders under 10.”); "
        "a model would."
    )
    (count,) = chunks(await plain.ask(session, "total order amount"), "analysis")
    assert "or the glossary (“order amount”)" in count


async def test_a_term_with_sql_is_computed_without_a_model(plain: Client, shop: str) -> None:
    connection = await plain.connect(shop)
    session = await plain.open_session(connection)
    await tell(plain, "/glossary", connection, term="net sales", meaning="half", sql="sum(amount) * 0.5")
    net = chunks(await plain.ask(session, "net sales per country"), "results")[0]["rows"]
    gross = chunks(await plain.ask(session, "total amount per country"), "results")[0]["rows"]
    assert net == [[country, pytest.approx(amount * 0.5)] for country, amount in gross]
    events = await plain.ask(session, "net sales")
    assert "“net sales” as the glossary defines it (sum(amount) * 0.5)" in sql_chunk(events)["explanation"]
    (said,) = chunks(events, "analysis")
    assert "Not followed" not in said
    assert "may be wrong" not in said


async def test_a_statement_of_the_users_own_leaves_no_instruction_aside(plain: Client, shop: str) -> None:
    connection = await plain.connect(shop)
    await tell(plain, "/instructions", connection, text="Amounts are in euros.")
    session = await plain.open_session(connection)
    events = await plain.ask(session, "amounts", sql="SELECT amount FROM orders")
    assert "Not followed" not in chunks(events, "analysis")[0]


async def test_a_filter_for_a_text_that_is_not_stored_is_repaired_with_the_nearest(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    wrong, right = f"{COUNT} WHERE country = 'Brasil'", f"{COUNT} WHERE country = 'Brazil'"
    model.say(sql(wrong), sql(right), FIRST)
    events = await kai.ask(session, "How many customers are Brazilian?")
    repairing = next(event.data for event in events if event.data.get("step") == "repairing_sql")
    assert "“Brazil”" in repairing["message"]
    assert (chunks(events, "sql"), chunks(events, "results")[0]["rows"]) == ([wrong, right], [[2]])
    assert "Worth checking" not in chunks(events, "analysis")[0]


async def test_an_empty_join_is_repaired_and_its_first_rows_stay_if_the_repair_fails(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    empty = "SELECT count(*) AS n FROM customers AS c JOIN orders AS o ON o.amount = c.name"
    model.say(sql(empty), sql("SELECT nothing FROM customers"), FIRST)
    done = (events := await kai.ask(session, "How many orders do customers have?"))[-1].data
    assert steps(events).count("repairing_sql") == 1
    assert (chunks(events, "sql")[-1], chunks(events, "results")[0]["rows"]) == (empty, [[0]])
    assert "the join is empty" in chunks(events, "analysis")[0]
    kept = (await kai.http.get(f"/sessions/{session}/messages/{done['message_id']}/rows")).json()
    assert kept["items"] == [[0]]
