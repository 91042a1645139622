"""The list of sessions, and the field for questions."""

import httpx
import pytest
from playwright.sync_api import APIResponse, BrowserContext, Page, Route, expect

from tests.e2e.page.browser import ask, eventually
from tests.e2e.page.conftest import opened
from tests.support.model_script import Scripted
from tests.support.scripted_model import ScriptedModel

LISTS = "**/api/v1/sessions?*"
TOP = """async (article) => {
    const top = () => article.getBoundingClientRect().top;
    let before, still = 0;
    while (still < 10) {
        before = top();
        await new Promise(requestAnimationFrame);
        still = top() === before ? still + 1 : 0;
    }
    return before;
}"""
"""Where an exchange has come to rest: scrolling goes on for some frames."""


def asked(api: httpx.Client, connection: str, question: str) -> str:
    """A session in which one question was answered; its id."""
    session = opened(api, connection)
    api.post(f"/sessions/{session}/query/stream", json={"query": question})
    return session


def test_sessions_are_found_by_words_and_opened(
    page: Page, model: ScriptedModel, api: httpx.Client, connection: str
) -> None:
    model.rule("", "CHAT: yes")
    asked(api, connection, "Quokkas by island")
    asked(api, connection, "Wombats by burrow")
    page.goto("/")
    page.get_by_label("Search sessions").fill("quokkas")
    expect(page.get_by_role("link", name="Wombats by burrow")).to_have_count(0)
    page.get_by_role("link", name="Quokkas by island").first.click()
    expect(page.get_by_role("heading", name="Quokkas by island").first).to_be_visible()


def test_a_title_that_a_model_writes_is_shown_without_a_reload(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.rule("", "CHAT: yes")
    model.rule_after("Where are the numbats?", "Numbats at large")  # no session of another test
    page.goto(f"/sessions/{session}")
    ask(page, "Where are the numbats?")
    expect(page.get_by_role("link", name="Numbats at large")).to_be_visible()
    expect(page.get_by_role("heading", name="Numbats at large")).to_be_visible()


def test_a_page_whose_code_cannot_be_fetched_says_so_and_is_loaded_again(page: Page) -> None:
    page.goto("/", wait_until="networkidle")
    page.route("**/assets/boards_page*", lambda route: route.abort())
    page.get_by_role("link", name="Boards").first.click()
    expect(page.get_by_role("alert")).to_contain_text("KAI cannot be reached")
    page.unroute("**/assets/boards_page*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Boards").first).to_be_visible()


def test_a_session_is_renamed(page: Page, model: ScriptedModel, api: httpx.Client, connection: str) -> None:
    model.rule("", "CHAT: yes")
    session = asked(api, connection, "A rough title")
    page.goto(f"/sessions/{session}")
    page.get_by_role("button", name="Options for A rough title").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Title of the session").fill("A better title")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="A better title")).to_be_visible()
    assert api.get(f"/sessions/{session}").json()["title"] == "A better title"


def test_a_deleted_session_comes_back_by_undo(
    page: Page, model: ScriptedModel, api: httpx.Client, connection: str
) -> None:
    model.rule("", "CHAT: yes")
    session = asked(api, connection, "Soon regretted")
    page.goto(f"/sessions/{session}")
    page.get_by_role("button", name="Options for Soon regretted").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("link", name="Soon regretted")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Soon regretted")).to_be_visible()
    assert api.get(f"/sessions/{session}").status_code == 200


def test_a_session_that_was_deleted_meanwhile_does_not_come_back_with_a_late_list(
    context: BrowserContext, model: ScriptedModel, api: httpx.Client, connection: str
) -> None:
    model.rule("", "CHAT: yes")
    session = asked(api, connection, "Deleted meanwhile")
    here, there = context.new_page(), context.new_page()
    late: list[tuple[Page, Route, APIResponse]] = []

    def hold(page: Page) -> None:
        most = len(late) + 2  # those that are pinned, and the others

        def handle(route: Route) -> None:
            if len(late) < most:
                late.append((page, route, route.fetch()))
            else:
                route.continue_()

        page.route(LISTS, handle)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    for page in (here, there):
        page.clock.install()
        page.goto("/")
        expect(page.get_by_role("link", name="Deleted meanwhile")).to_be_visible()
    here.get_by_role("button", name="Options for Deleted meanwhile").click()
    here.get_by_role("menuitem", name="Delete").click()
    for page, count in ((here, 2), (there, 4)):  # asked for while the session is still on the server
        hold(page)
        while len(late) < count:
            page.wait_for_timeout(20)  # gives the handlers their turn
    here.clock.fast_forward(10_000)  # beyond the time to undo
    eventually(lambda: api.get(f"/sessions/{session}").status_code == 404)
    expect(there.get_by_role("link", name="Deleted meanwhile")).to_have_count(0)
    for page, route, response in late:
        with page.expect_request_finished():
            route.fulfill(response=response)
    for page in (here, there):
        page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        expect(page.get_by_role("link", name="Deleted meanwhile")).to_have_count(0)


