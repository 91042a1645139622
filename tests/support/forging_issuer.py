"""An issuer that tests forge: it publishes keys, exchanges codes, and signs whatever a test wants."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

RSA_KEY = rsa.generate_private_key(65_537, 2_048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())

Claims = dict[str, Any]


@dataclass(frozen=True)
class _Granted:
    """What the code of a sign-in is worth, once."""

    challenge: str
    redirect_uri: str
    id_token: str


class Issuer(ThreadingHTTPServer):
    """Tells its keys, and counts how often it was asked for them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.described_as = self.address
        self.keys_at = f"{self.address}/keys"
        self.asked = 0
        self.login_methods: list[str] | None = None
        self.fault = False
        """Its exchange of codes has a fault."""
        self.exchanges: list[tuple[dict[str, str], str | None]] = []
        """Forms of the exchanges, with their `Authorization`."""
        self._granted: dict[str, _Granted] = {}

    def documents(self) -> dict[str, object]:
        keys = [
            _jwk("rsa", jwt.algorithms.RSAAlgorithm.to_jwk(RSA_KEY.public_key())),
            _jwk("ec", jwt.algorithms.ECAlgorithm.to_jwk(EC_KEY.public_key())),
            {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
        ]
        description: dict[str, object] = {
            "issuer": self.described_as,
            "jwks_uri": self.keys_at,
            "authorization_endpoint": f"{self.address}/authorize?tenant=1",
            "token_endpoint": f"{self.address}/token",
            "end_session_endpoint": f"{self.address}/bye?tenant=1",
        }
        if self.login_methods is not None:
            description["token_endpoint_auth_methods_supported"] = self.login_methods
        return {"/.well-known/openid-configuration": description, "/keys": {"keys": keys}}

    def grant(self, address: str, key: Any = RSA_KEY, **changes: object) -> dict[str, str]:
        """Let a person sign in at the address that KAI has sent the browser to. Returns the parameters that
        the browser brings back.
        """
        asked = dict(parse_qsl(urlsplit(address).query))
        usual = {"aud": asked["client_id"], "nonce": asked["nonce"], **changes}
        token = signed(claims(self, **usual), key)
        code = f"code {len(self._granted)}"
        self._granted[code] = _Granted(asked["code_challenge"], asked["redirect_uri"], token)
        return {"code": code, "state": asked["state"]}

    def exchange(self, form: dict[str, str], login: str | None) -> tuple[int, dict[str, str]]:
        self.exchanges.append((form, login))
        if self.fault:
            return 503, {"error": "temporarily_unavailable"}
        granted = self._granted.get(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if granted is None or (challenge, form["redirect_uri"]) != (granted.challenge, granted.redirect_uri):
            return 400, {"error": "invalid_grant"}
        self._granted[form["code"]] = _Granted("spent", "", "")
        return 200, {"id_token": granted.id_token, "access_token": "opaque", "token_type": "Bearer"}


class _Answers(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        self.server.asked += self.path == "/keys"
        self._answer(200, self.server.documents()[self.path])

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self._answer(*self.server.exchange(form, self.headers["Authorization"]))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the overridden
        """Says nothing."""

    def _answer(self, status: int, body: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


def _jwk(key_id: str, written: str) -> dict[str, object]:
    return {**json.loads(written), "kid": key_id, "use": "sig"}


@contextmanager
def forging_issuer() -> Iterator[Issuer]:
    server = Issuer()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def claims(issuer: Issuer, **changes: object) -> Claims:
    """Those of a good token, with changes; None leaves one out."""
    now = int(time.time())
    usual = {"iss": issuer.address, "aud": "kai", "sub": "ann", "iat": now, "nbf": now, "exp": now + 60}
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def signed(claims: Claims, key: Any = RSA_KEY, alg: str = "RS256", **header: object) -> str:
    return jwt.encode(claims, key, alg, {"kid": "rsa", **header})
