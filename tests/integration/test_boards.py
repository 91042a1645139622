"""Boards: pins that run the same statement again, guarded, without a model, four at a time."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.secrets import SecretBox
from app.core.storage.port import Query
from app.core.storage.sqlite import SqliteStorage
from app.modules.boards.model import Board, Pin
from app.modules.boards.refreshing import AT_ONCE, Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.service import CheckNames, DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from tests.support.boards import PER_COUNTRY, BoardKai, kai_with_boards, store_settings
from tests.support.corpus import RUNS_ON, attacks
from tests.support.facts import connections_over
from tests.support.records import no_records
from tests.support.shop import make_shop
from tests.support.waiting import until

UNKNOWN = "01970000-0000-7000-8000-000000000000"


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards(store_settings(request), tmp_path) as opened:
        yield opened


async def test_a_refresh_gives_the_same_rows_without_a_model(kai: BoardKai) -> None:
    board = await kai.board()
    pin = await kai.pinned(board, await kai.answer(), title="By country", width=4)
    assert kai.services.models is None
    assert (pin["state"], pin["sql"], pin["title"], pin["width"]) == ("current", PER_COUNTRY, "By country", 4)
    assert pin["rows_head"] == [["Japan", 1], ["Norway", 2]]
    (again,) = await kai.refreshed(board)
    assert again["ran_at"] > pin["ran_at"]
    same = ("sql", "columns", "rows_head", "row_count", "chart", "truncated", "state", "failure")
    assert [again[name] for name in same] == [pin[name] for name in same]
    page = await kai.call("GET", f"/boards/{board}/pins/{pin['id']}/rows?limit=1")
    assert (page["items"], page["row_count"]) == ([["Japan", 1]], 2)
    rest = await kai.http.get(
        f"/boards/{board}/pins/{pin['id']}/rows", params={"cursor": page["next_cursor"]}
    )
    assert rest.json()["items"] == [["Norway", 2]]
    kai.change_shop("insert into customers values (4, 'Kai', 'Norway', null, '2024-03-01', 0)")
    (later,) = await kai.refreshed(board)
    assert later["rows_head"] == [["Japan", 1], ["Norway", 3]]
    assert len((await kai.services.storage.query("pin_rows", Query())).items) == 1


async def test_a_pin_whose_column_is_gone_keeps_its_rows_and_is_repaired_by_another_answer(
    kai: BoardKai,
) -> None:
    board = await kai.board()
    pin = await kai.pinned(board, await kai.answer())
    kai.change_shop("drop view spending; alter table customers rename column country to land")
    (failed,) = await kai.refreshed(board)
    assert (failed["state"], failed["failure"]["type"]) == ("failed", "urn:kai:statement-failed")
    assert "country" in failed["failure"]["detail"]
    assert "correct it there" in failed["failure"]["cure"]
    kept = ("rows_head", "ran_at", "chart", "row_count")
    assert [failed[name] for name in kept] == [pin[name] for name in kept]
    await kai.services.database_connections.scan("ann", kai.connection_id)
    repaired = await kai.answer(PER_COUNTRY.replace("country", "land"))
    path = f"/boards/{board}/pins/{pin['id']}"
    now = await kai.call("PATCH", path, message_id=repaired)
    assert (now["state"], now["failure"], now["id"]) == ("current", None, pin["id"])
    assert now["columns"][0]["name"] == "land"
    assert (await kai.refreshed(board))[0]["state"] == "current"


async def test_a_period_restricts_what_takes_one_and_tells_the_row_before(kai: BoardKai) -> None:
    today = datetime.now(UTC).date()
    ages = {4: 10, 5: 10, 6: 40, 7: 200}
    added = ", ".join(f"({key}, 1, '{today - timedelta(days=age)}', 'paid', 10)" for key, age in ages.items())
    kai.change_shop(f"insert into orders (id, customer_id, placed, status, total) values {added}")
    board = await kai.board()
    await kai.pinned(board, await kai.answer("SELECT count(*) AS orders, sum(total) AS paid FROM orders"))
    of_customers = (
        "SELECT c.name, sum(o.total) AS paid FROM orders o JOIN customers c ON c.id = o.customer_id"
    )
    named = f"{of_customers} WHERE c.signed_up >= '2000-01-01' AND c.signed_up <= '2999-01-01' GROUP BY 1"
    chosen = await kai.pinned(board, await kai.answer(named))
    await kai.pinned(board, await kai.answer("SELECT 1 AS one"))
    changed = await kai.call("PATCH", f"/boards/{board}", period_days=30)
    assert changed["period_days"] == 30
    assert {pin["state"] for pin in changed["pins"]} == {"stale"}
    count, customers, one = await kai.refreshed(board)
    assert (count["rows_head"], count["period"]["previous"], count["state"]) == (
        [[2, 20]],
        [1, 10],
        "current",
    )
    days = [str(today - timedelta(days=30)), str(today - timedelta(days=1))]
    assert [count["period"][name] for name in ("column", "since", "until")] == ["orders.placed", *days]
    assert str(days[0]) in count["period"]["sql"]
    assert (customers["rows_head"], customers["period"]["column"]) == ([], "customers.signed_up")
    assert (one["rows_head"], one["period"]["column"]) == ([[1]], None)
    assert one["period"]["reason"] == "None of its tables has dates or times."
    path = f"/boards/{board}/pins/{chosen['id']}"
    assert customers["period"]["choices"] == ["customers.signed_up", "orders.placed"]
    await kai.call("PATCH", path, period_by="orders.placed")
    _, customers, _ = await kai.refreshed(board)
    assert (customers["rows_head"], customers["period"]["column"]) == ([["Ann", 20]], "orders.placed")
    report = await kai.http.post("/reports", json={"board_id": board, "format": "markdown"})
    since, until = (f"{day.day} {day:%b %Y}" for day in map(date.fromisoformat, days))
    assert f"{since} to {until}, by orders.placed." in report.text
    later = await kai.pinned(board, await kai.answer("SELECT count(*) AS orders FROM orders"))
    assert later["state"] == "running"
    await kai.call("PATCH", f"/boards/{board}", period_days=None)
    whole = await kai.refreshed(board)
    assert [pin["period"] for pin in whole] == [None] * 4
    assert whole[0]["rows_head"] == [[7, 75.75]]


async def test_a_board_says_what_is_stale_gone_and_no_longer_allowed(kai: BoardKai) -> None:
    kai.become("bob")
    board = await kai.board(stale_after_hours=1)
    pin = await kai.pinned(board, await kai.answer())
    (kept,) = (await kai.services.storage.query("pins", Query())).items
    result: Any = kept["result"]
    aged = {**result, "ran_at": now_ms() - 2 * 3_600_000}
    await kai.services.storage.patch("pins", pin["id"], {"result": aged})
    assert [each["state"] for each in await kai.pins(board)] == ["stale"]
    connection = await kai.services.database_connections.repository.own("ann", kai.connection_id)
    await kai.services.database_connections.repository.edit(connection, {"shared": False})
    assert [each["state"] for each in await kai.refreshed(board)] == ["no_right"]
    await kai.services.database_connections.delete("ann", kai.connection_id)
    (gone,) = await kai.refreshed(board)
    assert (gone["state"], gone["rows_head"]) == ("connection_gone", pin["rows_head"])


async def test_pins_are_arranged_and_removed_and_outlive_their_session(kai: BoardKai) -> None:
    board = await kai.board()
    answer = await kai.answer()
    first, second = [await kai.pinned(board, answer) for _ in range(2)]
    await kai.call("DELETE", f"/sessions/{first['session_id']}", 204)
    arranged = await kai.call("PATCH", f"/boards/{board}", order=[second["id"], first["id"]])
    assert [pin["id"] for pin in arranged["pins"]] == [second["id"], first["id"]]
    one = f"/boards/{board}/pins/{first['id']}"
    resized = await kai.call("PATCH", one, width=12, height=1, chart_choice={"mark": "arc"})
    assert (resized["width"], resized["height"], resized["chart_choice"]) == (12, 1, {"mark": "arc"})
    await kai.call("PATCH", one, 422, width=13)
    assert (await kai.refreshed(board))[1]["state"] == "current"
    await kai.call("DELETE", one, 204)
    assert [pin["id"] for pin in await kai.pins(board)] == [second["id"]]
    await kai.call("DELETE", f"/boards/{board}", 204)
    for collection in ("boards", "pins", "pin_rows"):
        assert (await kai.services.storage.query(collection, Query())).items == []


async def test_an_answer_without_rows_is_not_pinned_and_one_whose_rows_are_gone_runs(kai: BoardKai) -> None:
    board = await kai.board()
    answer = await kai.answer()
    path = f"/boards/{board}/pins"
    await kai.call("POST", path, 404, message_id=UNKNOWN)
    await kai.services.sessions.rows.delete_old(now_ms() + 1_000)
    pin = await kai.pinned(board, answer)
    assert pin["state"] == "running"

    async def is_current() -> bool:
        now = await kai.call("GET", f"{path}/{pin['id']}")
        return bool(now["state"] == "current")

    await until(is_current)
    await kai.services.storage.patch("messages", answer, {"sql": None})
    assert (await kai.call("POST", path, 422, message_id=answer))["type"] == "urn:kai:nothing-to-pin"


async def test_boards_of_others_are_unknown(kai: BoardKai) -> None:
    board = await kai.board()
    answer = await kai.answer()
    pin = await kai.pinned(board, answer)
    kai.become("bob")
    own = await kai.board()
    await kai.call("GET", f"/boards/{board}", 404)
    await kai.call("GET", f"/boards/{own}/pins/{pin['id']}", 404)
    await kai.call("POST", f"/boards/{own}/pins", 404, message_id=answer)
    assert [each["id"] for each in (await kai.call("GET", "/boards"))["items"]] == [own]


async def test_links_show_what_the_reader_may_see_until_they_end(kai: BoardKai) -> None:
    answer = await kai.answer()
    board = await kai.board()
    pin = await kai.pinned(board, answer)
    session = pin["session_id"]
    things = {"answer": answer, "session": session, "board": board}
    links = [
        (await kai.call("POST", "/links", 201, kind=kind, target_id=each))["id"]
        for kind, each in things.items()
    ]
    later = {"query": "Later?", "sql": "SELECT 'secret' AS later"}
    await kai.http.post(f"/sessions/{session}/query/stream", json=later)
    kai.become("bob")
    for kind, each in things.items():
        await kai.call("POST", "/links", 404, kind=kind, target_id=each)
    shown = [await kai.call("GET", f"/shared/{each}") for each in links]
    assert [[m["role"] for m in each["messages"]["items"]] for each in shown] == [
        ["assistant"],
        ["human", "assistant"],
        [],
    ]
    assert "secret" not in str(shown)
    assert [each["title"] for each in shown[2]["board"]["pins"]] == ["Customers per country"]
    rows = await kai.call("GET", f"/shared/{links[0]}/messages/{answer}/rows")
    assert rows["items"] == [["Japan", 1], ["Norway", 2]]
    await kai.call("GET", f"/shared/{links[0]}/messages/{UNKNOWN}/rows", 404)
    await kai.call("DELETE", f"/links/{links[0]}", 404)
    unknown = (await kai.http.get(f"/shared/{UNKNOWN}")).content
    repository = kai.services.database_connections.repository
    connection = await repository.own("ann", kai.connection_id)
    await repository.edit(connection, {"shared": False})
    for each in links:
        assert (await kai.http.get(f"/shared/{each}")).content == unknown
    await repository.edit(connection, {"shared": True})
    await kai.services.storage.patch("links", links[1], {"expires_at": now_ms()})
    assert (await kai.http.get(f"/shared/{links[1]}")).content == unknown
    kai.become("ann")
    assert {each["id"] for each in (await kai.call("GET", "/links"))["items"]} == set(links)
    await kai.call("DELETE", f"/links/{links[0]}", 204)
    assert (await kai.http.get(f"/shared/{links[0]}")).content == unknown
    await kai.call("DELETE", f"/sessions/{session}", 204)
    await kai.call("DELETE", f"/boards/{board}", 204)
    assert (await kai.call("GET", "/links"))["items"] == []


async def test_a_reader_continues_what_a_link_shows_as_their_own_session(kai: BoardKai) -> None:
    answer = await kai.answer()
    board = await kai.board()
    session = (await kai.pinned(board, answer))["session_id"]
    version = {"sql": "SELECT 'secret' AS later"}
    await kai.call("POST", f"/sessions/{session}/messages/{answer}/versions", 201, **version)
    await kai.call(
        "POST", f"/sessions/{session}/messages/{answer}/feedback", 201, rating="up", comment="x secret"
    )
    link = (await kai.call("POST", "/links", 201, kind="session", target_id=session))["id"]
    later = {"query": "Later?", "sql": "SELECT 'secret' AS later"}
    await kai.http.post(f"/sessions/{session}/query/stream", json=later)
    of_board = (await kai.call("POST", "/links", 201, kind="board", target_id=board))["id"]
    kai.become("bob")
    refused = await kai.call("POST", f"/shared/{of_board}/continue", 422)
    assert refused["type"] == "urn:kai:nothing-to-continue"
    own = await kai.call("POST", f"/shared/{link}/continue", 201)
    assert own["turns"] == 1
    read = await kai.call("GET", f"/sessions/{own['id']}")
    assert [each["query"] for each in read["messages"]["items"]] == ["Customers per country"] * 2
    assert "secret" not in str(read)
    copied = read["messages"]["items"][-1]
    assert (copied["id"] != answer, copied["feedback"], copied["versions"]) == (True, None, [])
    rows = await kai.call("GET", f"/sessions/{own['id']}/messages/{copied['id']}/rows")
    assert rows["items"] == [["Japan", 1], ["Norway", 2]]
    asked = await kai.http.post(f"/sessions/{own['id']}/query/stream", json={"query": "How many customers?"})
    assert '"complete"' in asked.text, asked.text
    assert (await kai.call("GET", f"/sessions/{own['id']}"))["turns"] == 2
    kai.become("ann")
    assert len((await kai.call("GET", f"/sessions/{session}"))["messages"]["items"]) == 4
    await kai.call("GET", f"/sessions/{own['id']}", 404)


async def test_a_link_shows_nothing_private_of_its_owner_and_nothing_that_came_later(kai: BoardKai) -> None:
    answer = await kai.answer()
    messages = kai.services.storage
    session = str((await messages.query("messages", Query())).items[0]["session_id"])
    path = f"/sessions/{session}"
    await kai.call("PATCH", path, title="Before", metadata={"note": "PLANTED metadata"})
    await kai.call("POST", f"{path}/messages/{answer}/versions", 201, sql="SELECT 'early' AS version")
    board = await kai.board()
    await kai.pinned(board, answer)
    things = {"answer": answer, "session": session, "board": board}
    links = [
        (await kai.call("POST", "/links", 201, kind=kind, target_id=each))["id"]
        for kind, each in things.items()
    ]
    made_at = max(int(str(each["created_at"])) for each in (await messages.query("links", Query())).items)

    async def is_later() -> bool:
        return now_ms() > made_at

    await until(is_later)
    await kai.call("PATCH", path, title="PLANTED title")
    await kai.call("POST", f"{path}/messages/{answer}/versions", 201, sql="SELECT 'PLANTED' AS version")
    rating = {"rating": "down", "comment": "PLANTED comment", "corrected_sql": "SELECT 'PLANTED'"}
    await kai.call("POST", f"{path}/messages/{answer}/feedback", 201, **rating)
    planted: dict[str, JsonValue] = {
        "client_message_id": "PLANTED",
        "source_message_id": "PLANTED",
        "remembered": ["PLANTED"],
    }
    await messages.patch("messages", answer, planted)
    kai.become("bob")
    shown = [await kai.call("GET", f"/shared/{each}") for each in links]
    for each in links[:2]:
        own = await kai.call("POST", f"/shared/{each}/continue", 201)
        shown.append(await kai.call("GET", f"/sessions/{own['id']}"))
    assert "PLANTED" not in str(shown)
    assert str(kai.shop) not in str(shown)
    assert [each["title"] for each in shown[:3]] == ["Customers per country", "Before", "Weekly"]
    for each in shown[:2]:
        assert [version["sql"] for version in each["messages"]["items"][-1]["versions"]] == [
            "SELECT 'early' AS version"
        ]


async def test_a_link_asks_for_every_database_that_its_session_had_and_shows_no_unfinished_turn(
    kai: BoardKai,
) -> None:
    answer = await kai.answer()
    session = str((await kai.services.storage.query("messages", Query())).items[0]["session_id"])
    other = await kai.services.database_connections.register(
        "ann", f"sqlite:///{make_shop(kai.shop.parent / 'other.db')}", "Private", description="", shared=False
    )
    await kai.call("PATCH", f"/sessions/{session}", also_db_connection_ids=[other.id])
    link = (await kai.call("POST", "/links", 201, kind="answer", target_id=answer))["id"]
    await kai.call("PATCH", f"/sessions/{session}", also_db_connection_ids=[])
    kai.become("bob")
    await kai.call("GET", f"/shared/{link}", 404)
    kai.become("ann")
    await kai.services.storage.patch("messages", answer, {"status": "awaiting_approval"})
    await kai.call("POST", "/links", 404, kind="answer", target_id=answer)
    whole = (await kai.call("POST", "/links", 201, kind="session", target_id=session))["id"]
    assert (await kai.call("GET", f"/shared/{whole}"))["messages"]["items"] == []


class CountingConnections(DatabaseConnections):
    """Lets statements run once as many as may run together have come."""

    now = 0
    most = 0

    def __init__(self, storage: SqliteStorage, box: SecretBox, limits: ConnectionLimits) -> None:
        super().__init__(storage, box, limits, records=no_records())
        self.full = asyncio.Event()

    async def run(
        self,
        connection: Connection,
        sql: str,
        asker: Asker,
        *,
        check_names: CheckNames | None = None,
        is_approved: bool = False,
        bounds: StatementLimits | None = None,
    ) -> ResultSet:
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == AT_ONCE:
            self.full.set()
        await self.full.wait()
        try:
            return await super().run(
                connection, sql, asker, check_names=check_names, is_approved=is_approved, bounds=bounds
            )
        finally:
            self.now -= 1


def pin_of(board: Board, connection: Connection, sql: str) -> Pin:
    return Pin(
        id=new_id(),
        owner=board.owner,
        board_id=board.id,
        db_connection_id=connection.id,
        title="Pinned",
        question="Pinned?",
        sql=sql,
        dialect="sqlite",
        session_id=UNKNOWN,
        message_id=UNKNOWN,
        chart_choice=None,
        width=6,
        height=2,
        created_at=1,
        updated_at=1,
    )


async def refreshed(
    storage: SqliteStorage, connections: DatabaseConnections, folder: Path, statements: Sequence[str]
) -> list[Pin]:
    """Returns pins of these statements after a refresh."""
    shop = make_shop(folder / "shop.db")
    connection = await connections.register("ann", f"sqlite:///{shop}", "Shop", description="")
    await connections.scan("ann", connection.id)
    repository = BoardRepository(storage)
    board = Board(id=new_id(), owner="ann", title="Weekly", created_at=1, updated_at=1)
    pins = [pin_of(board, connection, sql) for sql in statements]
    for pin in pins:
        await repository.add_pin(pin)
    refreshing = Refreshing(repository, connections, CollectorRegistry())
    await refreshing.start(board, pins)

    async def settled() -> list[Pin]:
        return [await repository.pin(board, pin.id) for pin in pins]

    async def is_done() -> bool:
        return all(pin.refreshing_since is None for pin in await settled())

    await until(is_done)
    await refreshing.close()
    return await settled()


async def test_a_board_of_twelve_runs_four_statements_at_once(storage: SqliteStorage, tmp_path: Path) -> None:
    connections = CountingConnections(storage, SecretBox(Fernet.generate_key()), ConnectionLimits())
    pins = await refreshed(storage, connections, tmp_path, [f"SELECT {number} AS n" for number in range(12)])
    assert [pin.result and pin.result.rows_head for pin in pins] == [[[number]] for number in range(12)]
    assert connections.most == AT_ONCE == 4
    await connections.close()


async def test_hostile_statements_are_refused_on_a_board_as_anywhere(
    storage: SqliteStorage, tmp_path: Path
) -> None:
    connections = connections_over(storage)
    hostile = [line.sql for line in attacks("sqlite") if line.category != RUNS_ON]
    pins = await refreshed(storage, connections, tmp_path, hostile)
    assert {pin.failure and pin.failure.problem for pin in pins} == {"statement-failed"}
    assert all(pin.result is None for pin in pins)
    await connections.close()


async def test_a_stopped_server_says_so_on_the_pins_that_it_was_refreshing(
    storage: SqliteStorage, tmp_path: Path
) -> None:
    connections = CountingConnections(storage, SecretBox(Fernet.generate_key()), ConnectionLimits())
    shop = make_shop(tmp_path / "shop.db")
    connection = await connections.register("ann", f"sqlite:///{shop}", "Shop", description="")
    repository = BoardRepository(storage)
    board = Board(id=new_id(), owner="ann", title="Weekly", created_at=1, updated_at=1)
    pin = pin_of(board, connection, "SELECT 1 AS n")
    await repository.add_pin(pin)
    refreshing = Refreshing(repository, connections, CollectorRegistry())
    await refreshing.start(board, [pin])
    assert (await repository.pin(board, pin.id)).is_running(now_ms())
    await refreshing.close()
    stopped = await repository.pin(board, pin.id)
    assert stopped.failure is not None
    assert (stopped.refreshing_since, stopped.failure.detail) == (None, "The server was stopped meanwhile.")
    await connections.close()


async def test_a_month_without_orders_counts_as_zero_in_an_answer_and_in_its_pin(kai: BoardKai) -> None:
    kai.change_shop(
        "create table visits (day text);"
        "insert into visits with recursive n(i) as (select 0 union all select i + 1 from n where i < 23)"
        " select '2024-' || printf('%02d', 1 + i / 2) || '-05' from n where i / 2 != 4"
    )
    sql = "SELECT strftime('%Y-%m', day) AS month, count(*) AS visits FROM visits GROUP BY 1 ORDER BY 1"
    answer = await kai.answer(sql, "Visits per month")
    board = await kai.board()
    session = (await kai.pinned(board, answer))["session_id"]
    choice = {"computed": {"kind": "change"}}
    changed = await kai.call("PATCH", f"/sessions/{session}/messages/{answer}", chart_choice=choice)
    drawn = json.dumps(changed["chosen_chart"])
    assert "May 2024" in drawn
    assert "-2" in drawn
    pin = await kai.pinned(board, answer)
    again = await kai.call("PATCH", f"/boards/{board}/pins/{pin['id']}", chart_choice=choice)
    assert again["chosen_chart"]["data"] == changed["chosen_chart"]["data"]


async def test_a_chosen_chart_is_shared_pinned_and_drawn_again_with_every_refresh(kai: BoardKai) -> None:
    kai.change_shop(
        "create table takings (month text, amount integer);"
        "insert into takings with recursive n(i) as (select 0 union all select i + 1 from n where i < 9)"
        " select '2024-' || printf('%02d', i + 1), 100 + 10 * i from n"
    )
    answer = await kai.answer("SELECT month, amount FROM takings ORDER BY month", "Amount per month")
    board = await kai.board()
    session = (await kai.pinned(board, answer))["session_id"]
    path = f"/sessions/{session}/messages/{answer}"
    plain = (await kai.call("POST", "/links", 201, kind="session", target_id=session))["id"]
    average = {"title": "Takings", "computed": {"kind": "moving_average", "window": 2}}
    changed = await kai.call("PATCH", path, chart_choice=average)
    chosen = changed["chosen_chart"]
    assert (changed["chart_choice"], changed["chart_refusal"]) == (average, None)
    assert chosen["title"]["text"] == "Takings"
    assert "mean of 2 months" in json.dumps(chosen)
    refused = await kai.call("PATCH", path, 422, chart_choice={"across": 1, "computed": {"kind": "change"}})
    assert (refused["type"], "no time axis" in refused["detail"]) == ("urn:kai:chart-choice", True)
    wrong = await kai.call("PATCH", path, 422, chart_choice={"mark": "cake"})
    assert "chart_choice.mark" in json.dumps(wrong)
    link = (await kai.call("POST", "/links", 201, kind="answer", target_id=answer))["id"]
    pin = await kai.pinned(board, answer)
    assert (pin["chart_choice"], pin["chosen_chart"]) == (average, chosen)

    await kai.call("PATCH", path, chart_choice={"mark": "bar"})
    shown = (await kai.call("GET", f"/shared/{link}"))["messages"]["items"][0]
    assert (shown["chart_choice"], shown["chosen_chart"]) == (average, chosen)
    before = (await kai.call("GET", f"/shared/{plain}"))["messages"]["items"][-1]
    assert (before["chart_choice"], before["chosen_chart"]) == (None, None)
    own = await kai.call("POST", f"/shared/{link}/continue", 201)
    copied = (await kai.call("GET", f"/sessions/{own['id']}"))["messages"]["items"][-1]
    assert (copied["chart_choice"], copied["chosen_chart"]) == (average, chosen)

    kai.change_shop("insert into takings values ('2024-11', 300)")
    again = (await kai.refreshed(board))[-1]
    assert len(json.dumps(again["chosen_chart"])) > len(json.dumps(chosen))
    assert again["chart_refusal"] is None
    one = f"/boards/{board}/pins/{again['id']}"
    await kai.call("PATCH", one, 422, chart_choice={"values": [{"column": 7}]})
    kai.change_shop("update takings set month = 'some'")
    gone = (await kai.refreshed(board))[-1]
    assert (gone["chosen_chart"], gone["chart_choice"]) == (None, average)
    assert "no time axis" in gone["chart_refusal"]
    reset = await kai.call("PATCH", path, chart_choice=None)
    assert (reset["chosen_chart"], reset["chart_choice"]) == (None, None)


async def test_words_make_a_choice_of_an_answer_and_of_a_pin_without_storing_it(kai: BoardKai) -> None:
    answer = await kai.answer(
        "SELECT c.country, count(*) AS customers FROM customers c GROUP BY 1 ORDER BY 2 DESC",
        "Customers per country",
    )
    board = await kai.board()
    pin = await kai.pinned(board, answer)
    path = f"/sessions/{pin['session_id']}/messages/{answer}"
    read = await kai.call("POST", f"{path}/chart", words="as a pie with fireworks")
    assert (read["choice"], read["not_understood"]) == ({"mark": "arc"}, ["fireworks"])
    assert read["chart"]["usermeta"]["kai"]["mark"] == "arc"
    refused = await kai.call("POST", f"{path}/chart", words="as a heat map")
    assert (refused["chart"], "Choose one as the series." in refused["refusal"]) == (None, True)
    tile = await kai.call("POST", f"/boards/{board}/pins/{pin['id']}/chart", words="in grün")
    assert tile["choice"] == {"color": "#2e7d32"}
    reset = await kai.call("POST", f"{path}/chart", words="reset")
    assert (reset["choice"], reset["refusal"]) == (None, None)
    await kai.call("POST", f"{path}/chart", 422, words="x" * 501)
    own = {"mark": "bar", "encoding": {"x": {"field": "country"}, "y": {"field": "customers"}}}
    drawn = await kai.call("PATCH", path, chart_choice={"specification": own})
    assert drawn["chosen_chart"]["data"]["values"][0].keys() == {"country", "customers"}
    hostile = {**own, "data": {"url": "https://example.com"}}
    said = await kai.call("PATCH", path, 422, chart_choice={"specification": hostile})
    assert "data.url" in said["detail"]


async def test_charts_that_were_chosen_before_choices_had_a_form_are_drawn_when_they_are_read(
    kai: BoardKai,
) -> None:
    kai.change_shop(
        "create table takings (month text, amount integer);"
        "insert into takings with recursive n(i) as (select 0 union all select i + 1 from n where i < 9)"
        " select '2024-' || printf('%02d', i + 1), 100 + 10 * i from n"
    )
    answer = await kai.answer("SELECT month, amount FROM takings ORDER BY month", "Amount per month")
    board = await kai.board()
    pin = await kai.pinned(board, answer)
    option: dict[str, JsonValue] = {"kind": "change", "across": 0, "value": 1, "unit": None, "how": None}
    chart: dict[str, JsonValue] = {"mark": "bar"}
    earlier: dict[str, JsonValue] = {"option": option, "chart": chart, "refusal": None}
    any_choice: dict[str, JsonValue] = {"mark": "line", "theme": "dark", "across": "x"}
    sessions = kai.services.sessions.repository
    session = await sessions.get("ann", pin["session_id"])
    await sessions.change_answer(session, answer, {"chart_choice": any_choice})
    await kai.services.storage.patch("pins", pin["id"], {"chart_choice": None, "computed_chart": earlier})
    message = (await kai.call("GET", f"/sessions/{pin['session_id']}"))["messages"]["items"][-1]
    assert message["chart_choice"] == {"mark": "line"}
    assert message["chosen_chart"]["usermeta"]["kai"]["mark"] == "line"
    tile = await kai.call("GET", f"/boards/{board}/pins/{pin['id']}")
    assert tile["chosen_chart"] == chart
    assert tile["chart_choice"]["computed"] == {"kind": "change"}
    again = (await kai.refreshed(board))[-1]
    assert "Change" in json.dumps(again["chosen_chart"])
