"""Wrong API keys over HTTP: refused, then slowed, then not checked any more."""

from pathlib import Path

import httpx

from app.bootstrap import open_services
from app.core.auth.api_keys import NewKey
from app.core.settings import AuthSettings, Settings
from app.main import create_app


async def test_an_address_that_guesses_is_refused_and_users_of_the_same_address_go_on(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, auth=AuthSettings(required=True, wrong_keys_per_minute=2))
    async with open_services(settings) as services:
        _, key = await services.identity.keys.create(
            NewKey(owner="ann", name="Notebook", role="user", scopes=frozenset(), expires_at=None)
        )
        transport = httpx.ASGITransport(create_app(services, settings))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:

            async def me(credential: str) -> httpx.Response:
                return await client.get("/api/v1/me", headers={"X-API-Key": credential})

            assert (await me(key)).status_code == 200
            guesses = [await me(f"kai_guess{number}") for number in range(4)]
            assert [each.status_code for each in guesses] == [401, 401, 429, 429]
            assert guesses[-1].json()["type"] == "urn:kai:wrong-keys"
            assert int(guesses[-1].headers["Retry-After"]) > 0
            assert (await me(key)).status_code == 200
            metrics = await client.get("/metrics", headers={"X-API-Key": key})
            assert "kai_wrong_credentials_total 2.0" in metrics.text
