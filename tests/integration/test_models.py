"""What KAI knows of models: the route, the command, the settings and the extras."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import JsonValue, ValidationError

from app.bootstrap import open_services
from app.bootstrap.application import create_app
from app.core.errors import CannotRun
from app.core.llm.services import check_extra
from app.core.settings import LlmSettings, Settings
from tests.support.command_line import kai
from tests.support.scripted_model import ScriptedModel, scripted_model

LISTED: list[JsonValue] = [
    {"id": "vllm", "max_model_len": 32_768},
    {"id": "router", "context_length": 200_000, "supported_parameters": ["temperature", "tools"]},
    {"id": "small", "context_length": 4_096, "supported_parameters": ["temperature"]},
    {"id": "mistral", "max_context_length": 131_072, "capabilities": {"function_calling": True}},
    {"id": "odd", "max_model_len": -1, "context_length": "many", "supported_parameters": "all"},
    {"name": "nameless"},
    "nothing",
]


def llm(service: ScriptedModel, **given: Any) -> LlmSettings:
    return LlmSettings(base_url=service.base_url, api_key="sk-secret", **{"model": "vllm", **given})


async def page_of(settings: Settings, path: str = "/models") -> httpx.Response:
    async with open_services(settings, "once") as services:
        transport = httpx.ASGITransport(create_app(services, settings))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client:
            return await client.get(path)


async def test_the_models_of_tasks_come_first_with_what_is_known_of_them(tmp_path: Path) -> None:
    async with scripted_model() as model:
        model.listed = LISTED
        settings = llm(model, agent_model="small", embedding_model="trigrams-64")
        answer = await page_of(Settings(data_dir=tmp_path, llm=settings))
    assert answer.status_code == 200
    body = answer.json()
    assert (body["provider"], body["problem"], body["next_cursor"]) == ("openai", None, None)
    by_name = {each["name"]: each for each in body["items"]}
    assert list(by_name) == ["vllm", "small", "trigrams-64", "router", "mistral", "odd"]
    assert by_name["vllm"] == {
        "name": "vllm",
        "tasks": ["sql", "analysis", "summary"],
        "is_listed": True,
        "context_window": 32_768,
        "window_source": "service",
        "tools": "native",
        "tools_source": "default",
    }
    small = by_name["small"]
    assert (small["tasks"], small["tools"], small["tools_source"]) == (["agent"], "text", "service")
    assert (by_name["trigrams-64"]["tasks"], by_name["trigrams-64"]["is_listed"]) == (["embedding"], False)
    assert (by_name["router"]["context_window"], by_name["router"]["tools"]) == (200_000, "native")
    assert (by_name["mistral"]["context_window"], by_name["mistral"]["tools"]) == (131_072, "native")
    assert (by_name["odd"]["context_window"], by_name["odd"]["tools"]) == (None, None)


async def test_the_list_has_pages(tmp_path: Path) -> None:
    async with scripted_model() as model:
        model.listed = LISTED
        answer = await page_of(Settings(data_dir=tmp_path, llm=llm(model)), "/models?limit=1")
    assert [each["name"] for each in answer.json()["items"]] == ["vllm"]
    assert answer.json()["next_cursor"]


async def test_a_service_that_lists_nothing_is_named_and_the_models_of_tasks_stay(tmp_path: Path) -> None:
    async with scripted_model() as model:
        model.listed = None
        settings = llm(model, model="gpt-4o", context_window=9_000)
        answer = (await page_of(Settings(data_dir=tmp_path, llm=settings))).json()
    assert "KAI_LLM__BASE_URL" in answer["problem"]
    (only,) = answer["items"]
    assert (only["context_window"], only["window_source"]) == (9_000, "setting")
    assert (only["tools"], only["tools_source"]) == ("native", "profile")


async def test_without_a_model_there_is_no_list(tmp_path: Path) -> None:
    assert (await page_of(Settings(data_dir=tmp_path))).status_code == 404


async def test_without_tools_there_are_no_investigations(tmp_path: Path) -> None:
    async with scripted_model() as model:
        settings = llm(model, model="large", tools="off")
        answer = (await page_of(Settings(data_dir=tmp_path, llm=settings), "/capabilities")).json()
    assert answer["investigations"] == {
        "on": False,
        "reason": "Calls of tools are switched off by KAI_LLM__TOOLS.",
    }
    assert answer["agent_model"] is None


def test_the_command_prints_the_models(tmp_path: Path) -> None:
    with scripted_model() as model:
        model.listed = LISTED
        given = {
            "KAI_LLM__BASE_URL": model.base_url,
            "KAI_LLM__API_KEY": "sk-secret",
            "KAI_LLM__MODEL": "vllm",
        }
        printed = kai("models", data=tmp_path, **given)
    assert printed.returncode == 0, printed.stderr
    lines = [" ".join(line.split()) for line in printed.stdout.splitlines()]
    assert "vllm sql, agent, analysis, summary 32,768 (service) native (default)" in lines
    assert "small 4,096 (service) text (service)" in lines
    assert "sk-secret" not in printed.stdout + printed.stderr


def test_without_a_model_the_command_says_what_to_set(tmp_path: Path) -> None:
    printed = kai("models", data=tmp_path)
    assert printed.returncode == 1
    assert "KAI_LLM__BASE_URL" in printed.stderr


@pytest.mark.parametrize("provider", ["bedrock", "ollama", "vertexai"])
def test_a_missing_extra_is_one_line_that_names_it(provider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.llm.services.find_spec", lambda name: None)
    with pytest.raises(CannotRun) as caught:
        check_extra(provider)
    assert str(caught.value) == (
        f"KAI_LLM__PROVIDER={provider} needs an extra: .venv/bin/pip install -e '.[{provider}]' in KAI's "
        "folder."
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"provider": "azure", "api_key": "k", "model": "m"},
            "KAI_LLM__PROVIDER=azure needs KAI_LLM__BASE_URL",
        ),
        ({"provider": "vertexai", "model": "m"}, "KAI_LLM__PROVIDER=vertexai needs KAI_LLM__PROJECT"),
        ({"provider": "bedrock"}, "KAI_LLM__PROVIDER=bedrock needs KAI_LLM__MODEL"),
        ({"provider": "ollama"}, "KAI_LLM__PROVIDER=ollama needs KAI_LLM__MODEL"),
        ({"provider": "vertexai", "model": "m", "project": "p", "api_key": "sk-secret"}, "unset it"),
        ({"provider": "ollama", "model": "m", "reply_format": "tools"}, "KAI_LLM__REPLY_FORMAT"),
        ({"provider": "watson"}, "'openai', 'azure', 'vertexai', 'bedrock' or 'ollama'"),
    ],
)
def test_settings_that_do_not_suffice_are_refused_at_the_start(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        LlmSettings(**given)
    assert words in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_variables_of_openai_count_for_it_alone(tmp_path: Path) -> None:
    with scripted_model() as model:
        given = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-secret",
            "KAI_LLM__PROVIDER": "ollama",
            "KAI_LLM__BASE_URL": "http://127.0.0.1:9",
            "KAI_LLM__MODEL": "qwen3",
        }
        printed = kai("models", data=tmp_path, **given)
        assert model.connections == 0
    assert printed.returncode == 0, printed.stderr
    assert "The service lists no models." in printed.stdout
