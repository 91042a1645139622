"""Tokens of a real OpenID Connect provider: sign-in, roles, a change of its keys, and its absence."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import jwt
import pytest

from app.core.auth.signing_keys import IssuerUnavailable, SigningKeys
from app.core.auth.tokens import Tokens
from app.core.errors import Unauthenticated
from app.core.settings import OidcSettings
from tests.support.clock import Clock
from tests.support.oidc_issuer import ADMINS, AUDIENCE, Issuer, running_issuer
from tests.support.server import running_server


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no issuer seem unavailable."""
    monkeypatch.setattr("app.core.auth.signing_keys._TIMEOUT_SECONDS", 60)


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


def settings(address: str, audience: str = AUDIENCE) -> OidcSettings:
    return OidcSettings(
        issuer=address, audience=audience, algorithms=("RS512",), role_claim="groups", admin_value=ADMINS
    )


def tokens_of(issuer: Issuer, clock: Clock | None = None) -> Tokens:
    return Tokens(settings(issuer.address), SigningKeys(issuer.address, clock or Clock()))


async def test_people_are_known_by_name_and_administrators_by_their_group(issuer: Issuer) -> None:
    tokens = tokens_of(issuer)
    ada, bob = [await tokens.caller(issuer.token(person)) for person in ("ada", "bob")]
    assert (ada.owner, ada.role, ada.signed_in_by) == ("ada", "admin", "oidc")
    assert (bob.owner, bob.role, bob.may("manage")) == ("bob", "user", False)


async def test_the_claim_that_chooses_a_database_role_is_a_text(issuer: Issuer) -> None:
    for claim, expected in (("sub", "ada"), ("groups", None), ("nothing_like_it", None)):
        its_settings = settings(issuer.address).model_copy(update={"database_claim": claim})
        tokens = Tokens(its_settings, SigningKeys(issuer.address))
        assert (await tokens.caller(issuer.token("ada"))).database_claim == expected


async def test_claims_become_attributes_of_people_as_the_settings_map_them(issuer: Issuer) -> None:
    mapped = {"person": "sub", "groups": "groups", "missing": "nothing_like_it"}
    its_settings = settings(issuer.address).model_copy(update={"attribute_claims": mapped})
    ada = await Tokens(its_settings, SigningKeys(issuer.address)).caller(issuer.token("ada"))
    assert ada.attributes["person"] == "ada"
    assert ADMINS in str(ada.attributes["groups"])
    assert "missing" not in ada.attributes


async def test_a_token_for_another_service_is_refused(issuer: Issuer) -> None:
    tokens = Tokens(settings(issuer.address, "another"), SigningKeys(issuer.address))
    with pytest.raises(Unauthenticated):
        await tokens.caller(issuer.token("ada"))


async def test_a_new_key_is_learnt_and_the_old_one_still_counts(issuer: Issuer) -> None:
    clock = Clock()
    tokens, before = tokens_of(issuer, clock), issuer.token("bob")
    await tokens.caller(before)
    issuer.rotate()
    after = issuer.token("bob")
    with pytest.raises(Unauthenticated):  # it was asked just now, and is not asked again so soon
        await tokens.caller(after)
    clock.now += 11
    assert (await tokens.caller(after)).owner == (await tokens.caller(before)).owner == "bob"
    assert jwt.get_unverified_header(before)["kid"] != jwt.get_unverified_header(after)["kid"]


async def test_keys_that_were_read_count_while_the_issuer_is_unavailable() -> None:
    clock = Clock()
    with running_issuer() as issuer:
        tokens, token = tokens_of(issuer, clock), issuer.token("bob")
        await tokens.caller(token)
    clock.now += 3_600
    assert (await tokens.caller(token)).owner == "bob"
    with pytest.raises(IssuerUnavailable):
        await tokens_of(issuer).caller(token)


def test_a_server_that_trusts_an_issuer_needs_no_key(issuer: Issuer, tmp_path: Path) -> None:
    with running_server(tmp_path, issuer.settings) as server:
        me = f"{server.address}/api/v1/me"
        assert httpx.get(me, timeout=60).status_code == 401
        known = httpx.get(me, headers={"Authorization": f"Bearer {issuer.token('ada')}"}, timeout=60).json()
        assert (known["owner"], known["role"], known["signed_in_by"]) == ("ada", "admin", "oidc")
