"""Records the streams of answers and their history, for the page's tests: `make streams`.

Each file holds the runs of one answer as lists of events, the session's messages after them, the stored steps
of its investigation, its waiting confirmations, and a later version of it if one was run.
"""

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.e2e.conftest import SHOP, model_settings
from tests.e2e.test_approval import agent_session, ask_to_describe, card_of, decide, follow
from tests.e2e.test_investigations import PLAN, QUESTION, calls, finish, per_year
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.server import Client, Event, client_of, running_server

FOLDER = Path(__file__).parents[2] / "ui" / "src" / "conversation" / "golden_streams"
CUSTOMERS = "How many customers per country?"
MISSPELT = "SELECT nmae FROM customers"
FINDINGS: list[Any] = [{"result": "r1.1", "fact": "total_revenue", "reading": "The shop was new then."}]
Runs = list[list[Event]]


class Recorder:
    """A session on a small shop, and a model with a script."""

    def __init__(self, kai: Client, model: ScriptedModel, url: str, session: str) -> None:
        self.kai = kai
        self.model = model
        self.url = url
        self.session = session

    async def ask(self, question: str, *replies: str | Scripted, **body: object) -> Runs:
        self.model.say(*replies)
        return [await self.kai.ask(self.session, question, **body)]


async def answered(on: Recorder) -> Runs:
    return await on.ask(CUSTOMERS, sql(PER_COUNTRY), FIRST)


async def figure(on: Recorder) -> Runs:
    return await on.ask("How many customers?", sql("SELECT count(*) AS n FROM customers"), FIRST)


async def no_rows(on: Recorder) -> Runs:
    return await on.ask("Orders of 2030", sql("SELECT * FROM orders WHERE order_date > '2030-01-01'"), FIRST)


async def repaired(on: Recorder) -> Runs:
    return await on.ask("List them", sql(MISSPELT), sql("SELECT name FROM customers"), FIRST)


async def warned(on: Recorder) -> Runs:
    """The statement is repaired because its text is not stored."""
    unknown = "SELECT count(*) AS n FROM customers WHERE country = 'Brasil'"
    return await on.ask("Customers in Brasil", sql(unknown), sql(unknown.replace("Brasil", "Brazil")), FIRST)


async def failed(on: Recorder) -> Runs:
    return await on.ask("List them", sql(MISSPELT), sql(MISSPELT.replace("nmae", "naem")))


async def refused(on: Recorder) -> Runs:
    return await on.ask("Delete them", sql="DELETE FROM customers")


async def given(on: Recorder) -> Runs:
    return await on.ask(CUSTOMERS, FIRST, sql=PER_COUNTRY)


async def asked_back(on: Recorder) -> Runs:
    options = "- order date: Orders by order date\n- today: Orders of today"
    return await on.ask("Orders per date", f"CLARIFY: Which date do you mean?\n{options}")


async def cancelled(on: Recorder) -> Runs:
    on.model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
    async with on.kai.asking(on.session, CUSTOMERS) as stream:
        events = await stream.until("status", step="analyzing")
        await on.model.until(lambda: on.model.on_hold == 1)
        await on.kai.cancel(on.session, stream.run_id)
        return [[*events, *await stream.rest()]]


async def version(on: Recorder) -> Runs:
    runs = await answered(on)
    path = f"/sessions/{on.session}/messages/{runs[0][-1].data['message_id']}/versions"
    (await on.kai.http.post(path, json={"sql": "SELECT name FROM customers"})).raise_for_status()
    return runs


async def investigated(on: Recorder) -> Runs:
    end = finish("The rest stays open.", findings=FINDINGS, main_result="r1.1")
    wrong = calls(("profile_table", {"table": "nowhere"}))
    return await on.ask(QUESTION, PLAN, per_year("First the years."), wrong, end, end)


async def several_charts(on: Recorder) -> Runs:
    charts = [
        calls(("show_chart", {"result": "r1.1", "mark": mark, "x": "year", "y": "revenue"}))
        for mark in ("line", "bar")
    ]
    end = finish("The rest stays open.", findings=FINDINGS, main_result="r1.1")
    return await on.ask(QUESTION, PLAN, per_year(), *charts, end, end)


async def waiting(on: Recorder) -> Runs:
    on.session = await agent_session(on.kai, on.url)
    return [await ask_to_describe(on.kai, on.model, on.session)]


async def approved(on: Recorder) -> Runs:
    runs = await waiting(on)
    on.model.say(finish("It is described."))
    decision = await decide(on.kai, on.session, await card_of(on.kai, on.session))
    return [*runs, await follow(on.kai, on.session, decision.json()["run_id"])]


RECORDED: tuple[Callable[[Recorder], Awaitable[Runs]], ...] = (
    answered,
    figure,
    no_rows,
    repaired,
    warned,
    failed,
    refused,
    given,
    asked_back,
    cancelled,
    version,
    investigated,
    several_charts,
    waiting,
    approved,
)


async def record(kai: Client, model: ScriptedModel, url: str) -> dict[str, object]:
    """Returns the contents of the files, by their names."""
    connection = await kai.connect(url)
    recorded: dict[str, object] = {}
    for one in RECORDED:
        model.forget()
        on = Recorder(kai, model, url, await kai.open_session(connection))
        runs = await one(on)
        model.release()
        await kai.until_idle()
        messages = (await kai.session(on.session))["messages"]["items"]
        path = f"/sessions/{on.session}"
        of_answer = f"{path}/messages/{messages[-1]['id']}/steps"
        recorded[one.__name__] = {
            "runs": [[{**event.data, "id": event.id} for event in run] for run in runs],
            "messages": messages,
            "steps": (await kai.http.get(of_answer)).json()["items"],
            "waiting": (await kai.http.get(f"{path}/confirmations", params={"status": "waiting"})).json()[
                "items"
            ],
        }
    return recorded


async def record_in(folder: Path) -> dict[str, object]:
    """Records with a KAI whose data folder is this one. Its database lies beside it."""
    shop = folder.with_name("recorded_shop.db")
    with closing(sqlite3.connect(shop)) as connection:
        connection.executescript(SHOP)
    with scripted_model() as model, running_server(folder, model_settings(model)) as server:
        async with client_of(server) as kai:
            return await record(kai, model, f"sqlite:///{shop}")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for name, stored in asyncio.run(record_in(Path(place) / "data")).items():
            (FOLDER / f"{name}.json").write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
