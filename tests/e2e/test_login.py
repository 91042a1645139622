"""Who may do what, of a server that asks for a login; keys are made beside it while it runs."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.test_bad_input import assert_problem
from tests.support.command_line import kai
from tests.support.keys import made_key
from tests.support.server import Server, running_server

REVOKED_WITHIN_SECONDS = 3


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("login")


@pytest.fixture(scope="module")
def admin_key(data: Path) -> str:
    """Made before the server starts, which would refuse to otherwise."""
    return made_key(data, "root", "--role", "admin", "--never-expires")


@pytest.fixture(scope="module")
def server(data: Path, admin_key: str) -> Iterator[Server]:
    with running_server(data, {"KAI_AUTH__REQUIRED": "true"}) as running:
        yield running


@pytest.fixture
def stranger(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.address, timeout=100) as client:
        yield client


def as_(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/", "/connections", "/sessions/x"])
def test_signs_of_life_and_the_page_are_open(stranger: httpx.Client, path: str) -> None:
    assert stranger.get(path).status_code in (200, 503)  # the page may not be built


@pytest.mark.parametrize(
    "path", ["/api/v1/me", "/api/v1/sessions", "/api/v1/openapi.json", "/docs", "/metrics", "/unknown"]
)
def test_everything_else_is_closed_and_says_how_to_sign_in(stranger: httpx.Client, path: str) -> None:
    refused = stranger.get(path)
    assert "Authorization: Bearer" in assert_problem(refused, 401)["detail"]
    assert refused.headers["www-authenticate"] == "Bearer"


def test_an_unknown_caller_is_refused_before_the_body_is_read(stranger: httpx.Client) -> None:
    assert_problem(stranger.post("/api/v1/sessions", content=b"{" + b" " * 2_000_000), 401)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer kai_aaaaaaaa_" + "x" * 43},
        {"Authorization": "Bearer kai_"},
        {"Authorization": "Bearer kai_é".encode().decode("latin-1")},
        {"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30."},
        {"Authorization": "Basic cm9vdDpyb290"},
        {"Authorization": "Bearer"},
        {"X-API-Key": "wrong"},
    ],
    ids=str,
)
def test_a_wrong_credential_is_refused(stranger: httpx.Client, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    assert_problem(stranger.get("/api/v1/me", headers=raw), 401)


def test_a_key_is_sent_in_either_header_but_not_in_both(stranger: httpx.Client, admin_key: str) -> None:
    for headers in (as_(admin_key), {"X-API-Key": admin_key}):
        me = stranger.get("/api/v1/me", headers=headers).json()
        assert (me["owner"], me["role"], me["signed_in_by"]) == ("root", "admin", "api_key")
    assert_problem(stranger.get("/api/v1/me", headers={**as_(admin_key), "X-API-Key": admin_key}), 401)
    assert_problem(stranger.get(f"/api/v1/me?api_key={admin_key}"), 401)


def test_a_key_made_beside_the_server_opens_it_until_it_is_revoked(
    stranger: httpx.Client, data: Path
) -> None:
    key = made_key(data, "ann")
    assert stranger.get("/api/v1/me", headers=as_(key)).json()["scopes"] == ["ask", "read"]
    listed = kai("keys", "list", data=data, COLUMNS="80").stdout
    row = next(line for line in listed.splitlines() if key[4:12] in line)
    assert key not in listed
    assert kai("keys", "revoke", row.split("│")[1].strip(), data=data).returncode == 0
    asked = time.monotonic()
    end = asked + REVOKED_WITHIN_SECONDS
    while stranger.get("/api/v1/me", headers=as_(key)).status_code == 200:
        assert asked < end, "the revoked key is still accepted"
        asked = time.monotonic()
    assert "revoked" in kai("keys", "list", data=data).stdout


def test_keys_are_made_listed_and_revoked_over_http(stranger: httpx.Client, admin_key: str) -> None:
    body = {"owner": "carl", "name": "Notebook", "days": None, "scopes": ["read"]}
    made = stranger.post("/api/v1/api-keys", json=body, headers=as_(admin_key)).json()
    assert stranger.get("/api/v1/me", headers=as_(made["key"])).json()["scopes"] == ["read"]
    page = stranger.get("/api/v1/api-keys", headers=as_(admin_key))
    (shown,) = [each for each in page.json()["items"] if each["id"] == made["id"]]
    assert shown["last_used_at"] is not None
    assert made["key"] not in page.text
    one = f"/api/v1/api-keys/{made['id']}"
    assert stranger.delete(one, headers=as_(admin_key)).status_code == 204
    assert_problem(stranger.get("/api/v1/me", headers=as_(made["key"])), 401)
    assert_problem(stranger.delete("/api/v1/api-keys/nope", headers=as_(admin_key)), 404)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"owner": "local"}, "choose another name"),
        ({"owner": " ann"}, "spaces"),
        ({"days": 0}, "greater than or equal to 1"),
        ({"scopes": ["manage"]}, "the role admin"),
        ({"role": "king"}, "'user' or 'admin'"),
    ],
    ids=str,
)
def test_a_key_that_cannot_be_says_why(
    stranger: httpx.Client, admin_key: str, wrong: dict[str, object], said: str
) -> None:
    body = {"owner": "ann", "days": 1, **wrong}
    refused = assert_problem(stranger.post("/api/v1/api-keys", json=body, headers=as_(admin_key)), 422)
    assert said in refused["detail"]


@pytest.mark.parametrize(
    ("wanted", "method", "path", "missing"),
    [
        ({}, "POST", "/database-connections", "manage"),
        ({}, "POST", "/glossary", "manage"),
        ({}, "GET", "/api-keys", "admin"),
        ({"scopes": ["read"]}, "POST", "/sessions", "ask"),
        ({"scopes": ["ask"]}, "GET", "/sessions", "read"),
        ({"role": "admin", "scopes": ["manage"]}, "GET", "/sessions", "read"),
    ],
    ids=str,
)
def test_a_missing_scope_is_named(
    stranger: httpx.Client, admin_key: str, wanted: dict[str, object], method: str, path: str, missing: str
) -> None:
    body = {"owner": "dora", "days": 1, **wanted}
    key = stranger.post("/api/v1/api-keys", json=body, headers=as_(admin_key)).json()["key"]
    refused = assert_problem(stranger.request(method, f"/api/v1{path}", headers=as_(key), json={}), 403)
    assert (refused["missing_scope"], missing in refused["detail"]) == (missing, True)


def test_metrics_are_opened_by_a_setting(tmp_path: Path) -> None:
    made_key(tmp_path, "root")
    settings = {"KAI_AUTH__REQUIRED": "true", "KAI_METRICS_OPEN": "true"}
    with running_server(tmp_path, settings) as server:
        assert httpx.get(f"{server.address}/metrics", timeout=60).status_code == 200


def test_a_host_name_is_checked_unless_any_address_is_listened_on(tmp_path: Path) -> None:
    key = made_key(tmp_path, "root")
    with running_server(tmp_path, {"KAI_HOST": "0.0.0.0"}) as server:
        local = re.sub(r"//[^:]+", "//127.0.0.1", server.address)
        me = httpx.get(f"{local}/api/v1/me", headers={**as_(key), "Host": "kai.example.com"}, timeout=60)
        assert me.json()["owner"] == "root"
        assert httpx.get(f"{local}/api/v1/me", timeout=60).status_code == 401
    with running_server(tmp_path, {"KAI_ALLOWED_HOSTS": '["kai.example.com"]'}) as server:
        answers = [
            httpx.get(f"{server.address}/api/v1/me", headers={"Host": host}, timeout=60).status_code
            for host in ("kai.example.com", "evil.example.com")
        ]
        assert answers == [200, 400]


LISTED = "https://chat.example.com"


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Without a login, for the pages of one other site."""
    with running_server(tmp_path_factory.mktemp("open"), {"KAI_CORS_ORIGINS": LISTED}) as running:
        yield running


