"""Which language model to ask, and how long to wait for it."""

from dataclasses import dataclass

from pydantic import SecretStr

from app.core.llm.capabilities import ReplyFormatSetting


@dataclass(frozen=True)
class ModelSettings:
    """Which model, where, and how long it may take; `max_retries` counts tries after the first."""

    model: str
    base_url: str | None
    """Of an OpenAI-compatible service, with its version (`https://host/v1`); by default OpenAI's own."""
    api_key: SecretStr | None
    connect_timeout_seconds: float
    first_token_timeout_seconds: float
    """How long the model may send nothing, at the start and later."""
    total_timeout_seconds: float
    """From the question to the last token, tries and the pauses between them included."""
    max_retries: int
    max_output_tokens: int
    temperature: float | None
    reply_format: ReplyFormatSetting = "auto"
    """Of replies that have a schema."""
