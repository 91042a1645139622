"""Comments on the page: below an answer, beside a board and on what a link shows."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.conftest import connected
from tests.e2e.page.test_reach import AXE, violations
from tests.support.shop import make_shop

HOSTILE = '<img src=x onerror="document.title=1"> **bold** [x](javascript:alert(1))'


@pytest.fixture
def asked(api: httpx.Client, tmp_path: Path) -> Iterator[str]:
    """The id of a session with one answer, which needed no model for its statement."""
    connection = connected(api, f"sqlite:///{make_shop(tmp_path / 'shop.db')}", "Shop of the comments")
    session = str(api.post("/sessions", json={"db_connection_id": connection}).json()["id"])
    body = {
        "query": "Customers per country",
        "sql": "SELECT country, count(*) AS n FROM customers GROUP BY 1",
    }
    api.post(f"/sessions/{session}/query/stream", json=body)
    yield session
    api.delete(f"/sessions/{session}")
    api.delete(f"/database-connections/{connection}")


def answer_of(api: httpx.Client, session: str) -> str:
    return str(api.get(f"/sessions/{session}").json()["messages"]["items"][-1]["id"])


def test_a_comment_on_an_answer_is_written_by_keys_changed_resolved_and_deleted(
    page: Page, api: httpx.Client, asked: str
) -> None:
    page.goto(f"/sessions/{asked}")
    opener = page.get_by_role("button", name="Comments")
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("No comments yet.")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="Your comment")).to_be_focused()
    page.keyboard.type("Why so few?")
    page.keyboard.press("Control+Enter")
    comment = page.locator(".comment-thread li")
    expect(comment).to_contain_text("Why so few?")
    expect(page.get_by_role("textbox", name="Your comment")).to_have_value("")
    expect(page.get_by_role("button", name="Comments (1 open)")).to_be_visible()
    if AXE.is_file():
        assert violations(page) == []
    page.get_by_role("button", name="Edit your comment").click()
    comment.get_by_role("textbox", name="Your comment").fill("Why so many?")
    comment.get_by_role("button", name="Save").click()
    expect(comment).to_contain_text("Why so many?")
    expect(comment).to_contain_text("edited")
    page.get_by_role("button", name="Edit your comment").click()
    comment.get_by_role("textbox", name="Your comment").fill("Why none?")
    thing = {"kind": "answer", "target_id": answer_of(api, asked)}
    (stored,) = api.get("/comments", params=thing).json()["items"]
    api.patch(f"/comments/{stored['id']}", json={"text": "From another tab"}).raise_for_status()
    comment.get_by_role("button", name="Save").click()
    clash = page.get_by_role("dialog", name="This was changed meanwhile")
    expect(clash.get_by_role("row").last).to_have_text("CommentFrom another tabWhy none?")
    clash.get_by_role("button", name="Save mine").click()
    expect(comment).to_contain_text("Why none?")
    page.get_by_role("button", name="Mark the comment of local as resolved").click()
    expect(comment).to_contain_text("resolved by local")
    expect(page.get_by_role("button", name="Comments", exact=True)).to_be_visible()
    page.get_by_role("button", name="Reopen the comment of local").click()
    page.reload()
    page.get_by_role("button", name="Comments (1 open)").click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete your comment").click()
    expect(page.get_by_text("No comments yet.")).to_be_visible()


def test_hostile_text_in_a_comment_stays_text(page: Page, api: httpx.Client, asked: str) -> None:
    thing = {"kind": "answer", "target_id": answer_of(api, asked)}
    assert api.post("/comments", json={**thing, "text": HOSTILE}).status_code == 201
    page.goto(f"/sessions/{asked}")
    page.get_by_role("button", name="Comments (1 open)").click()
    text = page.locator(".comment-text")
    expect(text).to_have_text(HOSTILE)
    assert text.locator("*").count() == 0
    assert page.title() != "1"


def test_a_board_and_what_a_link_shows_have_the_same_comments(
    page: Page, api: httpx.Client, asked: str
) -> None:
    board = str(api.post("/boards", json={"title": "Weekly"}).json()["id"])
    api.post(f"/boards/{board}/pins", json={"message_id": answer_of(api, asked)})
    page.goto(f"/boards/{board}")
    page.get_by_role("button", name="Comments").click()
    page.get_by_role("textbox", name="Your comment").fill("For Monday")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".comment-text")).to_have_text("For Monday")
    link = api.post("/links", json={"kind": "board", "target_id": board}).json()["id"]
    page.goto(f"/shared/{link}")
    page.get_by_role("button", name="Comments").click()
    expect(page.locator(".comment-text")).to_have_text("For Monday")
    if AXE.is_file():
        assert violations(page) == []
    api.delete(f"/boards/{board}")