def test_without_a_login_who_comes_is_the_owner_but_a_wrong_key_still_is_wrong(open_server: Server) -> None:
    me = httpx.get(f"{open_server.address}/api/v1/me", timeout=60).json()
    assert me == {
        "owner": "local",
        "role": "admin",
        "scopes": ["admin", "approve", "ask", "manage", "read"],
        "signed_in_by": "local",
    }
    for headers in (as_("kai_wrong"), {"X-API-Key": "kai_wrong", **as_("sk-of-openai")}):
        assert_problem(httpx.get(f"{open_server.address}/api/v1/me", headers=headers, timeout=60), 401)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer sk-of-openai"},
        {"X-Api-Key": "lsv2_of_langsmith"},
        {"X-Api-Key": "lsv2_of_langsmith", "Authorization": "Bearer sk-of-openai"},
        {"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30."},
        {"Authorization": "Basic cm9vdDpyb290"},
        {"X-Api-Key": ""},
    ],
    ids=str,
)
def test_without_a_login_a_credential_of_another_service_is_ignored(
    open_server: Server, headers: dict[str, str]
) -> None:
    me = httpx.get(f"{open_server.address}/api/v1/me", headers=headers, timeout=60)
    assert me.json()["owner"] == "local"


def test_ignored_credentials_slow_nothing_down(open_server: Server) -> None:
    with httpx.Client(base_url=open_server.address, timeout=60) as client:
        statuses = {client.get("/api/v1/me", headers=as_(f"sk-{n}")).status_code for n in range(80)}
    assert statuses == {200}


