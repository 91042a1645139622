"""What can be done with an answer: its SQL, its rows, its chart, and a word on it."""

import json
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.browser import ask, eventually
from tests.e2e.page.conftest import MANY_ROWS, connected, opened
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel


@pytest.fixture
def answered(page: Page, model: ScriptedModel, session: str) -> Page:
    """A page with an answer of two rows."""
    model.say(sql(PER_COUNTRY), FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".answer-actions")).to_be_visible()
    return page


def test_sql_that_writes_is_refused_and_no_model_repairs_it(answered: Page, model: ScriptedModel) -> None:
    asked = len(model.requests)
    answered.locator(".fold-sql > summary").click()
    answered.get_by_role("button", name="Edit").click()
    answered.get_by_label("SQL editor").fill("DELETE FROM customers")
    answered.get_by_role("button", name="Format").click()
    expect(answered.get_by_role("alert")).to_contain_text("Only queries may run")
    answered.get_by_role("button", name="Run").click()
    expect(answered.get_by_role("alert")).to_contain_text("Only queries may run")
    assert len(model.requests) == asked


def test_edited_sql_is_a_version_of_the_answer_also_after_a_reload(
    answered: Page, model: ScriptedModel
) -> None:
    asked = len(model.requests)
    answered.locator(".fold-sql > summary").click()
    answered.get_by_role("button", name="Edit").click()
    answered.get_by_label("SQL editor").fill("select country from customers where id = 1")
    answered.get_by_label("SQL editor").press("Control+Enter")
    expect(answered.get_by_role("gridcell")).to_have_text(["Norway"])
    assert len(model.requests) == asked
    answered.reload()
    expect(answered.get_by_role("button", name="Version 2")).to_have_attribute("aria-pressed", "true")
    expect(answered.get_by_role("gridcell")).to_have_text(["Norway"])
    expect(answered.locator("article")).to_have_count(1)
    answered.locator(".fold-sql > summary").click()
    expect(answered.locator("pre.sql ins").first).to_have_text("WHERE")
    expect(answered.get_by_role("button", name="Keep v2 as verified")).to_be_visible()
    answered.get_by_role("tab", name="Table").click()
    answered.get_by_role("button", name="Column country").click()
    answered.get_by_role("dialog").get_by_role("button", name="How was this made?").click()
    panel = answered.get_by_role("complementary", name="How was this made?")
    expect(panel).to_contain_text("Version 2, a statement of yours")
    expect(panel.locator(".made-query")).to_contain_text("id = 1")
    panel.press("Escape")
    answered.locator(".fold-sql > summary").click()
    answered.get_by_role("button", name="Version 1").click()
    expect(answered.get_by_role("tab", name="Chart")).to_be_visible()
    expect(answered.locator("pre.sql ins")).to_have_count(0)
    answered.get_by_role("button", name="More about").click()
    answered.get_by_role("menuitem", name="Run the same SQL again").click()
    expect(answered.get_by_role("button", name="Version 3")).to_have_attribute("aria-pressed", "true")
    assert len(model.requests) == asked


def test_sql_is_laid_out_and_the_answer_says_how_it_was_made(answered: Page) -> None:
    laid_out = answered.locator("pre.sql", has_text="FROM customers\nGROUP BY")
    answered.locator(".fold-sql > summary").click()
    expect(laid_out).to_be_visible()
    answered.reload()
    answered.locator(".fold-sql > summary").click()
    expect(laid_out).to_be_visible()
    answered.get_by_role("button", name="How was this made?").click()
    panel = answered.get_by_role("complementary", name="How was this made?")
    expect(panel.locator(".made-query")).to_contain_text("customers")
    expect(panel.locator(".made-query")).to_contain_text("COUNT(*)")
    panel.press("Escape")
    expect(panel).to_have_count(0)
    expect(answered.get_by_role("button", name="How was this made?")).to_be_focused()


def test_a_step_opens_to_what_it_used(answered: Page) -> None:
    answered.locator(".timeline summary").click()
    for step, used in (("Read the context", "customers"), ("Run the query", "2 columns: country, customers")):
        line = answered.locator(".steps > li", has_text=step)
        expect(line.locator("ul")).to_be_hidden()
        line.locator("summary").press("Enter")
        expect(line.locator("ul")).to_contain_text(used)


