"""Settings of a language model: endpoint and timeouts."""

from dataclasses import dataclass

from pydantic import SecretStr

from app.core.llm.capabilities import ReplyFormatSetting


@dataclass(frozen=True)
class ModelSettings:
    """Model, endpoint and timeouts. `max_retries` counts tries after the first."""

    model: str
    base_url: str | None
    """URL of an OpenAI-compatible service, with its version (`https://host/v1`). Default: OpenAI's own."""
    api_key: SecretStr | None
    connect_timeout_seconds: float
    first_token_timeout_seconds: float
    """The longest silence of a model before its reply begins. Seconds."""
    total_timeout_seconds: float
    """Timeout from the question to the last token, including retries and pauses. Seconds."""
    max_retries: int
    max_output_tokens: int
    temperature: float | None
    reply_format: ReplyFormatSetting = "auto"
    """Format of replies that have a schema."""
    token_timeout_seconds: float = 30
    """The longest silence between two pieces; at most `first_token_timeout_seconds`. Seconds."""
    max_reply_characters: int = 131_072
    """A longer reply is stopped and raises `ModelRejected`."""