def test_a_deleted_session_is_gone_when_the_page_is_left(
    page: Page, model: ScriptedModel, api: httpx.Client, connection: str
) -> None:
    model.rule("", "CHAT: yes")
    session = asked(api, connection, "Not missed")
    page.goto(f"/sessions/{session}")
    page.get_by_role("button", name="Options for Not missed").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.goto("about:blank")
    eventually(lambda: api.get(f"/sessions/{session}").status_code == 404)


def test_arrow_up_brings_questions_back_and_shift_enter_starts_a_line(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.rule("", "CHAT: yes")
    page.goto(f"/sessions/{session}")
    for number, question in enumerate(("one", "two"), start=1):
        ask(page, question)
        expect(page.locator(".analysis")).to_have_count(number)
        expect(page.locator(".exchange[aria-busy=true]")).to_have_count(0)
    field = page.get_by_label("Your question")
    for _ in range(2):
        field.press("ArrowUp")
    expect(field).to_have_value("one")
    field.press("ArrowDown")
    expect(field).to_have_value("two")
    field.press("Shift+Enter")
    field.press_sequentially("three")
    expect(field).to_have_value("two\nthree")


@pytest.mark.parametrize("where", ["/", "/sessions/{session}"])
def test_examples_come_from_the_schema(page: Page, connection: str, session: str, where: str) -> None:
    page.goto(where.format(session=session))
    if where == "/":
        page.get_by_role("combobox", name="Database").select_option(connection)
    examples = page.get_by_role("region", name="For example").get_by_role("button")
    expect(examples.filter(has_text="What is the total amount of orders?")).to_have_count(1)


def test_an_unknown_session_says_so(page: Page) -> None:
    page.goto("/sessions/01970000-0000-7000-8000-000000000000")
    expect(page.get_by_role("heading", level=1)).to_contain_text("This page does not exist")
    expect(page.get_by_role("main").get_by_role("link", name="New question")).to_be_visible()


def test_a_closed_session_takes_no_question_until_it_is_resumed(
    page: Page, model: ScriptedModel, session: str, api: httpx.Client
) -> None:
    model.rule("", "CHAT: yes")
    api.patch(f"/sessions/{session}", json={"status": "closed"})
    page.goto(f"/sessions/{session}")
    expect(page.get_by_label("Your question")).to_be_disabled()
    page.get_by_role("button", name="Resume it").click()
    ask(page, "Again?")
    expect(page.locator(".analysis")).to_have_text("yes")


def test_a_session_whose_last_question_failed_is_marked(
    page: Page, model: ScriptedModel, connection: str, api: httpx.Client
) -> None:
    model.say(Scripted(status=400))
    session = asked(api, connection, "A long question that fails, and whose title does not fit into the list")
    page.goto(f"/sessions/{session}")
    link = page.get_by_role("navigation").get_by_role("link", name="A long question that fails")
    mark = link.get_by_role("img", name="The last question failed")
    expect(mark).to_be_visible()
    assert link.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_a_session_deleted_elsewhere_says_so(
    page: Page, model: ScriptedModel, connection: str, api: httpx.Client
) -> None:
    model.rule("", "CHAT: yes")
    session = asked(api, connection, "Gone soon")
    page.goto(f"/sessions/{session}")
    expect(page.locator(".analysis")).to_be_visible()
    api.delete(f"/sessions/{session}")
    ask(page, "Still there?")
    expect(page.get_by_role("alert")).to_contain_text("There is no session with this id.")


def test_a_hit_in_a_long_session_opens_at_its_exchange_and_back_returns_to_the_same_place(
    page: Page, model: ScriptedModel, api: httpx.Client, connection: str
) -> None:
    model.rule("", "CHAT: It is as it was.\n\n" + "\n\n".join(["A line of the answer."] * 12))
    session = opened(api, connection)
    for number in range(1, 31):
        words = "about hidden zorillas" if number == 3 else f"number {number}"
        api.post(f"/sessions/{session}/query/stream", json={"query": f"Question {words}?"})
    page.goto(f"/sessions/{session}")
    main = page.locator("#main")
    expect(page.get_by_role("heading", name="Question number 30?")).to_be_in_viewport()
    expect(page.get_by_role("button", name="30 of 30")).to_be_visible()
    main.focus()
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name="Question number 28?")).to_be_in_viewport()
    expect(page.get_by_role("button", name="28 of 30")).to_be_visible()
    there = page.locator("article.exchange", has_text="Question number 28?")
    above = there.evaluate(TOP)
    there.hover()
    page.mouse.wheel(0, 120)
    eventually(lambda: there.evaluate(TOP) < above - 100)
    before = there.evaluate(TOP)

    page.get_by_label("Search sessions").press_sequentially("zorillas")
    result = page.get_by_role("link", name="hidden zorillas")
    expect(result.locator("mark")).to_have_text("zorillas")
    result.click()
    expect(page.get_by_role("heading", name="Question about hidden zorillas?")).to_be_in_viewport()
    expect(page.get_by_role("button", name="3 of 30")).to_be_visible()
    page.go_back()
    expect(there).to_be_in_viewport()
    eventually(lambda: abs(there.evaluate(TOP) - before) <= 5)
