"""How answers were made: by the statement, what its author knew, and checks; a model is never asked."""

from typing import Any

from tests.e2e.test_knowledge import sql, tell
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks

PER_CUSTOMER = (
    "SELECT c.name, sum(o.amount) AS revenue FROM customers c LEFT JOIN orders o ON o.customer_id = c.id "
    "WHERE c.country = 'Brazil' GROUP BY c.name ORDER BY revenue DESC"
)


async def provenance(kai: Client, session: str) -> dict[str, Any]:
    message = (await kai.session(session))["messages"]["items"][-1]
    answer = await kai.http.get(f"/sessions/{session}/messages/{message['id']}/provenance")
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_an_answer_names_its_definitions_its_tables_and_its_checks(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    term = await tell(kai, "/glossary", connection, term="revenue", meaning="all amounts", sql="sum(amount)")
    rule = await tell(kai, "/instructions", connection, text="Amounts are in euros.")
    await tell(kai, "/glossary", connection, term="margin", meaning="what is left")
    session = await kai.open_session(connection)
    model.say(sql(PER_CUSTOMER), FIRST)
    events = await kai.ask(session, "Revenue per customer in Brazil")
    (used,) = chunks(events, "context")
    assert (used["terms"], used["instructions"], used["examples"]) == ([term["id"]], [rule["id"]], [])
    message = (await kai.session(session))["messages"]["items"][-1]
    assert message["context"] == used
    asked = len(model.requests)

    made = await provenance(kai, session)
    assert made["tables"] == [
        {"name": "customers", "columns": ["id", "name", "country"]},
        {"name": "orders", "columns": ["customer_id", "amount"]},
    ]
    (query,) = made["queries"]
    assert [(each["kind"], each["condition"]) for each in query["joins"]] == [
        ("left", "o.customer_id = c.id")
    ]
    assert [each["sql"] for each in query["filters"]] == ["c.country = 'Brazil'"]
    assert [each["sql"] for each in query["groupings"]] == ["c.name"]
    assert query["columns"][1]["sources"] == [{"table": "orders", "column": "amount"}]
    (known,) = made["knowledge"]["terms"]
    assert (known["term"], known["is_changed"]) == ("revenue", False)
    assert {check["kind"]: check["state"] for check in made["checks"]} == {
        "repeated_rows": "passed",
        "stored_values": "passed",
        "nulls": "passed",
    }

    await kai.http.patch(f"/glossary/{term['id']}", json={"meaning": "amounts without tax"})
    await kai.http.delete(f"/instructions/{rule['id']}")
    later = (await provenance(kai, session))["knowledge"]
    assert [(each["meaning"], each["is_changed"]) for each in later["terms"]] == [
        ("amounts without tax", True)
    ]
    assert (later["instructions"], later["deleted_count"]) == ([], 1)
    assert len(model.requests) == asked


async def test_own_sql_has_a_provenance_without_knowledge_and_its_rows_are_counted(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)
    model.say("Ben leads.")
    await kai.ask(session, "Mine", sql=PER_CUSTOMER)
    asked = len(model.requests)
    made = await provenance(kai, session)
    assert made["knowledge"] is None
    message = (await kai.session(session))["messages"]["items"][-1]
    answer = f"/sessions/{session}/messages/{message['id']}"
    await kai.http.post(f"{answer}/versions", json={"sql": "SELECT name FROM customers WHERE id < 3"})
    later = (await kai.http.get(f"{answer}/provenance", params={"version": 2})).json()
    assert [each["sql"] for each in later["queries"][0]["filters"]] == ["id < 3"]
    assert (later["row_count"], [each["name"] for each in later["columns"]]) == (2, ["name"])
    assert (await kai.http.get(f"{answer}/provenance", params={"version": 3})).status_code == 404
    assert [each["alias"] for each in made["queries"][0]["sources"]] == ["c", "o"]
    counted = await kai.http.post(
        f"/database-connections/{connection}/statements/counts", json={"sql": PER_CUSTOMER}
    )
    assert [(each["step"], each["at"], each["row_count"]) for each in counted.json()["items"]] == [
        ("source", 0, 3),
        ("source", 1, 4),
        ("join", 0, 4),
        ("where", 0, 3),
        ("groups", 0, 2),
    ]
    assert len(model.requests) == asked
