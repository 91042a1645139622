"""A statement that contradicts its question goes back once; what stays contradicted is said first."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Event, chunks, steps

LEAST = "Which customer spent the least?"
SPENT = (
    "SELECT c.name, sum(o.amount) AS spent FROM customers c JOIN orders o ON o.customer_id = c.id "
    "GROUP BY c.name"
)
LOWEST = f"{SPENT} ORDER BY spent LIMIT 1"
HIGHEST = f"{SPENT} ORDER BY spent DESC LIMIT 1"
KEPT = "The question asks for the lowest, and the statement keeps the highest."
REPEATED = "SELECT sum(c.credit) AS credit FROM customers c JOIN orders o ON o.customer_id = c.id"
ONCE = "SELECT sum(c.credit) AS credit FROM customers c JOIN cards k ON k.customer_id = c.id"
TABLES = """
create table customers (id integer primary key, name text, credit integer);
create table orders (id integer primary key, customer_id integer references customers (id), amount integer);
create table cards (number integer primary key, customer_id integer references customers (id), kind text);
insert into customers values (1, 'Ann', 10), (2, 'Bob', 20);
insert into orders values (1, 1, 5), (2, 1, 6), (3, 2, 30);
insert into cards values (1, 1, 'gold'), (2, 2, 'blue');
"""


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = Path(tmp_path_factory.mktemp("bank")) / "bank.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
    return f"sqlite:///{path}"


def fenced(statement: str) -> str:
    return f"Reading.\n```sql\n{statement}\n```"


def streamed(events: list[Event]) -> str:
    texts = [event.data for event in events if event.data.get("channel") == "analysis"]
    return "".join(each["content"] for each in texts)


async def test_a_contradicted_statement_goes_back_and_its_repair_is_the_answer(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    session = await kai.open_session(await kai.connect(bank))
    model.say(fenced(HIGHEST), fenced(LOWEST), FIRST)
    events = await kai.ask(session, LEAST)
    assert steps(events).count("repairing_sql") == 1
    assert KEPT in model.requests[1].text
    assert chunks(events, "sql")[-1] == LOWEST
    assert chunks(events, "analysis")[0].startswith(
        f"**The statement was changed:** A first statement ran, but was written again: {KEPT}"
        "\n\n**Ann** has the lowest spent: 11."
    )


async def test_what_stays_contradicted_begins_the_answer(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    session = await kai.open_session(await kai.connect(bank))
    model.say(fenced(HIGHEST), fenced(HIGHEST), FIRST)
    events = await kai.ask(session, LEAST)
    assert steps(events).count("repairing_sql") == 1
    (said,) = chunks(events, "analysis")
    assert said.startswith(f"**The figures may be wrong:** {KEPT}\n\n**Bob** has the highest spent: 30.")
    assert streamed(events) == said
    answer = (await kai.session(session))["messages"]["items"][1]
    assert answer["analysis"] == said
    spanned = [said[slice(*each["span"])] for each in answer["references"]]
    assert spanned == ["**Bob** has the highest spent: 30."]


async def test_a_right_statement_is_not_sent_back(kai: Client, model: ScriptedModel, bank: str) -> None:
    session = await kai.open_session(await kai.connect(bank))
    model.say(fenced(LOWEST), FIRST)
    events = await kai.ask(session, LEAST)
    assert "repairing_sql" not in steps(events)
    assert chunks(events, "analysis")[0].startswith("**Ann** has the lowest spent: 11.")


async def test_a_statement_that_people_wrote_contradicts_nothing(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    session = await kai.open_session(await kai.connect(bank))
    model.say(FIRST)
    events = await kai.ask(session, LEAST, sql=HIGHEST)
    assert chunks(events, "analysis")[0].startswith("**Bob** has the highest spent: 30.")


async def test_a_join_that_still_repeats_rows_after_its_repair_is_said_before_the_figure(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    session = await kai.open_session(await kai.connect(bank))
    model.say(fenced(REPEATED), fenced(f"{REPEATED} WHERE c.id > 0"), FIRST)
    events = await kai.ask(session, "What is the total credit of customers with orders?")
    assert steps(events).count("repairing_sql") == 1
    (said,) = chunks(events, "analysis")
    assert said.startswith("**The figures may be wrong:** customers is joined to orders")
    assert said.index("may count the same row more than once") < said.index("40")


async def test_a_join_without_a_second_partner_raises_no_warning(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    session = await kai.open_session(await kai.connect(bank))
    model.say(fenced(ONCE), FIRST)
    events = await kai.ask(session, "What is the total credit of customers with cards?")
    assert "repairing_sql" not in steps(events)
    assert "may count" not in chunks(events, "analysis")[0]


async def test_conditions_on_the_joined_table_count_for_whether_it_has_a_second_partner(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    session = await kai.open_session(await kai.connect(bank))
    few = f"{REPEATED} WHERE o.amount > 5"
    model.say(fenced(few), FIRST)
    events = await kai.ask(session, "What is the total credit of customers with orders over 5?")
    assert "repairing_sql" not in steps(events)
    assert "may count" not in chunks(events, "analysis")[0]


async def test_a_term_of_the_glossary_that_the_statement_ignores_goes_back(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    connection = await kai.connect(bank)
    body = {"db_connection_id": connection, "term": "turnover", "meaning": "paid", "sql": "sum(amount)"}
    assert (await kai.http.post("/glossary", json=body)).status_code == 201
    session = await kai.open_session(connection)
    right = "SELECT sum(amount) AS turnover FROM orders"
    model.say(fenced("SELECT count(*) AS turnover FROM orders"), fenced(right), FIRST)
    events = await kai.ask(session, "What is the turnover?")
    assert "The glossary defines “turnover” as `sum(amount)`" in model.requests[1].text
    assert chunks(events, "sql")[-1] == right
    first, text = chunks(events, "analysis")[0].split("\n\n", 1)
    assert first.startswith(
        "**The statement was changed:** A first statement ran, but was written again: The"
    )
    assert text.startswith("**Turnover: 41**.")


async def test_sql_in_one_shot_is_warned_of_such_a_join_only_where_rows_have_two_partners(
    kai: Client, model: ScriptedModel, bank: str
) -> None:
    connection = await kai.connect(bank)
    body = {"db_connection_id": connection, "query": "What is the total credit?", "run": True}
    model.say(fenced(ONCE))
    once = (await kai.http.post("/generate/sql", json=body)).json()
    assert (once["warnings"], once["rows"]["rows"]) == ([], [[30]])
    model.say(fenced(REPEATED), fenced(REPEATED))
    repeated = (await kai.http.post("/generate/sql", json=body)).json()
    assert "customers is joined to orders" in repeated["warnings"][0]


TIED = "Other rows share this place: the statement keeps one of them."


@pytest.mark.parametrize(
    ("statement", "is_tied"),
    [
        ("SELECT name, score FROM players ORDER BY score DESC LIMIT 1", True),
        ("SELECT name, score FROM players ORDER BY 2 LIMIT 1", False),
        ("SELECT team, COUNT(*) AS players FROM players GROUP BY team ORDER BY players DESC LIMIT 1", True),
        ("SELECT team, SUM(score) AS points FROM players GROUP BY team ORDER BY points DESC LIMIT 1", False),
        ("SELECT name FROM players ORDER BY id LIMIT 1", False),
        ("SELECT name FROM players WHERE score > 8 ORDER BY score LIMIT 1", True),
        ("SELECT name, joined FROM players ORDER BY joined LIMIT 1", False),
    ],
)
async def test_a_single_row_is_said_to_share_its_place_where_it_does(
    kai: Client, model: ScriptedModel, team: str, statement: str, *, is_tied: bool
) -> None:
    session = await kai.open_session(await kai.connect(team))
    model.say(fenced(statement), "The row.")
    (said,) = chunks(await kai.ask(session, "Which one comes first?"), "analysis")
    assert (TIED in said) == is_tied


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = Path(tmp_path_factory.mktemp("team")) / "team.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "create table players (id integer primary key, name text, team text, score integer, joined text);"
            "insert into players values (1, 'Ann', 'red', 9, '2026-01-01'), (2, 'Bob', 'blue', 9, null),"
            "(3, 'Cem', 'red', 1, '2026-02-01'), (4, 'Dee', 'blue', 2, '2026-03-01');"
        )
    return f"sqlite:///{path}"
