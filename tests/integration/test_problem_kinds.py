"""Every kind of problem has a page, which its problems link to."""

import importlib
import pkgutil
import re
from pathlib import Path

import httpx

import app
import graph
from app.bootstrap import open_services
from app.core.settings import Settings
from app.http.description.kinds import problem_kinds
from app.main import create_app
from tests.support.documents import documents


def test_every_kind_that_is_written_in_the_code_is_described() -> None:
    for package in (app, graph):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(("app.commands", "app.evaluation")):
                importlib.import_module(module.name)
    problem_kinds.cache_clear()
    root = Path(app.__file__).parents[1]
    files = [path for part in ("app", "graph") for path in (root / part).rglob("*.py")]
    code = "".join(path.read_text() for path in files if "evaluation" not in path.parts)
    named = set(re.findall(r'^    problem = "([a-z-]+)"', code, re.MULTILINE))
    assert {each.kind for each in problem_kinds()} == named
    described = documents()["/api/v1"]["components"]["schemas"]["ProblemType"]["anyOf"]
    assert described == [
        {"type": "string", "enum": [each.type for each in problem_kinds()]},
        {"type": "string"},
    ]


def test_every_kind_says_what_causes_it_and_what_helps() -> None:
    for kind in problem_kinds():
        texts = [*kind.causes, kind.cure, kind.title, kind.example.detail]
        assert all(texts), kind.kind
        assert not any(re.search(r"[{]\w+![rsa]|[{]most|[{]limit", text) for text in texts), kind
        assert ("defect" in kind.cure) == (kind.kind == "internal"), kind.kind
        assert kind.example.type == kind.type == f"urn:kai:{kind.kind}"
        assert kind.example.status in kind.status


async def test_a_problem_links_to_the_page_on_its_kind(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, auth={"required": True})
    async with open_services(settings) as services:
        http = httpx.AsyncClient(
            transport=httpx.ASGITransport(create_app(services, settings)), base_url="http://localhost"
        )
        refused = await http.get("/api/v1/sessions")
        assert refused.status_code == 401
        link = re.fullmatch(r'<(.+)>; rel="help"', refused.headers["Link"])
        assert link is not None
        page = await http.get(link[1])
        assert (page.status_code, page.json()["kind"]) == (200, "unauthenticated")
        html = await http.get(link[1], headers={"Accept": "text/html,*/*"})
        assert html.headers["Content-Type"].startswith("text/html")
        assert page.json()["cure"] in html.text.replace("&#39;", "'")
        assert "default-src 'none'" in html.headers["Content-Security-Policy"]
        listed = (await http.get("/api/v1/problems")).json()["items"]
        assert page.json() in listed
        unknown = await http.get("/api/v1/problems/<script>")
        assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:kai:not-found")
