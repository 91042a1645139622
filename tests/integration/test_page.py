"""How the page is served, and that a wheel brings it along."""

import subprocess
import sys
import zipfile
from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.bootstrap import open_services
from app.bootstrap.application import describe_api
from app.core.settings import Settings
from app.main import create_app
from app.web import page

ROOT = Path(__file__).parents[2]


@pytest.fixture
def needs_page() -> None:
    assert (page.STATIC / "index.html").is_file(), "the page is not built; `make ui` builds it"


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    settings = Settings(data_dir=tmp_path)
    async with open_services(settings) as services:
        transport = httpx.ASGITransport(create_app(services, settings))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


@pytest.mark.usefixtures("needs_page")
@pytest.mark.parametrize("path", ["/", "/sessions/any", "/connections", "/connections/any"])
async def test_the_page_comes_at_every_deep_link_under_a_strict_policy(
    browser: httpx.AsyncClient, path: str
) -> None:
    answer = await browser.get(path)
    assert answer.status_code == 200
    assert '<div id="app">' in answer.text
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert "<script>" not in answer.text


@pytest.mark.usefixtures("needs_page")
@pytest.mark.parametrize("path", ["/", "/settings", "/sessions/any"])
async def test_each_language_has_its_own_page_and_caches_know_why(
    browser: httpx.AsyncClient, path: str
) -> None:
    german = await browser.get(path, headers={"Accept-Language": "de-AT"})
    english = await browser.get(path, headers={"Accept-Language": "de-AT", "Cookie": "kai_language=en"})
    for answer, language in ((german, "de"), (english, "en")):
        assert f'<html lang="{language}">' in answer.text
        assert answer.headers["content-language"] == language
        assert answer.headers["vary"] == "Accept-Language, Cookie"
        assert answer.headers["content-security-policy"] == page.POLICY


@pytest.mark.usefixtures("needs_page")
async def test_hashed_files_stay_for_ever_and_travel_compressed(browser: httpx.AsyncClient) -> None:
    script = next(each.name for each in (page.STATIC / "assets").glob("index-*.js"))
    answer = await browser.get(f"/assets/{script}")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith("text/javascript")


async def test_the_description_of_the_api_comes_from_here_under_the_policy_of_the_page(
    browser: httpx.AsyncClient,
) -> None:
    answer = await browser.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == page.POLICY
    assert "://" not in answer.text
    assert "<script>" not in answer.text
    assert (await browser.get("/docs/start.js")).headers["content-security-policy"] == page.POLICY


@pytest.mark.usefixtures("needs_page")
async def test_swagger_ui_is_served_with_its_licence(browser: httpx.AsyncClient) -> None:
    for name in ("swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"):
        assert (await browser.get(f"/docs/{name}")).status_code == 200, name


async def test_answers_of_the_api_are_not_kept_and_not_guessed_at(browser: httpx.AsyncClient) -> None:
    for path in ("/api/v1/me", "/api/v1/sessions", "/api/v1/nothing", "/healthz", "/readyz"):
        headers = (await browser.get(path)).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff"), path


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/nothing", "/assets/nothing.js", "/docs/nothing", "/nothing"]
)
async def test_what_is_not_there_is_a_problem_not_the_page(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.usefixtures("needs_page")
async def test_a_browser_at_an_unknown_address_is_shown_the_page(browser: httpx.AsyncClient) -> None:
    as_browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nothing", "/nothing/at/all"):
        answer = await browser.get(path, headers=as_browser)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8"), path
    for path in ("/api/v1/nothing", "/assets/nothing.js", "/docs/nothing"):
        answer = await browser.get(path, headers=as_browser)
        assert answer.headers["content-type"] == "application/problem+json", path


async def test_no_route_is_taken_for_an_unknown_address() -> None:
    """Those pages need no login."""
    app = describe_api()
    paths = [str(route.path) for route in iter_route_contexts(app.routes)]
    assert len(paths) > 100
    answered: list[str] = []

    async def answer(scope: Scope, _receive: Receive, send: Send) -> None:
        answered.append(scope["path"])
        await Response()(scope, _receive, send)

    watched = page.UnknownAddresses(answer, routes=app.routes)
    transport = httpx.ASGITransport(app=watched)
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as client:
        for path in (*paths, "/nothing"):
            await client.get(path, headers={"Accept": "text/html"})
    assert set(map(unquote, answered)) == set(paths)


@pytest.mark.parametrize(
    "path", ["/assets/../index.html", "/assets/..%2f..%2fpage.py", "/assets/%2e%2e/page.py"]
)
async def test_files_beside_the_assets_are_out_of_reach(browser: httpx.AsyncClient, path: str) -> None:
    assert (await browser.get(path)).status_code == 404


async def test_a_page_that_was_not_built_says_how_to_build_it(
    browser: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "STATIC", tmp_path)
    answer = await browser.get("/")
    assert answer.status_code == 503
    assert "make ui" in answer.text


@pytest.mark.usefixtures("needs_page")
def test_a_wheel_holds_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=110)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    built = {
        f"app/web/static/{each.relative_to(page.STATIC)}"
        for each in page.STATIC.rglob("*.*")
        if each.is_file()
    }
    assert built - {"app/web/static/.sources"} <= names
    assert not [name for name in names if name.startswith("ui/")]
    assert {"typesense_checkpoint/saver.py", "typesense_checkpoint/py.typed"} <= names
    assert "typesense_checkpoint/pyproject.toml" not in names


async def test_a_file_of_the_page_that_is_not_there_is_not_found(browser: httpx.AsyncClient) -> None:
    for path in ("gone.js", "%00", "..%2fpage.py"):
        assert (await browser.get(f"/assets/{path}")).status_code == 404