# Pages of other sites


def preflight(server: Server, origin: str, **asked: str) -> httpx.Response:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        **{f"Access-Control-Request-{name.replace('_', '-')}": value for name, value in asked.items()},
    }
    return httpx.options(f"{server.address}/api/v1/sessions", headers=headers, timeout=60)


def test_a_page_of_a_listed_site_may_call_and_read_the_ids_of_its_run(open_server: Server) -> None:
    own = "authorization,content-type,last-event-id,mcp-protocol-version,x-api-key"
    names = ("arch", "helper-method", "lang", "os", "package-version", "retry-count", "runtime")
    asked = ",".join([own, *(f"x-stainless-{name}" for name in names)])  # of OpenAI's JavaScript client
    allowed = preflight(open_server, LISTED, Headers=asked, Private_Network="true")
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == LISTED
    assert allowed.headers["access-control-allow-private-network"] == "true"
    assert "POST" in allowed.headers["access-control-allow-methods"]
    answer = httpx.get(f"{open_server.address}/api/v1/me", headers={"Origin": LISTED}, timeout=60)
    assert answer.headers["access-control-allow-origin"] == LISTED
    exposed = set(answer.headers["access-control-expose-headers"].split(", "))
    assert {"Content-Location", "Location", "X-Pagination-Next", "X-Pagination-Total", "X-Run-Id"} <= exposed
    mcp = httpx.post(f"{open_server.address}/mcp", json={}, headers={"Origin": LISTED}, timeout=60)
    assert mcp.status_code not in (401, 403)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://chat.example.com", f"{LISTED}:8443", "null"]
)
def test_a_page_of_an_unlisted_site_may_not(open_server: Server, origin: str) -> None:
    refused = preflight(open_server, origin, Private_Network="true")
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers
    answer = httpx.get(f"{open_server.address}/api/v1/me", headers={"Origin": origin}, timeout=60)
    assert "access-control-allow-origin" not in answer.headers
    assert (
        httpx.post(f"{open_server.address}/mcp", json={}, headers={"Origin": origin}, timeout=60).status_code
        == 403
    )


def test_every_page_may_call_without_credentials_of_the_browser(tmp_path: Path) -> None:
    made_key(tmp_path, "root")
    settings = {"KAI_AUTH__REQUIRED": "true", "KAI_CORS_ORIGINS": '["*"]'}
    with running_server(tmp_path, settings) as server:
        allowed = preflight(server, "https://any.example", Headers="authorization")
        assert allowed.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in allowed.headers
        assert preflight(server, "https://any.example", Private_Network="true").status_code == 400
        refused = httpx.get(
            f"{server.address}/api/v1/me", headers={"Origin": "https://any.example"}, timeout=60
        )
        assert_problem(refused, 401)
        assert refused.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in refused.headers


def test_by_default_no_page_of_another_site_may_call(stranger: httpx.Client, admin_key: str) -> None:
    headers = {"Origin": LISTED, "Access-Control-Request-Method": "GET"}
    assert stranger.options("/api/v1/me", headers=headers).status_code == 401
    answer = stranger.get("/api/v1/me", headers={**as_(admin_key), "Origin": LISTED})
    assert not [name for name in answer.headers if name.startswith("access-control-")]
