"""A question, its answer, and what is asked next."""

from tests.support.choices import BRAZIL, FIRST, choice
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, chunks, steps

PER_COUNTRY = "SELECT country, count(*) AS customers FROM customers GROUP BY country ORDER BY customers DESC"


def sql(statement: str, understood: str = "Counting.") -> str:
    return f"{understood}\n```sql\n{statement}\n```"


async def test_a_turn_brings_sql_rows_chart_and_analysis_and_ends_with_done(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST)
    events = await kai.ask(session, "How many customers per country?")
    assert steps(events) == [
        *("waiting", "loading_context", "generating_sql", "executing_sql", "analyzing", "saving")
    ]
    assert events[0].data["place"] == 1
    assert chunks(events, "sql") == [PER_COUNTRY]
    assert chunks(events, "results")[0]["rows"] == [["Brazil", 2], ["Norway", 1]]
    assert chunks(events, "analysis") == [BRAZIL]
    assert chunks(events, "headline") == ["Brazil has the most customers: 2"]
    (reference,) = chunks(events, "references")[0]
    assert (reference["key"], reference["value"]) == ("highest_customers", "2")
    assert chunks(events, "chart")[0]["usermeta"]["kai"]["mark"] == "bar"
    assert [event.id for event in events] == sorted({event.id for event in events})
    done = events[-1].data
    assert done["status"] == "complete"
    assert done["tokens_used"] > 0
    assert [event.name for event in events].count("done") == 1


async def test_tokens_stream_by_channel_and_add_up_to_the_whole(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST)
    events = await kai.ask(session, "How many customers per country?")
    deltas = [event.data for event in events if event.data.get("type") == "text"]
    written = "".join(each["content"] for each in deltas if each["channel"] == "sql")
    said = "".join(each["content"] for each in deltas if each["channel"] == "analysis")
    assert (written.strip(), said) == (PER_COUNTRY, BRAZIL)


async def test_the_history_holds_question_and_answer_after_done(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST)
    done = (await kai.ask(session, "How many customers per country?"))[-1].data
    kept = await kai.session(session)
    question, answer = kept["messages"]["items"]
    assert (question["role"], question["query"]) == ("human", "How many customers per country?")
    assert (answer["id"], answer["sql"], answer["row_count"]) == (done["message_id"], PER_COUNTRY, 2)
    assert (kept["status"], kept["title"]) == ("idle", "How many customers per country?")


async def test_a_follow_up_is_written_with_the_previous_statement_and_exchange_at_hand(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql("SELECT sum(amount) AS revenue FROM orders"), FIRST)
    await kai.ask(session, "What is the revenue?")
    model.say(sql("SELECT sum(amount) AS revenue FROM orders WHERE order_date >= '2025-01-01'"), "55.5.")
    events = await kai.ask(session, "only for 2025")
    prompt = next(each.text for each in model.requests if "## Question\nonly for 2025" in each.text)
    assert "SELECT SUM(amount) AS revenue FROM orders".lower() in prompt.lower()
    assert "**Revenue: 65.50**" in prompt
    assert chunks(events, "results")[0]["rows"] == [[55.5]]


async def test_without_a_model_a_follow_up_edits_the_previous_statement(plain: Client, shop: str) -> None:
    session = await plain.open_session(await plain.connect(shop))
    first = await plain.ask(session, "total amount of orders")
    second = await plain.ask(session, "only for 2025")
    assert chunks(first, "results")[0]["rows"] == [[65.5]]
    assert chunks(second, "results")[0]["rows"] == [[55.5]]


async def test_without_a_model_a_question_beyond_the_writer_says_how_to_get_further(
    plain: Client, shop: str
) -> None:
    session = await plain.open_session(await plain.connect(shop))
    events = await plain.ask(session, "Why did revenue fall?")
    error = next(event.data for event in events if event.name == "error")
    assert "OPENAI_API_KEY" in error["detail"]
    assert (error["retryable"], events[-1].data["status"]) == (False, "failed")


async def test_rows_already_fetched_answer_without_a_statement(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST, "ROWS", choice("f2"))
    await kai.ask(session, "How many customers per country?")
    events = await kai.ask(session, "which of these is the lowest?")
    assert "executing_sql" not in steps(events)
    assert chunks(events, "analysis") == ["Brazil has the most customers: 2."]


async def test_an_unclear_question_is_asked_back(kai: Client, model: ScriptedModel, shop: str) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say("CLARIFY: By number of orders or by amount?")
    events = await kai.ask(session, "Who is the best customer?")
    assert chunks(events, "clarification") == ["By number of orders or by amount?"]
    assert events[-1].data["status"] == "complete"


async def test_small_talk_needs_no_database(kai: Client, model: ScriptedModel, shop: str) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say("CHAT: You are welcome.")
    events = await kai.ask(session, "Thank you!")
    assert chunks(events, "analysis") == ["You are welcome."]
    assert "executing_sql" not in steps(events)


async def test_a_statement_that_fails_is_repaired_with_the_databases_words(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql("SELECT nmae FROM customers"), sql("SELECT name FROM customers"), FIRST)
    events = await kai.ask(session, "List the customers")
    repair = next(each.text for each in model.requests if "## What is wrong" in each.text)
    assert "nmae" in repair
    assert "repairing_sql" in steps(events)
    assert chunks(events, "results")[0]["row_count"] == 3