def test_a_chart_is_switched_stepped_back_and_taken_along(answered: Page) -> None:
    chart = answered.locator(".chart-canvas svg")
    expect(chart).to_be_visible()
    answered.get_by_role("button", name="Change the chart").click()
    mark = answered.get_by_role("combobox", name="Chart type")
    for kind, drawn in (("arc", "arc"), ("bar", "rect")):
        mark.select_option(kind)
        expect(mark).to_have_value(kind)
        expect(chart.locator(f".mark-{drawn} path").first).to_be_attached()
    answered.get_by_role("button", name="Undo").click()
    expect(chart.locator(".mark-arc path").first).to_be_attached()
    answered.get_by_role("button", name="Reset").click()
    expect(chart.locator(".mark-arc")).to_have_count(0)
    for name, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg"), ("vl.JSON", b"{")):
        with answered.expect_download() as taken:
            answered.get_by_role("button", name="Save the chart").click()
            answered.get_by_role("menuitem", name=name.removeprefix("vl.")).click()
        assert taken.value.suggested_filename == f"how-many-customers-per-country.{name.lower()}"
        assert Path(taken.value.path()).read_bytes().startswith(start)


def test_a_wish_that_was_fulfilled_becomes_a_rule_for_such_results(answered: Page, api: httpx.Client) -> None:
    answered.get_by_role("button", name="Change the chart").click()
    wish = answered.get_by_label("In words")
    form = answered.get_by_role("region", name="Changes of the chart")
    always = form.get_by_role("button", name="Always: “as a pie”")
    for words in ("as a swan", "as a pie"):
        expect(always).to_have_count(0)
        wish.fill(words)
        form.get_by_role("button", name="Apply").click()
        expect(form).not_to_have_attribute("aria-busy", "true")
    for _ in range(2):  # The second time the rule is there.
        always.click()
        expect(answered.get_by_text("From now on, charts of results with these columns")).to_be_visible()
        expect(always).to_have_count(0)
        rules = answered.request.get("/api/v1/rules").json()["items"]
        kept = {name: rules[0][name] for name in ("name", "chart", "chart_of")}
        assert kept == {
            "name": "chart-country-customers",
            "chart": "as a pie",
            "chart_of": ["country", "customers"],
        }
        assert len(rules) == 1
        wish.fill("as a pie")
        form.get_by_role("button", name="Apply").click()
    api.delete("/rules/chart-country-customers").raise_for_status()


def test_a_wish_replaces_no_rule_of_another_database_by_the_same_name(
    answered: Page, api: httpx.Client, shop: str
) -> None:
    other = {
        "name": "chart-country-customers",
        "text": "Of another database.",
        "chart": "as bars",
        "chart_of": ["country", "customers"],
        "scope": {"connections": [connected(api, shop, "Another")]},
    }
    api.post("/rules", json=other).raise_for_status()
    answered.get_by_role("button", name="Change the chart").click()
    answered.get_by_label("In words").fill("as a pie")
    answered.get_by_role("button", name="Apply").click()
    answered.get_by_role("button", name="Always: “as a pie”").click()
    expect(answered.get_by_text("From now on, charts of results with these columns")).to_be_visible()
    kept = {each["name"]: each["chart"] for each in api.get("/rules").json()["items"]}
    assert kept["chart-country-customers"] == "as bars"
    assert kept["chart-country-customers-2"] == "as a pie"
    for name in kept:
        api.delete(f"/rules/{name}").raise_for_status()


def test_a_specification_of_ones_own_is_drawn_or_refused_with_the_reason(answered: Page) -> None:
    answered.get_by_role("button", name="Change the chart").click()
    answered.get_by_role("button", name="Edit as JSON").click()
    written = answered.get_by_label("Vega-Lite specification")
    own = json.loads(written.input_value())
    assert own["encoding"]["y"]["field"] == "customers"
    written.fill(json.dumps({**own, "mark": "point"}))
    answered.get_by_role("button", name="Draw it").click()
    expect(answered.locator(".chart-canvas .mark-symbol path")).to_have_count(2)
    said = answered.get_by_role("region", name="Changes of the chart").get_by_role("status")
    written.fill(json.dumps({**own, "data": {"url": "https://evil.example/x.json"}}))
    answered.get_by_role("button", name="Draw it").click()
    expect(said).to_contain_text("url")
    expect(answered.locator(".chart-canvas .mark-symbol path")).to_have_count(2)
    written.fill("no json")
    answered.get_by_role("button", name="Draw it").click()
    expect(said).to_have_text("This is not JSON.")


@pytest.mark.parametrize("kind", ["CSV", "JSON", "Parquet"])
def test_rows_are_exported(answered: Page, kind: str) -> None:
    answered.get_by_role("tab", name="Table").click()
    answered.get_by_role("button", name="Export").click()
    with answered.expect_download() as taken:
        answered.get_by_role("menuitem", name=kind).click()
    content = Path(taken.value.path()).read_bytes()
    if kind == "CSV":
        assert content == b"country,customers\r\nBrazil,2\r\nNorway,1\r\n"
    elif kind == "JSON":
        assert json.loads(content)[0] == {"country": "Brazil", "customers": 2}
    else:
        assert content.startswith(b"PAR1")


def test_a_hundred_thousand_rows_scroll_to_their_end_and_sort(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    model.say(sql("SELECT * FROM measurements"), FIRST)
    page.goto(f"/sessions/{opened(api, connected(api, many_rows, 'Many'))}")
    ask(page, "Everything")
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", str(MANY_ROWS + 1))
    assert page.locator(".grid-body .grid-row").count() < 60
    grid.evaluate("grid => grid.scrollTo(0, grid.scrollHeight)")
    expect(page.get_by_role("gridcell", name="99999", exact=True)).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="id", exact=True).click()
    page.get_by_role("button", name="id", exact=True).click()
    grid.evaluate("grid => grid.scrollTo(0, 0)")
    expect(page.locator(".grid-body .grid-row").first).to_contain_text("99999")


def test_a_null_is_shown_as_such_and_dates_and_numbers_by_locale(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    model.say(sql("SELECT '2025-03-01' AS day, 1234.5 AS amount, NULL AS missing"), FIRST)
    page.goto(f"/sessions/{opened(api, connected(api, many_rows, 'Many'))}")
    ask(page, "One row")
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_role("gridcell")).to_have_text(["1 Mar 2025", "1,234.5", "null"])


def test_cells_are_copied_by_keyboard(answered: Page) -> None:
    answered.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answered.get_by_role("tab", name="Table").click()
    answered.get_by_role("gridcell", name="Brazil").click()
    grid = answered.get_by_role("grid")
    grid.focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "Control+c"):
        grid.press(key)
    expect(answered.get_by_text("4 cells copied")).to_be_visible()
    assert answered.evaluate("navigator.clipboard.readText()") == "Brazil\t2\nNorway\t1"


