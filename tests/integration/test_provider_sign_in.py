"""The sign-in at an identity provider: what comes back is checked, and failures return to the page."""

import base64
import re
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from http.cookies import Morsel, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import rsa

from app.bootstrap import open_services
from app.core.settings import AuthSettings, OidcSettings, Settings
from app.http.sign_in_cookie import COOKIE as SIGNED_IN
from app.main import create_app
from app.modules.identity.provider_router import BACK, COOKIE, PATH, START
from tests.support.forging_issuer import Issuer, forging_issuer

HOST = "http://127.0.0.1"
PAGE = {"X-KAI-Page": "1", "Origin": HOST}
ME = "/api/v1/me"
STRANGER = rsa.generate_private_key(65_537, 2_048)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with forging_issuer() as running:
        yield running


@asynccontextmanager
async def serving(
    data: Path, address: str, *, wrong_keys_per_minute: int = 0, **changes: object
) -> AsyncGenerator[httpx.AsyncClient]:
    """A KAI of which the page signs in as the client `kai-page`, and the API takes tokens for `kai`."""
    usual = {"issuer": address, "audience": "kai", "client_id": "kai-page", "provider_name": "Acme"}
    oidc = OidcSettings.model_validate({**usual, **changes})
    auth = AuthSettings(oidc=oidc, wrong_keys_per_minute=wrong_keys_per_minute)
    settings = Settings(data_dir=data, auth=auth)
    async with open_services(settings) as services:
        transport = httpx.ASGITransport(create_app(services, settings))
        async with httpx.AsyncClient(transport=transport, base_url=HOST, timeout=60) as client:
            yield client


@pytest.fixture
async def http(tmp_path: Path, issuer: Issuer) -> AsyncGenerator[httpx.AsyncClient]:
    async with serving(tmp_path, issuer.address) as client:
        yield client


async def started(http: httpx.AsyncClient, return_to: str = "/settings") -> str:
    """The address that the browser is sent to."""
    answer = await http.get(START, params={"return_to": return_to})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def cookies_of(answer: httpx.Response) -> dict[str, Morsel[str]]:
    found: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_list("set-cookie"):
        found.load(line)
    return dict(found)


def assert_failed(answer: httpx.Response, failure: str, path: str = "/settings", *, about: str = "") -> None:
    """The browser is back at the page, which says why it is not signed in."""
    assert (answer.status_code, answer.headers["location"]) == (303, f"{path}?sign_in={failure}"), about
    assert SIGNED_IN not in cookies_of(answer)


