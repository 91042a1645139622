"""Settings of a language model: its service and timeouts."""

from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

from app.core.llm.capabilities import ReplyFormatSetting, ToolSetting

Provider = Literal["openai", "azure", "vertexai", "bedrock", "ollama"]
"""Services that models run in, by their protocols. `openai` is any OpenAI-compatible one."""


@dataclass(frozen=True)
class ModelSettings:
    """Model, endpoint and timeouts. `max_retries` counts tries after the first."""

    model: str
    """For Azure OpenAI the name of the deployment."""
    base_url: str | None
    """URL of the service. An OpenAI-compatible one has its version in it (`https://host/v1`). Default: the
    provider's own.
    """
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
    provider: Provider = "openai"
    tools: ToolSetting = "auto"
    """The way in which the model calls tools."""
    context_window: int | None = None
    """Tokens that prompt and reply may take together. None if the service should know."""
    api_version: str = ""
    """Version of Azure OpenAI's API."""
    project: str = ""
    """Project of Google Cloud."""
    region: str = ""
    """Region of Amazon Bedrock, or location of Google Vertex AI. Empty for the one that the environment
    names.
    """