def test_a_column_is_widened_by_keyboard(answered: Page) -> None:
    answered.get_by_role("tab", name="Table").click()
    header = answered.get_by_role("columnheader", name="country")
    before = header.evaluate("header => header.offsetWidth")
    answered.get_by_role("separator", name="Width of country").press("ArrowRight")
    expect(header).to_have_js_property("offsetWidth", before + 16)


def test_a_truncated_result_says_so(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    model.say(sql("SELECT 1 AS one FROM measurements UNION ALL SELECT 2 FROM measurements"), FIRST)
    page.goto(f"/sessions/{opened(api, connected(api, many_rows, 'Many'))}")
    ask(page, "Too much")
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_text("Cut off by a limit")).to_be_visible()


def test_a_chart_of_many_names_says_which_it_shows_also_in_its_picture(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str, tmp_path: Path
) -> None:
    per_note = (
        "SELECT note, SUM(celsius) AS heat FROM measurements WHERE id < 700 GROUP BY note ORDER BY heat DESC"
    )
    model.say(sql(per_note), FIRST)
    page.goto(f"/sessions/{opened(api, connected(api, many_rows, 'Many'))}")
    ask(page, "Heat per note")
    expect(page.locator(".chart-canvas .mark-rect.points_marks path")).to_have_count(15)
    expect(page.locator(".chart-rows")).to_contain_text("86 more")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the chart").click()
        page.get_by_role("menuitem", name="SVG").click()
    download.value.save_as(tmp_path / "chart.svg")
    assert "86 more" in (tmp_path / "chart.svg").read_text()


def test_a_chart_draws_all_days_and_no_rows_are_fetched_for_it(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    numbered = (
        "SELECT date('2024-01-01', '+' || id || ' days') AS day, celsius FROM measurements WHERE id < 731"
    )
    model.say(sql(f"{numbered} ORDER BY day"), FIRST)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url) if "/rows?" in request.url else None)
    page.goto(f"/sessions/{opened(api, connected(api, many_rows, 'Many'))}")
    ask(page, "Celsius per day")
    expect(page.get_by_text("731 rows, all drawn")).to_be_visible()
    drawing = page.get_by_role("group", name="Values of the chart")
    expect(drawing.locator(".chart-rings")).to_be_attached()
    drawing.focus()
    said = drawing.get_by_role("status")
    for key, value in (("Home", "2024"), ("End", "2025")):
        page.keyboard.press(key)
        expect(said).to_contain_text(value)
        expect(page.locator(".chart-tooltip")).to_have_text(said.inner_text())
    assert fetched == []


