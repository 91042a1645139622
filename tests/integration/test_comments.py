"""Comments on answers and boards: for the people who may see them, over both stores."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.storage.port import Query
from app.modules.comments import service
from app.modules.comments.model import MOST_CHARACTERS
from tests.support.boards import BoardKai, Json, kai_with_boards, store_settings


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards(store_settings(request), tmp_path) as opened:
        yield opened


async def arrive(kai: BoardKai, *people: str) -> None:
    """Makes people known: each has a conversation. Ann comes last."""
    for each in people:
        kai.become(each)
        await kai.call("POST", "/sessions", 201, db_connection_id=kai.connection_id)
    kai.become("ann")


async def linked(kai: BoardKai, kind: str, thing_id: str) -> str:
    return str((await kai.call("POST", "/links", 201, kind=kind, target_id=thing_id))["id"])


async def written(kai: BoardKai, thing: dict[str, str], text: str) -> Json:
    return await kai.call("POST", "/comments", 201, text=text, **thing)


async def listed(kai: BoardKai, thing: dict[str, str], status: int = 200) -> Json:
    query = "&".join(f"{name}={value}" for name, value in thing.items())
    return await kai.call("GET", f"/comments?{query}", status)


async def mentions(kai: BoardKai, person: str) -> list[Json]:
    kai.become(person)
    found: list[Json] = (await kai.call("GET", "/notices"))["items"]
    kai.become("ann")
    return found


async def test_a_comment_is_written_edited_resolved_reopened_and_deleted(kai: BoardKai) -> None:
    answer = {"kind": "answer", "target_id": await kai.answer()}
    made = await written(kai, answer, "  <b>Why</b> & how?\nSecond line  ")
    assert (made["text"], made["author"], made["own"]) == ("<b>Why</b> & how?\nSecond line", "ann", True)
    path = f"/comments/{made['id']}"
    edited = await kai.call("PATCH", path, text="Why?")
    assert (edited["text"], edited["edited_at"] is not None) == ("Why?", True)
    resolved = await kai.call("PATCH", path, resolved=True)
    assert (resolved["resolved_by"], resolved["resolved_at"] is not None) == ("ann", True)
    reopened = await kai.call("PATCH", path, resolved=False)
    assert (reopened["resolved_by"], reopened["resolved_at"]) == (None, None)
    assert [each["text"] for each in (await listed(kai, answer))["items"]] == ["Why?"]
    await kai.call("DELETE", path, 204)
    assert (await listed(kai, answer))["items"] == []
    await kai.call("PATCH", path, 404, text="Late")


async def test_others_see_and_write_comments_by_a_link_only(kai: BoardKai) -> None:
    board = await kai.board()
    await kai.pinned(board, await kai.answer())
    own = {"kind": "board", "target_id": board}
    made = await written(kai, own, "Look at this")
    link = await linked(kai, "board", board)
    kai.become("bob")
    by_link = {**own, "link_id": link}
    await listed(kai, own, 404)
    await kai.call("POST", "/comments", 404, text="Hello", **own)
    await kai.call("PATCH", f"/comments/{made['id']}", 404, text="Mine")
    seen = (await listed(kai, by_link))["items"]
    assert [(each["text"], each["own"]) for each in seen] == [("Look at this", False)]
    answer = await written(kai, by_link, "I do")
    refused = await kai.call("PATCH", f"/comments/{made['id']}", 403, text="Mine", link_id=link)
    assert refused["type"] == "urn:kai:not-the-author"
    await kai.call("DELETE", f"/comments/{made['id']}", 404)
    await kai.call("PATCH", f"/comments/{made['id']}", resolved=True, link_id=link)
    another = {"kind": "board", "target_id": "unknown", "link_id": link}
    await listed(kai, another, 404)
    kai.become("ann")
    await kai.call("DELETE", f"/links/{link}", 204)
    kai.become("bob")
    await listed(kai, by_link, 404)
    await kai.call("DELETE", f"/comments/{answer['id']}", 204)


async def test_the_link_of_a_session_shows_the_comments_of_its_answers(kai: BoardKai) -> None:
    message = await kai.answer()
    other = await kai.answer()
    session = next(each for each in (await kai.call("GET", "/sessions"))["items"])["id"]
    link = await linked(kai, "session", session)
    await written(kai, {"kind": "answer", "target_id": other}, "Mine")
    assert (await kai.call("GET", f"/comments/counts?session_id={session}"))["counts"] == {other: 1}
    kai.become("bob")
    seen = await listed(kai, {"kind": "answer", "target_id": other, "link_id": link})
    assert [each["text"] for each in seen["items"]] == ["Mine"]
    await listed(kai, {"kind": "answer", "target_id": message, "link_id": link}, 404)
    await kai.call("GET", f"/comments/counts?session_id={session}", 404)


async def test_a_mention_tells_those_who_may_see_the_thing_and_hides_who_is_known(kai: BoardKai) -> None:
    await arrive(kai, "bob", "carol@example.com")
    board = await kai.board()
    await kai.pinned(board, await kai.answer())
    thing = {"kind": "board", "target_id": board}
    text = "@bob, @carol@example.com. and @unknown: see bob@example.com"
    assert (await written(kai, thing, text))["mentions"] == []  # there is no link
    link = await linked(kai, "board", board)
    made = await written(kai, thing, text)
    assert made["mentions"] == ["bob", "carol@example.com"]
    (notice,) = await mentions(kai, "bob")
    assert (notice["kind"], notice["author"], notice["title"]) == ("mention", "ann", "Weekly")
    assert notice["mention"] == {
        "comment_id": made["id"],
        "kind": "board",
        "target_id": board,
        "link_id": link,
    }
    assert await mentions(kai, "unknown") == []
    await kai.call("PATCH", f"/comments/{made['id']}", text="@carol@example.com only, @ann")
    assert await mentions(kai, "bob") == []
    assert len(await mentions(kai, "carol@example.com")) == 1
    kai.become("bob")
    await written(kai, {**thing, "link_id": link}, "@ann thanks")
    (notice,) = await mentions(kai, "ann")
    assert (notice["author"], notice["mention"]["link_id"]) == ("bob", None)
    await kai.call("DELETE", f"/comments/{made['id']}", 204)
    assert await mentions(kai, "carol@example.com") == []


async def test_only_those_who_take_part_are_listed_for_a_mention(kai: BoardKai) -> None:
    await arrive(kai, "bob", "carol")
    board = await kai.board()
    await kai.pinned(board, await kai.answer())
    link = await linked(kai, "board", board)
    query = f"/comments/people?kind=board&target_id={board}"
    assert (await kai.call("GET", query))["items"] == []
    kai.become("bob")
    await written(kai, {"kind": "board", "target_id": board, "link_id": link}, "Hello")
    assert (await kai.call("GET", f"{query}&link_id={link}"))["items"] == ["ann"]
    kai.become("ann")
    assert (await kai.call("GET", query))["items"] == ["bob"]


async def test_comments_are_paged_and_a_tag_says_that_nothing_has_changed(kai: BoardKai) -> None:
    board = await kai.board()
    thing = {"kind": "board", "target_id": board}
    for number in range(3):
        await written(kai, thing, f"Comment {number}")
    path = f"/comments?kind=board&target_id={board}"
    first = await kai.http.get(f"{path}&limit=2")
    assert [each["text"] for each in first.json()["items"]] == ["Comment 0", "Comment 1"]
    rest = await kai.call("GET", f"{path}&limit=2&cursor={first.json()['next_cursor']}")
    assert ([each["text"] for each in rest["items"]], rest["next_cursor"]) == (["Comment 2"], None)
    whole = await kai.http.get(path)
    again = await kai.http.get(path, headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    await written(kai, thing, "Comment 3")
    changed = await kai.http.get(path, headers={"If-None-Match": whole.headers["ETag"]})
    assert (changed.status_code, len(changed.json()["items"])) == (200, 4)


async def test_texts_and_numbers_of_comments_are_bounded(
    kai: BoardKai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_COMMENTS", 2)
    board = await kai.board()
    thing = {"kind": "board", "target_id": board}
    for text in ("", "   ", "x" * (MOST_CHARACTERS + 1)):
        await kai.call("POST", "/comments", 422, text=text, **thing)
    made = await written(kai, thing, "x" * MOST_CHARACTERS)
    await written(kai, thing, "y")
    problem = await kai.call("POST", "/comments", 422, text="z", **thing)
    assert problem["type"] == "urn:kai:too-many-comments"
    assert (await kai.http.patch(f"/comments/{made['id']}", json={})).status_code == 422


async def test_comments_go_with_their_session_their_board_and_their_author(kai: BoardKai) -> None:
    storage = kai.services.storage

    async def left() -> list[int]:
        return [len((await storage.query(name, Query())).items) for name in ("comments", "notices")]

    await arrive(kai, "bob")
    board, message = await kai.board(), await kai.answer()
    session = (await kai.call("GET", "/sessions"))["items"][0]["id"]
    await kai.pinned(board, message)
    for kind, thing_id in (("board", board), ("answer", message)):
        link = await linked(kai, kind, thing_id)
        kai.become("bob")
        await written(kai, {"kind": kind, "target_id": thing_id, "link_id": link}, "@ann look")
        kai.become("ann")
        await written(kai, {"kind": kind, "target_id": thing_id}, "@bob look")
    assert await left() == [4, 4]
    await kai.call("DELETE", f"/sessions/{session}", 204)
    assert await left() == [2, 2]
    kai.become("bob")
    await kai.call("DELETE", "/me/data", 202)
    assert await left() == [1, 0]
    kai.become("ann")
    await kai.call("DELETE", f"/boards/{board}", 204)
    assert await left() == [0, 0]
