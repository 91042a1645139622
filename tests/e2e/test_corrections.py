"""What KAI corrects in a model's statement: run, said, kept and counted; a person's own stays as it is."""

from tests.e2e.test_turn import sql
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks, steps

WRITTEN = 'SELECT name FROM customers WHERE country = "Brazil"'
CORRECTED = "SELECT name FROM customers WHERE country = 'Brazil'"
SAID = ["Read `Brazil` as text: no column has this name."]


async def test_a_correction_is_said_with_the_statement_and_kept_with_the_answer(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(WRITTEN), FIRST)
    events = await kai.ask(session, "Who lives in Brazil?")
    [chunk] = [each.data for each in events if each.data.get("type") == "sql"]
    assert (chunk["content"], chunk["corrections"]) == (CORRECTED, SAID)
    assert "repairing_sql" not in steps(events)
    question, answer = (await kai.session(session))["messages"]["items"]
    assert (question["corrections"], answer["corrections"]) == ([], SAID)
    assert answer["analysis"].startswith(
        f"**The statement was changed:** {SAID[0]}\n\n2 customers with name."
    )
    assert chunks(events, "analysis") == [answer["analysis"]]


async def test_a_statement_without_corrections_says_so_by_an_empty_list(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(CORRECTED), FIRST)
    events = await kai.ask(session, "Who lives in Brazil?")
    [chunk] = [each.data for each in events if each.data.get("type") == "sql"]
    assert chunk["corrections"] == []
    assert (await kai.session(session))["messages"]["items"][1]["corrections"] == []


async def test_a_repair_by_the_model_is_said_first_with_its_reason_and_its_own_corrections(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql('SELECT nope FROM customers WHERE country = "Brazil"'), sql(CORRECTED), FIRST)
    events = await kai.ask(session, "Who lives in Brazil?")
    assert chunks(events, "sql")[-1] == CORRECTED
    answer = (await kai.session(session))["messages"]["items"][1]
    [said] = answer["corrections"]
    assert said.startswith("A first statement did not run and was written again: unknown column nope at line")
    assert answer["analysis"].startswith(f"**The statement was changed:** {said}\n\n2 customers with name.")


async def test_a_statement_that_a_person_gives_is_run_as_it_stands(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(FIRST)
    events = await kai.ask(session, "Who lives in Brazil?", sql=WRITTEN)
    [chunk] = [each.data for each in events if each.data.get("type") == "sql"]
    assert (chunk["content"], chunk["corrections"]) == (WRITTEN, [])


async def test_of_two_statements_the_answer_says_which_one_ran(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(f"{sql('SELECT name FROM customers')}\n{sql(CORRECTED)}", FIRST)
    await kai.ask(session, "Who lives in Brazil?")
    answer = (await kai.session(session))["messages"]["items"][1]
    assert (answer["sql"], answer["corrections"]) == (
        CORRECTED,
        ["The model wrote 2 statements; only the last one ran."],
    )


async def test_two_statements_in_one_block_go_back_to_the_model(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(f"SELECT name FROM customers;\n{CORRECTED};"), sql(CORRECTED), FIRST)
    events = await kai.ask(session, "Who lives in Brazil?")
    assert "repairing_sql" in steps(events)
    assert "Send exactly one statement; these are 2." in model.requests[1].text
    assert (await kai.session(session))["messages"]["items"][1]["sql"] == CORRECTED