async def test_a_person_signs_in_with_the_rights_of_the_token_until_they_sign_out(
    http: httpx.AsyncClient, issuer: Issuer
) -> None:
    assert (await http.get(PATH)).json() == {"name": "Acme"}
    sent = await http.get(START, params={"return_to": "/sessions/1#answer"})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    assert (
        asked.items()
        >= {
            "tenant": "1",
            "response_type": "code",
            "client_id": "kai-page",
            "redirect_uri": HOST + BACK,
            "scope": "openid profile",
            "code_challenge_method": "S256",
        }.items()
    )
    (attempt,) = cookies_of(sent).values()
    assert (attempt["httponly"], attempt["samesite"], attempt["path"]) == (True, "lax", PATH)
    assert (attempt["max-age"], attempt["secure"]) == ("600", "")
    back = issuer.grant(sent.headers["location"], roles=["kai-admin"])
    answer = await http.get(BACK, params=back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sessions/1#answer")
    kept = cookies_of(answer)
    assert kept[COOKIE].value == ""
    cookie = kept[SIGNED_IN]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/api/v1/")
    assert 0 < int(cookie["max-age"]) <= 60, "it ends with the token"
    me = (await http.get(ME, headers=PAGE)).json()
    assert (me["owner"], me["role"], me["signed_in_by"]) == ("ann", "admin", "oidc")
    assert "approve" in me["scopes"]
    assert (await http.get(ME)).status_code == 401
    key = {**PAGE, "Cookie": f"{SIGNED_IN}={cookie.value}"}
    assert (await http.delete("/api/v1/sign-in", headers=PAGE)).status_code == 204
    assert (await http.get(ME, headers=key)).status_code == 401
    assert (await http.get(ME, headers={"Authorization": f"Bearer {cookie.value}"})).status_code == 401


async def test_who_signs_out_may_be_led_to_the_provider_to_sign_out_there(
    tmp_path: Path, issuer: Issuer
) -> None:
    async with serving(tmp_path, issuer.address, sign_out_at_issuer=True) as http:
        await http.get(BACK, params=issuer.grant(await started(http)))
        answer = await http.delete("/api/v1/sign-in", headers=PAGE)
        leads = urlsplit(answer.json()["continue_at"])
        assert f"{leads.scheme}://{leads.netloc}{leads.path}" == f"{issuer.address}/bye"
        assert parse_qs(leads.query) == {
            "tenant": ["1"],
            "client_id": ["kai-page"],
            "post_logout_redirect_uri": [f"{HOST}/"],
        }
        assert cookies_of(answer)[SIGNED_IN].value == ""
        assert (await http.get(ME, headers=PAGE)).status_code == 401


async def test_over_tls_the_cookies_never_leave_it(http: httpx.AsyncClient, issuer: Issuer) -> None:
    sent = await http.get(f"https://127.0.0.1{START}")
    back = issuer.grant(sent.headers["location"])
    answer = await http.get(f"https://127.0.0.1{BACK}", params=back)
    assert [each["secure"] for each in cookies_of(sent).values()] == [True]
    assert cookies_of(answer)[SIGNED_IN]["secure"] is True


HOUR = 3_600
REFUSED: dict[str, dict[str, object]] = {
    "nonce of another sign-in": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "for the API": {"aud": "kai"},
    "for a foreign client": {"aud": "another"},
    "for several, used by another": {"aud": ["kai-page", "another"], "azp": "another"},
    "expired": {"exp": int(time.time()) - HOUR},
    "of another issuer": {"iss": "https://another.example.com"},
    "of the local owner": {"sub": "local"},
    "of no one": {"sub": None},
    "signed by a stranger": {"key": STRANGER},
}


async def test_a_token_that_does_not_stand_the_checks_signs_no_browser_in(
    http: httpx.AsyncClient, issuer: Issuer
) -> None:
    for wrong, changes in REFUSED.items():
        back = issuer.grant(await started(http), **changes)
        assert_failed(await http.get(BACK, params=back), "refused", about=wrong)
    assert (await http.get(ME, headers=PAGE)).status_code == 401


async def test_a_callback_counts_once_and_in_its_own_browser_alone(
    http: httpx.AsyncClient, issuer: Issuer
) -> None:
    back = issuer.grant(await started(http))
    attempt = http.cookies[COOKIE]
    http.cookies.clear()
    assert_failed(await http.get(BACK, params=back), "expired", "/")
    stolen = {"Cookie": f"{COOKIE}={attempt}"}
    for params in ({**back, "state": "another"}, {"code": back["code"]}):
        assert_failed(await http.get(BACK, params=params, headers=stolen), "expired")
    assert issuer.exchanges == []
    assert (await http.get(BACK, params=back, headers=stolen)).headers["location"] == "/settings"
    assert_failed(await http.get(BACK, params=back, headers=stolen), "refused")


async def test_an_attempt_that_was_changed_or_is_old_is_lost(
    http: httpx.AsyncClient, issuer: Issuer, tmp_path: Path
) -> None:
    back = issuer.grant(await started(http))
    attempt = http.cookies[COOKIE]
    http.cookies.clear()
    fernet = Fernet((tmp_path / "secret.key").read_bytes())
    old = fernet.encrypt_at_time(fernet.decrypt(attempt), int(time.time()) - 601).decode()
    foreign = Fernet(Fernet.generate_key()).encrypt(fernet.decrypt(attempt)).decode()
    for wrong in (attempt[:-8] + "AAAAAAA=", old, foreign, fernet.encrypt(b"{}").decode(), "nonsense"):
        answer = await http.get(BACK, params=back, headers={"Cookie": f"{COOKIE}={wrong}"})
        assert_failed(answer, "expired", "/")
    assert issuer.exchanges == []


ERRORS = {
    "access_denied": "denied",
    "server_error": "unavailable",
    "invalid_scope": "refused",
    "<script>\n": "refused",
}


async def test_an_error_of_the_provider_comes_back_to_the_page(http: httpx.AsyncClient) -> None:
    for error, failure in ERRORS.items():
        (state,) = parse_qs(urlsplit(await started(http)).query)["state"]
        said = {"error": error, "error_description": "<b>No</b>", "state": state}
        assert_failed(await http.get(BACK, params=said), failure)


async def test_a_provider_that_is_unavailable_comes_back_to_the_page(tmp_path: Path) -> None:
    with forging_issuer() as issuer:
        async with serving(tmp_path, issuer.address) as http:
            back = issuer.grant(await started(http))
            issuer.fault = True
            assert_failed(await http.get(BACK, params=back), "unavailable")
            back = issuer.grant(await started(http))
            issuer.shutdown()
            issuer.server_close()
            assert_failed(await http.get(BACK, params=back), "unavailable")
    async with serving(tmp_path, issuer.address) as http:
        assert_failed(await http.get(START, params={"return_to": "/settings"}), "unavailable")


FOREIGN = (
    "https://evil.example.com/",
    "//evil.example.com",
    "/\\evil.example.com",
    "/\t/evil.example.com",
    "javascript:alert(1)",
    "/api/v1/me",
    START,
    "evil",
    "/sessions/" + "x" * 500,
    "",
)


async def test_only_a_path_of_the_page_is_returned_to(http: httpx.AsyncClient, issuer: Issuer) -> None:
    for return_to in FOREIGN:
        back = issuer.grant(await started(http, return_to))
        assert (await http.get(BACK, params=back)).headers["location"] == "/", return_to


async def test_what_follows_a_path_of_the_page_stays_on_this_host(
    http: httpx.AsyncClient, issuer: Issuer
) -> None:
    back = issuer.grant(await started(http, "/sessions/\\..\\..\r\nSet-Cookie: a=b//evil.example.com"))
    location = (await http.get(BACK, params=back)).headers["location"]
    assert re.fullmatch(r"/sessions/[^\\\s]*", location)


@pytest.mark.parametrize(
    ("methods", "in_form"), [(None, False), (["client_secret_basic"], False), (["client_secret_post"], True)]
)
async def test_a_client_secret_is_sent_in_the_way_that_the_provider_takes(
    tmp_path: Path, issuer: Issuer, methods: list[str] | None, in_form: bool
) -> None:
    issuer.login_methods = methods
    async with serving(tmp_path, issuer.address, client_secret="s3cr3t: ü", session_hours=2) as http:
        answer = await http.get(BACK, params=issuer.grant(await started(http)))
        assert int(cookies_of(answer)[SIGNED_IN]["max-age"]) in range(2 * HOUR - 60, 2 * HOUR + 1)
    ((form, login),) = issuer.exchanges
    assert form.get("client_secret") == ("s3cr3t: ü" if in_form else None)
    basic = base64.b64encode(b"kai-page:s3cr3t%3A+%C3%BC").decode()
    assert login == (None if in_form else f"Basic {basic}")


async def test_a_browser_is_signed_in_while_its_issuer_is_trusted(tmp_path: Path, issuer: Issuer) -> None:
    async with serving(tmp_path, issuer.address) as http:
        await http.get(BACK, params=issuer.grant(await started(http)))
        cookies = http.cookies
    for address, status in ((issuer.address, 200), ("https://another.example.com", 401)):
        async with serving(tmp_path, address) as http:
            http.cookies = cookies
            assert (await http.get(ME, headers=PAGE)).status_code == status


async def test_codes_that_are_wrong_again_and_again_are_not_passed_on(tmp_path: Path, issuer: Issuer) -> None:
    async with serving(tmp_path, issuer.address, wrong_keys_per_minute=2) as http:
        back = issuer.grant(await started(http))
        attempt = {"Cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
        for failure in ("refused", "refused", "busy"):
            guess = {**back, "code": f"guess that is {failure}"}
            assert_failed(await http.get(BACK, params=guess, headers=attempt), failure)
    assert len(issuer.exchanges) == 2


async def test_without_a_client_id_there_is_no_provider(tmp_path: Path, issuer: Issuer) -> None:
    auth = AuthSettings(oidc=OidcSettings(issuer=issuer.address, audience="kai"))
    settings = Settings(data_dir=tmp_path, auth=auth)
    async with open_services(settings) as services:
        transport = httpx.ASGITransport(create_app(services, settings))
        async with httpx.AsyncClient(transport=transport, base_url=HOST) as http:
            assert (await http.get(PATH)).json() == {"name": None}
            for path in (START, BACK):
                assert (await http.get(path)).status_code == 404
