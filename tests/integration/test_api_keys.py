"""API keys in every kind of store: what is kept of them, and when they stop to count."""

from dataclasses import replace

import pytest

from app.core.auth.api_keys import ApiKeys, KeyUnknown, NewKey
from app.core.auth.caller import SCOPES_OF_ROLE, Caller
from app.core.clock import now_ms
from app.core.errors import Unauthenticated
from app.core.storage.port import Equals, Query
from tests.support.stores import Open


def wanted(expires_at: int | None = None) -> NewKey:
    return NewKey(owner="ann", name="Notebook", role="user", scopes=frozenset(), expires_at=expires_at)


async def test_only_a_digest_of_a_key_is_kept(reopen_ready: Open) -> None:
    async with reopen_ready() as storage:
        keys = ApiKeys(storage)
        key, text = await keys.create(wanted())
        (kept,) = (await storage.query("api_keys", Query([Equals("owner", "ann")]))).items
        assert text.split("_", 2)[2] not in str(kept) + repr(key)
        assert (await keys.caller(text)).owner == "ann"
        assert key.digest not in repr(key)


async def test_an_expired_key_is_refused_and_opens_nothing(reopen_ready: Open) -> None:
    async with reopen_ready() as storage:
        keys = ApiKeys(storage)
        _, text = await keys.create(wanted(expires_at=now_ms()))
        with pytest.raises(Unauthenticated):
            await keys.caller(text)
        assert await keys.usable() == []


async def test_a_secret_with_the_prefix_of_another_key_is_refused(reopen_ready: Open) -> None:
    async with reopen_ready() as storage:
        keys = ApiKeys(storage)
        (_, one), (_, other) = [await keys.create(wanted()) for _ in range(2)]
        for forged in (one[:-1], one[:-1] + "~", one[:13] + other[13:], one + "x"):
            with pytest.raises(Unauthenticated):
                await keys.caller(forged)


async def test_the_last_use_is_stored_once_a_minute(reopen_ready: Open) -> None:
    async with reopen_ready() as storage:
        keys = ApiKeys(storage)
        key, text = await keys.create(wanted())
        await keys.caller(text)
        first = (await keys.usable())[0].last_used_at
        await storage.patch("api_keys", key.id, {"last_used_at": 1})
        await keys.caller(text)
        assert first is not None
        assert (await keys.usable())[0].last_used_at == 1


async def test_a_revoked_key_is_refused_at_once_here_and_what_is_no_key_is_unknown(
    reopen_ready: Open,
) -> None:
    async with reopen_ready() as storage:
        keys = ApiKeys(storage)
        key, text = await keys.create(wanted())
        await keys.caller(text)
        revoked = await keys.revoke(key.id)
        assert (await keys.revoke(key.id)).revoked_at == revoked.revoked_at
        with pytest.raises(Unauthenticated):
            await keys.caller(text)
        for unknown in ("nope", "../x", "01970000-0000-7000-8000-000000000000"):
            with pytest.raises(KeyUnknown):
                await keys.revoke(unknown)


async def test_a_browser_that_an_issuer_has_signed_in_has_the_rights_of_the_token(reopen_ready: Open) -> None:
    scopes = SCOPES_OF_ROLE["user"]
    ann = Caller(owner="ann", role="user", scopes=scopes, signed_in_by="oidc", database_claim="north")
    ann = replace(ann, attributes={"region": "EMEA", "teams": ("a", "b")})
    issuer, later = "https://login.example.com", now_ms() + 60_000
    async with reopen_ready() as storage:
        _, text = await ApiKeys(storage).sign_in_by_issuer(ann, issuer, expires_at=later)
        keys = ApiKeys(storage)
        found = await keys.browser(text, issuer=issuer)
        assert (found.owner, found.scopes, found.signed_in_by) == ("ann", scopes, "oidc")
        assert found.database_claim == "north"
        assert found.attributes == {"region": "EMEA", "teams": ["a", "b"]}
        assert await keys.usable() == []
        for other in (None, "https://another.example.com"):
            with pytest.raises(Unauthenticated):
                await keys.browser(text, issuer=other)
        with pytest.raises(Unauthenticated):
            await keys.caller(text)
        _, ended = await keys.sign_in_by_issuer(ann, issuer, expires_at=now_ms())
        with pytest.raises(Unauthenticated):
            await keys.browser(ended, issuer=issuer)
