"""Which paths are streams, in the routes and in the proxies of the deployments."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from fastapi.routing import iter_route_contexts

from app.bootstrap.application import describe_api
from app.http.open_streams import hold_stream
from app.http.served_part import STREAM_PATHS

DEPLOY = Path(__file__).parents[3] / "deploy"
ID = "01970000-0000-7000-8000-000000000000"
NAMES = ("shop", "stream", "wait", "a.b-c~d")
"""Of rules, databases, tools, ... A name may be a word of other paths."""
WAITING = ("/langgraph/threads/{thread_id}/runs/wait", "/langgraph/runs/wait", "/mcp")
"""Routes that hold a connection until an answer is there, without a stream that counts."""
JOINING = "/langgraph/threads/{thread_id}/runs/{run_id}/join"
DOCUMENT = "/ag-ui/openapi.json"
"""It lies below a prefix of streams alone."""


def routes() -> Iterator[tuple[str, bool]]:
    """Every path, and whether one of its methods streams."""
    found: dict[str, bool] = {}
    for route in describe_api().routes:
        for context in iter_route_contexts([route]):
            dependant = getattr(context, "dependant", None)
            calls = [] if dependant is None else [each.call for each in dependant.dependencies]
            path = str(context.path)
            found[path] = found.get(path, False) or hold_stream in calls
    yield from found.items()


def test_the_paths_of_streams_are_those_of_routes_that_stream_or_wait() -> None:
    known = dict(routes())
    assert {*WAITING, JOINING, DOCUMENT} <= known.keys()
    assert sum(known.values()) >= 9
    for path, streams in known.items():
        for name in NAMES:
            filled = re.sub(r"{[^}]*id}", ID, path, flags=re.IGNORECASE)
            filled = re.sub(r"{[^}]*}", name, filled)
            is_stream = re.search(STREAM_PATHS, filled) is not None
            assert is_stream == (streams or path in (*WAITING, JOINING, DOCUMENT)), filled


def test_the_proxies_of_the_deployments_send_streams_to_the_processes_of_streams() -> None:
    caddy = (DEPLOY / "Caddyfile").read_text()
    assert re.findall(r"@streams path_regexp (\S+)", caddy) == [STREAM_PATHS]
    assert re.search(r"handle /metrics {\s*respond 404\s*}\s*handle @streams {", caddy)
    assert re.search(r"handle @streams {\s*import kai streams\s*}", caddy)
    assert re.search(r"handle {\s*import kai requests\s*}", caddy)
    by_path = next(documents("kubernetes/route.yaml"))["spec"]["rules"]
    sent = {
        rule["matches"][0]["path"]["value"]: [each["name"] for each in rule.get("backendRefs", ())]
        for rule in by_path
    }
    assert sent == {"/metrics": [], STREAM_PATHS: ["kai-streams"], "/": ["kai-requests"]}


def test_the_deployments_start_both_parts_and_know_when_they_are_ready() -> None:
    services = next(documents("compose.yml"))["services"]
    resources = next(documents("kubernetes/kustomization.yaml"))["resources"]
    targets = json.dumps(list(documents("prometheus.yml")))
    for part in ("requests", "streams"):
        assert services[part]["command"] == ["kai", "api", "--serve", part]
        assert "/readyz" in services[part]["healthcheck"]["test"][-1]
        assert services["proxy"]["depends_on"][part] == {"condition": "service_healthy"}
        assert f'"{part}"' in targets
        assert f"{part}.yaml" in resources
        kinds = {each["kind"]: each for each in documents(f"kubernetes/{part}.yaml")}
        container = kinds["Deployment"]["spec"]["template"]["spec"]["containers"][0]
        assert container["command"] == ["kai", "api", "--serve", part]
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
        labels = kinds["Deployment"]["spec"]["template"]["metadata"]["labels"]
        assert labels == kinds["Service"]["spec"]["selector"]
        assert kinds["Service"]["metadata"]["name"] == f"kai-{part}"
        scaled = kinds["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"]
        assert scaled == kinds["Deployment"]["metadata"]["name"] == part


def documents(name: str) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all((DEPLOY / name).read_text())
