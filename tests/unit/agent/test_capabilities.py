"""What a KAI says that it can do, and why it cannot do the rest."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.core.settings import (
    AgentSettings,
    AnalysisSettings,
    LlmSettings,
    McpSettings,
    MemorySettings,
    Settings,
    ToolSettings,
)
from app.modules.agent.capabilities import capabilities_of

LLM = LlmSettings(api_key=SecretStr("sk-none"), model="scripted")


def test_what_is_configured_is_on_and_the_rest_names_its_setting() -> None:
    bare = capabilities_of(Settings(llm=LLM), "long")
    assert bare.investigations.on
    assert (bare.mcp_servers.on, "KAI_MCP__CONFIG" in (bare.mcp_servers.reason or "")) == (False, True)
    assert (bare.extensions.on, "KAI_TOOLS__EXTENSIONS" in (bare.extensions.reason or "")) == (False, True)
    tools = ToolSettings(extensions=True)
    full = capabilities_of(Settings(llm=LLM, mcp=McpSettings(config=Path("mcp.json")), tools=tools), "long")
    assert (full.mcp_servers.on, full.mcp_servers.reason) == (True, None)
    assert (full.extensions.on, full.extensions.reason) == (True, None)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(llm=LlmSettings()), "OPENAI_API_KEY"),
        (Settings(llm=LLM, agent=AgentSettings(enabled=False)), "KAI_AGENT__ENABLED"),
        (Settings(llm=LLM.model_copy(update={"tools": "off"})), "KAI_LLM__TOOLS"),
    ],
)
def test_without_investigations_neither_servers_nor_extensions_are_on(settings: Settings, named: str) -> None:
    configured = settings.model_copy(
        update={"mcp": McpSettings(config=Path("mcp.json")), "tools": ToolSettings(extensions=True)}
    )
    found = capabilities_of(configured, "long")
    for each in (found.investigations, found.agent_mode, found.mcp_servers, found.extensions):
        assert (each.on, named in (each.reason or "")) == (False, True)


def test_facts_need_no_model_and_their_setting_is_named_where_they_are_off() -> None:
    assert capabilities_of(Settings(llm=LlmSettings()), "long").facts.on
    off = capabilities_of(Settings(memory=MemorySettings(facts=False)), "long").facts
    assert (off.on, "KAI_MEMORY__FACTS" in (off.reason or "")) == (False, True)


@pytest.mark.parametrize(
    ("settings", "form", "named"),
    [
        (Settings(llm=LlmSettings()), "builtin", "OPENAI_API_KEY"),
        (Settings(llm=LLM), "choose", "scripted"),
        (Settings(llm=LLM.model_copy(update={"analysis_model": "qwen2.5-coder:1.5b"})), "builtin", "1.5b"),
        (Settings(llm=LLM, analysis=AnalysisSettings(form="builtin")), "builtin", "KAI_ANALYSIS__FORM"),
        (
            Settings(llm=LLM.model_copy(update={"allowed_context": ("schema",)})),
            "builtin",
            "KAI_LLM__ALLOWED_CONTEXT",
        ),
    ],
)
def test_the_form_of_analyses_is_said_with_its_reason(settings: Settings, form: str, named: str) -> None:
    found = capabilities_of(settings, "long").analysis
    assert (found.form, named in found.reason) == (form, True)
