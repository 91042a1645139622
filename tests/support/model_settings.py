"""Settings of a scripted language model."""

from pydantic import SecretStr

from app.core.llm.settings import ModelSettings

SCRIPTED = ModelSettings(
    model="scripted",
    base_url=None,
    api_key=SecretStr("sk-secret"),
    connect_timeout_seconds=60,
    first_token_timeout_seconds=60,
    total_timeout_seconds=60,
    max_retries=0,
    max_output_tokens=500,
    temperature=None,
)
"""Of no service: tests replace what they need, the address of their server above all."""