async def test_a_repair_is_shown_only_the_tables_concerned(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql("SELECT nmae FROM customers"), sql("SELECT name FROM customers"), FIRST)
    await kai.ask(session, "List the customers")
    first, repair = model.requests[0].text, model.requests[1].text
    assert "orders" in first
    assert "CREATE TABLE customers" in repair
    assert "orders" not in repair


async def test_a_repair_that_repeats_the_failed_statement_ends_with_its_error(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql("SELECT nmae FROM customers"), sql("select  nmae\nfrom customers -- sorry\n;"))
    events = await kai.ask(session, "List the customers")
    assert steps(events).count("executing_sql") == 1
    failure = next(event.data for event in events if event.name == "error")
    assert "unknown column nmae at line 1, column 8" in failure["detail"]
    assert len(model.requests) == 2


async def test_after_one_repair_the_turn_fails_and_says_why(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql("DELETE FROM customers"), sql("DELETE FROM customers WHERE 1 = 1"))
    events = await kai.ask(session, "Remove all customers")
    assert steps(events).count("repairing_sql") == 1
    assert [event.name for event in events][-3:] == ["error", "status", "done"]
    assert events[-1].data["status"] == "failed"
    assert (await kai.session(session))["status"] == "error"
    failed = (await kai.http.get("/sessions", params={"status": "error"})).json()["items"]
    assert session in [each["id"] for each in failed]


async def test_older_exchanges_fold_into_a_summary_that_later_prompts_hold(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.rule("memory of a conversation", "The analyst counts customers.")
    turns = [await kai.ask(session, f"Question number {number}") for number in range(6)]
    assert "summarizing" in steps(turns[-1])
    await kai.ask(session, "And now?")
    prompt = next(each.text for each in model.requests if "And now?" in each.text)
    assert "The analyst counts customers." in prompt
    assert "Question number 1" not in prompt
    assert "Question number 3" in prompt
    assert (await kai.session(session))["summary"] == "The analyst counts customers."


async def test_when_summarizing_fails_the_exchanges_stay(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.rule("memory of a conversation", Scripted(status=400))
    turns = [await kai.ask(session, f"Question number {number}") for number in range(6)]
    assert turns[-1][-1].data["status"] == "complete"
    await kai.ask(session, "And now?")
    prompt = next(each.text for each in model.requests if "And now?" in each.text)
    assert "Question number 0" in prompt


async def test_all_rows_come_in_pages_and_as_a_file(kai: Client, model: ScriptedModel, shop: str) -> None:
    session = await kai.open_session(await kai.connect(shop))
    counted = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1234)"
    model.say(sql(f"{counted} SELECT i, '=1+' || i AS t FROM n"), FIRST)
    events = await kai.ask(session, "Count to 1234")
    result = chunks(events, "results")[0]
    assert (len(result["rows"]), result["row_count"]) == (100, 1234)
    url = f"/sessions/{session}/messages/{events[-1].data['message_id']}/rows"
    numbers: list[int] = []
    cursor: str | None = None
    while True:
        page = (
            await kai.http.get(url, params={"limit": 100, **({"cursor": cursor} if cursor else {})})
        ).json()
        numbers += [row[0] for row in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert numbers == list(range(1, 1235))
    lines = (await kai.http.get(url, params={"format": "csv"})).text.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (1235, "i,t", "1234,'=1+1234")
    parquet = await kai.http.get(url, params={"format": "parquet"})
    assert parquet.content[:4] == b"PAR1"


async def test_a_result_cut_by_a_limit_says_so_in_the_stream_the_text_and_the_file(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    counted = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    model.say(sql(f"{counted} SELECT i FROM n"), FIRST)
    events = await kai.ask(session, "Count for ever")
    assert chunks(events, "results")[0]["truncated"]
    said = chunks(events, "analysis")[0]
    assert said.startswith("The result was cut off at 10,000 rows: all figures here are of these rows only.")
    assert said.split(". ")[0] in model.requests[-1].text
    url = f"/sessions/{session}/messages/{events[-1].data['message_id']}/rows"
    page = await kai.http.get(url, params={"limit": 1})
    file = await kai.http.get(url, params={"format": "csv"})
    assert (page.json()["truncated"], page.headers["X-Truncated"]) == (True, "true")
    assert file.headers["X-Truncated"] == "true"
    assert "-truncated.csv" in file.headers["Content-Disposition"]


async def test_a_session_forks_from_a_checkpoint_with_its_history(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST, sql("SELECT 2 AS two"), FIRST)
    await kai.ask(session, "How many customers per country?")
    await kai.ask(session, "And two?")
    past = (await kai.http.get(f"/sessions/{session}/checkpoints", params={"limit": 100})).json()["items"]
    ended = [each for each in past if not each["next_steps"]]
    forked = await kai.http.post(f"/sessions/{session}/checkpoints/{ended[-1]['id']}/fork")
    assert forked.status_code == 201
    history = (await kai.session(forked.json()["id"]))["messages"]["items"]
    assert [each["query"] for each in history] == ["How many customers per country?"] * 2
    await kai.ask(forked.json()["id"], "only Norway")
    assert PER_COUNTRY.lower() in model.requests[-2].text.lower()
