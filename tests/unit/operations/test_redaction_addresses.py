"""Addresses that are shown: no user information, no query."""

import pytest

from app.core.redaction.text import redacted_address


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://tools.example/mcp?token=never-shown", "https://tools.example/mcp"),
        ("https://user:pw@tools.example:8443/mcp#part", "https://tools.example:8443/mcp"),
        (
            "npx mcp-remote https://tools.example/sse?k=v --flag",
            "npx mcp-remote https://tools.example/sse --flag",
        ),
        ("python server.py", "python server.py"),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_secret(address: str, shown: str) -> None:
    assert redacted_address(address) == shown
