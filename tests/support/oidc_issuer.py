"""An OpenID Connect provider (Canaille) in a process of its own: people sign in with a password there.

Its keys change at `POST /rotate`, and `POST /pages` adds a page that people sign in to. Run as
`python -m tests.support.oidc_issuer PORT`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

import httpx

from app.core.servers import free_port

AUDIENCE = "kai"
CLIENT = "kai-page"
"""The public client of a page; people are asked for their consent."""
ADMINS = "kai-admin"
_BACK = "http://127.0.0.1/back"
_SECRET = "a-secret-of-tests"
_START_SECONDS = 90
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Issuer:
    """A running provider; `ada` is of the group of administrators, `bob` is not."""

    address: str

    @property
    def settings(self) -> dict[str, str]:
        """Those of a KAI that trusts it; this provider signs with RS512."""
        return {
            "KAI_AUTH__OIDC__ISSUER": self.address,
            "KAI_AUTH__OIDC__AUDIENCE": AUDIENCE,
            "KAI_AUTH__OIDC__ALGORITHMS": '["RS512"]',
            "KAI_AUTH__OIDC__ROLE_CLAIM": "groups",
            "KAI_AUTH__OIDC__ADMIN_VALUE": ADMINS,
        }

    def token(self, person: str) -> str:
        """The ID token that a person gets by signing in, with the authorization code flow."""
        with httpx.Client(base_url=self.address, timeout=_START_SECONDS) as browser:
            asked = {"client_id": AUDIENCE, "redirect_uri": _BACK, "response_type": "code"}
            page = browser.get("/oauth/authorize", params={**asked, "scope": "openid profile groups"})
            page = _redirected(browser, page)
            page = _redirected(browser, browser.post(page.url, data={"login": person}))
            page = _redirected(browser, browser.post(page.url, data={"password": f"password of {person}"}))
            code = httpx.URL(page.headers["location"]).params["code"]
            exchange = {"grant_type": "authorization_code", "code": code, "redirect_uri": _BACK}
            answer = browser.post("/oauth/token", data=exchange, auth=(AUDIENCE, _SECRET))
            return str(answer.raise_for_status().json()["id_token"])

    def add_page(self, back: str) -> None:
        """From now on people can sign in to a page, as `CLIENT`, and come back at this address."""
        httpx.post(f"{self.address}/pages", data={"back": back}, timeout=_START_SECONDS).raise_for_status()

    def rotate(self) -> None:
        """From now on it signs with a new key; tokens of the old one stay good."""
        httpx.post(f"{self.address}/rotate", timeout=_START_SECONDS).raise_for_status()


def _redirected(browser: httpx.Client, answer: httpx.Response) -> httpx.Response:
    while answer.is_redirect and not answer.headers["location"].startswith(_BACK):
        answer = browser.get(answer.headers["location"])
    return answer


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.oidc_issuer", str(port)],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    issuer = Issuer(f"http://localhost:{port}")
    try:
        _wait_for(issuer)
        yield issuer
    finally:
        process.kill()
        process.wait()


def _wait_for(issuer: Issuer) -> None:
    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(f"{issuer.address}/.well-known/openid-configuration", timeout=60).raise_for_status()
        except httpx.TransportError:
            assert time.monotonic() < end, "the provider did not start"
            time.sleep(0.05)
        else:
            return


class _Threads(ThreadingMixIn, WSGIServer):
    """A browser opens connections ahead, on which it asks for nothing yet."""

    daemon_threads = True


def _serve(port: int) -> None:
    from canaille import create_app
    from flask import request
    from joserfc.jwk import RSAKey

    def new_key() -> dict[str, object]:
        key = RSAKey.generate_key(2048)
        key.ensure_kid()
        return dict(key.as_dict(private=True))

    all_users = {"DEFAULT": {"PERMISSIONS": ["use_oidc"]}}
    oidc = {"ACTIVE_JWKS": [new_key()], "REQUIRE_NONCE": False}
    configuration = {
        "TESTING": True,
        "ENV_FILE": None,
        "SECRET_KEY": "of a provider for tests",
        "WTF_CSRF_ENABLED": False,
        "PREFERRED_URL_SCHEME": "http",
        "SERVER_NAME": f"localhost:{port}",
        "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "ACL": all_users},
        "CANAILLE_OIDC": oidc,
    }
    app = create_app(config=configuration)
    with app.app_context():
        _populate()

    def rotate() -> str:
        kept = app.config["CANAILLE_OIDC"]
        kept["INACTIVE_JWKS"], kept["ACTIVE_JWKS"] = kept["ACTIVE_JWKS"], [new_key()]
        return ""

    def add_page() -> str:
        _add_page(request.form["back"])
        return ""

    app.add_url_rule("/rotate", view_func=rotate, methods=["POST"])
    app.add_url_rule("/pages", view_func=add_page, methods=["POST"])
    make_server("localhost", port, app, _Threads).serve_forever()


def _populate() -> None:
    from canaille.app import models
    from canaille.backends import Backend

    people = {
        name: models.User(
            user_name=name,
            formatted_name=name,
            family_name=name,
            emails=[f"{name}@example.com"],
            password=f"password of {name}",
        )
        for name in ("ada", "bob")
    }
    client = models.Client(
        client_id=AUDIENCE,
        client_secret=_SECRET,
        client_name="KAI",
        client_uri="http://127.0.0.1",  # trusted: no consent is asked for
        redirect_uris=[_BACK],
        grant_types=["authorization_code"],
        response_types=["code"],
        scope=["openid", "profile", "groups"],
        token_endpoint_auth_method="client_secret_basic",
        client_id_issued_at=datetime.now(UTC),
    )
    for each in (*people.values(), client):
        Backend.instance.save(each)
    Backend.instance.save(models.Group(display_name=ADMINS, members=[people["ada"]]))
    client.audience = [client]
    Backend.instance.save(client)


def _add_page(back: str) -> None:
    from canaille.app import models
    from canaille.backends import Backend

    client = models.Client(
        client_id=CLIENT,
        client_name="KAI's page",
        client_uri="https://kai.example.com",
        redirect_uris=[back],
        grant_types=["authorization_code"],
        response_types=["code"],
        scope=["openid", "profile", "groups"],
        token_endpoint_auth_method="none",
        client_id_issued_at=datetime.now(UTC),
    )
    Backend.instance.save(client)
    client.audience = [client]
    Backend.instance.save(client)


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    os.chdir(Path(__file__).parent)
    _serve(int(sys.argv[1]))
