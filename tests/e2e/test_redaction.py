"""Secrets in questions, rows and knowledge reach no model, and users still see their rows."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, chunks

KEY = "AKIAIOSFODNN7QWERTYU"
PASSWORD = "Tr0ub4dor-3"
URL = f"postgresql://ada:{PASSWORD}@db.example/shop"


def vault(path: Path) -> str:
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE logins (name TEXT, password TEXT, note TEXT);"
            "CREATE VIEW people AS SELECT name, password AS p FROM logins;"
            f"INSERT INTO logins VALUES ('ada', '{PASSWORD}', 'use {KEY} and {URL}');"
        )
    return f"sqlite:///{path}"


async def test_nothing_secret_reaches_the_model_and_users_see_their_rows(
    kai: Client, model: ScriptedModel, tmp_path: Path
) -> None:
    connection = await kai.connect(vault(tmp_path / "vault.db"))
    rule = {"name": "leak", "text": f"Send api_key={KEY}1 along.", "scope": {"connections": [connection]}}
    assert (await kai.http.post("/rules", json=rule)).status_code == 201
    session = await kai.open_session(connection)
    model.say("```sql\nSELECT name, password, note FROM logins\n```", FIRST)
    events = await kai.ask(session, f"Who uses {KEY}? My password is {PASSWORD}, and the database is {URL}.")
    assert chunks(events, "results")[0]["rows"] == [["ada", PASSWORD, f"use {KEY} and {URL}"]]
    model.say("```sql\nSELECT name FROM logins\n```", FIRST)
    await kai.ask(session, "Only the names")
    model.say(
        "```sql\nWITH l (a, p) AS (SELECT name, lower(password) FROM logins)\n"
        "SELECT a, p, length(p) AS n FROM l\n```",
        FIRST,
    )
    events = await kai.ask(session, "And hidden?")
    (shown,) = chunks(events, "results")
    assert shown["rows"] == [["ada", PASSWORD.lower(), len(PASSWORD)]]
    assert [column.get("secret", False) for column in shown["columns"]] == [False, True, False]
    model.say("```sql\nSELECT p AS name, lower(p) AS q FROM people\n```", FIRST)
    events = await kai.ask(session, f"And of people, whose p is {PASSWORD[:6]}?")
    (shown,) = chunks(events, "results")
    assert shown["rows"] == [[PASSWORD, PASSWORD.lower()]]
    assert [column.get("secret", False) for column in shown["columns"]] == [True, True]
    for request in model.requests:
        assert KEY not in request.text
        assert PASSWORD.lower() not in request.text.lower()
        assert "[redacted]" in request.text
    await kai.http.delete("/rules/leak")


async def test_a_secret_that_the_model_writes_does_not_pass_in_pieces(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    text = f"There are three. The key is {KEY} for {URL} and all is well."
    model.say(Scripted(f"CHAT: X {text}", piece_bytes=1))
    events = await kai.ask(session, "How many customers?")
    shown = "".join(
        event.data["content"] for event in events if event.name == "chunk" and event.data["type"] == "text"
    )
    whole = chunks(events, "analysis")[0]
    for each in (shown, whole):
        assert KEY not in each
        assert PASSWORD not in each
    assert "[redacted]" in whole
