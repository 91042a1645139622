"""`KAI_PROTOCOLS`: what is left out does not exist."""

import pytest
from fastapi.routing import iter_route_contexts
from pydantic import ValidationError

from app.core.settings import PROTOCOLS, Protocol, Settings
from app.main import describe_api


@pytest.mark.parametrize(
    ("text", "named"),
    [("openai", ("openai",)), ("agui, openai", ("agui", "openai")), ("[]", ()), ("", PROTOCOLS)],
)
def test_protocols_are_named_with_commas_between_them(
    monkeypatch: pytest.MonkeyPatch, text: str, named: tuple[str, ...]
) -> None:
    monkeypatch.setenv("KAI_PROTOCOLS", text)
    assert Settings().protocols == named


def test_an_unknown_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_PROTOCOLS", "openai,soap")
    with pytest.raises(ValidationError, match="langgraph"):
        Settings()


def test_a_protocol_that_is_left_out_has_no_routes() -> None:
    def paths(*named: Protocol) -> set[str | None]:
        return {context.path for context in iter_route_contexts(describe_api([*named]).routes)}

    assert "/mcp" in paths("mcp")
    assert "/mcp" not in paths("openai")