def test_a_projection_is_computed_kept_and_taken_back(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    monthly = "SELECT date('2022-01-01', '+' || id || ' months') AS month, celsius FROM measurements"
    model.say(sql(f"{monthly} WHERE id < 40 ORDER BY month"), FIRST)
    session = opened(api, connected(api, many_rows, "Projected"))
    page.goto(f"/sessions/{session}")
    ask(page, "Celsius per month")
    page.get_by_role("button", name="Change the chart").click()
    page.get_by_text("More choices").click()
    compute = page.locator("label", has_text="Compute").locator("select")
    compute.select_option("projection")
    expect(page.locator(".chart-rows")).to_contain_text("Projection of 6 months")
    page.reload()
    expect(page.locator(".chart-rows")).to_contain_text("Projection of 6 months")
    page.get_by_role("button", name="Change the chart").click()
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".chart-rows")).not_to_contain_text("Projection")
    eventually(lambda: api.get(f"/sessions/{session}").json()["messages"]["items"][1]["chart_choice"] is None)


def test_another_column_of_a_chart_is_drawn_from_all_rows(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    rows = "SELECT id, celsius, id * 2 AS twice FROM measurements WHERE id BETWEEN 1 AND 300"
    model.say(sql(rows.replace("id, celsius", "'n' || id AS name, celsius")), FIRST)
    session = opened(api, connected(api, many_rows, "Many"))
    page.goto(f"/sessions/{session}")
    ask(page, "Celsius per name, top")
    expect(page.locator(".exchange[aria-busy=false]")).to_have_count(1)
    page.get_by_role("button", name="Change the chart").click()
    page.get_by_label("Across").select_option(label="twice")
    expect(page.get_by_label("Across")).to_have_value("2")
    page.get_by_label("Chart type").select_option(label="Points")

    def is_kept() -> bool:
        answer = api.get(f"/sessions/{session}").json()["messages"]["items"][-1]
        return (answer["chart_choice"] or {}).get("mark") == "point"

    eventually(is_kept)
    page.reload()
    points = page.locator(".chart-canvas .mark-symbol.points_marks path")
    expect(points).to_have_count(300)
    page.get_by_role("button", name="Change the chart").click()
    page.get_by_role("button", name="Reset").click()
    expect(points).not_to_have_count(300)


def test_a_chart_of_a_truncated_result_says_so(
    page: Page, model: ScriptedModel, api: httpx.Client, many_rows: str
) -> None:
    labels = "SELECT 'a' || id AS label FROM measurements UNION ALL SELECT 'b' || id FROM measurements"
    model.say(sql(f"SELECT label, COUNT(*) AS readings FROM ({labels}) GROUP BY label"), FIRST)
    page.goto(f"/sessions/{opened(api, connected(api, many_rows, 'Many'))}")
    ask(page, "Readings per label")
    expect(page.locator(".chart-canvas svg")).to_be_visible()
    expect(page.get_by_role("tabpanel").get_by_text("Cut off by a limit")).to_be_visible()


def test_a_bad_answer_is_reported_with_a_comment_and_the_right_sql(answered: Page) -> None:
    answered.get_by_role("button", name="Bad answer").click()
    answered.get_by_label("Comment").fill("Only active ones")
    answered.get_by_label("The SQL it should have been").fill("SELECT 1")
    with answered.expect_request("**/feedback") as sent:
        answered.get_by_role("button", name="Send feedback").click()
    expected = {"rating": "down", "comment": "Only active ones", "corrected_sql": "SELECT 1"}
    assert sent.value.post_data_json == expected
    expect(answered.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")


def test_an_answer_out_of_the_history_is_whole(answered: Page) -> None:
    answered.reload()
    expect(answered.locator(".chart-canvas svg")).to_be_visible()
    answered.get_by_role("tab", name="Table").click()
    expect(answered.get_by_role("row", name="Brazil 2")).to_be_visible()


def test_what_was_corrected_stands_below_the_sql_also_after_a_reload(
    page: Page, model: ScriptedModel, session: str
) -> None:
    model.say(sql('SELECT name FROM customers WHERE country = "Brazil"'), FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "Who lives in Brazil?")
    expect(page.locator(".answer-actions")).to_be_visible()
    for _ in range(2):
        page.locator(".fold-sql > summary").click()
        line = page.locator(".sql-panel .corrections")
        expect(line).to_have_text("Corrected: Read Brazil as text: no column has this name.")
        expect(line.locator("code")).to_have_text("Brazil")
        page.reload()
