"""What a token has to be; the issuer here is a server of the test, so that it can be forged in every way."""

import base64
import json
import time
from collections.abc import Callable, Iterator

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.core.auth.signing_keys import IssuerUnavailable, SigningKeys
from app.core.auth.tokens import Tokens
from app.core.errors import Unauthenticated
from app.core.settings import OidcSettings
from tests.support.forging_issuer import EC_KEY, RSA_KEY, Claims, Issuer, claims, forging_issuer, signed

STRANGER = rsa.generate_private_key(65_537, 2_048)
PEM = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with forging_issuer() as running:
        yield running


@pytest.fixture
def tokens(issuer: Issuer) -> Tokens:
    return Tokens(OidcSettings(issuer=issuer.address, audience="kai"), SigningKeys(issuer.address))


@pytest.mark.parametrize(("key", "alg", "kid"), [(RSA_KEY, "RS256", "rsa"), (EC_KEY, "ES256", "ec")])
async def test_a_good_token_says_who_asks(
    tokens: Tokens, issuer: Issuer, key: object, alg: str, kid: str
) -> None:
    caller = await tokens.caller(signed(claims(issuer, roles=["kai-admin"]), key, alg, kid=kid))
    assert (caller.owner, caller.role) == ("ann", "admin")


async def test_a_role_may_be_a_single_text_and_without_one_people_are_users(
    tokens: Tokens, issuer: Issuer
) -> None:
    one, other = claims(issuer, roles="kai-admin"), claims(issuer, roles={"kai-admin": True})
    assert [(await tokens.caller(signed(each))).role for each in (one, other)] == ["admin", "user"]


HOUR = 3_600
WRONG_CLAIMS: dict[str, Callable[[], dict[str, object]]] = {
    "expired": lambda: {"exp": int(time.time()) - HOUR},
    "never expires": lambda: {"exp": None},
    "not yet valid": lambda: {"nbf": int(time.time()) + HOUR},
    "of the future": lambda: {"iat": int(time.time()) + HOUR},
    "without a beginning": lambda: {"iat": None},
    "for another": lambda: {"aud": "another"},
    "for no audience": lambda: {"aud": None},
    "of another issuer": lambda: {"iss": "https://another.example.com"},
    "of no issuer": lambda: {"iss": None},
    "of no subject": lambda: {"sub": None},
    "of the local owner": lambda: {"sub": "Local"},
    "of an unprintable owner": lambda: {"sub": "a\x00b"},
    "of a long owner": lambda: {"sub": "a" * 256},
}


@pytest.mark.parametrize("wrong", WRONG_CLAIMS)
async def test_a_signed_token_with_wrong_claims_is_refused(
    tokens: Tokens, issuer: Issuer, wrong: str
) -> None:
    with pytest.raises(Unauthenticated):
        await tokens.caller(signed(claims(issuer, **WRONG_CLAIMS[wrong]())))


def _by_hand(claims: Claims, key: bytes, alg: str) -> str:
    """PyJWT makes no such token: HMAC with a public key, or no signature at all."""
    parts = [{"alg": alg, "kid": "rsa"}, claims]
    said = b".".join(base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in parts)
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(said, key)
    return f"{said.decode()}.{base64.urlsafe_b64encode(signature if key else b'').rstrip(b'=').decode()}"


FORGED: dict[str, Callable[[Claims], str]] = {
    "signed by a stranger": lambda said: signed(said, STRANGER),
    "with an unknown key": lambda said: signed(said, kid="unknown"),
    "with no key id": lambda said: jwt.encode(said, RSA_KEY, "RS256"),
    "with the key of another algorithm": lambda said: signed(said, EC_KEY, "ES256"),
    "with an algorithm that is not allowed": lambda said: signed(said, alg="RS512"),
    "with a critical extension": lambda said: signed(said, crit=["exp"]),
    "with keys of its own": lambda said: signed(said, STRANGER, jku="http://127.0.0.1:9/keys", kid="mine"),
    "with the shared key": lambda said: jwt.encode(said, b"secret" * 8, "HS256", {"kid": "shared"}),
    "HMAC with the public key": lambda said: _by_hand(said, PEM, "HS256"),
    "unsigned": lambda said: _by_hand(said, b"", "none"),
    "changed": lambda said: signed({**said, "sub": "bob"})[:-8] + "AAAAAAAA",
    "cut": lambda said: signed(said).rsplit(".", 1)[0],
    "no token": lambda _: "nonsense",
}


@pytest.mark.parametrize("forged", FORGED)
async def test_a_forged_token_is_refused(tokens: Tokens, issuer: Issuer, forged: str) -> None:
    with pytest.raises(Unauthenticated):
        await tokens.caller(FORGED[forged](claims(issuer)))


async def test_tokens_of_unknown_keys_do_not_hammer_the_issuer(tokens: Tokens, issuer: Issuer) -> None:
    for number in range(20):
        with pytest.raises(Unauthenticated):
            await tokens.caller(signed(claims(issuer), kid=f"unknown {number}"))
    assert issuer.asked == 1


async def test_an_issuer_that_says_it_is_another_is_not_trusted(tokens: Tokens, issuer: Issuer) -> None:
    issuer.described_as = "https://another.example.com"
    with pytest.raises(IssuerUnavailable):
        await tokens.caller(signed(claims(issuer)))


@pytest.mark.parametrize("address", ["http://keys.example.com/keys", "/keys", "ftp://127.0.0.1:99999/"])
async def test_keys_at_an_address_that_anybody_may_forge_are_not_asked_for(
    tokens: Tokens, issuer: Issuer, address: str
) -> None:
    issuer.keys_at = address
    with pytest.raises(IssuerUnavailable):
        await tokens.caller(signed(claims(issuer)))
    assert issuer.asked == 0
