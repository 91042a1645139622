"""SQL for a question in one shot: the pipeline of a question, without a session."""

from typing import Any

import pytest

from tests.e2e.conftest import model_settings
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, client_of, running_server

QUESTION = "How many customers per country?"
RIGHT = "SELECT country, count(*) AS n FROM customers GROUP BY country ORDER BY n DESC"
FORBIDDEN = "DELETE FROM customers"
UNKNOWN = "SELECT nothing FROM customers"


def reply(sql: str) -> str:
    return f"Customers per country.\n```sql\n{sql}\n```"


async def generate(kai: Client, url: str, question: str = QUESTION, **more: Any) -> dict[str, Any]:
    connection = await kai.connect(url)
    body = {"db_connection_id": connection, "query": question, **more}
    answered = await kai.http.post("/generate/sql", json=body)
    assert answered.status_code == 200, answered.text
    generated: dict[str, Any] = answered.json()
    return generated


async def sessions(kai: Client) -> int:
    return len((await kai.http.get("/sessions", params={"limit": 100})).json()["items"])


async def test_a_statement_is_written_and_checked_and_nothing_is_kept(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    before = await sessions(kai)
    model.say(reply(RIGHT))
    generated = await generate(kai, shop)
    assert (generated["valid"], generated["warnings"]) == (True, [])
    assert "GROUP BY country" in generated["sql"]
    assert (generated["rows"], generated["dialect"]) == (None, "sqlite")
    assert generated["tokens_used"] > 0
    assert len(model.requests) == 1
    assert "CREATE TABLE customers" in model.requests[0].text
    assert "INVESTIGATE" not in model.requests[0].text
    assert await sessions(kai) == before


async def test_with_run_the_rows_come_too(kai: Client, model: ScriptedModel, shop: str) -> None:
    model.say(reply(RIGHT))
    generated = await generate(kai, shop, run=True)
    assert generated["rows"]["rows"] == [["Brazil", 2], ["Norway", 1]]
    assert generated["rows"]["row_count"] == 2


@pytest.mark.parametrize("wrong", [FORBIDDEN, UNKNOWN])
@pytest.mark.parametrize("run", [False, True])
async def test_what_the_checks_refuse_is_repaired_once(
    kai: Client, model: ScriptedModel, shop: str, *, wrong: str, run: bool
) -> None:
    model.say(reply(wrong), reply(RIGHT))
    generated = await generate(kai, shop, run=run)
    assert (generated["valid"], generated["warnings"]) == (True, [])
    assert "GROUP BY country" in generated["sql"]
    assert generated["corrections"][0].startswith("A first statement did not run and was written again: ")
    assert len(model.requests) == 2


@pytest.mark.parametrize("run", [False, True])
async def test_what_is_refused_twice_is_not_valid_and_never_runs(
    kai: Client, model: ScriptedModel, shop: str, *, run: bool
) -> None:
    model.say(reply(FORBIDDEN), reply("DROP TABLE customers"))
    generated = await generate(kai, shop, run=run)
    assert (generated["valid"], generated["rows"]) == (False, None)
    assert generated["sql"] == FORBIDDEN
    assert generated["warnings"]
    model.say(reply("SELECT count(*) AS n FROM customers"))
    assert (await generate(kai, shop, run=True))["rows"]["rows"] == [[3]]


async def test_a_text_that_is_not_stored_is_a_warning_also_without_running(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    wrong = reply("SELECT name FROM customers WHERE country = 'Atlantis'")
    model.say(wrong, wrong)
    generated = await generate(kai, shop, "Customers of Atlantis")
    assert generated["valid"]
    assert "Atlantis" in " ".join(generated["warnings"])


async def test_a_question_back_is_returned_in_place_of_a_statement(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    model.say(
        "CLARIFY: Which date do you mean?\n- order date: Orders by order date\n- today: Orders of today"
    )
    generated = await generate(kai, shop, "Orders by date")
    assert (generated["sql"], generated["valid"]) == (None, False)
    assert generated["explanation"].startswith("Which date")


async def test_errors_name_the_cure(kai: Client, model: ScriptedModel, shop: str) -> None:
    unknown = {"db_connection_id": "019ab1c2-0000-7000-8000-000000000000", "query": QUESTION}
    assert (await kai.http.post("/generate/sql", json=unknown)).status_code == 404
    assert (await kai.http.post("/generate/sql", json={"query": QUESTION})).status_code == 422
    connection = await kai.connect(shop)
    model.say(Scripted(status=400, text="bad request"))
    refused = await kai.http.post("/generate/sql", json={"db_connection_id": connection, "query": "Why?"})
    assert refused.status_code in (502, 503), refused.text
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["detail"]


async def test_without_a_model_the_route_is_404_and_says_why(plain: Client, shop: str) -> None:
    body = {"db_connection_id": await plain.connect(shop), "query": QUESTION}
    answered = await plain.http.post("/generate/sql", json=body)
    assert answered.status_code == 404
    assert "OPENAI_API_KEY" in answered.json()["detail"]
    assert (await plain.http.get("/capabilities")).json()["generating"]["on"] is False


async def test_where_agent_mode_is_off_the_route_is_404(
    tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel, shop: str
) -> None:
    settings = {**model_settings(model), "KAI_AGENT__ENABLED": "false"}
    with running_server(tmp_path_factory.mktemp("off"), settings) as server:
        async with client_of(server) as kai:
            body = {"db_connection_id": await kai.connect(shop), "query": QUESTION}
            answered = await kai.http.post("/generate/sql", json=body)
            assert answered.status_code == 404
            assert "KAI_AGENT__ENABLED" in answered.json()["detail"]


async def test_tokens_count_and_a_spent_day_refuses(
    tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel, shop: str
) -> None:
    settings = {**model_settings(model), "KAI_QUOTAS__TOKENS_PER_DAY": "1"}
    with running_server(tmp_path_factory.mktemp("spent"), settings) as server:
        async with client_of(server) as kai:
            model.say(reply(RIGHT))
            await generate(kai, shop)
            body = {"db_connection_id": await kai.connect(shop), "query": QUESTION}
            assert (await kai.http.post("/generate/sql", json=body)).status_code == 429
