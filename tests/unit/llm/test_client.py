import subprocess
import sys

import pytest
from pydantic import SecretStr

from app.core.llm.client import make_client
from app.core.llm.settings import ModelSettings


def settings(base_url: str | None) -> ModelSettings:
    return ModelSettings(
        model="gpt-4.1-mini",
        base_url=base_url,
        api_key=SecretStr("sk-secret"),
        connect_timeout_seconds=5,
        first_token_timeout_seconds=60,
        total_timeout_seconds=180,
        max_retries=2,
        max_output_tokens=100,
        temperature=None,
    )


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        (None, "max_completion_tokens"),
        ("https://kai.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://localhost:11434/v1", "max_tokens"),
        ("https://api.mistral.ai/v1", "max_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
    ],
)
def test_the_output_limit_has_the_name_that_the_service_knows(base_url: str | None, name: str) -> None:
    assert make_client(settings(base_url)).extra_body == {name: 100}


def test_the_environment_does_not_say_where_prompts_go(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_PROXY"):
        monkeypatch.setenv(name, "http://elsewhere.example/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    client = make_client(settings(None))
    assert str(client.root_async_client.base_url) == "https://api.openai.com/v1/"
    assert client.root_async_client.api_key == "sk-secret"
    assert client.openai_proxy is None


def test_the_key_is_in_no_representation() -> None:
    assert "sk-secret" not in repr(settings(None))
    assert "sk-secret" not in repr(make_client(settings(None)))


def test_a_server_without_a_model_does_not_import_the_client_library() -> None:
    imported = "import sys, app.core.llm.model; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", imported], timeout=60).returncode == 0
