import subprocess
import sys
from dataclasses import replace

import pytest

from app.core.llm.messages import PromptMessage
from app.core.llm.providers.openai_client import make_client
from app.core.llm.settings import ModelSettings
from app.core.llm.tool_calls import ToolCall
from tests.support.model_settings import SCRIPTED


def settings(base_url: str | None) -> ModelSettings:
    return replace(SCRIPTED, base_url=base_url, max_output_tokens=100)


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


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "o3-mini"])
def test_a_request_is_the_one_that_langchain_builds(model: str) -> None:
    call = ToolCall("call_1_1", "run_sql", '{"sql": "SELECT 1"}')
    prompt = [
        PromptMessage("system", "You are terse."),
        PromptMessage("user", "How many?"),
        PromptMessage("assistant", "", calls=[call]),
        PromptMessage("tool", "42", call_id="call_1_1"),
        PromptMessage("assistant", "42."),
    ]
    client = make_client(replace(settings(None), model=model, temperature=0.5))
    given = [message.as_request() for message in prompt]
    expected = client._get_request_payload(given, stream=True)
    del expected["extra_body"]
    assert client.request(given, {}) == expected
    assert client.request(given, {"temperature": 0})["temperature"] == 0
