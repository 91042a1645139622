"""Stores that earlier states of KAI have written are served, migrated and asked: all of `tests/frozen`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.core.storage.typesense_server import TypesenseServer
from tests.support import frozen_stores
from tests.support.command_line import kai
from tests.support.frozen_stores import (
    CONNECTION,
    OWN_SQL,
    POLICIES,
    QUESTIONS,
    TITLE,
    WITHOUT_BOARDS,
    thaw_folder,
    thaw_typesense,
)
from tests.support.server import Client, chunks, client_of, running_server
from tests.support.waiting import until

Thaw = Callable[[Path], Mapping[str, str]]
"""Thaws a store for a data folder. Returns the settings to serve it."""

FROZEN = [
    *(pytest.param(("sqlite", each), id=f"sqlite-{each}") for each in frozen_stores.names(".tar.gz")),
    *(pytest.param(("typesense", each), id=f"typesense-{each}") for each in frozen_stores.names(".json.gz")),
]

SAID: Sequence[tuple[str | None, bool, list[str]]] = (
    (None, False, []),
    ("Brazil has the most customers: 2", True, []),
)
"""Headline, whether there are references, and what is left out: before KAI wrote statements, and since."""


@pytest.fixture(params=FROZEN)
def frozen(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The kind of store and the name of the state."""
    kind, name = request.param
    return kind, name


@pytest.fixture
def thaw(frozen: tuple[str, str], request: pytest.FixtureRequest) -> Thaw:
    kind, name = frozen

    def from_folder(folder: Path) -> Mapping[str, str]:
        thaw_folder(name, folder)
        return {}

    def from_export(folder: Path) -> Mapping[str, str]:
        server: TypesenseServer = request.getfixturevalue("typesense_server")
        prefix = f"t{uuid4().hex}_"
        return {
            "KAI_STORE": "typesense",
            "KAI_TYPESENSE__NODES": f'["{server.url}"]',
            "KAI_TYPESENSE__API_KEY": server.api_key,
            "KAI_TYPESENSE__PREFIX": prefix,
            "KAI_ENCRYPTION_KEY": thaw_typesense(name, server, prefix),
        }

    return from_folder if kind == "sqlite" else from_export


async def _messages(client: Client, session: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await client.session(session))["messages"]["items"]
    return items


async def _move_database(client: Client, shop: str) -> None:
    """The frozen address is that of the folder in which it was frozen."""
    listed = (await client.http.get("/database-connections")).json()["items"]
    (connection,) = [each for each in listed if each["name"] == CONNECTION]
    path = f"/database-connections/{connection['id']}"
    answer = await client.http.patch(path, json={"url": shop})
    assert answer.status_code == 200, answer.text

    async def is_scanned() -> bool:
        return bool((await client.http.get(f"{path}/scan")).json()["state"] == "complete")

    await until(is_scanned)


async def _check_boards(client: Client) -> None:
    """What is kept beside sessions is there, and is used."""
    kept = {}
    for kind in ("boards", "schedules", "webhooks"):
        (kept[kind],) = (await client.http.get(f"/{kind}")).json()["items"]
    board = (await client.http.get(f"/boards/{kept['boards']['id']}")).json()
    on_board = {"kind": "board", "target_id": board["id"]}
    (comment,) = (await client.http.get("/comments", params=on_board)).json()["items"]
    (pin,) = board["pins"]
    path = f"/boards/{board['id']}/pins/{pin['id']}"
    assert (await client.http.post(f"{path}/refresh")).status_code == 202

    async def is_read_again() -> bool:
        read: dict[str, Any] = (await client.http.get(path)).json()
        return bool(read["state"] == "current" and read["ran_at"] > pin["ran_at"])

    await until(is_read_again)
    assert kept["schedules"]["cron"] == "0 8 * * 1"
    assert comment["text"] == "Mind Brazil."
    assert kept["webhooks"]["events"] == ["schedule.failed"]
    listed = (await client.http.get("/database-connections")).json()["items"]
    (ruled,) = [each["id"] for each in listed if each["name"] != CONNECTION]
    policies = (await client.http.get(f"/database-connections/{ruled}/policies")).json()["policies"]
    assert policies == POLICIES


async def test_a_frozen_store_is_served_with_all_it_holds_and_its_sessions_go_on(
    frozen: tuple[str, str], thaw: Thaw, shop: str, tmp_path: Path
) -> None:
    settings = thaw(tmp_path)
    with running_server(tmp_path, dict(settings)) as server:
        async with client_of(server) as client:
            await _move_database(client, shop)
            sessions = (await client.http.get("/sessions")).json()["items"]
            titled = {each["title"]: each["id"] for each in sessions}
            assert set(titled) == {QUESTIONS[0], TITLE, None}
            asked = titled[QUESTIONS[0]]
            before = await _messages(client, asked)
            assert [each["query"] for each in before] == [each for each in QUESTIONS for _ in range(2)]
            assert [each["role"] for each in before] == ["human", "assistant"] * len(QUESTIONS)
            assert before[1]["feedback"] == {"rating": "up", "comment": "Right.", "corrected_sql": None}
            assert before[1]["analysis"]
            said = (before[1]["headline"], bool(before[1]["references"]), before[1]["left_out"])
            assert said in SAID
            answer = f"/sessions/{asked}/messages/{before[1]['id']}"
            rows = await client.http.get(f"{answer}/rows")
            assert sorted(rows.json()["items"]) == [["Brazil", 2], ["Norway", 1]]
            for kind, number in (("glossary", 1), ("instructions", 1), ("examples", 2)):  # one by the rating
                assert len((await client.http.get(f"/{kind}")).json()["items"]) == number, kind

            if frozen[1] not in WITHOUT_BOARDS:
                await _check_boards(client)

            kept = (await client.http.get(f"/sessions/{asked}/checkpoints")).json()["items"]
            assert kept
            events = await client.ask(asked, "How many orders?")
            assert events[-1].data["status"] == "complete"
            assert chunks(events, "results")[0]["rows"] == [[4]]
            after = await _messages(client, asked)
            assert after[: len(before)] == before
            assert [each["query"] for each in after[len(before) :]] == ["How many orders?"] * 2
            version = await client.http.post(f"{answer}/versions", json={"sql": OWN_SQL})
            assert version.status_code == 201, version.text
            found = (await client.http.get("/sessions", params={"q": QUESTIONS[2]})).json()["items"]
            assert [each["id"] for each in found] == [asked]


async def test_a_frozen_store_is_migrated_once_by_the_command_and_served_after_it(
    thaw: Thaw, shop: str, tmp_path: Path
) -> None:
    settings = dict(thaw(tmp_path))
    first = await asyncio.to_thread(lambda: kai("migrate", data=tmp_path, **settings))
    assert first.returncode == 0, first.stderr
    again = await asyncio.to_thread(lambda: kai("migrate", data=tmp_path, **settings))
    assert again.stdout.splitlines()[-1] == "The store is up to date; steps applied: 0."
    with running_server(tmp_path, {**settings, "KAI_MIGRATE_AT_START": "false"}) as server:
        async with client_of(server) as client:
            await _move_database(client, shop)
            sessions = (await client.http.get("/sessions")).json()["items"]
            events = await client.ask(sessions[0]["id"], QUESTIONS[1])
    assert chunks(events, "results")[0]["rows"] == [[3]]
