"""A browser that stays signed in by a cookie: what counts, what is refused as forged, and how it ends."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from app.http.sign_in_cookie import COOKIE
from tests.integration.test_protocol_access import MESSAGES, serving
from tests.support.keys import made_key

ORIGIN = "http://127.0.0.1"
PAGE = {"X-KAI-Page": "1", "Origin": ORIGIN}
ME, SIGN_IN = "/api/v1/me", "/api/v1/sign-in"


@pytest.fixture
def key(tmp_path: Path) -> str:
    return made_key(tmp_path, "ann", "--role", "admin")


@pytest.fixture
async def http(tmp_path: Path, key: str) -> AsyncGenerator[httpx.AsyncClient]:
    async with serving(tmp_path) as client:
        yield client


async def signed_in(http: httpx.AsyncClient, key: str, **headers: str) -> httpx.Response:
    answer = await http.post(SIGN_IN, headers={**PAGE, "Authorization": f"Bearer {key}", **headers})
    assert answer.status_code == 204, answer.text
    return answer


async def test_a_cookie_signs_the_page_in_and_no_script_reads_it(http: httpx.AsyncClient, key: str) -> None:
    cookie = (await signed_in(http, key)).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/api/v1/" in cookie
    assert "Secure" not in cookie
    assert key not in cookie
    assert (await http.get(ME, headers=PAGE)).json()["owner"] == "ann"
    assert (await http.get(ME, headers={"X-KAI-Page": "1"})).status_code == 200, "a read names no origin"
    over_tls = await signed_in(http, key, Origin="https://127.0.0.1")
    assert "Secure" in over_tls.headers["set-cookie"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": ORIGIN},
        {"X-KAI-Page": "1"},
        {"X-KAI-Page": "1", "Origin": "https://evil.example.com"},
        {"X-KAI-Page": "1", "Origin": "http://127.0.0.1:8001"},
        {"X-KAI-Page": "1", "Origin": "null"},
        {**PAGE, "Sec-Fetch-Site": "cross-site"},
        {**PAGE, "Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_a_write_that_another_page_may_have_sent_is_not_signed_in(
    http: httpx.AsyncClient, key: str, headers: dict[str, str]
) -> None:
    await signed_in(http, key)
    for method, path in (("POST", "/api/v1/api-keys"), ("DELETE", SIGN_IN)):
        assert (await http.request(method, path, headers=headers)).status_code == 401
    assert (await http.post("/api/v1/api-keys", headers=PAGE)).status_code == 422, "its body is read"
    foreign = await http.post(SIGN_IN, headers={**headers, "Authorization": f"Bearer {key}"})
    assert foreign.status_code == 409


async def test_the_cookie_is_for_the_pages_api_alone(http: httpx.AsyncClient, key: str) -> None:
    await signed_in(http, key)
    browser = http.cookies[COOKIE]
    cookie = {**PAGE, "Cookie": f"{COOKIE}={browser}"}
    asked = {"model": "kai/shop", "messages": MESSAGES}
    assert (await http.post("/openai/v1/chat/completions", json=asked, headers=cookie)).status_code == 401
    assert (await http.get("/docs", headers=cookie)).status_code == 401
    assert (await http.get(ME, headers={"Authorization": f"Bearer {browser}"})).status_code == 401
    assert (await http.get(ME, headers={**PAGE, "Cookie": f"{COOKIE}={key}"})).status_code == 401
    again = await http.post(SIGN_IN, headers={**PAGE, "X-API-Key": key})
    assert again.status_code == 409


async def test_signing_out_ends_it_at_the_server(http: httpx.AsyncClient, key: str) -> None:
    await signed_in(http, key)
    kept = {**PAGE, "Cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
    assert (await http.delete(SIGN_IN, headers=PAGE)).status_code == 204
    assert COOKIE not in http.cookies
    assert (await http.get(ME, headers=kept)).status_code == 401
    assert (await http.get(ME, headers={"Authorization": f"Bearer {key}"})).status_code == 200


async def test_a_revoked_key_ends_the_browsers_that_it_signed_in(
    http: httpx.AsyncClient, key: str, tmp_path: Path
) -> None:
    await signed_in(http, key)
    root = {"Authorization": f"Bearer {made_key(tmp_path, 'root', '--role', 'admin')}"}
    items = (await http.get("/api/v1/api-keys", headers=root)).json()["items"]
    (own,) = (each for each in items if each["owner"] == "ann" and not each["name"].startswith("browser"))
    assert (await http.delete(f"/api/v1/api-keys/{own['id']}", headers=root)).status_code == 204
    assert (await http.get(ME, headers=PAGE)).status_code == 401
