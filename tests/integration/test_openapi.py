"""The description of the API is the API, and the documents name each of its routes."""

import re
from pathlib import Path

import pytest

from app.bootstrap import open_services
from app.core.settings import Settings
from app.main import create_app

API = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


@pytest.fixture
async def description(tmp_path: Path) -> dict[str, dict[str, object]]:
    settings = Settings(data_dir=tmp_path)
    async with open_services(settings) as services:
        paths: dict[str, dict[str, object]] = create_app(services, settings).openapi()["paths"]
        return paths


async def test_every_route_is_documented(description: dict[str, dict[str, object]]) -> None:
    written = re.sub(r"\{[a-z_]+\}", "{}", API)
    for path, methods in description.items():
        shown = re.sub(r"\{[a-z_:]+\}", "{}", path.removeprefix("/api/v1"))
        assert shown in written, path
        assert all(method.upper() in API or path in ("/healthz", "/readyz", "/metrics") for method in methods)


async def test_every_answer_that_can_fail_says_so(description: dict[str, dict[str, object]]) -> None:
    for path, methods in description.items():
        if path.startswith("/api/"):
            for operation in methods.values():
                assert isinstance(operation, dict)
                assert {"404", "422", "429", "503"} <= set(operation["responses"])
